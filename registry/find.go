package registry

import (
	"context"
	"math"

	"github.com/beacon-wifi/beacon/beacon"
	"github.com/beacon-wifi/beacon/fleet"
	"github.com/beacon-wifi/beacon/id"
)

// Me stands for the principal's own user in place of an id.
const Me = "me"

// Owned asks for a page of a user's hotspots.
type Owned struct {
	User          beacon.UserID // or Me
	Page, PerPage int
}

// OwnedPage is such a page, and how many hotspots there are in all.
type OwnedPage struct {
	Hotspots      []beacon.Hotspot
	Total         int
	Page, PerPage int
}

var errNotYours = &beacon.Error{Kind: beacon.Forbidden, Message: "these belong to another user"}

// Owned lists the hotspots of the principal's user, or of anyone for an admin.
// Whether another user exists is not told (decision N6).
func (r *Registry) Owned(ctx context.Context, p beacon.Principal, in Owned) (OwnedPage, error) {
	user := in.User
	if user == Me {
		user = p.User
	}
	if !p.MayActFor(user) {
		return OwnedPage{}, errNotYours
	}
	page := OwnedPage{Page: in.Page, PerPage: in.PerPage}
	if !id.Valid(beacon.UserPrefix, string(user)) {
		return page, nil // nobody: some texts a database could not even be asked for
	}
	skip := min(in.Page-1, math.MaxInt32) * in.PerPage // no user has more; no product overflows
	var err error
	page.Hotspots, page.Total, err = r.store.HotspotsOf(ctx, user, skip, in.PerPage)
	return page, err
}

// Nearby finds hotspots around a place, in memory. The answer is written over
// out.
func (r *Registry) Nearby(in fleet.Query, out []fleet.Hit) []fleet.Hit {
	return r.fleet.Nearby(in, out)
}
