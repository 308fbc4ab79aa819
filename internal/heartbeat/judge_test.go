package heartbeat_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// counting is a device that counts in its own way, and knows what it carried.
type counting struct {
	r           *rand.Rand
	boot, epoch uint64
	seq         uint64
	rx, tx      uint64 // as counted
	wraps       bool
	says        bool
	fell        bool // its counters started again, and it did not say so
	began       bool // its numbers started again
	quiet       int  // beats until it may do something odd again
	width       beacon.Width
	sent        []beacon.Heartbeat
	carried     uint64
}

func newCounting(r *rand.Rand) *counting {
	d := &counting{r: r, boot: r.Uint64(), wraps: r.IntN(2) == 0, says: r.IntN(2) == 0, quiet: 20}
	switch {
	case d.says && d.wraps:
		d.width = beacon.Wraps
	case d.says:
		d.width = beacon.Wide
	}
	if d.wraps { // soon
		d.rx = 3_000_000_000 + r.Uint64N(1_000_000_000)
		d.carried = d.rx
	}
	return d
}

// next carries something and makes a beat. Now and then something is odd about it.
func (d *counting) next() beacon.Heartbeat {
	r := d.r
	d.quiet--
	if d.quiet <= 0 {
		switch n := r.IntN(120); {
		case n == 0:
			d.boot, d.seq, d.rx, d.tx, d.fell = r.Uint64(), uint64(r.IntN(3)), 0, 0, false
			d.began = false
			d.quiet = 20
		case n == 1 && d.rx+d.tx > 300_000_000 && (d.says || !d.wraps && d.clear() && !d.began): // counters are set to zero
			d.zero()
			d.quiet = 20
		case n == 2 && !d.fell: // otherwise it looks like beats from before the fall
			d.seq, d.began = uint64(r.IntN(2)), true
			d.quiet = 20
		case n == 3 && d.rx+d.tx > 300_000_000 && d.says: // a program that counts itself starts again
			d.zero()
			d.seq, d.quiet, d.began = 0, 20, true
		case n == 4:
			d.seq += 1 << r.IntN(50)
			d.quiet = 20
		}
	}
	d.seq++
	more := uint64(1 + r.IntN(10_000_000))
	some := uint64(r.Int64N(int64(more)))
	d.rx, d.tx, d.carried = d.rx+some, d.tx+more-some, d.carried+more
	if d.wraps {
		d.rx, d.tx = d.rx%(1<<32), d.tx%(1<<32)
	}
	b := beacon.Heartbeat{Boot: d.boot + d.epoch, Seq: d.seq, Bytes: d.rx + d.tx, Width: d.width, Clients: 1}
	if !d.says && max(d.rx, d.tx) < 1<<32 {
		b.Width = beacon.PerhapsWrap
	}
	d.sent = append(d.sent, b)
	return b
}

// zero sets the counters to zero.
func (d *counting) zero() {
	d.rx, d.tx = 0, 0
	if d.says {
		d.epoch++
	} else {
		d.fell = true
	}
}

// clear reports whether zeros cannot be taken for counters that wrapped.
func (d *counting) clear() bool { return 1<<32-(d.rx+d.tx)%(1<<32) > 1<<30 }

// pair is two nodes that share a journal and a disk.
type pair struct {
	tables [2]*heartbeat.Table
	lives  [2]*heartbeat.Live
	disk   map[beacon.Day][]byte
}

func newPair() *pair {
	p := &pair{disk: map[beacon.Day][]byte{}}
	for i := range p.tables {
		p.start(i)
	}
	return p
}

// start starts a node from what is on disk.
func (p *pair) start(i int) {
	p.tables[i] = heartbeat.NewTable(heartbeat.NewOutages())
	p.lives[i] = p.tables[i].Place(nil, hotspotSince(noon))
	days := slices.Sorted(maps.Keys(p.disk))
	for _, day := range days[max(0, len(days)-2):] {
		r, err := heartbeat.DecodeRecord(p.disk[day])
		if err != nil {
			panic(err)
		}
		p.tables[i].Restore(p.lives[i], r)
	}
}

// send lets nodes judge a beat, all of them before any has applied it, and then lets
// all apply it.
func (p *pair) send(at time.Time, sent beacon.Heartbeat, nodes ...int) (why beacon.Uncounted) {
	var journal []heartbeat.Beat
	for _, i := range nodes {
		b := heartbeat.Beat{At: at.UnixMicro(), Heartbeat: sent}
		if why = p.tables[i].Judge(p.lives[i], &b); why == beacon.Counted {
			journal = append(journal, b)
		}
	}
	for i, table := range p.tables {
		for j := range journal {
			table.Apply(p.lives[i], &journal[(i+j)%len(journal)])
		}
	}
	return why
}

