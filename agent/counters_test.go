//go:build linux

package agent_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// device is the truth about a device: what its Wi-Fi carried, and how much of that
// anybody could have seen. It shares nothing with how the agent counts.
type device struct {
	*box
	random  *rand.Rand
	boots   int
	indexes int // of interfaces, given out by the kernel
	links   int
	net     map[string]*wifi
	chosen  []string // in the settings
	applied []string // as the agent last read them

	known    totals // that the server must know
	unsent   totals // saved by the agent, and lost with the RAM disk
	baseline bool   // the next reading of the agent counts nothing: it was linked again
}

type totals struct{ rx, tx uint64 }

// wifi is a Wi-Fi interface since it was made or set back.
type wifi struct {
	index  int
	true   counters
	seen   counters // when the agent last looked
	narrow bool     // it shows 32 bits, as some drivers do on small machines
	hidden bool     // the kernel does not show it
	broken bool     // it shows nonsense
	before counters // when it was set back, until the agent looks
}

var names = []string{"phy0-ap0", "phy0-ap1", "phy1-ap0", "wlan0"}

func newDevice(t testing.TB, shell string, seed uint64) *device {
	d := &device{box: newBox(t, shell, "curl"), random: rand.New(rand.NewPCG(seed, 1)), net: map[string]*wifi{}, boots: 1, chosen: names, applied: names}
	for _, name := range names {
		d.appear(name)
	}
	d.choose(names)
	// In place of mv: a program that kills the agent before or after the real one replaces
	// the state. Other files are replaced at moments when the agent has not looked.
	real, err := filepath.EvalSymlinks(filepath.Join(d.bin, "mv"))
	d.check(err)
	if d.shell[0] == "busybox" {
		real += " mv"
	}
	d.check(os.Remove(filepath.Join(d.bin, "mv")))
	d.check(os.WriteFile(filepath.Join(d.bin, "mv"), fmt.Appendf(nil, `#!/bin/sh
cd %q
case $2 in
*/state) ;;
*) exec %[2]s "$@" ;;
esac
[ ! -e before ] || { kill -9 $PPID; exit 1; }
%[2]s "$@" || exit
[ ! -e after ] || kill -9 $PPID
`, d.folder, real), 0o755))
	return d
}

// appear makes an interface, or makes it again.
func (d *device) appear(name string) {
	d.indexes++
	w := &wifi{index: d.indexes, narrow: d.random.IntN(2) == 0}
	if d.random.IntN(3) == 0 { // soon it wraps around
		w.true = counters{1<<32 - 5_000_000, 1<<32 - 9_000_000, 1<<32 - 700, 900}
		if d.boots == 1 && !d.has("etc/beacon/device") {
			w.seen = w.true
		} else {
			w.true = counters{}
		}
	}
	d.net[name] = w
	d.show(name)
}

func (d *device) has(file string) bool { _, err := os.Stat(d.path(file)); return err == nil }

// show writes what the kernel shows.
func (d *device) show(name string) {
	w := d.net[name]
	if w.hidden {
		d.check(os.RemoveAll(d.path("sys/class/net/" + name)))
		return
	}
	c := w.true
	if w.narrow {
		for _, p := range []*uint64{&c.rxBytes, &c.txBytes, &c.rxPackets, &c.txPackets} {
			*p %= 1 << 32
		}
	}
	d.network(name, w.index, c)
	if w.broken {
		d.write("sys/class/net/"+name+"/statistics/tx_bytes", "\n")
	}
}

// carry adds traffic to an interface. Packets are 60 to 60,000 bytes long. A counter of
// 32 bits gains less than 2^32 between two readings, and one that is set back stays below
// what it was: of what wraps around twice, or overtakes itself unseen, some is lost, as the
// guide says.
func (d *device) carry(name string, packets uint64) {
	w := d.net[name]
	for _, p := range [][4]*uint64{
		{&w.true.rxBytes, &w.true.rxPackets, &w.seen.rxBytes, &w.before.rxPackets}, {&w.true.txBytes, &w.true.txPackets, &w.seen.txBytes, &w.before.txPackets},
	} {
		n := d.random.Uint64N(packets + 1)
		if *p[3] > 0 {
			n = min(n, *p[3]-1-*p[1])
		}
		*p[1] += n
		bytes := n * (60 + d.random.Uint64N(60_000))
		if w.narrow {
			bytes = min(bytes, 1<<32-1-(*p[0]-*p[2]))
		}
		*p[0] += bytes
	}
	d.show(name)
}

func (d *device) choose(which []string) {
	d.chosen = which
	var lines []string
	for _, name := range which {
		lines = append(lines, "interface="+name)
	}
	d.configure(lines...)
}

// look is what happens when the agent reads all counters and saves what it computed.
func (d *device) look() {
	for name, w := range d.net {
		if w.hidden || w.broken {
			continue
		}
		if !d.baseline && slices.Contains(d.applied, name) {
			d.unsent.rx += w.true.rxBytes - w.seen.rxBytes
			d.unsent.tx += w.true.txBytes - w.seen.txBytes
		}
		w.seen, w.before = w.true, counters{}
	}
	d.baseline = false
}

