package registry

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Verification says where staff found a hotspot.
type Verification struct {
	Hotspot beacon.HotspotID
	Form    beacon.VerificationForm
}

// Verify confirms that a hotspot is where it is registered (decision X1). A visit that
// finds a verified hotspot elsewhere takes its verification away. The audit log has who
// did it, and what was refused.
func (r *Registry) Verify(ctx context.Context, p beacon.Principal, in Verification) (View, error) {
	found, err := in.Form.Validate()
	if err != nil {
		return View{}, err
	}
	if !validID(in.Hotspot) {
		return View{}, errNoHotspot
	}
	h, err := r.store.Hotspot(ctx, in.Hotspot)
	if err != nil {
		return View{}, err
	}
	by := p.Actor()
	finding := found.Against(h)
	by.Note = finding.Note()
	if finding.Disproves() && !h.Location.VerifiedAt.IsZero() {
		return View{}, r.disprove(ctx, h, by, finding)
	}
	if err := finding.Err(); err != nil {
		return View{}, r.refuse(ctx, beacon.Change{Kind: beacon.VerificationRefused, Target: string(h.ID), Actor: by}, err)
	}
	place := h.Location.Point
	h, err = r.store.UpdateHotspot(ctx, in.Hotspot, by, beacon.HotspotVerified, func(h *beacon.Hotspot) (bool, error) {
		if !h.Location.VerifiedAt.IsZero() {
			return false, nil
		}
		if h.Location.Point != place {
			return false, errStale // the distance was measured to another place
		}
		if err := h.Verify(r.moment()); err != nil {
			return false, err
		}
		r.touch(h)
		return true, nil
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
