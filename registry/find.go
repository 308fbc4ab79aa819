package registry

import (
	"context"

	"github.com/beacon-wifi/beacon/beacon"
	"github.com/beacon-wifi/beacon/fleet"
	"github.com/beacon-wifi/beacon/id"
)

// Me stands for the principal's own user in place of an id.
const Me = "me"

// Owned asks for a page of a user's hotspots.
type Owned struct {
	User beacon.UserID // or Me
	Page beacon.Page
}

var errNotYours = &beacon.Error{Kind: beacon.Forbidden, Message: "these belong to another user"}

// Owned lists the hotspots of the principal's user, or of anyone for an admin.
// Whether another user exists is not told (decision N6).
func (r *Registry) Owned(ctx context.Context, p beacon.Principal, in Owned) (beacon.Listed[View], error) {
	user := in.User
	if user == Me {
		user = p.User
	}
	list := beacon.Listed[View]{Page: in.Page}
	if !p.MayActFor(user) {
		return list, errNotYours
	}
	if !id.Valid(beacon.UserPrefix, string(user)) {
		return list, nil // nobody: some texts a database could not even be asked for
	}
	hotspots, total, err := r.store.HotspotsOf(ctx, user, in.Page.Offset(), in.Page.Size)
	if err != nil {
		return list, err
	}
	list.Total = total
	for _, h := range hotspots {
		list.Items = append(list.Items, r.view(h))
	}
	return list, nil
}

// Nearby finds hotspots around a place, in memory. The answer is written over
// out.
func (r *Registry) Nearby(in fleet.Query, out []fleet.Hit) []fleet.Hit {
	return r.fleet.Nearby(in, out)
}