func (p *pair) fold(now time.Time) {
	for _, r := range p.tables[0].FoldNow(p.lives[0], nil, now) {
		p.disk[r.Day()] = r.Append(nil)
	}
	p.tables[0].Folded(p.lives[0])
}

func (p *pair) carried(t *testing.T, now time.Time) (bytes uint64) {
	p.fold(now)
	for _, data := range p.disk {
		r, err := heartbeat.DecodeRecord(data)
		if err != nil {
			t.Fatal(err)
		}
		bytes += r.Bytes()
	}
	return bytes
}

// Whatever a device does to its counters and numbers, it is paid what it carried,
// neither less nor more: with repeated beats, at two nodes, across midnight, and after
// a restart of a node.
func TestJudge_Carried(t *testing.T) {
	for seed := range *histories {
		r := rand.New(rand.NewPCG(seed, 95))
		d, p := newCounting(r), newPair()
		at := noon.Add(time.Duration(r.IntN(600)) * time.Minute)
		for range 200 + r.IntN(1200) {
			at = at.Add(time.Minute)
			b := d.next()
			node := r.IntN(2)
			if why := p.send(at, b, [][]int{{node}, {node}, {node, 1 - node}}[r.IntN(3)]...); why != beacon.Counted {
				t.Fatalf("seed %d, %v: %+v is %q", seed, at, b, why)
			}
			if r.IntN(4) == 0 { // once more
				if why := p.send(at.Add(time.Second), b, r.IntN(2)); why != beacon.Repeated {
					t.Fatalf("seed %d, %v: %+v once more is %q", seed, at, b, why)
				}
			}
			// One from long ago. What a device that broke both its promises in one boot did
			// long ago cannot be told from what it does now.
			if old := d.sent[r.IntN(len(d.sent))]; r.IntN(200) == 0 && old.Boot == d.boot+d.epoch && !(d.fell && d.began) {
				p.send(at.Add(2*time.Second), old, r.IntN(2))
				d.quiet = max(d.quiet, 20)
			}
			if r.IntN(60) == 0 {
				p.fold(at)
				p.start(1)
				if r.IntN(3) == 0 {
					p.start(0)
				}
			}
		}
		for range 10 {
			at = at.Add(time.Minute)
			d.quiet = 20
			p.send(at, d.next(), r.IntN(2))
		}
		if got := p.carried(t, at); got != d.carried {
			t.Errorf("seed %d: %d bytes are counted of %d: %d", seed, got, d.carried, int64(got-d.carried))
		}
	}
}

// A beat with an old number and lower counters that arrives after hours is old: only its
// minute counts. With a new number, counters that would have grown by a plausible amount
// have wrapped. If that is as little as in a minute, the number may have started again as
// well, and so much is paid.
func TestJudge_OldIsNoWrap(t *testing.T) {
	const gb = uint64(1_000_000_000)
	for _, back := range []uint64{1<<32 - 1<<29, 1<<32 - 1<<20, 3_500_000_000} {
		p := newPair()
		beat := func(minute int, seq, bytes uint64) {
			t.Helper()
			b := beacon.Heartbeat{Boot: 1, Seq: seq, Bytes: bytes, Width: beacon.PerhapsWrap}
			if why := p.send(noon.Add(time.Duration(minute)*time.Minute), b, 0); why != beacon.Counted {
				t.Fatal(why)
			}
		}
		newest := 8 * gb
		beat(0, 1, newest-back)
		for i := range uint64(200) {
			beat(1+int(i), 100+i, newest)
		}
		beat(700, 2, newest-back+gb/1000) // it was on its way for hours
		doubt := uint64(0)
		if more := 1<<32 - back + gb/1000; more <= 64<<20 {
			doubt = more
		}
		if got := p.carried(t, noon.Add(701*time.Minute)); got != newest+doubt {
			t.Errorf("%d below: %d bytes are counted; want %d", back, got, newest+doubt)
		}
		beat(702, 400, newest-back+gb/1000)
		if got, want := p.carried(t, noon.Add(703*time.Minute)), newest+1<<32-back+gb/1000; got != want {
			t.Errorf("%d below, with a new number: %d bytes are counted; want %d", back, got, want)
		}
	}
}

