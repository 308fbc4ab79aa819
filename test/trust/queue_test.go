package trust_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/simulate"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// floodSize is how many hotspots an account may let wait for a visit.
const floodSize = 50

// flood is as many hotspots as an account may register without a visit. Each has two boots
// that carry traffic over the same hours. Visited, each is visited first.
func flood(name string, visited bool) attack {
	return attack{name, "Hotspots that are flagged fill the queue.", floodSize, false, func(ctx context.Context, r *raid, now time.Time) (shots []shot, err error) {
		if len(r.devices) == 0 {
			for i := range r.size {
				if err := r.join(ctx, r.device(300*float64(i), 0, nil), visited); err != nil {
					return nil, err
				}
			}
		}
		if minute := now.Sub(r.began) / time.Minute; minute < 5*60 && minute%15 == 0 {
			for _, d := range r.devices {
				b, _ := d.Beat(now)
				b.Boot += uint64(minute / 15 % 2) // two that take turns, with counters of their own
				b.Rx, b.Tx = uint64(minute)*1_000_000, uint64(minute)*1_000_000
				shots = append(shots, shot{d, b})
			}
		}
		return shots, nil
	}}
}

// join registers and links a device, and lets staff visit it before if it is to be.
func (r *raid) join(ctx context.Context, d *device, visited bool) error {
	if visited {
		return r.enroll(ctx, d, d.form.Location)
	}
	made, err := r.operator.RegisterHotspot(ctx, d.form)
	if err != nil {
		return err
	}
	d.hotspot = made.ID
	return r.link(ctx, d)
}

// TestQueue_Flood lets accounts fill the queue with hotspots that nobody visited. They are
// not in it. Those of an account that were visited are one line, and a cheat that earns is
// above it.
func TestQueue_Flood(t *testing.T) {
	t.Parallel()
	w := newWorld(t, policy.BuiltIn(), end.AddDate(0, 0, -1))
	w.attack(t, nil, flood("flood-1", false), flood("flood-2", false), flood("flood-3", false), flood("flood-visited", true), attacks()[0])
	queue := w.lines(t)
	var users []string
	for _, l := range queue {
		if users = append(users, l.OperatorID); l.OperatorID == userOf(t, w.raids["flood-visited"]) && l.Kind == "interleaved_boots" && l.Count != floodSize {
			t.Errorf("a flood is %d lines: %+v", floodSize/l.Count, l)
		}
	}
	for _, name := range []string{"flood-1", "flood-2", "flood-3", "honest"} {
		if slices.Contains(users, userOf(t, w.raids[name])) {
			t.Errorf("%s is in the queue: %+v", name, queue)
		}
	}
	script, visited := slices.Index(users, userOf(t, w.raids["script"])), slices.Index(users, userOf(t, w.raids["flood-visited"]))
	if script < 0 || visited < 0 || len(queue) > 5 {
		t.Errorf("a cheat is line %d, those that were visited line %d of %d: %+v", script, visited, len(queue), queue)
	}
}

// The ring of TestQueue_Ring.
const (
	ringAccounts = 10
	ringEach     = 2
	ringRadiusM  = 53
)

// ringOf is the hotspots of one account in a ring of many accounts. Staff find each where it
// stands. It begins some days after the first.
func ringOf(account int, apart time.Duration) attack {
	name := fmt.Sprintf("ring-%d", account)
	return attack{name, "Hotspots of several accounts stand around a point.", ringEach, false, func(ctx context.Context, r *raid, now time.Time) (shots []shot, err error) {
		if now.Sub(r.began) < time.Duration(account)*apart {
			return nil, nil
		}
		if len(r.devices) == 0 {
			r.lat, r.lng = 40.5, -73.9
			for i := range r.size {
				angle := 2 * math.Pi * float64(account*ringEach+i) / (ringAccounts * ringEach)
				c := simulate.Character{Seed: r.seed + uint64(i)<<32, Appetite: usualAppetite, Uplink: slow}
				d := r.deviceLike(c, ringRadiusM*math.Sin(angle), ringRadiusM*math.Cos(angle), nil)
				if err := r.enroll(ctx, d, d.form.Location); err != nil {
					return nil, err
				}
			}
		}
		if now.Minute()%2 == 0 {
			for _, d := range r.devices {
				shots = append(shots, d.shoot(now, asIs))
			}
		}
		return shots, nil
	}}
}

// TestQueue_Ring lets twenty hotspots of ten accounts stand in a ring, each with an address on
// a network of its own. None is flagged by itself, and all are one line of the queue, which
// names them to staff alone, however long after each other they came.
func TestQueue_Ring(t *testing.T) {
	t.Parallel()
	for _, apart := range []time.Duration{time.Hour, 0}[:level.Rounds(1, 2, 2)] {
		t.Run(apart.String(), func(t *testing.T) {
			w := newWorld(t, policy.BuiltIn(), end.AddDate(0, 0, -1))
			var ring []attack
			for account := range ringAccounts {
				ring = append(ring, ringOf(account, apart))
			}
			w.attack(t, nil, ring...)
			queue := w.lines(t)
			if len(queue) != 1 || queue[0].Kind != "across_accounts" || queue[0].Count != 1 || len(queue[0].Group) != ringAccounts*ringEach {
				t.Fatalf("the queue is %+v", queue)
			}
			var earned client.Amount
			accounts := map[string]bool{}
			for _, o := range queue[0].Group {
				accounts[o.OperatorID] = true
			}
			for _, a := range ring {
				o := outcomeOf(t, w.raids[a.name])
				earned += o.total
				if !accounts[o.user] {
					t.Errorf("%s is not in the group", a.name)
				}
				if _, err := w.raids[a.name].operator.Review(t.Context(), client.ReviewQuery{}); err == nil {
					t.Error("an operator reads the queue")
				}
			}
			t.Logf("%d hotspots of %d accounts earn %s a day: %v", ringAccounts*ringEach, len(accounts), earned, queue[0].Facts)
			if len(accounts) != ringAccounts || earned < 3_000_000 && apart == 0 {
				t.Errorf("%d accounts earn %s", len(accounts), earned)
			}
		})
	}
}

// lines returns the queue once the last day is reviewed.
func (w *world) lines(t *testing.T) (flags []client.Flag) {
	t.Helper()
	staff := w.staff(t)
	harness.Eventually(t, "the last day is reviewed", func() bool {
		queue, err := staff.Review(t.Context(), client.ReviewQuery{})
		if err != nil {
			t.Fatal(err)
		}
		flags = queue.Flags
		return slices.ContainsFunc(flags, func(f client.Flag) bool { return f.LastDay == end.AddDate(0, 0, -1).Format(time.DateOnly) })
	})
	return flags
}

// userOf returns the user of an attack.
func userOf(t *testing.T, r *raid) string {
	t.Helper()
	self, err := r.operator.OwnKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return self.UserID
}
