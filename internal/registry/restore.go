package registry

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

var errGone = &beacon.Error{
	Kind:    beacon.Conflict,
	Message: "the hotspot cannot be brought back: only what its operator deleted within the last 24 hours can be",
}

// Restore brings back a hotspot that its operator deleted less than beacon.RestoreTime ago.
// Its device is linked as before, and nothing of the time in between counts. A hotspot that
// is not deleted stays as it is.
func (r *Registry) Restore(ctx context.Context, p beacon.Principal, hotspot beacon.HotspotID) (beacon.Hotspot, error) {
	if !validID(hotspot) {
		return beacon.Hotspot{}, errNoHotspot
	}
	h, err := r.finder.RestoreHotspot(ctx, hotspot, p.CountedActor(r.moment()), func(h *beacon.Hotspot, d beacon.Deletion) (changed bool, err error) {
		if err := mayRestore(p, h, d); err != nil {
			return false, err
		}
		if h.Deleted() {
			now := r.moment()
			if !d.ByOperator || now.Sub(h.DeletedAt) > beacon.RestoreTime {
				return false, errGone
			}
			if err := h.Restore(now); err != nil {
				return false, err
			}
			r.touch(h)
			changed = true
		}
		return changed, p.Once.Keep(*h)
	})
	if err != nil {
		return beacon.Hotspot{}, worded(err)
	}
	return h, r.fleet.Apply(h)
}

// mayRestore returns why a principal may not bring a hotspot back. Others must not learn
// that it existed.
func mayRestore(p beacon.Principal, h *beacon.Hotspot, d beacon.Deletion) error {
	switch {
	case !p.MayActFor(h.Operator) && h.Deleted():
		return errNoHotspot
	case !p.MayActFor(h.Operator):
		return errNotOperator
	case h.Deleted() && p.Limited() && h.Location.VerifiedAt.IsZero():
		return mayWait(d.Waiting, d.Quota)
	}
	return nil
}

// maxDeleted is how many deleted hotspots are listed.
const maxDeleted = 100

// Deleted returns the hotspots of a user that Restore can bring back, the latest first, and
// not more than maxDeleted.
func (r *Registry) Deleted(ctx context.Context, p beacon.Principal, user beacon.UserID) ([]beacon.HotspotName, error) {
	user, err := p.Resolve(user)
	if err == nil && !id.Valid(beacon.UserPrefix, string(user)) {
		err = beacon.NoSuch("user")
	}
	if err != nil {
		return nil, err
	}
	return r.finder.DeletedOf(ctx, user, r.moment().Add(-beacon.RestoreTime), maxDeleted)
}
