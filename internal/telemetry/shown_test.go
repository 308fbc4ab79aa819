package telemetry_test

import (
	"errors"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// What monitoring is shown: beats that were taken and refused, and not those that
// were known; how long ago the last fold was; whether the clock is believed.
func TestShown(t *testing.T) {
	c := running(morning)
	f := &faulty{}
	n := start(t, onSQLite(t), c, func(s Store) Store { f.Store = s; return f })
	id := n.register(t, 1, morning)[0]
	n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: 1})
	n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: 1}) // known
	f.appendBeats = func(func() (int64, error)) (int64, error) { return 0, errors.New("the database is away") }
	if err := n.try(t.Context(), id, beacon.Heartbeat{Boot: 1, Seq: 2}); err == nil {
		t.Fatal("a beat was taken without a database")
	}
	f.appendBeats = nil
	n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: 2})
	n.must(t, n.Fold)
	s := n.Stats()
	if s.Taken != 2 || s.Refused != 1 || s.FoldAge != 0 || s.FoldTook <= 0 || n.Clock.Trusted() {
		t.Errorf("after a fold: %+v", s)
	}
	for range 12 { // a look at least each minute, or the clock might have stood in between
		c.run(time.Minute)
		n.must(t, n.Refresh)
	}
	if s := n.Stats(); s.FoldAge != 12*time.Minute || !n.Clock.Trusted() {
		t.Errorf("twelve minutes later: %+v", s)
	}
	c.set(c.now().Add(time.Hour))
	n.must(t, n.Refresh)
	if n.Clock.Trusted() {
		t.Error("a clock that was set is believed")
	}
}
