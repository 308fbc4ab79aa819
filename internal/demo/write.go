package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
)

// writer writes a network with its past, in the order in which it happened. Days
// are closed and months settled as by a server.
type writer struct {
	db      *store.DB
	network *Network
	held    lease.Lease
	ahead   []happening

	// The clock for closing and settling, and the day before which everything is
	// written. They change only between two steps.
	now   time.Time
	final beacon.Day

	wrote func() // is called after each day
}

func (w *writer) write(ctx context.Context) error {
	take := func(ctx context.Context, ttl time.Duration) (err error) {
		var taken bool
		w.held, taken, err = w.db.TakeLease(ctx, store.KeeperLease, w.db.Node(), time.Now(), ttl)
		if err == nil && !taken {
			err = errors.New("another server writes to this database")
		}
		return err
	}
	if err := take(ctx, time.Hour); err != nil {
		return err
	}
	if err := w.db.SetBlur(ctx, w.network.Blur(), byDemo, w.network.Began()); err != nil {
		return err
	}
	if err := w.live(ctx); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	// The service was up until now. The time until the server starts is its downtime:
	// no hotspot is expected to serve then.
	since, now := w.network.Began(), w.network.Now
	if err := w.db.ExtendSpan(ctx, int64(beacon.MinuteOf(since)), int64(beacon.MinuteOf(now))); err != nil {
		return err
	}
	return take(ctx, 0)
}

// happening is one event in the life of a hotspot.
type happening struct {
	hotspot *Hotspot
	step    int // one of those below
	at      time.Time
	slot    time.Time // those of one slot and step can be written in any order
}

// The steps of a hotspot's life.
const (
	stepRegistered = iota
	stepVerified
	stepLinked
	stepMoved
	stepFound
	stepDeleted
)

// register writes what was done with hotspots before a time. The last week is written
// in exact order. Before that only the days are in order: nobody reads it, and it
// takes a tenth of the time.
func (w *writer) register(ctx context.Context, before time.Time) error {
	for len(w.ahead) > 0 && w.ahead[0].at.Before(before) {
		n := 1
		for n < len(w.ahead) && w.ahead[n].slot.Equal(w.ahead[0].slot) && w.ahead[n].step == w.ahead[0].step {
			n++
		}
		if err := together(ctx, w.ahead[:n], w.happen); err != nil {
			return err
		}
		w.ahead = w.ahead[n:]
	}
	return nil
}

