// Package erasure erases users who asked for it: it revokes their keys, deletes their
// hotspots, and takes away what says who they were. What they earned stays in the books,
// under ids that say nothing by themselves (decision D185).
//
// Its one invariant: every step can be done again. A process that stops in the middle, or
// two that erase at the same time, leave nothing that the next step does not find.
package erasure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// Wishes is who asked to be erased. Package store says what each method promises.
type Wishes interface {
	AskErasure(ctx context.Context, e beacon.Erasure, by beacon.Actor) (beacon.Erasure, error)
	WithdrawErasure(ctx context.Context, user beacon.UserID, by beacon.Actor, now time.Time) error
	Erasure(ctx context.Context, user beacon.UserID) (beacon.Erasure, bool, error)
	DueErasures(ctx context.Context, after beacon.UserID, now time.Time, limit int) ([]beacon.Erasure, error)
	StepErasure(ctx context.Context, e beacon.Erasure, by beacon.Actor, now time.Time) (bool, error)
}

// Store is what this package needs of the rest of a database.
type Store interface {
	Keys(ctx context.Context, user beacon.UserID, after beacon.KeyPlace, offset, limit int) ([]beacon.Key, int, error)
	RevokeKey(ctx context.Context, id beacon.KeyID, at time.Time, by beacon.Actor) error
	EraseKey(ctx context.Context, k beacon.Key) error
	EverOf(ctx context.Context, user beacon.UserID, after beacon.HotspotID, limit int) ([]beacon.Hotspot, error)
	UpdateHotspot(ctx context.Context, id beacon.HotspotID, by beacon.Actor, kind beacon.ChangeKind,
		edit func(*beacon.Hotspot) (changed bool, err error)) (beacon.Hotspot, error)
	EraseHotspot(ctx context.Context, id beacon.HotspotID, by beacon.Actor, edit func(*beacon.Hotspot)) error
	EraseUser(ctx context.Context, user beacon.UserID, by beacon.Actor, now time.Time) error
	EraseNotes(ctx context.Context, targets map[string]bool) error
	EditHolds(ctx context.Context, user beacon.UserID, by beacon.Actor, at time.Time,
		edit func([]beacon.Hold) (beacon.Hold, beacon.ChangeKind, error)) (beacon.Hold, error)
	Books(ctx context.Context, read func(ledger.Books) error) error
}

// Config is what New needs.
type Config struct {
	Wishes Wishes
	Store  Store
	Clock  *clock.Clock
	Lease  func() (lease.Lease, bool) // the lease, while this process holds it
	Log    *slog.Logger
}

// Erasures takes wishes to be erased, and fulfils them. Call Run.
type Erasures struct{ Config }

// New returns erasures.
func New(cfg Config) *Erasures { return &Erasures{cfg} }

// whose returns the user, if the principal may decide about them.
func whose(p beacon.Principal, user beacon.UserID) (beacon.UserID, error) {
	user, err := p.Resolve(user)
	if err != nil {
		return "", err
	}
	if !id.Valid(beacon.UserPrefix, string(user)) {
		return "", beacon.NoSuch("user")
	}
	return user, nil
}

// Ask records that a user wants to be erased. Asked again, it changes nothing. A person must
// have signed in just now, since it ends their account; to take it back they need not.
func (e *Erasures) Ask(ctx context.Context, p beacon.Principal, user beacon.UserID) (beacon.Erasure, error) {
	user, err := whose(p, user)
	if err != nil {
		return beacon.Erasure{}, err
	}
	now := e.Clock.Now().UTC().Truncate(time.Millisecond)
	if err := p.CheckFresh(now); err != nil {
		return beacon.Erasure{}, err
	}
	wish, err := e.Wishes.AskErasure(ctx, beacon.Erasure{User: user, Asked: now, Due: now.Add(beacon.ErasureWait)}, p.Actor())
	return wish, beacon.WordNoSuch(err, "user")
}

