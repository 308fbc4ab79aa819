// Package holds holds back what operators have earned: staff place a hold with a reason,
// decide about it, and a second person confirms what is not paid. Its operator may answer.
//
// Its one invariant: nobody decides about a hold of their own, or of a hotspot near theirs.
package holds

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
)

// Store is what this package needs of a database.
type Store interface {
	HotspotsByID(ctx context.Context, ids []beacon.HotspotID) ([]beacon.Hotspot, error)
	EditHolds(ctx context.Context, user beacon.UserID, by beacon.Actor, at time.Time,
		edit func([]beacon.Hold) (beacon.Hold, beacon.ChangeKind, error)) (beacon.Hold, error)
	Hold(ctx context.Context, id beacon.HoldID) (h beacon.Hold, found bool, err error)
	ActiveHolds(ctx context.Context) ([]beacon.Hold, error)
	Holds(ctx context.Context, user beacon.UserID, after beacon.HoldID, offset, limit int) (page []beacon.Hold, total int, err error)
	// Behind returns who may be behind a request of a user's key, or of a person.
	Behind(ctx context.Context, user beacon.UserID, person beacon.PersonID, key beacon.KeyID) (beacon.Behind, error)
}

// Holds are the holds of all operators.
type Holds struct {
	*rewards.Ledger
	Store Store
}

// Request asks to hold back what a hotspot, or all hotspots of an operator, earn.
type Request struct {
	Hotspot  beacon.HotspotID // or
	User     beacon.UserID
	Reason   string
	Evidence string
	Until    time.Time
}

// Action is what staff decide about a hold.
type Action string

// The actions.
const (
	Extend  Action = "extend"
	Release Action = "release"
	Void    Action = "void" // a visit failed; a second person confirms it with the same action
)

// Decision asks to change a hold.
type Decision struct {
	Hold   beacon.HoldID
	Action Action
	Reason string
	Until  time.Time // of an extension
}

// Reply is what an operator says about a hold.
type Reply struct {
	Hold beacon.HoldID
	Text string
}

// Query asks for holds, newest first.
type Query struct {
	User beacon.UserID // or beacon.Me; "": of everyone, for staff
	Page beacon.Page
}

var (
	errNoHotspot = beacon.NoSuch("hotspot")
	errNoHold    = beacon.NoSuch("hold")
	errNoUser    = &beacon.Error{Kind: beacon.NotFound, Message: "no such user, or one without hotspots"}
	errInvolved  = &beacon.Error{
		Kind:    beacon.Forbidden,
		Message: fmt.Sprintf("someone else must decide this: a hotspot of yours is held, or is within %d m of one that is", beacon.HoldAwayM),
	}
)

// Place holds back what is earned on days that are closed from now on.
func (r *Holds) Place(ctx context.Context, p beacon.Principal, in Request) (beacon.Hold, error) {
	user := in.User
	if in.Hotspot != "" {
		if !id.Valid(beacon.HotspotPrefix, string(in.Hotspot)) {
			return beacon.Hold{}, errNoHotspot
		}
		err := r.Ledger.Store.Books(ctx, func(b ledger.Books) (err error) {
			whose, found, err := b.Whose(ctx, in.Hotspot)
			if err == nil && !found {
				err = errNoHotspot
			}
			user = whose.Operator
			return err
		})
		if err != nil {
			return beacon.Hold{}, err
		}
	}
	now := r.moment()
	hold := beacon.Hold{
		ID: beacon.HoldID(id.New(beacon.HoldPrefix, now)), User: user, Hotspot: in.Hotspot, Reason: in.Reason, Evidence: in.Evidence,
		Until: in.Until.UTC().Truncate(time.Microsecond),
	}
	judge, err := r.Store.Behind(ctx, p.User, p.Person, p.Key)
	if err != nil {
		return beacon.Hold{}, err
	}
	hold.Placed = judge.Act(now, "")
	if err := r.mayJudge(ctx, judge, &hold); err != nil {
		return beacon.Hold{}, err
	}
	return r.edit(ctx, p, user, in.Reason, now, func(all []beacon.Hold) (beacon.Hold, beacon.ChangeKind, error) {
		placed, err := hold.Place(all)
		return placed, beacon.HoldPlaced, err
	})
}

// moment is now as a database keeps it.
func (r *Holds) moment() time.Time { return r.Clock.Now().UTC().Truncate(time.Microsecond) }

