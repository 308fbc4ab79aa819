package storetest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

// tallies checks that what a user may do in a day is counted exactly by one node, whatever
// it commits together, and over nodes that write in turns.
func tallies(t *testing.T, database Database) {
	nodes := []*store.DB{database.open(t), database.open(t)}
	const hotspots, most = 40, 150 // of MAC addresses
	for n := range hotspots {
		insert(t, nodes[0], Hotspot(n))
	}
	var next atomic.Int64 // address
	next.Store(hotspots)
	change := func(ctx context.Context, db *store.DB, hotspot int, by beacon.Actor) error {
		_, err := db.Hotspots.UpdateHotspot(ctx, Hotspot(hotspot).ID, by, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
			h.Device.MAC = mac(int(next.Add(1)))
			return true, nil
		})
		return err
	}
	by := Actor
	by.CountedAt = Now
	for range 50 {
		must(struct{}{}, change(t.Context(), nodes[1], 0, by))
	}
	var done atomic.Int64
	var all sync.WaitGroup
	for n := range 4 * hotspots {
		all.Go(func() {
			switch err := insist(func() error { return change(t.Context(), nodes[0], n%hotspots, by) }); {
			case err == nil:
				done.Add(1)
			default:
				wantKind(t, "one too many", err, beacon.RateLimited)
			}
		})
	}
	all.Wait()
	if done.Load() != most-50 {
		t.Errorf("%d changes were made; want %d", done.Load(), most-50)
	}
	head := must(nodes[0].Changes.Heads(t.Context()))[nodes[0].Node()]
	if head != int64(hotspots+most-50) {
		t.Errorf("the stream has %d changes; want %d", head, hotspots+most-50)
	}

	spent := func(what string, by beacon.Actor) {
		t.Helper()
		for _, db := range nodes {
			wantKind(t, what, change(t.Context(), db, 1, by), beacon.RateLimited)
		}
	}
	spent("on both nodes", by)
	other, uncounted, tomorrow := by, Actor, by
	other.User, tomorrow.CountedAt = "usr_other", Now.Add(12*time.Hour)
	for what, allowed := range map[string]beacon.Actor{"another user": other, "who is not counted": uncounted, "the day after": tomorrow} {
		if err := change(t.Context(), nodes[1], 2, allowed); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(struct{}{}, nodes[0].Users.SetQuota(t.Context(), by.User, beacon.Quota{Hotspots: 51}, Actor, Now))
	for range 3 {
		must(struct{}{}, change(t.Context(), nodes[0], 3, by))
	}
	spent("with a higher quota", by)
	must(struct{}{}, nodes[0].Users.PruneTallies(t.Context(), Now))
	spent("pruned on that day", by)
	must(struct{}{}, nodes[0].Users.PruneTallies(t.Context(), tomorrow.CountedAt))
	must(struct{}{}, change(t.Context(), nodes[0], 3, by)) // it is forgotten
}