func (w *writer) happenings() (all []happening) {
	recent := w.network.Now.AddDate(0, 0, -8).Truncate(24 * time.Hour)
	for _, s := range w.network.Hotspots {
		times := []time.Time{
			stepRegistered: s.CreatedAt, stepVerified: s.Location.VerifiedAt, stepLinked: s.Hotspot.Device.LinkedAt, stepDeleted: s.DeletedAt,
		}
		if m := s.move; m != nil {
			times[stepVerified], times[stepMoved], times[stepFound] = s.before.Location.VerifiedAt, m.registered, m.found
		}
		for step, at := range times {
			slot := at
			if at.Before(recent) {
				slot = at.Truncate(24 * time.Hour)
			}
			if !at.IsZero() {
				all = append(all, happening{s, step, at, slot})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b happening) int { return cmp.Or(a.slot.Compare(b.slot), cmp.Compare(a.step, b.step)) })
	return all
}

// measuredWithinM is how exactly a visit measures where a hotspot stands.
const measuredWithinM = 5

// happen writes it, with its actor.
func (w *writer) happen(ctx context.Context, h happening) error {
	by := byDemo
	by.User = h.hotspot.Operator
	var kind beacon.ChangeKind
	var change func(*beacon.Hotspot) error
	switch s := h.hotspot; h.step {
	case stepRegistered:
		fresh := s.At(h.at)
		fresh.UpdatedAt = h.at
		_, err := w.db.InsertHotspot(ctx, fresh, by, nil)
		return err
	case stepVerified, stepFound:
		by.User, by.Note = w.network.Staff, "site visit"
		kind = beacon.HotspotVerified
		change = func(row *beacon.Hotspot) error { return find(row, w.network.Staff, h.at) }
	case stepLinked:
		plain, hash := access.MintDevice(s.ID)
		s.Device.Serve(string(s.ID), plain)
		kind = beacon.HotspotLinked
		change = func(row *beacon.Hotspot) error {
			row.Device.LinkedAt, row.Device.KeyHash = h.at, hash
			return nil
		}
	case stepMoved:
		kind = beacon.HotspotUpdated
		change = func(row *beacon.Hotspot) error { return register(row, s.Location.Point, h.at) }
	case stepDeleted:
		kind = beacon.HotspotDeleted
		change = func(row *beacon.Hotspot) error {
			row.DeletedAt = h.at
			return nil
		}
	}
	_, err := w.db.UpdateHotspot(ctx, h.hotspot.ID, by, kind, func(row *beacon.Hotspot) (bool, error) {
		row.UpdatedAt = h.at
		return true, change(row)
	})
	return err
}

// recordedDay is the records of a day.
type recordedDay struct {
	day     beacon.Day
	records []beacon.RecordRow
}

// live writes the records of each day, closes it, and settles each month when it is
// due. The next day is generated meanwhile.
func (w *writer) live(ctx context.Context) error {
	books := rewards.New(rewards.Config{
		Store: w.db, Telemetry: w, Policies: policy.Devices(), Founding: policy.BuiltIn(),
		Lease: func() (lease.Lease, bool) { return w.held, true },
		Now:   func() time.Time { return w.now },
		Log:   slog.New(slog.DiscardHandler),
	})
	w.now, w.ahead = w.network.Now, w.happenings()
	if err := books.Start(ctx); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	made := make(chan recordedDay, 2)
	group.Go(func() error {
		defer close(made)
		return w.network.Live(func(day beacon.Day, records []beacon.RecordRow) error {
			select {
			case made <- recordedDay{day, records}:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	})
	group.Go(func() error {
		for d := range made {
			if err := w.keep(ctx, books, d); err != nil {
				return err
			}
			w.wrote()
		}
		return nil
	})
	return group.Wait()
}

// closedAfter is how long after midnight a day is closed.
const closedAfter = 7 * time.Minute

// keep writes what happened on a day and, if its records are final, closes it.
func (w *writer) keep(ctx context.Context, books *rewards.Rewards, d recordedDay) error {
	if err := w.register(ctx, (d.day + 1).Time()); err != nil {
		return fmt.Errorf("register the hotspots: %w", err)
	}
	for some := range slices.Chunk(d.records, recordsAtOnce) {
		if err := w.db.PutRecords(ctx, w.held, some); err != nil {
			return err
		}
	}
	if d.day >= w.network.Final() {
		return nil // the server will close it
	}
	w.now, w.final = (d.day + 1).Time().Add(closedAfter), d.day+1
	return books.Step(ctx)
}

// recordsAtOnce is how many records are written in one transaction. Nothing else
// waits for it.
const recordsAtOnce = 2000

// FinalBefore, Facts and DidOf implement rewards.Telemetry for days that are over.
func (w *writer) FinalBefore() (beacon.Day, bool) { return w.final, true }

// Facts returns nothing: all days are over.
func (*writer) Facts(context.Context, beacon.Day, []beacon.HotspotID) (map[beacon.HotspotID]beacon.Facts, error) {
	return nil, nil
}

// Decided returns nothing either.
func (*writer) Decided(context.Context, beacon.Day, []beacon.HotspotID) (map[beacon.HotspotID]beacon.Did, error) {
	return nil, nil
}

// DidOf decodes a record.
func (*writer) DidOf(record []byte) (beacon.Did, error) { return heartbeat.RecordDid(record) }