// Decide extends a hold, ends it, or makes what is held void.
func (r *Holds) Decide(ctx context.Context, p beacon.Principal, in Decision) (beacon.Hold, error) {
	may := func(judge beacon.Behind, h *beacon.Hold) error { return r.mayJudge(ctx, judge, h) }
	return r.change(ctx, p, in.Hold, in.Reason, may, func(h *beacon.Hold, act beacon.HoldAct) (beacon.ChangeKind, error) {
		switch in.Action {
		case Extend:
			return beacon.HoldExtended, h.Extend(act, in.Until.UTC().Truncate(time.Microsecond))
		case Release:
			return beacon.HoldReleased, h.Release(act)
		default:
			void, err := h.FailVisit(act)
			if void {
				return beacon.HoldVoided, err
			}
			return beacon.HoldVisitFailed, err
		}
	})
}

// Answer records what the operator says about a hold.
func (r *Holds) Answer(ctx context.Context, p beacon.Principal, in Reply) (beacon.Hold, error) {
	may := func(_ beacon.Behind, h *beacon.Hold) error {
		if !p.MayActFor(h.User) {
			return errNoHold
		}
		return nil
	}
	return r.change(ctx, p, in.Hold, in.Text, may, func(h *beacon.Hold, act beacon.HoldAct) (beacon.ChangeKind, error) {
		return beacon.HoldAnswered, h.Respond(act)
	})
}

// List returns a page of a user's holds, or of everyone's.
func (r *Holds) List(ctx context.Context, p beacon.Principal, q Query) (beacon.Listed[beacon.Hold], error) {
	list := beacon.Listed[beacon.Hold]{Page: q.Page}
	user := q.User
	var err error
	if user != "" {
		if user, err = p.Resolve(user); err != nil || !rewards.ValidUser(user) {
			return list, err
		}
	}
	list.Items, list.Total, err = r.Store.Holds(ctx, user, beacon.HoldID(q.Page.After), q.Page.Offset(), q.Page.Size)
	return list, err
}

// change edits an existing hold, if p may.
func (r *Holds) change(
	ctx context.Context, p beacon.Principal, hold beacon.HoldID, note string, may func(beacon.Behind, *beacon.Hold) error,
	edit func(*beacon.Hold, beacon.HoldAct) (beacon.ChangeKind, error),
) (beacon.Hold, error) {
	if !id.Valid(beacon.HoldPrefix, string(hold)) {
		return beacon.Hold{}, errNoHold
	}
	was, found, err := r.Store.Hold(ctx, hold)
	if err == nil && !found {
		err = errNoHold
	}
	if err != nil {
		return beacon.Hold{}, err
	}
	who, err := r.Store.Behind(ctx, p.User, p.Person, p.Key)
	if err == nil {
		err = may(who, &was)
	}
	if err != nil {
		return beacon.Hold{}, err
	}
	now := r.moment()
	return r.edit(ctx, p, was.User, note, now, func(all []beacon.Hold) (beacon.Hold, beacon.ChangeKind, error) {
		at := slices.IndexFunc(all, func(h beacon.Hold) bool { return h.ID == hold })
		if at < 0 {
			return beacon.Hold{}, "", errNoHold
		}
		kind, err := edit(&all[at], who.Act(now, note))
		return all[at], kind, err
	})
}

// edit writes a hold with the result of the request.
func (r *Holds) edit(
	ctx context.Context, p beacon.Principal, user beacon.UserID, note string, now time.Time,
	edit func([]beacon.Hold) (beacon.Hold, beacon.ChangeKind, error),
) (beacon.Hold, error) {
	by := p.CountedActor(now) // an operator may answer again and again
	by.Note = note
	h, err := r.Store.EditHolds(ctx, user, by, now, func(all []beacon.Hold) (beacon.Hold, beacon.ChangeKind, error) {
		h, kind, err := edit(all)
		if err == nil {
			err = by.Once.Keep(h)
		}
		return h, kind, err
	})
	return h, beacon.WordExhausted(err)
}

// mayJudge returns an error for someone with a hotspot that is held, or near to one
// (decision D148), in any of their accounts.
func (r *Holds) mayJudge(ctx context.Context, judge beacon.Behind, hold *beacon.Hold) error {
	if judge.Owns(hold.User) {
		return errInvolved
	}
	held, err := r.heldHotspots(ctx, hold)
	if err != nil {
		return err
	}
	for _, account := range judge.Accounts {
		own, err := r.hotspotsOf(ctx, account, r.Clock.Now().Add(-beacon.HoldAtMost))
		if err != nil {
			return err
		}
		if anyWithin(r.stands(own), r.places(held, hold), beacon.HoldAwayM) {
			return errInvolved
		}
	}
	if err == nil && len(held) == 0 && hold.Number == 0 {
		err = errNoUser
	}
	return err
}

