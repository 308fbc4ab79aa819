//go:build linux

package torture_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

// TestF07_Cut: connections to the database end in the middle of a COMMIT, before
// it arrives or before its answer does. What was acknowledged is there, what was
// refused is not; who repeats a registration under its Idempotency-Key until it is
// acknowledged has one hotspot.
func TestF07_Cut(t *testing.T) {
	t.Parallel() // it mostly waits
	p, behind := rig.ThroughProxy(t, rig.NewDatabase(t, "postgres"))
	s := rig.Start(t, behind)
	load := newLoad(t, s)
	repeated := load.beginRepeating(t, s)
	running := load.on(t, s)
	rng := rand.New(rand.NewPCG(load.seed, 7))
	for _, accident := range accidents(rng) {
		running.until(3) // it came back from the one before
		select {
		case <-p.AtCommit(1+rng.IntN(10), accident):
		case <-time.After(time.Minute):
			t.Fatal("nothing is committed any more")
		}
	}
	running.until(100)
	running.stop()
	repeated.finish(t, s)
	load.checkAll(t, s)
	if load.count(register, rig.Unknown)+load.count(change, rig.Unknown) == 0 || repeated.replayed.Load() == 0 {
		t.Error("of no COMMIT that went through was the answer lost: nothing was shown")
	}
}

// accidents are all kinds in a random order. A connection that hangs holds
// everyone up for some seconds, and those behind a COMMIT that never came even
// longer, so that there are few of them.
func accidents(rng *rand.Rand) (list []rig.Accident) {
	for i := range rounds(24, 24, 94) {
		list = append(list, rig.Accident{How: []rig.End{rig.Close, rig.Reset}[i%2], Heard: i%4 < 2})
	}
	for i := range rounds(1, 1, 6) {
		list = append(list, rig.Accident{How: rig.Hang, Heard: i%2 == 0})
	}
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}
