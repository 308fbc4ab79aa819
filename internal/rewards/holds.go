package rewards

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
)

// NewHold asks to hold back what a hotspot, or all hotspots of an operator, earn.
type NewHold struct {
	Hotspot  beacon.HotspotID // or
	User     beacon.UserID
	Reason   string
	Evidence string
	Until    time.Time
}

// HoldAction is what staff decide about a hold.
type HoldAction string

// The actions.
const (
	ExtendHold  HoldAction = "extend"
	ReleaseHold HoldAction = "release"
	VoidHold    HoldAction = "void" // a visit failed; a second person confirms it with the same action
)

// HoldDecision asks to change a hold.
type HoldDecision struct {
	Hold   beacon.HoldID
	Action HoldAction
	Reason string
	Until  time.Time // of an extension
}

// HoldAnswer is what an operator says about a hold.
type HoldAnswer struct {
	Hold beacon.HoldID
	Text string
}

// HoldsQuery asks for holds, newest first.
type HoldsQuery struct {
	User beacon.UserID // or beacon.Me; "": of everyone, for staff
	Page beacon.Page
}

var (
	errNoHold   = &beacon.Error{Kind: beacon.NotFound, Message: "no such hold"}
	errNoUser   = &beacon.Error{Kind: beacon.NotFound, Message: "no such user, or one without hotspots"}
	errInvolved = &beacon.Error{
		Kind:    beacon.Forbidden,
		Message: fmt.Sprintf("someone else must decide this: a hotspot of yours is held, or is within %d m of one that is", beacon.HoldAwayM),
	}
)

// PlaceHold holds back what is earned on days that are closed from now on.
func (r *Rewards) PlaceHold(ctx context.Context, p beacon.Principal, in NewHold) (beacon.Hold, error) {
	user := in.User
	if in.Hotspot != "" {
		if !id.Valid(beacon.HotspotPrefix, string(in.Hotspot)) {
			return beacon.Hold{}, errNoHotspot
		}
		err := r.Store.Books(ctx, func(b ledger.Books) (err error) {
			any := false
			if user, any, err = b.Owner(ctx, in.Hotspot); err == nil && !any {
				err = errNoHotspot
			}
			return err
		})
		if err != nil {
			return beacon.Hold{}, err
		}
	}
	now := r.moment()
	hold := beacon.Hold{
		ID: beacon.HoldID(id.New(beacon.HoldPrefix, now)), User: user, Hotspot: in.Hotspot, Reason: in.Reason, Evidence: in.Evidence,
		Placed: beacon.HoldAct{By: p.User, At: now}, Until: in.Until.UTC().Truncate(time.Microsecond),
	}
	if err := r.mayJudge(ctx, p.User, &hold); err != nil {
		return beacon.Hold{}, err
	}
	return r.edit(ctx, p, user, in.Reason, now, func(all []beacon.Hold) (beacon.Hold, beacon.ChangeKind, error) {
		placed, err := hold.Place(all)
		return placed, beacon.HoldPlaced, err
	})
}

// moment is now as a database keeps it.
func (r *Rewards) moment() time.Time { return r.Now().UTC().Truncate(time.Microsecond) }

