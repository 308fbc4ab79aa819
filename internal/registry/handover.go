package registry

import (
	"cmp"
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// Offers is what this package needs of a database to hand hotspots over.
type Offers interface {
	// PutOffer replaces an earlier offer. May gets the hotspot, and returns whose it is.
	PutOffer(ctx context.Context, offer beacon.Offer, by beacon.Actor,
		may func(*beacon.Hotspot, beacon.Giving) (owner beacon.UserID, err error)) error
	// Offer returns the offer of a hotspot, which may have ended.
	Offer(ctx context.Context, hotspot beacon.HotspotID) (beacon.Offer, bool, error)
	// OffersOf returns the offers to a user, and of the user's hotspots, that have not ended.
	OffersOf(ctx context.Context, user beacon.UserID, now time.Time, limit int) ([]beacon.ListedOffer, error)
	// DropOffer returns NotFound if there is no offer.
	DropOffer(ctx context.Context, hotspot beacon.HotspotID, by beacon.Actor, now time.Time,
		may func(beacon.Offer) (beacon.ChangeKind, error)) error
	// TakeOver lets take change the hotspot, in the transaction that deletes the offer.
	TakeOver(ctx context.Context, hotspot beacon.HotspotID, user beacon.UserID, by beacon.Actor, now time.Time,
		take func(*beacon.Hotspot, beacon.Taking) error) (beacon.Hotspot, error)
	// FormerOf returns the hotspots that belonged to a user on a day or later, and no longer do.
	FormerOf(ctx context.Context, user beacon.UserID, since beacon.Day) ([]beacon.Hotspot, error)
}

// Offering asks to offer a hotspot.
type Offering struct {
	Hotspot beacon.HotspotID
	To      beacon.UserID // "": whoever has the code
	Reason  string        // of staff, as beacon.CleanReason returns it
}

// Offered is an offer, with its code if it is new and names nobody. The code is never shown
// again.
type Offered struct {
	beacon.Offer
	Code string
}

var (
	errNoOffer   = beacon.NoSuch("offer")
	errNotOwner  = &beacon.Error{Kind: beacon.Forbidden, Message: "only the operator of a hotspot may offer it; staff may offer one whose operator is gone, at …/claim"}
	errToOwner   = &beacon.Error{Kind: beacon.Conflict, Message: "this hotspot belongs to that user already"}
	errHeld      = &beacon.Error{Kind: beacon.Conflict, Message: "staff hold back what this hotspot earns: it can be handed over once they have decided"}
	errNotNow    = &beacon.Error{Kind: beacon.Conflict, Message: "this hotspot cannot be handed over at present: its operator knows why"}
	errNotGone   = &beacon.Error{Kind: beacon.Conflict, Message: "its operator is not gone: it has an owner or a manager, or a key of it was used in the last 30 days, so it can offer the hotspot itself"}
	errOwnClaim  = &beacon.Error{Kind: beacon.Forbidden, Message: "someone else must offer this hotspot: nobody gives one to themselves, or gives away their own, as staff"}
	errNearClaim = forbidden("someone else must offer this hotspot: one of yours is within %d m of it, or was not long ago", beacon.HoldAwayM)
	errErased    = &beacon.Error{Kind: beacon.Forbidden, Message: "this user is being erased"}

	// errNotYours is returned whether there is no offer, it is to someone else, it has ended or
	// the code is wrong, so that guessing reveals nothing.
	errNotYours = &beacon.Error{Kind: beacon.NotFound, Message: "this hotspot is not on offer to you: the offer was withdrawn or has ended, or the code is wrong"}
)

// Offer offers a hotspot of the principal's to another user, who has beacon.OfferLasts to
// accept. It replaces an earlier offer.
func (r *Registry) Offer(ctx context.Context, p beacon.Principal, in Offering) (Offered, error) {
	if err := mayLead(p, r.now()); err != nil {
		return Offered{}, err
	}
	by := p.CountedActor(r.moment())
	by.Note = "to whoever has its code"
	if in.To != "" {
		by.Note = "to " + string(in.To)
	}
	return r.offer(ctx, p, in, by, func(h *beacon.Hotspot, known beacon.Giving) error {
		switch {
		case p.User != h.Operator || !p.MayActFor(h.Operator):
			return errNotOwner
		case known.Held:
			return errHeld
		}
		return nil
	})
}

// mayLead returns an error for a person who has not signed in just now, or was recovered not
// long ago: neither hands a hotspot over.
func mayLead(p beacon.Principal, now time.Time) error {
	return cmp.Or(p.CheckNotFrozen(now), p.CheckFresh(now))
}

// Claim lets staff offer a hotspot whose operator is gone to someone who asks for it. They do
// not give it to themselves, in any of their accounts, nor if they have one nearby.
func (r *Registry) Claim(ctx context.Context, p beacon.Principal, in Offering) (Offered, error) {
	if err := mayLead(p, r.now()); err != nil {
		return Offered{}, err
	}
	h, err := r.find(ctx, in.Hotspot)
	if err != nil {
		return Offered{}, err
	}
	by := p.Actor()
	by.Note = "to " + string(in.To) + " by staff: " + in.Reason
	who, err := r.people.Behind(ctx, p.User, p.Person, p.Key)
	if err != nil {
		return Offered{}, err
	}
	if who.Owns(in.To) || who.Owns(h.Operator) {
		return Offered{}, errOwnClaim
	}
	if err := r.mayTake(ctx, who, &h, beacon.OfferRefused, by, errNearClaim); err != nil {
		return Offered{}, err
	}
	return r.offer(ctx, p, in, by, func(h *beacon.Hotspot, known beacon.Giving) error {
		switch {
		case who.Owns(h.Operator):
			return errOwnClaim
		case !known.Gone:
			return errNotGone
		case known.Held:
			return errHeld
		}
		return nil
	})
}

// offer writes an offer, if may allows it.
func (r *Registry) offer(
	ctx context.Context, p beacon.Principal, in Offering, by beacon.Actor, may func(*beacon.Hotspot, beacon.Giving) error,
) (made Offered, err error) {
	if !validID(in.Hotspot) {
		return made, errNoHotspot
	}
	now := r.moment()
	made.Offer = beacon.Offer{Hotspot: in.Hotspot, By: p.User, To: in.To, OfferedAt: now, ExpiresAt: now.Add(beacon.OfferLasts)}
	if in.To == "" {
		made.Code, made.CodeHash = access.MintOfferCode()
	}
	err = r.offers.PutOffer(ctx, made.Offer, by, func(h *beacon.Hotspot, known beacon.Giving) (beacon.UserID, error) {
		made.Owner = h.Operator
		if err := may(h, known); err != nil {
			return "", err
		}
		if in.To == h.Operator {
			return "", errToOwner
		}
		return h.Operator, access.Keep(by.Once, made, "an offer")
	})
	if err != nil {
		return Offered{}, worded(err)
	}
	return made, nil
}

// GetOffer returns the offer of a hotspot to its operator, to whom it names, and to staff.
func (r *Registry) GetOffer(ctx context.Context, p beacon.Principal, hotspot beacon.HotspotID) (Offered, error) {
	if !validID(hotspot) {
		return Offered{}, errNoOffer
	}
	o, found, err := r.offers.Offer(ctx, hotspot)
	if err != nil {
		return Offered{}, err
	}
	concerned := p.MayActFor(o.Owner) || p.MayActFor(o.To) || p.May(beacon.RecordVisits)
	if !found || o.Ended(r.moment()) || !concerned {
		return Offered{}, errNoOffer
	}
	return Offered{Offer: o}, nil
}

// maxOffers is how many offers are listed.
const maxOffers = 100

// OffersOf returns the offers that name a user, and those of the user's hotspots; not more than
// maxOffers.
func (r *Registry) OffersOf(ctx context.Context, p beacon.Principal, user beacon.UserID) ([]beacon.ListedOffer, error) {
	user, err := p.Resolve(user)
	if err == nil && !id.Valid(beacon.UserPrefix, string(user)) {
		err = beacon.NoSuch("user")
	}
	if err != nil {
		return nil, err
	}
	return r.offers.OffersOf(ctx, user, r.moment(), maxOffers)
}

// EndOffer withdraws the offer of a hotspot of the principal's, or declines one to them.
func (r *Registry) EndOffer(ctx context.Context, p beacon.Principal, hotspot beacon.HotspotID) (struct{}, error) {
	if !validID(hotspot) {
		return struct{}{}, errNoOffer
	}
	now := r.moment()
	err := r.offers.DropOffer(ctx, hotspot, p.CountedActor(now), now, func(o beacon.Offer) (beacon.ChangeKind, error) {
		switch {
		case p.MayActFor(o.Owner):
			return beacon.OfferWithdrawn, nil
		case p.MayActFor(o.To):
			return beacon.OfferDeclined, nil
		}
		return "", errNoOffer
	})
	return struct{}{}, beacon.WordExhausted(beacon.Word(err, beacon.NotFound, errNoOffer.Error()))
}

// Acceptance asks to take over a hotspot that is on offer.
type Acceptance struct {
	Hotspot beacon.HotspotID
	Code    string // if the offer names nobody
}

// Accept makes the principal the operator of a hotspot that is on offer to them. Its device
// stays linked, and its place and history stay; it earns for them from the next UTC day on.
func (r *Registry) Accept(ctx context.Context, p beacon.Principal, in Acceptance) (beacon.Hotspot, error) {
	if !validID(in.Hotspot) || !p.MayActFor(p.User) {
		return beacon.Hotspot{}, errNotYours
	}
	if err := mayLead(p, r.now()); err != nil {
		return beacon.Hotspot{}, err
	}
	takers, err := r.people.Behind(ctx, p.User, "", p.Key) // not the person alone: it is their account's
	if err != nil {
		return beacon.Hotspot{}, err
	}
	now := r.moment()
	code := access.HashOfferCode(in.Code)
	h, err := r.offers.TakeOver(ctx, in.Hotspot, p.User, p.CountedActor(now), now, func(h *beacon.Hotspot, known beacon.Taking) error {
		switch {
		case !known.Found || known.Offer.Ended(now) || !known.Offer.Opens(p.User, code):
			return errNotYours
		case known.Held:
			return errNotNow
		case known.Erased:
			return errErased
		case p.Limited() && h.Location.VerifiedAt.IsZero():
			if err := mayWait(known.Waiting, known.Quota); err != nil {
				return err
			}
		}
		if err := h.HandOver(takers, known.Closing, now); err != nil {
			return err
		}
		r.touch(h)
		return p.Once.Keep(*h)
	})
	if err != nil {
		return beacon.Hotspot{}, beacon.WordExhausted(beacon.Word(err, beacon.NotFound, errNotYours.Message))
	}
	return h, r.fleet.Apply(h)
}
