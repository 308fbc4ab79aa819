package bench

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/holds"
	"github.com/beacon-wifi/beacon/internal/rewards/places"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
)

// records stands for telemetry while a world is made: every day before one is
// final, and its records say what happened.
type records struct{ before beacon.Day }

func (r records) FinalBefore() (beacon.Day, bool) { return r.before, true }

func (records) DidOf(data []byte) (beacon.Did, error) { return heartbeat.RecordDid(data) }

func (records) Decided(context.Context, beacon.Day, []beacon.HotspotID) (map[beacon.HotspotID]beacon.Did, error) {
	return nil, nil
}

func (records) Facts(context.Context, beacon.Day, []beacon.HotspotID) (map[beacon.HotspotID]beacon.Facts, error) {
	return nil, nil
}

// keep takes the lease under which records and books are written, for as long as
// a world is made.
func keep(b *testing.B, db *store.DB, work func(held lease.Lease)) {
	b.Helper()
	take := func(ttl time.Duration) lease.Lease {
		held, taken, err := db.Leases.TakeLease(b.Context(), "keeper", "bench", time.Now(), ttl)
		if err != nil || !taken {
			b.Fatalf("lease: %v, taken %v", err, taken)
		}
		return held
	}
	work(take(time.Hour))
	take(-time.Second)
}

// keepBooks closes days and settles months as a server does that is started at a
// books is what rewards need of a database.
type books interface {
	rewards.Store
	closing.Days
	closing.Months
	places.Store
	holds.Store
}

// time, until the books have come far enough.
func keepBooks(
	b *testing.B, db books, t closing.Telemetry, held lease.Lease, now time.Time, enough func(ledger.Books) (bool, error),
) {
	b.Helper()
	r := closing.New(closing.Config{
		Ledger: rewards.New(rewards.Config{Store: db, Policies: policy.Devices(), Clock: clock.Of(func() time.Time { return now })}),
		Days:   db, Months: db, Places: db, Holds: db, Telemetry: t,
		Lease: func() (lease.Lease, bool) { return held, true },
		Log:   slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err := r.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan struct{})
	go func() {
		r.Run(ctx)
		close(ended)
	}()
	for done, deadline := false, time.Now().Add(15*time.Minute); !done; time.Sleep(100 * time.Millisecond) {
		err := db.Books(b.Context(), func(books ledger.Books) (err error) {
			done, err = enough(books)
			return err
		})
		if err != nil || time.Now().After(deadline) {
			b.Fatalf("the books do not get there: %v", err)
		}
	}
	stop()
	<-ended
}

// someDay is what a hotspot of these worlds does: it beats each minute until it
// falls silent in the evening, and measures its uplink four times a day.
type someDay struct {
	past *heartbeat.Backfill
	seq  uint64
}

func newSomeDay(since time.Time) *someDay {
	var h beacon.Hotspot
	h.Location.VerifiedAt, h.Device.LinkedAt = since, since
	return &someDay{past: heartbeat.NewBackfill(heartbeat.NewOutages(), h)}
}

// beat lets it beat from one time until before another.
func (d *someDay) beat(from, to time.Time) {
	for at := from; at.Before(to); at = at.Add(time.Minute) {
		d.seq++
		beat := heartbeat.Beat{At: at.UnixMicro(), Heartbeat: beacon.Heartbeat{
			Boot: 0xfeedc0ffee, Seq: d.seq, Bytes: d.seq * 16_777_259, Clients: 3 + int(d.seq%7), Signal: beacon.GoodSignal,
		}}
		if d.seq%360 == 7 {
			beat.Test = beacon.SpeedTest{DownMbps: 93.27, UpMbps: 12.5, LatencyMs: 23.4}
		}
		d.past.Beats(&beat, 1)
	}
}

// record gives the record of a day, as a fold at a time writes it.
func (d *someDay) record(b *testing.B, day beacon.Day, now time.Time) []byte {
	b.Helper()
	var record []byte
	d.past.Fold(now, day, func(r *heartbeat.Record) {
		if r.Day() == day {
			record = r.Append(nil)
		}
	})
	if record == nil {
		b.Fatalf("a fold at %s wrote no record of %s", now, day)
	}
	return record
}

// putRecords gives every hotspot the same record of a day.
func putRecords(b *testing.B, db *store.DB, held lease.Lease, ids []beacon.HotspotID, day beacon.Day, data []byte) {
	b.Helper()
	const chunk = 500 // as many as a fold writes at once
	for len(ids) > 0 {
		some := ids[:min(chunk, len(ids))]
		ids = ids[len(some):]
		rows := make([]beacon.RecordRow, len(some))
		for i, id := range some {
			rows[i] = beacon.RecordRow{Hotspot: id, Day: day, Data: data}
		}
		if err := db.Records.PutRecords(b.Context(), held, rows); err != nil {
			b.Fatal(err)
		}
	}
}
