//go:build linux

package torture_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/beacon-wifi/beacon/test/harness"
)

// checkLinear: there is an order of all that was done to a hotspot, in which
// each operation lies between its call and its answer, and which explains every
// answer (I3). So no change is lost, neither of the same field nor of another;
// and the time of the last change never goes back (I8).
func (s *hotspot) checkLinear(t *testing.T) {
	if result := s.linear(); result != porcupine.Ok {
		lines := make([]string, len(s.ops))
		for i, o := range s.ops {
			lines[i] = o.String()
		}
		t.Errorf("no order of the operations on hotspot %d explains their answers (%s):\n%s", s.number, result, strings.Join(lines, "\n"))
	}
}

// linear looks for the order.
func (s *hotspot) linear() porcupine.CheckResult {
	var list []porcupine.Operation
	for _, o := range s.ops {
		seen := o.kind == read && (o.status == http.StatusOK || o.status == http.StatusNotFound)
		if seen || o.kind != read && o.outcome != harness.Refused {
			list = append(list, porcupine.Operation{ClientId: o.client + 1, Input: o, Call: int64(o.call), Return: int64(o.end)})
		}
	}
	return porcupine.CheckOperationsTimeout(registersModel, list, harness.Patience) // without a result, nothing is proved
}

// registers are what can be changed of a hotspot.
type registers struct {
	there             bool
	name              string
	connections, mbps float64
	hours             string

	version int    // one more with each change
	updated string // when it was last changed, or before that
	exact   bool   // it is known when
}

// registersModel takes an operation and leads from one state to those that it
// may leave behind: none when its answer cannot be, two when it had no answer.
var registersModel = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{registers{}} },
	Step: func(state, input, _ any) []any {
		now, o := state.(registers), input.(*op)
		next, possible := now.after(o)
		switch {
		case o.outcome == harness.Unknown && possible:
			return []any{now, next}
		case o.outcome == harness.Unknown:
			return []any{now}
		case possible:
			return []any{next}
		default:
			return nil
		}
	},
}).ToModel()

// after is the state after an operation, if its answer is the right one.
func (now registers) after(o *op) (next registers, possible bool) {
	next = now
	switch {
	case o.kind == read && o.got == nil:
		return now, !now.there
	case o.kind == register:
		next = registers{there: true, version: 1}
		next.take(o.asked)
		possible = !now.there
	case o.kind == change:
		next.take(o.asked)
		if next != now {
			next.version, next.exact = now.version+1, false
		}
		possible = now.there
	default: // a read
		possible = now.there
	}
	if o.got == nil {
		return next, possible
	}
	return next.confirm(o, possible)
}

// confirm compares a state with an answer, which also tells what was not known
// yet: when it was changed.
func (now registers) confirm(o *op, possible bool) (registers, bool) {
	answered := now
	answered.take(o.got)
	at, _ := o.got["updated_at"].(string)
	possible = possible && answered == now &&
		(o.version == 0 || o.version == now.version) &&
		at >= now.updated && (!now.exact || at == now.updated)
	now.updated, now.exact = at, true
	return now, possible
}

// take sets what a body or an answer names.
func (now *registers) take(f harness.Fields) {
	if name, named := f["name"]; named {
		now.name, _ = name.(string)
	}
	settings, _ := f["settings"].(harness.Fields)
	if n, named := settings["max_connections"]; named {
		now.connections = number(n)
	}
	if n, named := settings["bandwidth_limit_mbps"]; named {
		now.mbps = number(n)
	}
	if hours, named := settings["operating_hours"]; named {
		text, _ := json.Marshal(hours) // members in the order of their names
		now.hours = string(text)
	} else if now.hours == "" {
		now.hours = "null"
	}
}

func number(v any) float64 {
	if n, whole := v.(int); whole {
		return float64(n)
	}
	n, _ := v.(float64)
	return n
}
