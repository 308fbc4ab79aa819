package registry

import (
	"context"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Change asks to change a hotspot if its version is one of Versions, which the client
// has seen. Without any, the version does not matter.
type Change struct {
	Hotspot  beacon.HotspotID
	Patch    beacon.Patch
	Versions []int64
}

var (
	errNotOperator = &beacon.Error{Kind: beacon.Forbidden, Message: "only the operator of a hotspot may change it"}
	errStale       = &beacon.Error{Kind: beacon.Conflict, Message: "the hotspot has changed since you read it; read it again"}
)

// Change applies a merge patch (decision N11). It checks in the order of decision N3:
// the patch, whether the hotspot exists, who owns it, and its version.
func (r *Registry) Change(ctx context.Context, p beacon.Principal, in Change) (beacon.Hotspot, error) {
	if err := in.Patch.Validate(); err != nil {
		return beacon.Hotspot{}, err
	}
	return r.update(ctx, p, p.CountedActor(r.moment()), in.Hotspot, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
		if err := checkVersion(*h, in.Versions); err != nil {
			return false, err
		}
		return in.Patch.ApplyAt(h, r.moment())
	})
}

// Deletion asks to delete a hotspot, with Versions as in Change.
type Deletion struct {
	Hotspot  beacon.HotspotID
	Versions []int64
}

// Delete removes a hotspot from the network. What it earned stays earned, and its MAC
// is free again: if it was in service, for 30 days for its operator alone (decisions X4,
// D92).
func (r *Registry) Delete(ctx context.Context, p beacon.Principal, in Deletion) (struct{}, error) {
	_, err := r.update(ctx, p, p.Actor(), in.Hotspot, beacon.HotspotDeleted, func(h *beacon.Hotspot) (bool, error) {
		h.DeletedAt = r.moment()
		return true, checkVersion(*h, in.Versions)
	})
	return struct{}{}, err
}

// checkVersion returns an error if the client has seen only other versions.
func checkVersion(h beacon.Hotspot, seen []int64) error {
	if len(seen) > 0 && !slices.Contains(seen, h.Version) {
		return errStale
	}
	return nil
}

// update is write for a hotspot of the principal's.
func (r *Registry) update(
	ctx context.Context, p beacon.Principal, by beacon.Actor, hotspot beacon.HotspotID, kind beacon.ChangeKind,
	edit func(*beacon.Hotspot) (bool, error),
) (beacon.Hotspot, error) {
	if !validID(hotspot) {
		return beacon.Hotspot{}, errNoHotspot
	}
	return r.write(ctx, hotspot, by, kind, func(h *beacon.Hotspot) (bool, error) {
		if !p.At(hotspot).MayActFor(h.Operator) {
			return false, errNotOperator
		}
		return edit(h)
	})
}

// write applies edit to a hotspot in the database, sets the time of the change, and
// updates the fleet.
func (r *Registry) write(
	ctx context.Context, hotspot beacon.HotspotID, by beacon.Actor, kind beacon.ChangeKind,
	edit func(*beacon.Hotspot) (bool, error),
) (beacon.Hotspot, error) {
	h, err := r.store.UpdateHotspot(ctx, hotspot, by, kind, func(h *beacon.Hotspot) (bool, error) {
		changed, err := edit(h)
		if changed {
			r.touch(h)
		}
		return changed, err
	})
	if err != nil {
		return beacon.Hotspot{}, worded(err)
	}
	return h, r.fleet.Apply(h)
}

// touch makes a hotspot the version that the store writes next, changed now.
func (r *Registry) touch(h *beacon.Hotspot) {
	h.Touch(r.moment())
	h.Version++
}
