package trust_test

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/node"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/test/harness"
)

// days is how long the attacks last: a queue has three days to notice them.
const days = 3

// The attacks end with a month, so that what they earned in it is what they earned in all.
var (
	end   = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	start = end.AddDate(0, 0, -days)
)

// world is a server by a clock of its own, and the attacks on it.
type world struct {
	url, key string
	start    time.Time
	clock    atomic.Int64
	raids    map[string]*raid
}

func (w *world) now() time.Time { return time.UnixMicro(w.clock.Load()).UTC() }

func (w *world) set(now time.Time) { w.clock.Store(now.UnixMicro()) }

// newWorld serves a network under some policies until the test ends, from a time on.
func newWorld(t *testing.T, policies policy.Set, start time.Time) *world {
	t.Helper()
	w := &world{raids: map[string]*raid{}, start: start}
	w.set(start)
	// No test cuts the power, so nothing has to be synced.
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "beacon.db"), sqlite.Options{Now: start, Draft: true})
	if err != nil {
		t.Fatal(err)
	}
	keys := access.New(db.Keys, w.now, new(clock.Heard))
	by := beacon.Principal{Scopes: []beacon.Scope{beacon.Admin}}
	made, err := keys.Create(t.Context(), by, access.Creation{User: beacon.Some("new"), Scopes: beacon.Some([]string{string(beacon.Admin)})})
	if err != nil {
		t.Fatal(err)
	}
	w.key = made.Plain
	server, err := node.Open(t.Context(), node.ServerConfig{
		Config:           node.Config{PublicURL: "http://x", Policies: policies, Now: w.now, Log: slog.New(slog.DiscardHandler)},
		Open:             func(context.Context) (*store.DB, error) { return db, nil },
		PreviewKeyPrefix: "svc",
	})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.url = "http://" + listener.Addr().String()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended, ready := make(chan error, 1), make(chan struct{})
	go func() { ended <- server.Serve(ctx, listener, nil, func() { close(ready) }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	return w
}

// sizes are how many hotspots or addresses some attacks use next to all others. The figures
// hardly depend on it, except those under policy 1. TestAttacks_FullSize runs them as they are.
var sizes = map[string]int{"point": 12, "ring": 12, "many-addresses": 6, "clones-25": 6, "clones-50": 6}

// attack runs attacks, some of them with other sizes, next to an honest hotspot, which is the
// first.
func (w *world) attack(t *testing.T, sizes map[string]int, attacks ...attack) {
	t.Helper()
	staff := w.staff(t)
	var all []*raid
	for number, a := range append([]attack{honest}, attacks...) {
		raid, err := newRaid(t.Context(), w.url, staff, a, number, 1)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(raid.close)
		if n := sizes[a.name]; n > 0 {
			raid.size = n
		}
		w.raids[a.name] = raid
		all = append(all, raid)
	}
	runRaids(t, all, w.start, end, w.set)
}

// outcome is what an attack earned, and the service that it gave.
type outcome struct {
	client.Breakdown
	total   client.Amount
	minutes int // in which it was heard, or in one of the three before
	user    string
}

// outcome reads it from the server.
func outcomeOf(t *testing.T, r *raid) outcome {
	t.Helper()
	earned, err := r.operator.Rewards(t.Context(), "me", client.LastMonth)
	if err != nil {
		t.Fatal(err)
	}
	served := map[time.Time]bool{}
	for _, at := range r.heard {
		for m := range 4 {
			if at := at.Add(time.Duration(m) * time.Minute); at.Before(end) {
				served[at] = true
			}
		}
	}
	return outcome{earned.Breakdown, earned.Summary.TotalEarned, len(served), earned.UserID}
}

// staff returns a client with the key of an administrator.
func (w *world) staff(t *testing.T) *client.Client {
	t.Helper()
	staff, err := client.New(w.url, w.key)
	if err != nil {
		t.Fatal(err)
	}
	return staff
}

// queue returns the kinds of the flags of each operator, once the last day is reviewed.
func (w *world) queue(t *testing.T) map[string][]string {
	t.Helper()
	staff := w.staff(t)
	kinds := map[string][]string{}
	harness.Eventually(t, "the last day is reviewed", func() bool {
		review, err := staff.Review(t.Context(), client.ReviewQuery{PageQuery: client.PageQuery{PerPage: 100}})
		if err != nil {
			t.Fatal(err)
		}
		clear(kinds)
		last := false
		for _, f := range review.Flags {
			last = last || f.LastDay == end.AddDate(0, 0, -1).Format(time.DateOnly)
			if !slices.Contains(kinds[f.OperatorID], f.Kind) {
				kinds[f.OperatorID] = append(kinds[f.OperatorID], f.Kind)
			}
		}
		return last
	})
	return kinds
}

// service is what the minutes are worth at the place of one hotspot, in credits.
func (o outcome) service() float64 { return float64(o.minutes) / 1440 }

func credits(a client.Amount) float64 { return float64(a) / 1e6 }
