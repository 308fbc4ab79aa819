package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
	"golang.org/x/sync/errgroup"
)

// writer writes a network with its past. What was done with hotspots comes first: the
// map needs no more. The records of each day follow. Days are closed and months settled
// as by a server.
type writer struct {
	db      *store.DB
	network *Network
	held    lease.Lease
	rewards *closing.Closer
	books   *books
	said    map[*byte]*beacon.Did // by the records of the last days

	// The clock for closing and settling, and the day before which everything is
	// written. They change only between two steps.
	now   time.Time
	final beacon.Day

	ahead []deed // about holds

	wrote    func()                      // is called after each day
	recorded func(context.Context) error // is called once all records are on disk
}

// take takes the lease of servers, or gives it back.
func (w *writer) take(ctx context.Context, ttl time.Duration) (err error) {
	var taken bool
	w.held, taken, err = w.db.Leases.TakeLease(ctx, store.HolderLease, w.db.Node(), time.Now(), ttl)
	if err == nil && !taken {
		err = errors.New("another server writes to this database")
	}
	return err
}

// writeHotspots writes the hotspots, with all that was done with them.
func (w *writer) writeHotspots(ctx context.Context) error {
	if err := w.take(ctx, time.Hour); err != nil {
		return err
	}
	if err := w.db.Settings.SetBlur(ctx, w.network.Blur(), byDemo, w.network.Began()); err != nil {
		return err
	}
	if w.network.Lively {
		if err := w.db.Settings.SetIdentity(ctx, w.network.identity(), byDemo, w.network.Began()); err != nil {
			return err
		}
	}
	if err := w.register(ctx); err != nil {
		return fmt.Errorf("register the hotspots: %w", err)
	}
	// The service was up until now. The time until the server starts is its downtime:
	// no hotspot is expected to serve then.
	since, now := w.network.Began(), w.network.Now
	if err := w.db.Clocks.ExtendSpan(ctx, int64(beacon.MinuteOf(since)), int64(beacon.MinuteOf(now))); err != nil {
		return err
	}
	return w.open(ctx)
}

// open makes what closes the days. The policies of the network are in the database then.
func (w *writer) open(ctx context.Context) (err error) {
	ids := make([]beacon.HotspotID, len(w.network.Hotspots))
	for i, s := range w.network.Hotspots {
		ids[i] = s.ID
	}
	if w.books, err = newBooks(ctx, w.db, w.held, ids); err != nil {
		return err
	}
	var remembered ground.Memory
	w.rewards = closing.New(closing.Config{
		Ledger: rewards.New(rewards.Config{
			Store: w.books, Policies: policy.Devices(), Founding: policy.BuiltIn(),
			Clock: clock.New(clock.Config{Store: w.db.Clocks, Now: func() time.Time { return w.now }}),
		}),
		Days: w.books, Months: w.books, Places: w.books, Holds: w.books, Telemetry: w, Divide: remembered.Divide,
		Lease: func() (lease.Lease, bool) { return w.held, true },
		Log:   slog.New(slog.DiscardHandler),
	})
	w.now = w.network.Now
	return w.rewards.Start(ctx)
}

// writeHistory writes the days, and gives the lease back. What servers know of the open
// days is complete with the standings, so they come last.
func (w *writer) writeHistory(ctx context.Context) error {
	if w.network.Lively {
		w.ahead = w.network.deeds()
		if err := w.checkIn(ctx); err != nil {
			return fmt.Errorf("let phones check in: %w", err)
		}
	}
	if err := w.live(ctx); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	if err := errors.Join(w.decide(ctx, w.network.Now), w.books.flush(ctx)); err != nil {
		return err
	}
	if err := w.recorded(ctx); err != nil {
		return err
	}
	if err := w.books.putStandings(ctx); err != nil {
		return err
	}
	if err := w.review(ctx); err != nil {
		return fmt.Errorf("review the hotspots: %w", err)
	}
	return w.take(ctx, 0)
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

// register writes what was done with hotspots. The last week is written in exact order.
// Before that only the days are in order: nobody reads it, and it takes a tenth of the
// time.
func (w *writer) register(ctx context.Context) error {
	for ahead := w.happenings(); len(ahead) > 0; {
		n := 1
		for n < len(ahead) && ahead[n].slot.Equal(ahead[0].slot) && ahead[n].step == ahead[0].step {
			n++
		}
		if err := together(ctx, ahead[:n], w.happen); err != nil {
			return err
		}
		ahead = ahead[n:]
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
		err := w.db.Hotspots.InsertHotspot(ctx, fresh, by, nil)
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
			row.Device.LinkedAt, row.Device.KeyHash, row.Device.Agent = h.at, hash, s.Hotspot.Device.Agent
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
	_, err := w.db.Hotspots.UpdateHotspot(ctx, h.hotspot.ID, by, kind, func(row *beacon.Hotspot) (bool, error) {
		row.UpdatedAt = h.at
		return true, change(row)
	})
	return err
}

// recordedDay is the records of a day, and what each says.
type recordedDay struct {
	day     beacon.Day
	records []beacon.RecordRow
	said    []beacon.Did
}

// live writes the records of each day, closes it, and settles each month when it is
// due. The next day is generated meanwhile.
func (w *writer) live(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	made := make(chan recordedDay, 2)
	group.Go(func() error {
		defer close(made)
		return w.network.Live(func(day beacon.Day, records []beacon.RecordRow, said []beacon.Did) error {
			select {
			case made <- recordedDay{day, records, said}:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	})
	group.Go(func() error {
		for d := range made {
			if err := w.keep(ctx, d); err != nil {
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

// keep takes the records of a day and, if they are final, closes it.
func (w *writer) keep(ctx context.Context, d recordedDay) error {
	for _, r := range w.books.record(d.day, d.records) {
		delete(w.said, &r.Data[0])
	}
	for i := range d.records {
		w.said[&d.records[i].Data[0]] = &d.said[i]
	}
	if d.day >= w.network.Final() {
		return nil // the server will close it
	}
	w.now, w.final = (d.day + 1).Time().Add(closedAfter), d.day+1
	if err := w.decide(ctx, w.now); err != nil {
		return err
	}
	return w.rewards.Step(ctx)
}

// FinalBefore and DidOf implement closing.Telemetry for days that are over.
func (w *writer) FinalBefore() (beacon.Day, bool) { return w.final, true }

// DidOf returns what a record says. The simulation knew it, so none is decoded.
func (w *writer) DidOf(record []byte) (beacon.Did, error) {
	if did := w.said[&record[0]]; did != nil {
		return *did, nil
	}
	return heartbeat.RecordDid(record)
}
