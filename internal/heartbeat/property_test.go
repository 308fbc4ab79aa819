package heartbeat_test

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// histories is how many are tried; -args -histories 5000 is for a long evening.
var histories = flag.Uint64("histories", uint64(level.Rounds(20, 60, 60)), "how many random histories to try")

// TestTable_AnyOrder applies all beats of a history in two random orders, with
// repetitions, and asks the oracle.
func TestTable_AnyOrder(t *testing.T) {
	level.Repeats(t)
	for seed := range *histories {
		h := newHistory(t, seed)
		o := newOracle()
		o.spans = h.spans
		service := heartbeat.NewOutages()
		service.Set(h.spans)
		now := h.end.Add(time.Duration(h.r.IntN(3000)) * time.Minute)
		hotspot := h.places[len(h.places)-1].hotspot
		o.tell(t, hotspot)
		for _, b := range h.beats {
			if !o.add(b) {
				t.Fatalf("seed %d: a beat comes twice", seed)
			}
		}
		want := o.metrics(now)
		var first [][]byte
		for range 2 {
			table := heartbeat.NewTable(service)
			l := table.Place(nil, hotspot)
			for _, b := range shuffled(h.r, h.beats) {
				table.Apply(l, &b)
			}
			got := table.Metrics(l, now)
			got.Signal = want.Signal // beats more than 64 late are not counted
			if got != want {
				t.Fatalf("seed %d: got  %+v\nwant %+v", seed, got, want)
			}
			records := table.FoldNow(l, nil, now)
			for _, r := range records {
				o.checkRecord(t, r, now)
			}
			if first == nil {
				first = withoutSignal(t, records)
			} else if second := withoutSignal(t, records); !slices.EqualFunc(first, second, bytes.Equal) {
				t.Fatalf("seed %d: the records of two orders differ:\n%x\n%x", seed, first, second)
			}
		}
	}
}

// shuffled has every beat, some twice, in a random order or one that is nearly right.
func shuffled(r *rand.Rand, beats []heartbeat.Beat) []heartbeat.Beat {
	out := slices.Clone(beats)
	for _, b := range beats {
		if r.IntN(10) == 0 {
			out = append(out, b)
		}
	}
	if r.IntN(2) == 0 {
		r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	} else {
		late := func(b heartbeat.Beat) int64 { return b.At + int64(b.Seq*7919%600)*1e6 }
		slices.SortStableFunc(out, func(a, b heartbeat.Beat) int { return int(late(a)/1000 - late(b)/1000) })
	}
	return out
}

