package telemetry

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
)

// announceChunk bounds how many transitions are in a transaction.
const announceChunk = 200

// announce appends events for hotspots that came online or went offline since the last
// call. Only the lease holder does so. After taking the lease, or after a failure, it
// first reads what was announced last.
func (t *Telemetry) announce(ctx context.Context) error {
	held, holder := t.Lease()
	if !holder {
		t.announcedUnder = 0
		return nil
	}
	if time.Since(t.watchFailed) < watchPause {
		return nil
	}
	if t.announcedUnder != held.Token {
		if err := t.readAnnounced(ctx); err != nil {
			return err
		}
	}
	now := t.Clock.Now()
	t.announcedUnder = 0
	if err := t.writeChanges(ctx, held, t.Fleet.StatusChanges(now, t.inGracePeriod(now))); err != nil {
		t.watchFailed = time.Now()
		if errors.Is(err, beacon.ErrTooEarly) {
			return nil
		}
		return err
	}
	t.announcedUnder = held.Token
	return nil
}

// watchPause is how long announce waits after a failure, or when it is too early: checking
// all hotspots each second while nothing can be written would help nobody.
const watchPause = 10 * time.Second

// inGracePeriod reports whether it is too early to call a hotspot offline: after an outage
// of ours, none has had the time to send a beat.
func (t *Telemetry) inGracePeriod(now time.Time) bool {
	return now.Sub(t.upSince()) <= beacon.OfflineAfter
}

// writeChanges appends the events of hotspots that came online or went offline.
func (t *Telemetry) writeChanges(ctx context.Context, held lease.Lease, changed []beacon.Transition) error {
	if len(changed) == 0 {
		return nil
	}
	// Before calling a hotspot offline: did we stand still, or was the clock set?
	if err := t.mark(ctx); err != nil {
		return err
	}
	if t.inGracePeriod(t.Clock.Now()) {
		changed = slices.DeleteFunc(changed, func(tr beacon.Transition) bool { return !tr.Online })
	}
	if err := t.Events.Step(ctx, held); err != nil {
		return err
	}
	for chunk := range slices.Chunk(changed, announceChunk) {
		if err := t.Store.Announce(ctx, held, chunk); err != nil {
			return err
		}
		for _, tr := range chunk {
			t.Fleet.SetAnnounced(tr.Hotspot, tr.Online)
		}
		t.Events.Appended()
	}
	return nil
}

// readAnnounced loads what was announced last, by any lease holder.
func (t *Telemetry) readAnnounced(ctx context.Context) error {
	return t.Store.EachStatus(ctx, func(hotspot beacon.HotspotID, online bool) error {
		t.Fleet.SetAnnounced(hotspot, online)
		return nil
	})
}
