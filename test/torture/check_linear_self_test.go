//go:build linux

package torture_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/beacon-wifi/beacon/test/harness"
)

// TestLinear gives the checker histories that are possible, and such as a broken
// server would leave behind.
func TestLinear(t *testing.T) {
	named := func(name string) harness.Fields { return harness.Fields{"name": name} }
	room := func(n int) harness.Fields { return harness.Fields{"settings": harness.Fields{"max_connections": n}} }
	for name, c := range map[string]struct {
		ops  []*op
		want porcupine.CheckResult
	}{
		"what was written is read": {[]*op{
			born(), done(change, 3, 4, named("b"), shows("b", 1, 2)), done(read, 5, 6, nil, shows("b", 1, 2)),
		}, porcupine.Ok},
		"a read meanwhile may see either": {[]*op{
			born(), done(change, 3, 9, named("b"), shows("b", 1, 2)), done(read, 4, 5, nil, shows("a", 1, 1)), done(read, 6, 7, nil, shows("b", 1, 2)),
		}, porcupine.Ok},
		"a read meanwhile sees the new, and then the old": {[]*op{
			born(), done(change, 3, 9, named("b"), shows("b", 1, 2)), done(read, 4, 5, nil, shows("b", 1, 2)), done(read, 6, 7, nil, shows("a", 1, 1)),
		}, porcupine.Illegal},
		"a read is stale": {[]*op{
			born(), done(change, 3, 4, named("b"), shows("b", 1, 2)), done(read, 5, 6, nil, shows("a", 1, 1)),
		}, porcupine.Illegal},
		"changes of two fields meet": {[]*op{
			born(), done(change, 3, 6, named("b"), shows("b", 1, 2)), done(change, 4, 5, room(7), shows("b", 7, 3)), done(read, 7, 8, nil, shows("b", 7, 3)),
		}, porcupine.Ok},
		"a change undoes that of another field": {[]*op{
			born(), done(change, 3, 6, named("b"), shows("b", 1, 2)), done(change, 4, 5, room(7), shows("a", 7, 2)), done(read, 7, 8, nil, shows("a", 7, 2)),
		}, porcupine.Illegal},
		"a change without an answer is there": {[]*op{
			born(), lost(change, 3, 4, named("b")), done(read, 5, 6, nil, shows("b", 1, 2)),
		}, porcupine.Ok},
		"a change without an answer is not there": {[]*op{
			born(), lost(change, 3, 4, named("b")), done(read, 5, 6, nil, shows("a", 1, 1)),
		}, porcupine.Ok},
		"a change without an answer goes away again": {[]*op{
			born(), lost(change, 3, 4, named("b")), done(read, 5, 6, nil, shows("b", 1, 2)), done(read, 7, 8, nil, shows("a", 1, 1)),
		}, porcupine.Illegal},
		"a change without an answer comes after it was settled": {[]*op{
			born(), lost(change, 3, 4, named("b")), done(read, 5, 6, nil, shows("a", 1, 1)), done(read, 7, 8, nil, shows("b", 1, 2)),
		}, porcupine.Illegal},
		"a registration without an answer is there": {[]*op{
			lost(register, 1, 2, bornAs()), done(read, 5, 6, nil, shows("a", 1, 1)),
		}, porcupine.Ok},
		"a registration without an answer comes after it was settled": {[]*op{
			lost(register, 1, 2, bornAs()), absent(3, 4), done(read, 5, 6, nil, shows("a", 1, 1)),
		}, porcupine.Illegal},
		"a hotspot is gone": {[]*op{born(), absent(3, 4)}, porcupine.Illegal},
		"the time of the last change goes back": {[]*op{
			born(), done(change, 3, 4, named("b"), shows("b", 1, 2)), at("2026-01-01T00:00:00.001Z", done(change, 5, 6, named("c"), shows("c", 1, 3))),
		}, porcupine.Illegal},
		"a version is missing": {[]*op{
			born(), done(change, 3, 4, named("b"), shows("b", 1, 3)),
		}, porcupine.Illegal},
	} {
		if got := (&hotspot{ops: c.ops}).linear(); got != c.want {
			t.Errorf("%s: %s; want %s", name, got, c.want)
		}
	}
}

// view is what an answer shows of a hotspot.
type view struct {
	name    string
	room    int
	version int
}

func shows(name string, room, version int) *view { return &view{name, room, version} }

func (v *view) fields() harness.Fields {
	return harness.Fields{
		"name": v.name, "settings": harness.Fields{"max_connections": float64(v.room)},
		"updated_at": "2026-01-01T00:00:00.00" + string(rune('0'+2*v.version)) + "Z",
	}
}

func bornAs() harness.Fields { return shows("a", 1, 1).fields() }

func born() *op { return done(register, 1, 2, bornAs(), shows("a", 1, 1)) }

func done(k kind, call, end int, asked harness.Fields, v *view) *op {
	return &op{
		kind: k, client: call, call: time.Duration(call), end: time.Duration(end), asked: asked,
		outcome: harness.Done, status: http.StatusOK, got: v.fields(), version: v.version,
	}
}

func lost(k kind, call, end int, asked harness.Fields) *op {
	return &op{kind: k, client: call, call: time.Duration(call), end: time.Duration(end), asked: asked, outcome: harness.Unknown}
}

func absent(call, end int) *op {
	return &op{kind: read, client: call, call: time.Duration(call), end: time.Duration(end), outcome: harness.Refused, status: http.StatusNotFound}
}

func at(updated string, o *op) *op {
	o.got["updated_at"] = updated
	return o
}
