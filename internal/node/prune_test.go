package node

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/postgres"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// A clock that is a year ahead deletes nothing that has not expired by the other witnesses:
// the MAC address that an operator gave up an hour ago is still reserved.
func TestPrune_ClockAhead(t *testing.T) {
	for name, open := range map[string]func(*testing.T) (*store.DB, error){
		"sqlite": func(t *testing.T) (*store.DB, error) {
			return sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "beacon.db"), sqlite.Options{Now: time.Now(), Wait: storetest.Patience})
		},
		"postgres": func(t *testing.T) (*store.DB, error) {
			return postgres.Open(t.Context(), storetest.Patient(t, storetest.Postgres(t)), postgres.Options{Now: time.Now()})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testPruneAhead(t, storetest.Opened(t)(open(t)))
		})
	}
}

func testPruneAhead(t *testing.T, db *store.DB) {
	var ahead atomic.Int64
	n := New(db, Config{
		Limits: edge.DefaultLimits(), Policies: policy.Devices(), Rate: 1, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
	})
	if err := n.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { n.Run(ctx) })
	defer running.Wait()
	defer cancel()
	for n.clock.Certain().IsZero() {
		time.Sleep(time.Millisecond) // between two looks
	}
	h := storetest.Hotspot(1)
	if err := db.Hotspots.InsertHotspot(t.Context(), h, beacon.Actor{User: h.Operator, Request: "test"}, nil); err != nil {
		t.Fatal(err)
	}
	freed := h.Device.MAC
	_, err := db.Hotspots.UpdateHotspot(t.Context(), h.ID, beacon.Actor{User: h.Operator, Request: "test"}, beacon.HotspotUpdated,
		func(h *beacon.Hotspot) (bool, error) {
			h.Device.MAC, h.UpdatedAt = storetest.Hotspot(2).Device.MAC, time.Now().Add(-time.Hour)
			return true, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	ahead.Store(int64(365 * 24 * time.Hour))
	if err := n.prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	owner, err := db.Hotspots.ReleaseMAC(t.Context(), freed, "test", beacon.Actor{Request: "test"}, time.Now())
	if err != nil || owner != h.Operator {
		t.Errorf("%s is reserved for %q, %v; want %q", freed, owner, err, h.Operator)
	}
}
