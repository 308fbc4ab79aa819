package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// LinkCodeLasts is how long a code can be used (decision X2).
const LinkCodeLasts = 15 * time.Minute

// LinkCode is a new code and when it expires. Its text is never shown again.
type LinkCode struct {
	Code      string
	ExpiresAt time.Time
}

// NewLinkCode makes a code that links one device to a hotspot of the principal's. It
// replaces an earlier one.
func (r *Registry) NewLinkCode(ctx context.Context, p beacon.Principal, hotspot beacon.HotspotID) (LinkCode, error) {
	h, err := r.find(ctx, hotspot)
	if err != nil {
		return LinkCode{}, err
	}
	if !p.At(hotspot).MayActFor(h.Operator) {
		return LinkCode{}, errNotOperator
	}
	now := r.moment()
	code, hash := access.MintLinkCode()
	made := LinkCode{Code: code, ExpiresAt: now.Add(LinkCodeLasts)}
	if err := access.Keep(p.Once, made, "a link code"); err != nil {
		return LinkCode{}, err
	}
	row := beacon.LinkCode{Hotspot: hotspot, Operator: h.Operator, Hash: hash, ExpiresAt: made.ExpiresAt}
	err = r.store.PutLinkCode(ctx, row, p.CountedActor(now), now)
	return made, worded(beacon.Word(err, beacon.Conflict, "the link code is in use: create another"))
}

// Link is what a device sends to be linked. It has no key yet; Request is the id of
// its request, for the audit log.
type Link struct {
	Code, MAC string
	Agent     beacon.Agent
	Request   string
	Once      *beacon.Once // if it may be repeated
}

// Linked is the outcome: the hotspot, and the key of its device, which is never shown
// again.
type Linked struct {
	Hotspot    beacon.Hotspot
	Key        string
	Registered bool // the device has registered the hotspot
}

// ErrLink is the one error for a wrong code, a used one, an expired one and a wrong
// device, so that guessing reveals nothing.
var ErrLink error = &beacon.Error{
	Kind:    beacon.Forbidden,
	Message: "the code or the device is wrong: check both, or ask for a new code",
}

// linkTries is how often a code may be used with a wrong device (decision N21).
const linkTries = 5

// badLink says in the audit log why a code linked no device. The device learns only ErrLink.
type badLink string

func (why badLink) Error() string { return string(why) }

// Link returns the key of the hotspot that the device's code was made for. A device
// linked before is unlinked. Refusals are recorded in the audit log, without the code
// and the MAC address.
func (r *Registry) Link(ctx context.Context, in Link) (Linked, error) {
	now, by := r.moment(), beacon.Actor{Request: in.Request, Once: in.Once}
	hash, ok := access.HashLinkCode(in.Code)
	if !ok {
		return Linked{}, r.refuseLink(ctx, by, "malformed code")
	}
	var out Linked
	link := func(h *beacon.Hotspot) error {
		if mac := beacon.MAC(in.MAC).Canonical(); mac == "" || mac != h.Device.MAC.Canonical() {
			return badLink("the MAC address differs")
		}
		var err error
		out, err = r.connect(h, in.Agent, now, in.Once, false)
		return err
	}
	h, err := r.store.LinkDevice(ctx, hash, by, now, func(code *beacon.LinkCode, h *beacon.Hotspot) error {
		code.Void = true
		switch {
		case !code.ExpiresAt.After(now):
			return badLink("the code has expired")
		case h == nil:
			return badLink("the hotspot is deleted")
		case code.Operator != h.Operator && code.Operator != "": // older programs did not say whose it was
			return badLink("the hotspot was handed over since")
		}
		err := link(h)
		if err != nil {
			code.Tries++
			code.Void = code.Tries >= linkTries
			err = fmt.Errorf("%w: try %d of %d", err, code.Tries, linkTries)
		}
		return err
	})
	if _, ok := errors.AsType[badLink](err); ok {
		return Linked{}, ErrLink // the audit log has why
	}
	switch {
	case beacon.KindOf(err) == beacon.NotFound:
		return Linked{}, r.refuseLink(ctx, by, "unknown or expired code")
	case err != nil:
		return Linked{}, err
	}
	out.Hotspot = h
	return out, r.fleet.Apply(h)
}

// connect gives a hotspot a device with a new key. Once remembers the outcome, if the request
// may be repeated.
func (r *Registry) connect(h *beacon.Hotspot, agent beacon.Agent, now time.Time, once *beacon.Once, registered bool) (out Linked, err error) {
	if err := h.RenewService(now); err != nil {
		return out, err
	}
	out.Key, h.Device.KeyHash = access.MintDevice(h.ID)
	h.Device.LinkedAt, h.Device.Agent = now, reportedAt(agent, now)
	r.touch(h)
	out.Hotspot, out.Registered = *h, registered
	return out, access.Keep(once, out, "the device key of "+string(h.ID))
}

// reportedAt returns an agent with the time of its report, or none.
func reportedAt(a beacon.Agent, now time.Time) beacon.Agent {
	if a != (beacon.Agent{}) {
		a.At = now
	}
	return a
}

// Report is what a device reports of itself with a heartbeat.
type Report struct {
	Hotspot beacon.HotspotID
	Agent   beacon.Agent
	Request string
}

// Report stores what a device reports, if it differs from before. It does so at most
// once in beacon.AgentEvery, since devices choose what they send: stored is false if a
// report is dropped.
func (r *Registry) Report(ctx context.Context, in Report) (stored bool, err error) {
	_, err = r.write(ctx, in.Hotspot, beacon.Actor{Request: in.Request}, beacon.HotspotReported, func(h *beacon.Hotspot) (bool, error) {
		now, last := r.moment(), h.Device.Agent.At
		in.Agent.At = last
		known := in.Agent == h.Device.Agent
		early := !last.IsZero() && now.Before(last.Add(beacon.AgentEvery))
		stored = known || !early
		if !stored || known || h.Device.LinkedAt.IsZero() {
			return false, nil
		}
		h.Device.Agent = reportedAt(in.Agent, now)
		return true, nil
	})
	return stored && err == nil, err
}

func (r *Registry) refuseLink(ctx context.Context, by beacon.Actor, why string) error {
	by.Note = why
	return r.refuse(ctx, beacon.Change{Kind: beacon.LinkRefused, Actor: by}, ErrLink)
}

// Unlink unlinks the device of a hotspot of the principal's: its key is no longer
// valid, and the hotspot is pending again. Without a device, nothing changes.
func (r *Registry) Unlink(ctx context.Context, p beacon.Principal, hotspot beacon.HotspotID) (struct{}, error) {
	_, err := r.update(ctx, p, p.Actor(), hotspot, beacon.HotspotUnlinked, func(h *beacon.Hotspot) (bool, error) {
		linked := !h.Device.LinkedAt.IsZero()
		h.EndService(r.moment())
		h.Device.Unlink()
		return linked, nil
	})
	return struct{}{}, err
}

// Device updates the fleet with a device's hotspot from the database: the device may
// have a key that another server has just issued.
func (r *Registry) Device(ctx context.Context, hotspot beacon.HotspotID) error {
	h, err := r.find(ctx, hotspot)
	if err != nil {
		return err
	}
	return r.fleet.Apply(h)
}