func withoutSignal(t *testing.T, records []*heartbeat.Record) (all [][]byte) {
	t.Helper()
	for _, r := range records {
		again, err := heartbeat.DecodeRecord(r.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		heartbeat.ForgetSignal(again)
		all = append(all, again.Append(nil))
	}
	return all
}

// checkRecord compares a record with the beats that are known.
func (o *oracle) checkRecord(t *testing.T, r *heartbeat.Record, now time.Time) {
	t.Helper()
	first := int64(r.Day().Midnight())
	last := min(first+1439, now.Unix()/60-3)
	facts := o.facts(first, last)
	if r.Served() != facts.Served || r.Expected() != facts.Expected {
		t.Fatalf("%v served %d of %d; want %d of %d", r.Day().Time(), r.Served(), r.Expected(), facts.Served, facts.Expected)
	}
	if r.AllDecided() != (last == first+1439) {
		t.Fatalf("%v, at %v: all decided: %v", r.Day().Time(), now, r.AllDecided())
	}
	points := heartbeat.Series([]*heartbeat.Record{r}, r.Day().Time(), (r.Day() + 1).Time(), time.Hour)
	var total uint64
	for i, p := range points {
		hour := first/60 + int64(i)
		total += p.Bytes
		want := heartbeat.Point{At: r.Day().Time().Add(time.Duration(i) * time.Hour), Clients: o.peak(hour), Bytes: o.carried(hour)}
		some := o.facts(hour*60, min(hour*60+59, last))
		want.Served, want.Expected = some.Served, some.Expected
		if hour*60+59 <= last {
			want.Tier = o.tierAfter(hour*60 + 59)
		} else {
			want.Tier = p.Tier
		}
		if p != want {
			t.Fatalf("%v: got  %+v\nwant %+v", now, p, want)
		}
	}
	if r.Bytes() != total {
		t.Fatalf("%v carried %d; want %d", r.Day().Time(), r.Bytes(), total)
	}
	facts.Bytes = o.rewarded(first, last)
	if hour := (last + 1) / 60; hour > first/60 {
		facts.Tier = o.tierAfter(hour*60 - 1)
	}
	if got := r.Facts(); got != facts {
		t.Fatalf("%v at %v: facts %+v; want %+v", r.Day().Time(), now, got, facts)
	}
}

// TestTable_Life plays histories as they would happen: beats come to one of two
// replicas and a little later to the other, some more than once. One of them
// folds, the other restores. Now and then one crashes, goes on from the last
// records and reads again more of the journal than it must.
func TestTable_Life(t *testing.T) {
	level.Repeats(t)
	folds, crashes, checks := 0, 0, 0
	for seed := range *histories {
		w := newWorld(t, seed)
		w.play()
		folds, crashes, checks = folds+w.folds, crashes+w.crashes, checks+w.checks
	}
	if folds < 100 || crashes < 30 || checks < 100 {
		t.Errorf("only %d folds, %d crashes, %d checks", folds, crashes, checks)
	}
}

// world is two replicas, what is on disk, and the oracle.
type world struct {
	*testing.T
	seed    uint64
	h       *history
	r       *rand.Rand
	service *heartbeat.Outages
	oracle  *oracle
	hotspot beacon.Hotspot
	nodes   [2]node
	disk    map[beacon.Day][]byte
	journal []heartbeat.Beat // as committed
	trimmed int              // what is before this was folded
	told    int              // and before this the oracle knows
	steps   []step

	folds, crashes, checks int
}

type node struct {
	table *heartbeat.Table
	live  *heartbeat.Live
	read  int // how much of the journal
}

// step is something that happens at a time.
type step struct {
	at time.Time
	do func(now time.Time)
}

func newWorld(t *testing.T, seed uint64) *world {
	h := newHistory(t, seed)
	w := &world{T: t, seed: seed, h: h, r: h.r, service: heartbeat.NewOutages(), oracle: newOracle(), disk: map[beacon.Day][]byte{}}
	w.service.Set(h.spans)
	w.oracle.spans = h.spans
	w.hotspot = h.places[0].hotspot
	w.oracle.tell(t, w.hotspot)
	for i := range w.nodes {
		w.nodes[i].table = heartbeat.NewTable(w.service)
		w.nodes[i].live = w.nodes[i].table.Place(nil, w.hotspot)
	}
	for _, p := range h.places {
		w.plan(p.at, func(time.Time) {
			w.hotspot = p.hotspot
			w.oracle.tell(t, p.hotspot)
			for _, n := range w.nodes {
				n.table.Place(n.live, p.hotspot)
			}
		})
	}
	for _, b := range h.beats {
		w.plan(time.UnixMicro(b.At).Add(time.Duration(w.r.IntN(100))*time.Second), func(time.Time) { w.journal = append(w.journal, b) })
	}
	end := h.end.Add(time.Duration(w.r.IntN(50)) * time.Hour)
	w.schedule(end, time.Duration(1+w.r.IntN(200))*time.Minute, w.fold)
	w.schedule(end, time.Duration(1+w.r.IntN(2000))*time.Minute, w.crash)
	w.schedule(end, time.Duration(10+w.r.IntN(1000))*time.Minute, w.check)
	w.schedule(end, time.Duration(1+w.r.IntN(60))*time.Minute, func(now time.Time) {
		for _, n := range w.nodes {
			n.table.Refresh(now)
		}
	})
	w.plan(end, w.check)
	w.plan(end, w.fold)
	slices.SortStableFunc(w.steps, func(a, b step) int { return a.at.Compare(b.at) })
	return w
}

func (w *world) plan(at time.Time, do func(time.Time)) { w.steps = append(w.steps, step{at, do}) }

// schedule plans something at random times, every so often.
func (w *world) schedule(end time.Time, often time.Duration, do func(time.Time)) {
	for at := w.h.start; at.Before(end); at = at.Add(time.Duration(w.r.ExpFloat64() * float64(often))) {
		w.plan(at, do)
		at = at.Add(time.Second)
	}
}

func (w *world) play() {
	for _, s := range w.steps {
		s.do(s.at)
		for i := range w.nodes { // each follows as far as it likes
			w.follow(i, w.nodes[i].read+w.r.IntN(len(w.journal)-w.nodes[i].read+1))
		}
	}
}

// follow applies the journal up to a place.
func (w *world) follow(i, to int) {
	n := &w.nodes[i]
	for ; n.read < to; n.read++ {
		b := w.journal[n.read]
		knew := n.table.Knows(n.live, b.Boot, b.Seq)
		if fresh := n.table.Apply(n.live, &b); fresh == knew {
			w.Fatalf("seed %d: a beat was known %v, and fresh %v", w.seed, knew, fresh)
		}
		if w.r.IntN(20) == 0 && n.table.Apply(n.live, &b) {
			w.Fatalf("seed %d: fresh twice", w.seed)
		}
	}
}

func (w *world) newest() *heartbeat.Record {
	var newest beacon.Day
	for day := range w.disk {
		newest = max(newest, day)
	}
	return w.onDisk(newest)
}

func (w *world) onDisk(day beacon.Day) *heartbeat.Record {
	data, ok := w.disk[day]
	if !ok {
		return nil
	}
	r, err := heartbeat.DecodeRecord(data)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// fold lets one node write, and the other learn from it.
func (w *world) fold(now time.Time) {
	w.folds++
	keeper := w.r.IntN(2)
	n := &w.nodes[keeper]
	w.follow(keeper, len(w.journal))
	records := n.table.FoldNow(n.live, w.newest(), now)
	if w.r.IntN(5) == 0 { // the disk is full
		n.table.Unfold(n.live)
		return
	}
	for _, r := range records {
		w.disk[r.Day()] = r.Append(nil)
	}
	w.trimmed = n.read
	n.table.Folded(n.live)
	if n.live.Dirty() {
		w.Fatalf("seed %d: dirty after a fold", w.seed)
	}
	other := &w.nodes[1-keeper]
	for _, r := range records {
		if w.r.IntN(10) > 0 {
			other.table.Restore(other.live, w.onDisk(r.Day()))
		}
	}
	o := w.known()
	for _, r := range records {
		o.checkRecord(w.T, r, now)
	}
}

// crash loses the memory of a node.
func (w *world) crash(now time.Time) {
	w.crashes++
	n := &w.nodes[w.r.IntN(2)]
	n.table = heartbeat.NewTable(w.service)
	n.live = n.table.Place(nil, w.hotspot)
	if r := w.newest(); r != nil {
		if r.NeedsDayBefore() {
			n.table.Restore(n.live, w.onDisk(r.Day()-1))
		}
		n.table.Restore(n.live, r)
	}
	// More of the journal is left than what was not folded.
	for _, b := range w.journal[max(0, w.trimmed-w.r.IntN(100)):w.trimmed] {
		n.table.Apply(n.live, &b)
	}
	n.read = w.trimmed
}

// known is the oracle, with all that is in the journal.
func (w *world) known() *oracle {
	for ; w.told < len(w.journal); w.told++ {
		w.oracle.add(w.journal[w.told])
	}
	return w.oracle
}

func (w *world) check(now time.Time) {
	w.checks++
	o := w.known()
	want := o.metrics(now)
	for i := range w.nodes {
		w.follow(i, len(w.journal))
		n := &w.nodes[i]
		got := n.table.Metrics(n.live, now)
		if got != want {
			w.Fatalf("seed %d, node %d, %v: got  %+v\nwant %+v", w.seed, i, now, got, want)
		}
		n.table.Refresh(now)
		shown := n.live.Shown()
		if s := (heartbeat.Shown{Clients: want.Clients, Signal: want.Signal, Tier: want.Tier, Uptime: want.Uptime30d}); shown != s {
			w.Fatalf("seed %d, node %d, %v: shown %+v; want %+v", w.seed, i, now, shown, s)
		}
		if want.Seen.IsZero() != (n.live.Seen() == 0) || n.live.Seen() != 0 && n.live.Seen() != want.Seen.UnixMicro() {
			w.Fatalf("seed %d: seen %d; want %v", w.seed, n.live.Seen(), want.Seen)
		}
	}
}
