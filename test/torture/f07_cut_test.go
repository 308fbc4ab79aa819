//go:build linux

package torture_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestF07_Cut: connections to the database end in the middle of a COMMIT, before
// it arrives or before its reply does. What was acknowledged is there, what was
// refused is not; who repeats a registration under its Idempotency-Key until it is
// acknowledged has one hotspot.
func TestF07_Cut(t *testing.T) {
	t.Parallel() // it mostly waits
	db := harness.NewDatabase(t, "postgres")
	p, behind := harness.ThroughProxy(t, db)
	s := harness.Start(t, behind)
	load := newLoad(t, s)
	repeated := load.newRepeating(t, s)
	c := &cutting{load: load, repeated: repeated, hotspot: load.reserve(t, s), proxy: p, server: s, db: db}
	running := load.on(t, s)
	for round := range rounds(1, 2, 4) {
		for i, meet := range []func(*testing.T, harness.Accident){c.registration, c.change, c.repetition} {
			for j, heard := range []bool{true, false} {
				running.until(3) // it came back from the accident before
				meet(t, harness.Accident{How: []harness.End{harness.Close, harness.Reset}[(round+i+j)%2], Heard: heard})
			}
		}
	}
	running.until(3)
	c.registration(t, harness.Accident{How: harness.Hang, Heard: true})
	if level.Now() > level.Test {
		repeated.begin(t)
		rng := rand.New(rand.NewPCG(load.seed, 7))
		for _, accident := range cuts(rng) {
			running.until(3)
			await(t, "a COMMIT meets an accident", p.AtCommit(1+rng.IntN(10), accident))
		}
	}
	running.until(100)
	running.stop()
	repeated.finish(t)
	load.converges(t, s) // of what has an unknown outcome, memory hears a moment later
	load.checkAll(t, s)
}

// cuts are accidents of all kinds in a random order, at any COMMIT. A connection
// that hangs holds everyone up for some seconds, and those behind a COMMIT that
// never came even longer, so that there are few of them.
func cuts(rng *rand.Rand) (list []harness.Accident) {
	for i := range rounds(0, 24, 94) {
		list = append(list, harness.Accident{How: []harness.End{harness.Close, harness.Reset}[i%2], Heard: i%4 < 2})
	}
	for i := range rounds(0, 1, 6) {
		list = append(list, harness.Accident{How: harness.Hang, Heard: i%2 == 0})
	}
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// await waits for something that must happen.
func await(t *testing.T, what string, happened <-chan struct{}) {
	t.Helper()
	select {
	case <-happened:
	case <-time.After(harness.Patience):
		t.Fatalf("after %v, still not: %s", harness.Patience, what)
	}
}

// cutting lets accidents happen to writes that the test itself makes, beside a load.
type cutting struct {
	load     *load
	repeated *repeating
	hotspot  *hotspot // that nobody else changes
	proxy    *harness.Proxy
	server   *harness.Server
	db       string // without the proxy
}

// cutter is the client who makes these writes.
const cutter = clients

// registration lets an accident happen to a registration.
func (c *cutting) registration(t *testing.T, a harness.Accident) {
	t.Helper()
	c.meet(t, "registration", a, func() (string, func() harness.Answer) {
		n := int(c.load.number.Add(1)) - 1
		return fmt.Sprint("net-", n), func() harness.Answer {
			_, answer := c.load.register(t.Context(), c.server, c.load.users[0], n, cutter, harness.MACOf(n))
			return answer
		}
	}, `SELECT count(*) FROM hotspots WHERE ssid = $1`)
}

// change lets an accident happen to a change.
func (c *cutting) change(t *testing.T, a harness.Accident) {
	t.Helper()
	c.meet(t, "change", a, func() (string, func() harness.Answer) {
		name := fmt.Sprintf("Hotspot %d %d", c.hotspot.number, c.load.number.Add(1)-1)
		return name, func() harness.Answer {
			return c.load.change(t.Context(), c.server, c.hotspot, cutter, harness.Fields{"name": name})
		}
	}, `SELECT count(*) FROM hotspots WHERE name = $1`)
}

// meet makes writes until the COMMIT of one has met the accident: a write that is
// refused before, because the server has not come back from the accident before, is
// followed by another.
func (c *cutting) meet(t *testing.T, kind string, a harness.Accident, next func() (text string, write func() harness.Answer), count string) {
	t.Helper()
	harness.Eventually(t, "the COMMIT of a "+kind+" meets an accident", func() bool {
		text, write := next()
		happened := c.proxy.AtCommitOf(text, a)
		answer := write()
		select {
		case <-happened:
			c.judge(t, fmt.Sprintf("the %s of %q", kind, text), a, answer, c.isThere(t, count, text))
			return true
		default:
			if answer.Outcome() == harness.Done {
				t.Fatalf("the %s of %q was acknowledged, and the proxy saw no COMMIT of it", kind, text)
			}
			return false
		}
	})
}

// isThere looks for a write in the database.
func (c *cutting) isThere(t *testing.T, count, text string) bool {
	t.Helper()
	db := harness.OpenSQL(t, c.db)
	defer db.Close()
	var n int
	if err := db.QueryRowContext(t.Context(), count, text).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// judge holds a write to its accident: it is there if the database heard of its
// COMMIT, and its client was told that the outcome is unknown.
func (c *cutting) judge(t *testing.T, write string, a harness.Accident, answer harness.Answer, there bool) {
	t.Helper()
	switch outcome := answer.Outcome(); {
	case there != a.Heard:
		t.Errorf("the COMMIT of %s met an accident (heard: %v); it is there: %v", write, a.Heard, there)
	case outcome == harness.Done && !there:
		t.Errorf("%s was acknowledged and is lost", write)
	case outcome == harness.Refused && there:
		t.Errorf("%s was refused and is there: %d %s", write, answer.Status, answer.Code)
	case outcome != harness.Unknown:
		t.Errorf("the connection was %v in the COMMIT of %s (heard: %v); it was answered %d %s", a.How, write, a.Heard, answer.Status, answer.Code)
	}
}

// repetition lets an accident happen to a registration that is repeated until it is
// acknowledged. It is replayed if the first COMMIT went through.
func (c *cutting) repetition(t *testing.T, a harness.Accident) {
	t.Helper()
	n := int(c.load.number.Add(1)) - 1
	happened := c.proxy.AtCommitOf(fmt.Sprint("net-", n), a)
	replayed := c.repeated.register(t, n)
	select {
	case <-happened:
	default:
		t.Errorf("registration %d was acknowledged, and the proxy saw no COMMIT of it", n)
	}
	if replayed != a.Heard {
		t.Errorf("the first COMMIT of registration %d met an accident (heard: %v); it was replayed: %v", n, a.Heard, replayed)
	}
}