// heard is what happens when a heartbeat arrives.
func (d *device) heard() {
	d.known.rx += d.unsent.rx
	d.known.tx += d.unsent.tx
	d.unsent = totals{}
}

// restart makes all interfaces again, as a reboot does.
func (d *device) restart(keepDisk bool) {
	d.boots++
	d.indexes = 0
	d.boot(d.boots)
	if !keepDisk {
		d.check(os.RemoveAll(d.path("var/run/beacon")))
	}
	d.unsent = totals{}
	d.baseline = false
	for _, name := range names {
		d.appear(name)
	}
}

// happen does something to the device while the agent waits for a response, or is dead.
func (d *device) happen() string {
	name := names[d.random.IntN(len(names))]
	w := d.net[name]
	switch n := d.random.IntN(12); {
	case n < 4:
		d.carry(name, 70_000)
		return "traffic on " + name
	case n < 6:
		d.appear(name)
		d.carry(name, 2_000)
		return name + " is made again"
	case n == 6 && w.seen.rxPackets > 3_000 && w.seen.txPackets > 3_000 && w.seen.rxPackets < 1<<31 && !w.hidden && !w.broken:
		// The driver sets it back in place.
		*w = wifi{index: w.index, narrow: w.narrow, before: w.seen}
		d.carry(name, 2_000)
		return name + " is set back"
	case n == 7 && name != names[0]: // one is always up, or there are no heartbeats
		w.hidden = !w.hidden
		d.show(name)
		return name + " disappears or returns"
	case n == 8:
		w.broken = !w.broken
		d.show(name)
		return name + " shows nonsense, or stops it"
	case n == 9:
		some := slices.Clone(names[1:])
		d.random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		d.choose(append(some[:d.random.IntN(len(some)+1)], names[0]))
		return fmt.Sprintf("the operator chooses %v", d.chosen)
	default:
		d.carry(name, 100)
		return "little traffic on " + name
	}
}

// However often Wi-Fi restarts, counters wrap around, interfaces disappear, the agent or
// the device restarts, at any moment: the server knows each byte that a reading of the
// agent could see, once.
func TestCounters(t *testing.T) {
	for round := range level.Rounds(1, 2, 20) {
		eachShell(t, func(t *testing.T, shell string) {
			t.Parallel()
			d := newDevice(t, shell, level.Seed(t)+uint64(round))
			server := newScripted(t)
			link := func() {
				d.links++
				d.linkTo(server.URL, fmt.Sprintf("link-%d", d.links))
			}
			link()
			d.baseline = true // what was before it was linked does not count
			s := d.run()
			told := map[string]totals{}
			last := map[string]uint64{}
			var story []string
			for range level.Rounds(25, 100, 300) {
				b := server.next(t)
				if d.links == 1 && d.boots > 1 {
					d.baseline = false
				}
				d.look()
				d.heard()
				d.applied = d.chosen
				before := told[b.Boot]
				told[b.Boot] = totals{max(before.rx, b.RxBytes), max(before.tx, b.TxBytes)}
				var sum totals
				for v := range maps.Values(told) {
					sum = totals{sum.rx + v.rx, sum.tx + v.tx}
				}
				if sum != d.known || b.Seq <= last[b.Boot] {
					t.Fatalf("the server knows %v; want %v; seq %d after %d; the story: %q", sum, d.known, b.Seq, last[b.Boot], story)
				}
				last[b.Boot] = b.Seq

				for range 1 + d.random.IntN(3) {
					story = append(story, d.happen())
				}
				s = d.end(s, server, b, link, &story)
				story = story[max(0, len(story)-12):]
			}
		})
	}
}

// end answers a heartbeat, or ends the agent in some way and starts it again.
func (d *device) end(s *service, server *scripted, b *beat, link func(), story *[]string) *service {
	tell := func(text string) { *story = append(*story, text) }
	switch n := d.random.IntN(10); n {
	case 0:
		tell("the agent is killed while it waits")
		s.kill()
	case 1, 2:
		point := []string{"before", "after"}[n-1]
		tell("the agent is killed " + point + " it has saved its state")
		d.check(os.WriteFile(filepath.Join(d.folder, point), nil, 0o600))
		b.respond(accepted)
		harness.Eventually(d.t, "the agent is dead", func() bool {
			select {
			case <-s.exited:
				return true
			default:
				return false
			}
		})
		s.kill()
		d.check(os.Remove(filepath.Join(d.folder, point)))
		if point == "after" {
			d.look()
		}
		tell(d.happen())
	case 3:
		tell("the power is cut")
		s.kill()
		d.restart(d.random.IntN(3) == 0)
		tell(d.happen())
	case 4:
		tell("the device is linked again")
		link()
		d.unsent, d.baseline = totals{}, true
		b.respond(accepted)
		return s
	default:
		b.respond(accepted)
		return s
	}
	d.applied = d.chosen
	return d.run()
}
