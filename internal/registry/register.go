package registry

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Registration asks for a new hotspot.
type Registration struct {
	Form beacon.Registration
	Once IdempotencyKey
}

// IdempotencyKey makes a request safe to repeat: the same key and fingerprint get the first
// response again (decision N12). Without a key, every request counts.
type IdempotencyKey struct {
	Key         string
	Fingerprint [32]byte // of what the request says, however it is formatted
	Verbatim    [32]byte // of its bytes: what older versions stored
}

// Registered is the outcome: the hotspot as it was registered, now or by the first
// request.
type Registered struct {
	Hotspot  View
	Replayed bool
}

// Register adds a hotspot owned by the principal.
func (r *Registry) Register(ctx context.Context, p beacon.Principal, in Registration) (Registered, error) {
	now := r.moment()
	h, err := in.Form.Validate(r.newID(), p.User, now)
	if err != nil {
		return Registered{}, err
	}
	first, err := r.store.InsertHotspot(ctx, h, p.Actor(), in.Once.record(p.User, h.CreatedAt))
	if err != nil {
		return Registered{}, err
	}
	if first != nil {
		return r.replay(first, in.Once)
	}
	return Registered{Hotspot: r.newborn(h)}, r.fleet.Apply(h)
}

// newborn returns a hotspot as it is at registration.
func (r *Registry) newborn(h beacon.Hotspot) View {
	v := View{Hotspot: h, Status: beacon.Pending}
	v.Open, v.OpenUntil = r.fleet.OpenAt(h.Settings.OperatingHours, h.CreatedAt)
	return v
}

// record returns what the database stores about a request that may be repeated.
func (o IdempotencyKey) record(owner beacon.UserID, now time.Time) *beacon.Idempotency {
	if o.Key == "" {
		return nil
	}
	return &beacon.Idempotency{Owner: owner, Key: o.Key, Fingerprint: o.Fingerprint, ExpiresAt: now.Add(beacon.RememberFor)}
}

func (r *Registry) replay(first *beacon.Idempotency, asked IdempotencyKey) (Registered, error) {
	if first.Fingerprint != asked.Fingerprint && first.Fingerprint != asked.Verbatim {
		return Registered{}, beacon.ErrOtherRequest
	}
	return Registered{Hotspot: r.newborn(first.Hotspot), Replayed: true}, nil
}

// Verification says where staff found a hotspot.
type Verification struct {
	Hotspot beacon.HotspotID
	Form    beacon.VerificationForm
}

// Verify confirms that a hotspot is where it is registered (decision X1). A visit that
// finds a verified hotspot elsewhere withdraws its verification. A verified hotspot can
// be visited again, to prove that it is still there. Neighbours take nothing away from it.
// The audit log has who did it, and what was refused.
func (r *Registry) Verify(ctx context.Context, p beacon.Principal, in Verification) (View, error) {
	found, err := in.Form.Validate()
	if err != nil {
		return View{}, err
	}
	h, err := r.find(ctx, in.Hotspot)
	if err != nil {
		return View{}, err
	}
	by := p.Actor()
	finding := found.Against(h)
	by.Note = finding.Note()
	if h.Takes(finding, r.moment()) {
		if err := r.mayTake(ctx, p, &h, by); err != nil {
			return View{}, err
		}
	}
	if finding.Disproves() && !h.Location.VerifiedAt.IsZero() {
		return View{}, r.disprove(ctx, h, by, finding)
	}
	if err := finding.Err(); err != nil {
		return View{}, r.refuse(ctx, beacon.Change{Kind: beacon.VerificationRefused, Target: string(h.ID), Actor: by}, err)
	}
	place := h.Location.Point
	h, err = r.store.UpdateHotspot(ctx, in.Hotspot, by, beacon.HotspotVerified, func(h *beacon.Hotspot) (changed bool, err error) {
		if h.Location.Point != place {
			return false, errStale // the distance was measured to another place
		}
		now := r.moment()
		changed = h.RecordVisit(found, p.User, now)
		if found.Type != "" && found.Type != h.Type {
			h.Type, changed = found.Type, true
		}
		if h.Location.VerifiedAt.IsZero() {
			changed, err = true, h.Verify(now)
		}
		if err != nil {
			return false, err
		}
		next := *h
		if changed {
			r.touch(h)
			next = *h
			next.Version++ // as the store will write it
		}
		return changed, by.Once.Keep(r.view(next))
	})
	if err != nil {
		return View{}, err
	}
	if err := r.fleet.Apply(h); err != nil {
		return View{}, err
	}
	return r.view(h), nil
}

// refuse records a refusal in the audit log, and returns its reason. Failing to
// record it is an error of its own: nobody may try unseen.
func (r *Registry) refuse(ctx context.Context, change beacon.Change, reason error) error {
	change.At = r.moment()
	if err := r.store.NoteRefusal(ctx, change); err != nil {
		return err
	}
	return reason
}
