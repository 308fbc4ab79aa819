package telemetry

import (
	"context"
	"errors"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// HistoryQuery asks for the history of a hotspot between two times, in steps of whole
// hours.
type HistoryQuery struct {
	Hotspot  beacon.HotspotID
	From, To time.Time
	Step     time.Duration
	Deleted  bool // also of a hotspot that was deleted
}

// History is the result, one point for each step.
type History struct {
	HistoryQuery
	Points []heartbeat.Point
}

// History returns what records say, and for today also what is not in them yet. A damaged
// record is skipped: nothing was expected on its day.
func (t *Telemetry) History(ctx context.Context, q HistoryQuery) (History, error) {
	if _, ok := t.Fleet.Find(q.Hotspot); !ok && !q.Deleted {
		return History{}, beacon.NoSuch("hotspot")
	}
	// A minute may be served by a beat of the day before.
	first, last := beacon.MinuteOf(q.From).Day()-1, beacon.MinuteOf(q.To).Day()
	rows, err := t.Store.RecordsOf(ctx, q.Hotspot, first, last)
	if err != nil {
		return History{}, err
	}
	var records []*heartbeat.Record
	for _, row := range rows {
		r, err := heartbeat.DecodeRecord(row.Data)
		switch {
		case errors.Is(err, beacon.ErrDamaged):
			t.Log.Error("a heartbeat record is damaged and was left out of a history", "hotspot", row.Hotspot, "day", row.Day, "err", err)
		case err != nil: // of a newer program
			return History{}, err
		default:
			records = append(records, r)
		}
	}
	now := t.Clock.Now()
	if last >= beacon.MinuteOf(now).Day() {
		records = t.Fleet.Latest(q.Hotspot, records, now)
	}
	return History{q, heartbeat.Series(records, q.From, q.To, q.Step)}, nil
}
