package registry

import (
	"cmp"
	"context"
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Register adds a hotspot owned by the principal, and returns it as it is at registration.
func (r *Registry) Register(ctx context.Context, p beacon.Principal, form beacon.Registration) (View, error) {
	h, err := form.Validate(r.newID(), p.User, r.moment())
	if err != nil {
		return View{}, err
	}
	made := r.Newborn(h)
	if err := p.Once.Keep(made); err != nil {
		return View{}, err
	}
	if err := r.insert(ctx, p, []beacon.Hotspot{h}, func(refused []error) error { return refused[0] }); err != nil {
		return View{}, err
	}
	return made, nil
}

// insert adds hotspots in one transaction. Done is called in it with why each was refused,
// or nil: see Store.InsertHotspots.
func (r *Registry) insert(ctx context.Context, p beacon.Principal, all []beacon.Hotspot, done func(refused []error) error) error {
	if p.Once != nil {
		p.Once.Most = 0 // hotspots have a quota of their own
	}
	var may func(waiting, discarded, quota int) error
	if p.Limited() {
		may = mayRegister
	}
	var made []beacon.Hotspot
	if err := r.store.InsertHotspots(ctx, all, p.Actor(), may, func(verdicts []error) error {
		made = nil
		for i, verdict := range verdicts {
			if verdicts[i] = beacon.Word(verdict, beacon.Conflict, macTaken); verdict == nil {
				made = append(made, all[i])
			}
		}
		return done(verdicts)
	}); err != nil {
		return err
	}
	return r.fleet.Apply(made...)
}

// mayRegister refuses a registration if too many hotspots of its operator wait to be
// verified, or were deleted in the last day before they were.
func mayRegister(waiting, discarded, quota int) error {
	if err := mayWait(waiting, quota); err != nil {
		return err
	}
	if discarded >= beacon.DiscardsADay*quota {
		return forbidden("you deleted %d hotspots in the last 24 hours that were not verified, the most allowed: register others tomorrow, or ask staff for a higher quota", discarded)
	}
	return nil
}

// mayWait refuses one more hotspot that waits to be verified.
func mayWait(waiting, quota int) error {
	if waiting >= quota {
		return forbidden("you have %d hotspots that wait to be verified, the most allowed: wait until staff have verified some, delete some, or ask staff for a higher quota", waiting)
	}
	return nil
}

func forbidden(format string, has int) error {
	return &beacon.Error{Kind: beacon.Forbidden, Message: fmt.Sprintf(format, has)}
}

// macTaken does not reveal whose MAC it is (decision N8).
const macTaken = "a hotspot with this MAC address is already registered"

// Newborn returns a hotspot as it is at registration.
func (r *Registry) Newborn(h beacon.Hotspot) View {
	v := View{Hotspot: h, Status: beacon.Pending}
	v.Open, v.OpenUntil = r.fleet.OpenAt(h.Settings.OperatingHours, h.CreatedAt)
	return v
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
	if err := found.CheckTime(r.moment()); err != nil {
		return View{}, err
	}
	h, err := r.find(ctx, in.Hotspot)
	if err != nil {
		return View{}, err
	}
	if err := h.CheckNews(found); err != nil {
		return View{}, err
	}
	who, err := r.people.Behind(ctx, p.User, p.Person, p.Key)
	if err != nil {
		return View{}, err
	}
	by := p.Actor()
	finding := found.Against(h)
	by.Note = finding.Note()
	if takes, retypes := h.Takes(finding, r.moment()), found.Type != "" && found.Type != h.Type; takes || retypes {
		refusal := errNeighbour
		if !takes {
			refusal = errNeighbourType
		}
		if err := r.mayTake(ctx, who, &h, beacon.VerificationRefused, by, refusal); err != nil {
			return View{}, err
		}
	}
	if finding.Disproves() && !h.Location.VerifiedAt.IsZero() {
		return View{}, r.disprove(ctx, h, by, finding)
	}
	if err := cmp.Or(finding.Err(), h.CheckVisit(found, r.moment())); err != nil {
		return View{}, r.refuse(ctx, beacon.Change{Kind: beacon.VerificationRefused, Target: string(h.ID), Actor: by}, err)
	}
	place, metrics := h.Location.Point, r.metrics(h.ID)
	var out View
	h, err = r.store.UpdateHotspot(ctx, in.Hotspot, by, beacon.HotspotVerified, func(h *beacon.Hotspot) (changed bool, err error) {
		if h.Location.Point != place {
			return false, errStale // the distance was measured to another place
		}
		now := r.moment()
		if changed, err = h.RecordVisit(found, who, now); err != nil {
			return false, err
		}
		if found.Type != "" && found.Type != h.Type {
			h.Type, changed = found.Type, true
		}
		if h.Location.VerifiedAt.IsZero() {
			changed, err = true, h.Verify(now)
		}
		if err != nil {
			return false, err
		}
		if changed {
			r.touch(h)
		}
		out = r.viewWith(*h, metrics)
		return changed, by.Once.Keep(out)
	})
	if err != nil {
		return View{}, worded(err)
	}
	return out, r.fleet.Apply(h)
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
