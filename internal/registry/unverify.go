package registry

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Withdrawal asks to withdraw the verification of a hotspot, or to reject one that waits.
type Withdrawal struct {
	Hotspot beacon.HotspotID
	Reason  string // as beacon.CleanReason returns it; "": none was given
}

// Unverify withdraws the verification of a hotspot, which is pending then. Its device
// stays linked, and its history is kept. With a reason, a hotspot that is not verified is
// rejected (decision D195); without one it stays as it is.
func (r *Registry) Unverify(ctx context.Context, p beacon.Principal, in Withdrawal) (struct{}, error) {
	by := p.Actor()
	by.Note = cmp.Or(in.Reason, beacon.Withdrawn)
	h, err := r.find(ctx, in.Hotspot)
	if err != nil {
		return struct{}{}, err
	}
	if !h.Location.VerifiedAt.IsZero() || in.Reason != "" {
		who, err := r.people.Behind(ctx, p.User, p.Person, p.Key)
		if err == nil {
			err = r.mayTake(ctx, who, &h, beacon.VerificationRefused, by, errNeighbour)
		}
		if err != nil {
			return struct{}{}, err
		}
	}
	_, err = r.write(ctx, in.Hotspot, by, beacon.HotspotUnverified, func(h *beacon.Hotspot) (bool, error) {
		return h.Withdraw(by.Note, r.moment()) || in.Reason != "" && h.Reject(in.Reason, r.moment()), nil
	})
	return struct{}{}, err
}

var (
	errNeighbour     = forbidden("someone else must do this: it takes something away from a hotspot within %d m of one of yours", beacon.HoldAwayM)
	errNeighbourType = forbidden("someone else must change its type: one of your hotspots is within %d m of it, or was not long ago", beacon.HoldAwayM)
)

// mayTake returns the refusal to someone who has, or had, a hotspot near another in one of
// their accounts: they would be paid for what it loses (decision D149). Of their own they may
// take what they want. The audit has the refusal as a change of a kind.
func (r *Registry) mayTake(
	ctx context.Context, who beacon.Behind, h *beacon.Hotspot, kind beacon.ChangeKind, by beacon.Actor, refusal error,
) error {
	if who.Owns(h.Operator) {
		return nil
	}
	now := r.moment()
	places := append(h.Paid(now), h.Location.Point) // where it is about to move, too
	near := func(h *beacon.Hotspot) error {
		if h.Concerns(places, now) {
			return refusal
		}
		return nil
	}
	for _, account := range who.Accounts {
		err := r.Ever(ctx, account, func(own View) error { return near(&own.Hotspot) })
		if err == nil {
			err = r.eachFormer(ctx, account, now, near)
		}
		if errors.Is(err, refusal) {
			return r.refuse(ctx, beacon.Change{Kind: kind, Target: string(h.ID), Actor: by}, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachFormer calls fn for each hotspot that a user handed over not long ago.
func (r *Registry) eachFormer(ctx context.Context, user beacon.UserID, now time.Time, fn func(*beacon.Hotspot) error) error {
	former, err := r.offers.FormerOf(ctx, user, beacon.DayOf(now.Add(-beacon.HoldAtMost)))
	for i := range former {
		if err == nil {
			err = fn(&former[i])
		}
	}
	return err
}

// disprove is the outcome of a visit that found a verified hotspot elsewhere: it is no
// longer verified, and the visit is refused with the distance.
func (r *Registry) disprove(ctx context.Context, h beacon.Hotspot, by beacon.Actor, found beacon.Finding) error {
	place := h.Location.Point
	_, err := r.write(ctx, h.ID, by, beacon.HotspotUnverified, func(h *beacon.Hotspot) (bool, error) {
		if h.Location.Point != place {
			return false, errStale // the distance was measured to another place
		}
		return h.Withdraw(found.Reason(), r.moment()), nil
	})
	if err != nil {
		return err
	}
	refused := found.Err()
	if e, ok := errors.AsType[*beacon.Error](refused); ok {
		e.Message += "; the hotspot is pending again"
	}
	return refused
}
