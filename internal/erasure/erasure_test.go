package erasure_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/erasure"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

var errDamaged = errors.New("a row is damaged")

// damaged is a store in which the hotspots of one user cannot be read.
type damaged struct {
	store.UserTable
	store.KeyTable
	store.HotspotTable
	store.ChangeTable
	store.HoldTable
	store.LedgerTable
	user beacon.UserID
}

func (s damaged) EverOf(ctx context.Context, user beacon.UserID, after beacon.HotspotID, limit int) ([]beacon.Hotspot, error) {
	if user == s.user {
		return nil, errDamaged
	}
	return s.HotspotTable.EverOf(ctx, user, after, limit)
}

// Someone who cannot be erased does not keep others from it.
func TestStep_OneFails(t *testing.T) {
	db := storetest.Opened(t)(sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "beacon.db"), sqlite.Options{Now: storetest.Now}))
	users := []beacon.UserID{"usr_00000000000000000000000001", "usr_00000000000000000000000002", "usr_00000000000000000000000003"}
	now := storetest.Now
	e := erasure.New(erasure.Config{
		Wishes: db.Users,
		Store:  damaged{db.Users, db.Keys, db.Hotspots, db.Changes, db.Holds, db.Ledger, users[1]},
		Clock:  clock.Of(func() time.Time { return now }),
		Lease:  func() (lease.Lease, bool) { return lease.Lease{}, true },
		Log:    slog.New(slog.DiscardHandler),
	})
	for n, user := range users {
		h := storetest.Hotspot(n)
		h.Operator = user
		if err := db.Hotspots.InsertHotspot(t.Context(), h, beacon.Actor{}, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Ask(t.Context(), beacon.Principal{User: user}, user); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(beacon.ErasureWait)
	if err := e.Step(t.Context()); !errors.Is(err, errDamaged) {
		t.Errorf("it says %v; want %v", err, errDamaged)
	}
	for n, user := range users {
		wish, err := e.Get(t.Context(), beacon.Principal{User: user}, user)
		if err != nil {
			t.Fatal(err)
		}
		if fails := n == 1; wish.Erased.IsZero() != fails {
			t.Errorf("%s was erased at %v", user, wish.Erased)
		}
	}
}