// Get returns the wish of a user, or one without a time if there is none.
func (e *Erasures) Get(ctx context.Context, p beacon.Principal, user beacon.UserID) (beacon.Erasure, error) {
	user, err := whose(p, user)
	if err != nil {
		return beacon.Erasure{}, err
	}
	wish, found, err := e.Wishes.Erasure(ctx, user)
	if !found {
		wish.User = user
	}
	return wish, err
}

// Withdraw takes a wish back, while that is possible.
func (e *Erasures) Withdraw(ctx context.Context, p beacon.Principal, user beacon.UserID) (struct{}, error) {
	user, err := whose(p, user)
	if err != nil {
		return struct{}{}, err
	}
	now := e.Clock.Now()
	err = beacon.WordExhausted(e.Wishes.WithdrawErasure(ctx, user, p.CountedActor(now), now))
	err = beacon.Word(err, beacon.Conflict, "it is too late: the data is being erased, or was")
	return struct{}{}, beacon.Word(err, beacon.NotFound, "nobody has asked to erase this user")
}

const (
	interval = time.Minute
	pageSize = 100
)

// Run fulfils wishes that are due, while this process holds the lease, until ctx ends.
func (e *Erasures) Run(ctx context.Context) {
	clock.Every(ctx, interval, nil, e.Log, "erase users", e.Step)
}

// by is the actor of what an erasure writes.
var by = beacon.Actor{Request: "schedule"}

// Step does what can be done now. It erases nobody while the clock is in doubt. Someone who
// cannot be erased does not keep others from it, unless the database is away.
func (e *Erasures) Step(ctx context.Context) error {
	now := e.Clock.Certain()
	if _, holder := e.Lease(); !holder || now.IsZero() {
		return nil
	}
	var failed error
	for after := beacon.UserID(""); ; {
		due, err := e.Wishes.DueErasures(ctx, after, now, pageSize)
		if err != nil || len(due) == 0 {
			return errors.Join(failed, err)
		}
		for _, wish := range due {
			if err := e.advance(ctx, wish, now); err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", wish.User, err))
				if ctx.Err() != nil || beacon.KindOf(err) == beacon.Overloaded {
					return failed
				}
			}
			after = wish.User
		}
	}
}

// advance does what can be done of one erasure now.
func (e *Erasures) advance(ctx context.Context, wish beacon.Erasure, now time.Time) error {
	if wish.Begun.IsZero() {
		held, err := e.isHeld(ctx, wish.User)
		if err != nil || held {
			return err
		}
		wish.Begun = now
		if found, err := e.Wishes.StepErasure(ctx, wish, by, now); err != nil || !found {
			return err // taken back meanwhile
		}
	}
	if wish.Cleared.IsZero() {
		if err := e.erase(ctx, wish.User, now, false); err != nil {
			return err
		}
		wish.Cleared = now
		if _, err := e.Wishes.StepErasure(ctx, wish, by, now); err != nil {
			return err
		}
	}
	if needed, err := e.areNeeded(ctx, wish); err != nil || needed {
		return err
	}
	// All of it again: a request that was under way when the keys were revoked may have
	// written something since.
	if err := e.erase(ctx, wish.User, now, true); err != nil {
		return err
	}
	wish.Erased = now
	_, err := e.Wishes.StepErasure(ctx, wish, by, now)
	return err
}

// isHeld reports whether staff hold something back from the user. What they found out must
// not vanish before it is decided.
func (e *Erasures) isHeld(ctx context.Context, user beacon.UserID) (held bool, err error) {
	err = e.Store.Books(ctx, func(b ledger.Books) error {
		holds, err := b.HoldsOf(ctx, user)
		held = slices.ContainsFunc(holds, func(h beacon.Hold) bool { return h.State == beacon.HoldIsActive })
		return err
	})
	return held, err
}