func (r *Holds) heldHotspots(ctx context.Context, hold *beacon.Hold) ([]beacon.Hotspot, error) {
	if hold.Hotspot != "" {
		return r.Store.HotspotsByID(ctx, []beacon.HotspotID{hold.Hotspot})
	}
	return r.hotspotsOf(ctx, hold.User, r.Clock.Now().AddDate(1, 0, 0)) // none is deleted then
}

// hotspotsOf returns the hotspots of a user that are live or were deleted, or handed over, since
// a time.
func (r *Holds) hotspotsOf(ctx context.Context, user beacon.UserID, deletedSince time.Time) ([]beacon.Hotspot, error) {
	if !rewards.ValidUser(user) {
		return nil, nil
	}
	var ids []beacon.HotspotID
	err := r.Ledger.Store.Books(ctx, func(b ledger.Books) error {
		names, err := b.Names(ctx, user, deletedSince)
		ids = nil
		for _, n := range names {
			ids = append(ids, n.ID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r.Store.HotspotsByID(ctx, ids)
}

// stands returns where hotspots are, or were not long ago.
func (r *Holds) stands(hotspots []beacon.Hotspot) (points []geo.Point) {
	for i := range hotspots {
		points = append(points, hotspots[i].Stands(r.Clock.Now())...)
	}
	return points
}

// places returns where hotspots of a hold are paid for. If it is of one hotspot, that also
// counts if nobody has visited it, and so does where it is registered until the hold is
// placed; else what someone registers says nothing about where they are.
func (r *Holds) places(hotspots []beacon.Hotspot, hold *beacon.Hold) (points []geo.Point) {
	for i := range hotspots {
		h := &hotspots[i]
		if seen := len(h.Visits) > 0 || !h.Location.VerifiedAt.IsZero(); seen || hold.Hotspot != "" {
			points = append(points, h.Paid(r.Clock.Now())...)
		}
		if hold.Hotspot != "" && hold.Number == 0 {
			points = append(points, h.Location.Point)
		}
	}
	return points
}

// anyWithin reports whether any point of one list is within a distance of one of the other.
func anyWithin(some, others []geo.Point, withinM float64) bool {
	const shortestDegreeM = 110_000 // of latitude
	others = slices.SortedFunc(slices.Values(others), func(a, b geo.Point) int { return cmp.Compare(a.Lat, b.Lat) })
	for _, p := range some {
		south := p.Lat - withinM/shortestDegreeM
		from := sort.Search(len(others), func(i int) bool { return others[i].Lat >= south })
		for _, o := range others[from:] {
			if o.Lat > p.Lat+withinM/shortestDegreeM {
				break
			}
			if geo.Distance(p, o) <= withinM {
				return true
			}
		}
	}
	return false
}

// Mark marks the rows of a day's page that are held now.
func (r *Holds) Mark(ctx context.Context, rows []ledger.Row) error {
	if len(rows) == 0 {
		return nil
	}
	active, err := r.Store.ActiveHolds(ctx)
	if err != nil || len(active) == 0 {
		return err
	}
	byUser := map[beacon.UserID][]beacon.Hold{}
	for _, h := range active {
		byUser[h.User] = append(byUser[h.User], h)
	}
	for i := range rows {
		rows[i].Hold = beacon.HoldOn(byUser[rows[i].User], rows[i].Day, rows[i].Owned)
	}
	return nil
}

// ReleaseDue releases the holds whose end has certainly come.
func (r *Holds) ReleaseDue(ctx context.Context) error {
	active, err := r.Store.ActiveHolds(ctx)
	if err != nil || !slices.ContainsFunc(active, func(h beacon.Hold) bool { return !r.Clock.Now().Before(h.Until) }) {
		return err
	}
	certain, err := r.Clock.Ask(ctx)
	if err != nil {
		return err
	}
	by := rewards.BySchedule
	by.Note = "the hold has ended"
	for _, due := range active {
		if certain.Says.Before(due.Until) {
			continue
		}
		_, err := r.Store.EditHolds(ctx, due.User, by, r.moment(), func(all []beacon.Hold) (beacon.Hold, beacon.ChangeKind, error) {
			at := slices.IndexFunc(all, func(h beacon.Hold) bool { return h.ID == due.ID })
			if at < 0 || !all[at].Expire(certain.Says) {
				return beacon.Hold{}, "", nil // someone was faster
			}
			return all[at], beacon.HoldReleased, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