// A beat from before a fall looks like numbers that started again. When the counters fall
// once more, the device is paid what it carried: no beat had so high a number before.
func TestJudge_FallsAgain(t *testing.T) {
	d := newUndeclared(t)
	d.beats(100, 500)
	old := d.last
	d.beats(100, 100)
	d.bytes = 0
	d.beats(100, 50)
	d.send(old)
	d.beats(1, 1)
	d.bytes = 0
	d.beats(10, 40)
	d.want(600 + 51 + 40)
}

// Numbers start again, and then counters, and the device says neither: such beats look
// like old ones. Nothing is paid until numbers or counters are higher than ever before,
// and then all of it. So at most what the counters had counted is lost, if the device
// boots before.
func TestJudge_BothStartAgain(t *testing.T) {
	start := func() *undeclared {
		d := newUndeclared(t)
		d.beats(200, 600)
		d.seq = 0
		d.beats(50, 100)
		d.want(700)
		d.bytes = 0
		d.beats(50, 90)
		d.want(700)
		return d
	}
	d := start()
	d.beats(99, 30)
	d.want(700)
	d.beats(2, 20) // number 201
	d.want(700 + 140)

	d = start()
	d.beats(20, 600)
	d.want(700)
	d.beats(20, 100)
	d.want(790) // the counter: what it had before is not paid again

	d = start()
	d.boot++
	d.seq, d.bytes = 0, 0
	d.beats(10, 10)
	d.want(710)
}

// Two different reports arrive in one minute, after a shop has closed: what both report was
// carried since the beat before that minute, in whichever order they come, to one server
// or two, and also if the device has booted in between.
func TestJudge_SameMinute(t *testing.T) {
	closed := noon.Add(130 * time.Minute)
	for boot := range uint64(2) {
		reports := []beacon.Heartbeat{
			{Boot: 1, Seq: 2, Bytes: 500}, {Boot: 1 + boot, Seq: 3, Bytes: 800}, {Boot: 1 + boot, Seq: 4, Bytes: 900},
		}
		for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			for apart := range 3 { // both servers get some before they know of each other
				p := newPair()
				for i := range p.tables {
					p.lives[i] = p.tables[i].Place(nil, shopSince(noon.AddDate(0, 0, -9)))
				}
				p.send(noon.Add(time.Hour), beacon.Heartbeat{Boot: 1, Seq: 1, Bytes: 100}, 0)
				var journal []heartbeat.Beat
				for n, i := range order {
					b := heartbeat.Beat{At: closed.Add(time.Duration(n) * time.Second).UnixMicro(), Heartbeat: reports[i]}
					if why := p.tables[n%2].Judge(p.lives[n%2], &b); why != beacon.Counted {
						t.Fatal(why)
					}
					if journal = append(journal, b); n < apart {
						continue
					}
					for i, table := range p.tables {
						for j := range journal {
							table.Apply(p.lives[i], &journal[j])
						}
					}
				}
				p.send(closed.Add(time.Minute), beacon.Heartbeat{Boot: 1 + boot, Seq: 5, Bytes: 1000}, 0)
				f, _ := p.tables[1].Facts(p.lives[1], beacon.DayOf(noon), nil, closed.Add(time.Hour))
				if want := 900 + boot*500; f.Bytes != want {
					t.Errorf("boot %d, order %v, %d apart: %d bytes count; want %d", 1+boot, order, apart, f.Bytes, want)
				}
			}
		}
	}
}

// undeclared is a device that sends a beat each minute and declares nothing.
type undeclared struct {
	t                *testing.T
	p                *pair
	at               time.Time
	boot, seq, bytes uint64
	last             beacon.Heartbeat
}

func newUndeclared(t *testing.T) *undeclared {
	return &undeclared{t: t, p: newPair(), at: noon, boot: 1}
}

// beats carries some megabytes in a number of beats.
func (d *undeclared) beats(n int, mb uint64) {
	d.t.Helper()
	for i := range uint64(n) {
		d.seq++
		d.send(beacon.Heartbeat{Boot: d.boot, Seq: d.seq, Bytes: d.bytes + mb*1_000_000*(i+1)/uint64(n)})
	}
	d.bytes += mb * 1_000_000
}

func (d *undeclared) send(b beacon.Heartbeat) {
	d.t.Helper()
	d.at, d.last = d.at.Add(time.Minute), b
	if why := d.p.send(d.at, b, int(b.Seq%2)); why != beacon.Counted {
		d.t.Fatalf("%+v is %q", b, why)
	}
}

func (d *undeclared) want(mb uint64) {
	d.t.Helper()
	if got := d.p.carried(d.t, d.at); got != mb*1_000_000 {
		d.t.Errorf("%d bytes are counted; want %d MB", got, mb)
	}
}
