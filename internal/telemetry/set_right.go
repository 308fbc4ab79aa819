package telemetry

import (
	"context"
	"errors"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// byClock is who corrects times of a clock that was ahead.
var byClock = beacon.Actor{Request: "clock", Note: "it was changed while a clock was ahead; its times are set right"}

// setRight corrects the times of hotspots that were changed while a clock was ahead:
// otherwise one that was linked then would be in service only from that time on (decision
// D114). It is called before minutes are decided by a clock that is right again.
func (t *Telemetry) setRight(ctx context.Context, clock reading) error {
	if newest := t.Fleet.TakeChangedAt(); newest.After(t.changed) {
		t.changed = newest
	}
	latest := (clock.latest + heartbeat.FinalLag).Time()
	if t.Rate == 0 || !clock.steady || !t.changed.After(latest) {
		return nil
	}
	right := clock.backTo
	if t.decided <= beacon.MinuteOf(clock.upTo) { // otherwise by the clock that was ahead
		right = max(right, t.decided)
	}
	ids, err := t.Store.HotspotsChangedAfter(ctx, latest)
	if err != nil {
		return err
	}
	for _, id := range ids {
		h, err := t.Store.UpdateHotspot(ctx, id, byClock, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
			return h.SetRight(latest, right.Time()), nil
		})
		var failed *beacon.Error
		if errors.As(err, &failed) && failed.Kind == beacon.NotFound {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return err
		}
		if err := t.Fleet.Apply(h); err != nil {
			return err
		}
	}
	if clock.latest <= beacon.MinuteOf(clock.upTo)+heartbeat.FinalLag { // otherwise a clock is ahead: what was changed by it is not right yet
		t.changed = time.Time{}
	}
	return nil
}
