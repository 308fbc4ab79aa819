package registry

import (
	"context"
	"slices"
	"sort"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/id"
)

// Owned asks for a page of a user's hotspots.
type Owned struct {
	User   beacon.UserID // or beacon.Me
	Page   beacon.Page
	Text   string                 // part of the name, in the form of beacon.CleanSearch
	Charge func(looked int) error // gets the number of names to scan; may refuse
}

// Owned lists the hotspots of the principal's user, or of anyone for an admin. It
// does not reveal whether another user exists (decision N6).
func (r *Registry) Owned(ctx context.Context, p beacon.Principal, in Owned) (beacon.Listed[View], error) {
	list := beacon.Listed[View]{Page: in.Page}
	user, err := p.Resolve(in.User)
	if err != nil {
		return list, err
	}
	if !id.Valid(beacon.UserPrefix, string(user)) {
		return list, nil // no such user; some texts cannot even be sent to a database
	}
	if in.Text != "" {
		return r.search(ctx, user, in)
	}
	hotspots, total, err := r.store.HotspotsOf(ctx, user, beacon.HotspotID(in.Page.After), in.Page.Offset(), in.Page.Size)
	if err != nil {
		return list, err
	}
	list.Total = total
	for _, h := range hotspots {
		list.Items = append(list.Items, r.view(h))
	}
	return list, nil
}

// everAtOnce is how many hotspots Ever reads at a time.
const everAtOnce = 100

// Ever calls fn for each hotspot that a user has or had, by id. The caller has checked
// that the principal may act for the user.
func (r *Registry) Ever(ctx context.Context, user beacon.UserID, fn func(View) error) error {
	for after := beacon.HotspotID(""); ; {
		page, err := r.store.EverOf(ctx, user, after, everAtOnce)
		if err != nil {
			return err
		}
		for _, h := range page {
			if err := fn(r.view(h)); err != nil {
				return err
			}
			after = h.ID
		}
		if len(page) < everAtOnce {
			return nil
		}
	}
}

// search is Owned for hotspots with a text in their name.
func (r *Registry) search(ctx context.Context, user beacon.UserID, in Owned) (beacon.Listed[View], error) {
	list := beacon.Listed[View]{Page: in.Page}
	names, err := r.names(ctx, user, 1, in.Charge)
	if err != nil {
		return list, err
	}
	names = slices.DeleteFunc(names, func(n beacon.HotspotName) bool { return !strings.Contains(beacon.FoldName(n.Name), in.Text) })
	list.Total = len(names)
	names = names[sort.Search(len(names), func(i int) bool { return string(names[i].ID) > in.Page.After }):]
	names = names[min(in.Page.Offset(), len(names)):]
	names = names[:min(in.Page.Size, len(names))]
	ids := make([]beacon.HotspotID, len(names))
	for i, n := range names {
		ids[i] = n.ID
	}
	hotspots, err := r.store.HotspotsByID(ctx, ids)
	if err != nil {
		return list, err
	}
	slices.SortFunc(hotspots, func(a, b beacon.Hotspot) int { return strings.Compare(string(a.ID), string(b.ID)) })
	for _, h := range hotspots {
		if !h.Deleted() { // deleted between the two reads
			list.Items = append(list.Items, r.view(h))
		}
	}
	return list, nil
}

// names returns all live hotspots of a user by id, with their names. Charge is called
// before they are read, with their number times cost.
func (r *Registry) names(ctx context.Context, user beacon.UserID, cost int, charge func(looked int) error) ([]beacon.HotspotName, error) {
	_, count, err := r.store.HotspotsOf(ctx, user, "", 0, 0)
	if err != nil {
		return nil, err
	}
	if err := charge(count * cost); err != nil {
		return nil, err
	}
	return r.store.NamesOf(ctx, user)
}

// List returns a page of all hotspots, from memory, or of those of an operator, which
// only the database knows. It is for staff: the table of routes has checked the key.
func (r *Registry) List(ctx context.Context, in fleet.ListQuery, operator beacon.UserID) (beacon.Listed[*fleet.Hotspot], error) {
	if operator == "" {
		return r.fleet.List(in)
	}
	names, err := r.names(ctx, operator, rowIsLooks, in.Charge)
	if err != nil {
		return beacon.Listed[*fleet.Hotspot]{}, err
	}
	ids := make([]string, len(names))
	for i, n := range names {
		ids[i] = string(n.ID)
	}
	in.Among = beacon.Some(ids)
	return r.fleet.List(in)
}

// rowIsLooks is the cost of a row of the database, in names scanned in memory.
const rowIsLooks = 5