// DecideHold extends a hold, ends it, or makes what is held void.
func (r *Rewards) DecideHold(ctx context.Context, p beacon.Principal, in HoldDecision) (beacon.Hold, error) {
	may := func(h *beacon.Hold) error { return r.mayJudge(ctx, p.User, h) }
	return r.change(ctx, p, in.Hold, in.Reason, may, func(h *beacon.Hold, act beacon.HoldAct) (beacon.ChangeKind, error) {
		switch in.Action {
		case ExtendHold:
			return beacon.HoldExtended, h.Extend(act, in.Until.UTC().Truncate(time.Microsecond))
		case ReleaseHold:
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

// AnswerHold records what the operator says about a hold.
func (r *Rewards) AnswerHold(ctx context.Context, p beacon.Principal, in HoldAnswer) (beacon.Hold, error) {
	may := func(h *beacon.Hold) error {
		if !p.MayActFor(h.User) {
			return errNoHold
		}
		return nil
	}
	return r.change(ctx, p, in.Hold, in.Text, may, func(h *beacon.Hold, act beacon.HoldAct) (beacon.ChangeKind, error) {
		return beacon.HoldAnswered, h.Respond(act)
	})
}

// Holds returns a page of a user's holds, or of everyone's.
func (r *Rewards) Holds(ctx context.Context, p beacon.Principal, q HoldsQuery) (beacon.Listed[beacon.Hold], error) {
	list := beacon.Listed[beacon.Hold]{Page: q.Page}
	user := q.User
	var err error
	if user != "" {
		if user, err = p.Resolve(user); err != nil || !validUser(user) {
			return list, err
		}
	}
	list.Items, list.Total, err = r.Store.Holds(ctx, user, beacon.HoldID(q.Page.After), q.Page.Offset(), q.Page.Size)
	return list, err
}

// change edits an existing hold, if p may.
func (r *Rewards) change(
	ctx context.Context, p beacon.Principal, hold beacon.HoldID, note string, may func(*beacon.Hold) error,
	edit func(*beacon.Hold, beacon.HoldAct) (beacon.ChangeKind, error),
) (beacon.Hold, error) {
	if !id.Valid(beacon.HoldPrefix, string(hold)) {
		return beacon.Hold{}, errNoHold
	}
	was, any, err := r.Store.Hold(ctx, hold)
	if err == nil && !any {
		err = errNoHold
	}
	if err == nil {
		err = may(&was)
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
		kind, err := edit(&all[at], beacon.HoldAct{By: p.User, At: now, Note: note})
		return all[at], kind, err
	})
}

// edit writes a hold with the result of the request.
func (r *Rewards) edit(
	ctx context.Context, p beacon.Principal, user beacon.UserID, note string, now time.Time,
	edit func([]beacon.Hold) (beacon.Hold, beacon.ChangeKind, error),
) (beacon.Hold, error) {
	by := p.Actor()
	by.Note = note
	return r.Store.EditHolds(ctx, user, by, now, func(all []beacon.Hold) (beacon.Hold, beacon.ChangeKind, error) {
		h, kind, err := edit(all)
		if err == nil {
			err = by.Once.Keep(h)
		}
		return h, kind, err
	})
}

// mayJudge returns an error for someone with a hotspot that is held, or near to one
// (decision D148).
func (r *Rewards) mayJudge(ctx context.Context, judge beacon.UserID, hold *beacon.Hold) error {
	if judge == hold.User {
		return errInvolved
	}
	held, err := r.heldHotspots(ctx, hold)
	if err != nil {
		return err
	}
	own, err := r.hotspotsOf(ctx, judge, r.Now().Add(-beacon.HoldAtMost))
	if err == nil && anyWithin(r.stands(own), r.places(held, hold.Hotspot != ""), beacon.HoldAwayM) {
		err = errInvolved
	}
	if err == nil && len(held) == 0 && hold.Number == 0 {
		err = errNoUser
	}
	return err
}

func (r *Rewards) heldHotspots(ctx context.Context, hold *beacon.Hold) ([]beacon.Hotspot, error) {
	if hold.Hotspot != "" {
		return r.Store.HotspotsByID(ctx, []beacon.HotspotID{hold.Hotspot})
	}
	return r.hotspotsOf(ctx, hold.User, r.Now().AddDate(1, 0, 0)) // none is deleted then
}

// hotspotsOf returns the hotspots of a user that are live or were deleted since a time.
func (r *Rewards) hotspotsOf(ctx context.Context, user beacon.UserID, deletedSince time.Time) ([]beacon.Hotspot, error) {
	if !validUser(user) {
		return nil, nil
	}
	var ids []beacon.HotspotID
	err := r.Store.Books(ctx, func(b ledger.Books) error {
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
func (r *Rewards) stands(hotspots []beacon.Hotspot) (points []geo.Point) {
	for i := range hotspots {
		points = append(points, hotspots[i].Stands(r.Now())...)
	}
	return points
}

// places returns where hotspots are paid for, and maybe those that nobody has visited: what
// someone registers says nothing about where they are.
func (r *Rewards) places(hotspots []beacon.Hotspot, unseen bool) (points []geo.Point) {
	for i := range hotspots {
		h := &hotspots[i]
		if seen := len(h.Visits) > 0 || !h.Location.VerifiedAt.IsZero(); seen || unseen {
			points = append(points, h.PlaceOn(r.today()).Point)
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

// hold marks the rows of a page that are held now.
func (r *Rewards) hold(ctx context.Context, page *ledger.Page) error {
	if len(page.Rows) == 0 {
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
	for i := range page.Rows {
		row := &page.Rows[i]
		row.Hold = beacon.HoldOn(byUser[row.User], row.Day, row.Owned)
	}
	return nil
}

// holdOf returns the hold of a row and what became of the row, or the active hold of a
// hotspot whose day is open. The state is empty for a row that is not held.
func holdOf(ctx context.Context, b ledger.Books, row ledger.Row, day beacon.Day, of beacon.Owned, open bool) (*beacon.Hold, PaymentState, error) {
	id, state := row.Hold, PaymentState("")
	if open {
		all, err := b.HoldsOf(ctx, of.User)
		if err != nil {
			return nil, "", err
		}
		id = beacon.HoldOn(all, day, of)
	} else if id != "" {
		held, any, err := b.HeldDay(ctx, day, of)
		if err == nil && (!any || held.Hold != id || held.Amount != row.Total()) {
			err = errMismatch(of.User, "what is held on "+day.String())
		}
		if err != nil {
			return nil, "", err
		}
		state = stateOf(&held)
	}
	if id == "" {
		return nil, "", nil
	}
	h, any, err := b.Hold(ctx, id)
	if err == nil && !any {
		err = errMismatch(of.User, "the hold "+string(id))
	}
	return &h, state, err
}

// releaseDue releases the holds whose end has certainly come.
func (r *Rewards) releaseDue(ctx context.Context) error {
	active, err := r.Store.ActiveHolds(ctx)
	if err != nil || !slices.ContainsFunc(active, func(h beacon.Hold) bool { return !r.Now().Before(h.Until) }) {
		return err
	}
	certain, _, err := r.certainly(ctx)
	if err != nil {
		return err
	}
	by := bySchedule
	by.Note = "the hold has ended"
	for _, due := range active {
		if certain.Before(due.Until) {
			continue
		}
		_, err := r.Store.EditHolds(ctx, due.User, by, r.moment(), func(all []beacon.Hold) (beacon.Hold, beacon.ChangeKind, error) {
			at := slices.IndexFunc(all, func(h beacon.Hold) bool { return h.ID == due.ID })
			if at < 0 || !all[at].Expire(certain) {
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