// areNeeded reports whether the places of the user's hotspots are still needed: until the
// month in which they were deleted is settled.
func (e *Erasures) areNeeded(ctx context.Context, wish beacon.Erasure) (needed bool, err error) {
	if held, err := e.isHeld(ctx, wish.User); err != nil || held {
		return true, err // placed since
	}
	hotspots, err := e.Store.EverOf(ctx, wish.User, "", 1)
	if err != nil || len(hotspots) == 0 {
		return false, err
	}
	err = e.Store.Books(ctx, func(b ledger.Books) error {
		_, found, err := b.FirstRecord(ctx)
		if err != nil || !found {
			return err // nothing was ever served
		}
		month, found, err := b.Finished(ctx)
		needed = !found || month < beacon.MonthOf(wish.Cleared)
		return err
	})
	return needed, err
}

// erase revokes the keys, deletes the hotspots, and takes away what says who the user was.
func (e *Erasures) erase(ctx context.Context, user beacon.UserID, now time.Time, places bool) error {
	own := map[string]bool{string(user): true} // ids whose notes are erased
	if err := e.eraseKeys(ctx, user, now, own); err != nil {
		return err
	}
	if err := e.eraseHotspots(ctx, user, now, places, own); err != nil {
		return err
	}
	if err := e.eraseHolds(ctx, user, now, own); err != nil {
		return err
	}
	if err := e.Store.EraseUser(ctx, user, by, now); err != nil {
		return err
	}
	return e.Store.EraseNotes(ctx, own)
}

func (e *Erasures) eraseKeys(ctx context.Context, user beacon.UserID, now time.Time, own map[string]bool) error {
	for after := (beacon.KeyPlace{}); ; {
		keys, _, err := e.Store.Keys(ctx, user, after, 0, pageSize)
		if err != nil || len(keys) == 0 {
			return err
		}
		for _, k := range keys {
			own[string(k.ID)], after = true, k.Place()
			if err := e.Store.RevokeKey(ctx, k.ID, now, by); err != nil {
				return err
			}
			if err := e.Store.EraseKey(ctx, k); err != nil {
				return err
			}
		}
	}
}

func (e *Erasures) eraseHotspots(ctx context.Context, user beacon.UserID, now time.Time, places bool, own map[string]bool) error {
	for after := beacon.HotspotID(""); ; {
		hotspots, err := e.Store.EverOf(ctx, user, after, pageSize)
		if err != nil || len(hotspots) == 0 {
			return err
		}
		for _, h := range hotspots {
			own[string(h.ID)], after = true, h.ID
			if !h.Deleted() {
				_, err := e.Store.UpdateHotspot(ctx, h.ID, by, beacon.HotspotDeleted, func(h *beacon.Hotspot) (bool, error) {
					h.DeletedAt = now
					h.Touch(now)
					return true, nil
				})
				if err != nil && beacon.KindOf(err) != beacon.NotFound { // someone was faster
					return err
				}
			}
			err := e.Store.EraseHotspot(ctx, h.ID, by, func(h *beacon.Hotspot) {
				h.Erase()
				if places {
					h.ErasePlace()
				}
			})
			if err != nil {
				return err
			}
		}
	}
}

// eraseHolds takes away the words of holds that are over. There is no active one, or it was
// placed since: then it is done once that is over.
func (e *Erasures) eraseHolds(ctx context.Context, user beacon.UserID, now time.Time, own map[string]bool) error {
	for more := true; more; {
		_, err := e.Store.EditHolds(ctx, user, by, now, func(all []beacon.Hold) (beacon.Hold, beacon.ChangeKind, error) {
			for _, h := range all {
				own[string(h.ID)] = true
				before := h.Reason
				if h.Erase(); h.State != beacon.HoldIsActive && before != h.Reason {
					more = true
					return h, beacon.HoldErased, nil
				}
			}
			more = false
			return beacon.Hold{}, "", nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
