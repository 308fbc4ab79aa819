package registry

import (
	"cmp"
	"context"
	"errors"

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
	return struct{}{}, r.unverify(ctx, in.Hotspot, by, func(h *beacon.Hotspot) (bool, error) {
		return h.Unverify(by.Note, r.moment()) || in.Reason != "" && h.Reject(in.Reason), nil
	})
}

// disprove is the outcome of a visit that found a verified hotspot elsewhere: it is no
// longer verified, and the visit is refused with the distance.
func (r *Registry) disprove(ctx context.Context, h beacon.Hotspot, by beacon.Actor, found beacon.Finding) error {
	place := h.Location.Point
	err := r.unverify(ctx, h.ID, by, func(h *beacon.Hotspot) (bool, error) {
		if h.Location.Point != place {
			return false, errStale // the distance was measured to another place
		}
		return h.Unverify(found.Reason(), r.moment()), nil
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

func (r *Registry) unverify(ctx context.Context, hotspot beacon.HotspotID, by beacon.Actor, edit func(*beacon.Hotspot) (bool, error)) error {
	if !validID(hotspot) {
		return errNoHotspot
	}
	h, err := r.store.UpdateHotspot(ctx, hotspot, by, beacon.HotspotUnverified, func(h *beacon.Hotspot) (bool, error) {
		changed, err := edit(h)
		if changed {
			r.touch(h)
		}
		return changed, err
	})
	if err != nil {
		return err
	}
	return r.fleet.Apply(h)
}
