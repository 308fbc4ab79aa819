package registry

import (
	"context"
	"errors"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

var (
	errNoEnrolment = &beacon.Error{Kind: beacon.Forbidden, Message: "this needs an enrolment key, whose only scope is devices:enrol"}
	errUsedUp      = &beacon.Error{Kind: beacon.UsedUp, Message: "this key has enrolled as many devices as it may: create another"}
	errLinked      = &beacon.Error{Kind: beacon.Conflict, Message: "this hotspot has a linked device: unlink that one first, if it was replaced or reset"}

	// errUnknownMAC is returned whether nobody has the address, someone else has it, or the
	// hotspot is not one of those that the key may enrol.
	errUnknownMAC = &beacon.Error{Kind: beacon.NotFound, Message: "no hotspot with this MAC address can be enrolled with this key: check the address, or register the hotspot first"}
)

// Enrol links a device to the hotspot of the key's user that has its MAC address, or to a new
// one. Unlike Link, it never takes a hotspot from a device that is linked: an enrolment key is
// on many devices, any of which may be stolen.
func (r *Registry) Enrol(ctx context.Context, p beacon.Principal, form beacon.EnrolForm) (Linked, error) {
	now := r.moment()
	var out Linked
	use := func(found beacon.Enrolling, h *beacon.Hotspot) error {
		switch k := found.Key; {
		case k.Enrolment.Most == 0:
			return errNoEnrolment
		case !k.InForce(now): // revoked by another server a moment ago
			return access.ErrUnauthorized
		case k.Enrolled >= k.Enrolment.Most:
			return errUsedUp
		}
		registered, err := r.enrollable(found, form, h)
		if err == nil {
			out, err = r.connect(h, beacon.ReportOf(form.Agent), now, p.Once, registered)
		}
		return err
	}
	h, err := r.store.Enrol(ctx, p.Key, beacon.MAC(form.MAC.V), p.CountedActor(now), now, use)
	if e, ok := errors.AsType[*beacon.Error](err); ok && e.Kind == beacon.Conflict && e.Message == "" {
		err = errUnknownMAC // the address was taken meanwhile, or is reserved
	}
	if err != nil {
		return Linked{}, beacon.WordExhausted(err)
	}
	out.Hotspot = h
	return out, r.fleet.Apply(h)
}

// enrollable checks that the hotspot may get a device, or makes a new one of it. The checks
// are the same in the same order whether nobody has the MAC address or others have it, so that
// only a registration, of which few are possible, tells which.
func (r *Registry) enrollable(found beacon.Enrolling, form beacon.EnrolForm, h *beacon.Hotspot) (registered bool, err error) {
	k, taken := found.Key, h.Version > 0
	same := h.Device.MAC.Canonical() == beacon.MAC(form.MAC.V).Canonical() // it may have changed meanwhile
	switch {
	case taken && same && h.Operator == k.User && k.Enrolment.Permits(h.ID):
		if !h.Device.LinkedAt.IsZero() {
			return false, errLinked
		}
		return false, nil
	case !k.Enrolment.Register:
		return false, errUnknownMAC
	}
	made, err := form.Hotspot(r.newID(), k.User, r.moment())
	if err != nil {
		return false, err
	}
	if err := mayRegister(found.Waiting, found.Discarded, found.Quota); err != nil {
		return false, err
	}
	if taken {
		return false, errUnknownMAC
	}
	*h = made
	return true, nil
}
