package telemetry

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/lease"
)

// announceChunk bounds how many transitions are in a transaction.
const announceChunk = 200

// arrivals are hotspots that beat and were not announced as online.
type arrivals struct {
	mu  sync.Mutex
	ids []beacon.HotspotID
}

// maxArrivals bounds the memory on a node that does not announce. A node that begins to
// announce checks all hotspots first.
const maxArrivals = 50_000

func (a *arrivals) add(ids []beacon.HotspotID) {
	if len(ids) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.ids) < maxArrivals {
		a.ids = append(a.ids, ids...)
	}
}

func (a *arrivals) take() []beacon.HotspotID {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids := a.ids
	a.ids = nil
	return ids
}

// announce appends events for hotspots that came online or went offline since the last
// call. Only the lease holder does so. After taking the lease, or after a failure, it
// checks all hotspots; from then on only those that beat without having been announced,
// and those that fell silent.
func (t *Telemetry) announce(ctx context.Context) error {
	held, keeper := t.Keeper()
	came := t.arrivals.take()
	if !keeper {
		t.watching = 0
		return nil
	}
	if time.Since(t.watchFailed) < watchPause {
		return nil
	}
	now := t.Now()
	var changed []beacon.Transition
	if t.watching == held.Token && len(came) < maxArrivals {
		changed = t.changedSince(came, now)
	} else {
		if err := t.readAnnounced(ctx); err != nil {
			return err
		}
		changed = t.changedAll(now)
	}
	t.watching = 0
	if err := t.tell(ctx, held, changed); err != nil {
		t.watchFailed = time.Now()
		return err
	}
	t.watching = held.Token
	return nil
}

// watchPause is how long announce waits after a failure: checking all hotspots each
// second while nothing can be written would help nobody.
const watchPause = 10 * time.Second

// patient reports whether it is too early to call a hotspot offline: after an outage of
// ours, none has had the time to send a beat.
func (t *Telemetry) patient(now time.Time) bool { return now.Sub(t.upSince()) <= beacon.OfflineAfter }

// changedSince returns the transitions of hotspots that may have changed.
func (t *Telemetry) changedSince(came []beacon.HotspotID, now time.Time) (changed []beacon.Transition) {
	if !t.patient(now) {
		for _, raw := range t.Table.Silent(now.Add(-beacon.OfflineAfter).UnixMicro()) {
			came = append(came, beacon.HotspotID(raw.Format(beacon.HotspotPrefix)))
		}
	}
	slices.Sort(came)
	for _, id := range slices.Compact(came) {
		if spot, ok := t.Fleet.Find(id); ok {
			if tr, ok := transition(spot, now); ok {
				changed = append(changed, tr)
			}
		}
	}
	return changed
}

func (t *Telemetry) changedAll(now time.Time) (changed []beacon.Transition) {
	patient := t.patient(now)
	t.Fleet.All(func(s *fleet.Hotspot) bool {
		if tr, ok := transition(s, now); ok && (tr.Online || !patient) {
			changed = append(changed, tr)
		}
		return true
	})
	return changed
}

func (t *Telemetry) tell(ctx context.Context, held lease.Lease, changed []beacon.Transition) error {
	if len(changed) == 0 {
		return nil
	}
	// Before calling a hotspot offline: did we stand still, or was the clock set?
	if err := t.mark(ctx); err != nil {
		return err
	}
	if t.patient(t.Now()) {
		changed = slices.DeleteFunc(changed, func(tr beacon.Transition) bool { return !tr.Online })
	}
	if err := t.Before(ctx, held); err != nil {
		return err
	}
	for chunk := range slices.Chunk(changed, announceChunk) {
		if err := t.Store.Announce(ctx, held, chunk); err != nil {
			return err
		}
		for _, tr := range chunk {
			t.Fleet.With(tr.Hotspot, func(live *heartbeat.Live) { live.Announce(tr.Online) })
		}
		t.Told()
	}
	return nil
}

// transition returns the change to announce, and reports whether there is one: the
// status announced last does not hold any more.
func transition(s *fleet.Hotspot, now time.Time) (beacon.Transition, bool) {
	live := s.Live()
	if live == nil {
		return beacon.Transition{}, false
	}
	online := s.StatusAt(now) == beacon.Online
	if online == live.Announced() {
		return beacon.Transition{}, false
	}
	at := time.UnixMicro(live.Seen()).UTC()
	if !online {
		if at = at.Add(beacon.OfflineAfter); at.After(now) {
			at = now // it was unlinked while it was online
		}
	}
	return beacon.Transition{Hotspot: beacon.HotspotID(s.ID()), Online: online, At: at}, true
}

// readAnnounced loads what was announced last, by any lease holder.
func (t *Telemetry) readAnnounced(ctx context.Context) error {
	return t.Store.EachStatus(ctx, func(hotspot beacon.HotspotID, online bool) error {
		t.Fleet.With(hotspot, func(live *heartbeat.Live) { live.Announce(online) })
		return nil
	})
}
