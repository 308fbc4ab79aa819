package closing

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/places"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// ReplayQuery asks what closed days would have earned.
type ReplayQuery struct {
	From, To beacon.Day
	// Policy is applied to all these days, as if it had been adopted from the first on. If
	// it is nil, each day has the policy that was in force.
	Policy *policy.Policy
	// MaxRows is how many rows these days may have, if it is not 0.
	MaxRows int
}

// ReplayedDay is what the rows of a day earned, and would have earned.
type ReplayedDay struct {
	Day     beacon.Day
	Rows    int
	Was, Is beacon.Earned
	Done    bool // all rows are in it
}

// Replay is what closed days earned, and what they would have earned.
type Replay struct {
	ReplayQuery
	Rows      int
	Was, Is   beacon.Earned
	Operators []ReplayedOperator // by user
	// Differ counts the rows that are not as in the ledger. First describes the first of
	// them, if the policies in force were replayed.
	Differ int
	First  string
	// Unvisited counts the hotspots that would be paid nothing on the last day because no
	// exact visit has found them.
	Unvisited int
}

// ReplayedOperator is what the hotspots of an operator earned, and would have earned.
type ReplayedOperator struct {
	User     beacon.UserID
	Hotspots int
	Was, Is  beacon.Earned
}

// Change returns what the operator would have gained, or lost if it is negative.
func (o *ReplayedOperator) Change() beacon.Amount { return o.Is.Total() - o.Was.Total() }

// Replay computes closed days again from the records, with the code that closes days. It
// writes nothing. It calls progress when a day begins, after each page of rows and when the
// day is done, and ends with the error that progress returns.
func (r *Closer) Replay(ctx context.Context, q ReplayQuery, progress func(ReplayedDay) error) (*Replay, error) {
	v, err := r.View(ctx, func(v rewards.View, b ledger.Books) error {
		days, err := b.Closings(ctx)
		if err != nil {
			return err
		}
		return mayReplay(q, v, days)
	})
	if err != nil {
		return nil, err
	}
	store := &replayStore{Store: r.places.Store, from: q.From, standings: map[beacon.HotspotID][]ledger.Standing{}, own: map[beacon.HotspotID]*owned{}}
	again := New(Config{
		Ledger: rewards.New(rewards.Config{Store: r.Ledger.Store, Clock: clock.Of(r.Clock.Now), Policies: replayed(r.Known(), q)}),
		Days:   r.Days, Places: store, Telemetry: r.Telemetry, Log: slog.New(slog.DiscardHandler),
		Lease: func() (lease.Lease, bool) { return lease.Lease{}, true },
	})
	again.PageSize = r.PageSize
	again.places.AsPaid = func(ctx context.Context, day beacon.Day, of beacon.Owned, c *places.Claim) error {
		rows, err := store.Store.ValidRows(ctx, day, of, of, v.Reopened)
		for i := range rows {
			if row := &rows[i]; row.Owned == of && row.Counts != beacon.NoStanding { // a policy paid places
				c.Point, c.AtMost = geo.Point{Lat: float64(row.Lat) / 1e7, Lng: float64(row.Lng) / 1e7}, row.Tier
			}
		}
		return err
	}
	report := &replayReport{Replay: Replay{ReplayQuery: q}, operators: map[beacon.UserID]*ReplayedOperator{}, hotspots: map[beacon.Owned]bool{}}
	for day := q.From; day <= q.To; day++ {
		report.day = ReplayedDay{Day: day}
		if err := again.replayDay(ctx, store, v, report, progress); err != nil {
			return nil, fmt.Errorf("replay %s: %w", day, err)
		}
	}
	return report.sorted(), nil
}

// mayReplay returns an error for days that are not closed, or have too many rows.
func mayReplay(q ReplayQuery, v rewards.View, days []ledger.Closing) error {
	switch {
	case len(days) == 0 || v.First <= days[0].Day:
		return rewards.Refuse("no day is closed")
	case q.From > q.To:
		return rewards.Refuse("%s is after %s", q.From, q.To)
	case q.From < days[0].Day:
		return rewards.Refuse("%s is not closed: the first closed day is %s", q.From, days[0].Day)
	case q.To >= v.First:
		return rewards.Refuse("%s is not closed: the last closed day is %s", q.To, v.First-1)
	}
	rows := 0
	for _, c := range days {
		if c.Day >= q.From && c.Day <= q.To {
			rows += c.Hotspots
		}
	}
	if q.MaxRows > 0 && rows > q.MaxRows {
		return rewards.Refuse("these days have %d rows, more than the %d that a server replays: choose fewer days, or use the command beacon rewards replay", rows, q.MaxRows)
	}
	return nil
}

// replayed returns the policies with the one that is replayed.
func replayed(known policy.Set, q ReplayQuery) policy.Set {
	if q.Policy == nil {
		return known
	}
	n := 0
	for n < len(known) && (n == 0 || known[n].From < q.From) {
		n++
	}
	p := *q.Policy
	p.Version, p.From = n+1, q.From
	return append(slices.Clone(known[:n]), p)
}

func (r *Closer) replayDay(ctx context.Context, store *replayStore, v rewards.View, report *replayReport, progress func(ReplayedDay) error) error {
	day := report.day.Day
	if err := progress(report.day); err != nil {
		return err
	}
	var ground *places.Division
	if rules := r.Known().On(day); rules.PaysPlaces() {
		var err error
		if ground, err = r.divideDay(ctx, v, day, rules); err != nil {
			return err
		}
	}
	if store.outages[day&1] = map[beacon.HotspotID]ledger.Row{}; ground != nil {
		store.put(ground.Standings())
	}
	for b := (batch{}); !b.last; {
		after := b.upto
		if b = r.readPage(ctx, day, after, ground); b.err != nil {
			return b.err
		}
		upto := b.upto
		if b.last {
			upto = beacon.Owned{User: "~"} // after every id: without any record, no hotspot was examined
		}
		rows, err := store.Store.ValidRows(ctx, day, after, upto, v.Reopened)
		if err != nil {
			return err
		}
		if len(rows) > 0 && rows[0].Owned == after {
			rows = rows[1:] // of the page before
		}
		report.add(rows, b.rows)
		if ground != nil {
			store.keep(day, b)
		}
		report.day.Done = b.last
		if err := progress(report.day); err != nil {
			return err
		}
	}
	if ground == nil {
		return nil
	}
	return store.FinishStandings(ctx, lease.Lease{}, ledger.StandingsThrough{Day: day, Revision: v.Revision(), ADay: ground.Rules.StandingADay})
}

// replayStore is the store for a replay: what closing would write is kept in memory.
type replayStore struct {
	places.Store
	from      beacon.Day
	through   ledger.StandingsThrough
	counted   bool
	standings map[beacon.HotspotID][]ledger.Standing

	own map[beacon.HotspotID]*owned

	// outages has the rows of the day that is replayed and of the one before that have excused
	// minutes, by day modulo 2.
	outages [2]map[beacon.HotspotID]ledger.Row
}

// owned is what a hotspot owned on the last days on which it served, in millionths of a
// minute. No more are needed: see places.Recent.
type owned struct {
	days [places.RecentDays]beacon.Day
	own  [places.RecentDays]int64
	next int
}

// on returns what the hotspot owned on a day on which it served for so long.
func (o *owned) on(day beacon.Day, served int) int64 {
	if o != nil {
		if at := slices.Index(o.days[:], day); at >= 0 {
			return o.own[at]
		}
	}
	return places.Whole * int64(served)
}

// keep keeps what the next days need of a page.
func (s *replayStore) keep(day beacon.Day, b batch) {
	for i := range b.rows {
		row := &b.rows[i]
		if row.Excused > 0 {
			s.outages[day&1][row.Hotspot] = *row
		}
		if row.Served == 0 {
			continue
		}
		o := s.own[row.Hotspot]
		if o == nil {
			o = &owned{}
			s.own[row.Hotspot] = o
		}
		o.days[o.next], o.own[o.next] = day, row.Own
		o.next = (o.next + 1) % len(o.days)
	}
}

// ValidRows returns rows with the ground of the replay.
func (s *replayStore) ValidRows(ctx context.Context, day beacon.Day, from, to beacon.Owned, reopened ledger.Reopenings) ([]ledger.Row, error) {
	rows, err := s.Store.ValidRows(ctx, day, from, to, reopened)
	if day < s.from {
		return rows, err
	}
	for i := range rows {
		row := &rows[i]
		if again := s.outages[day&1][row.Hotspot]; again.Day == day {
			*row = again
			continue
		}
		row.Own, row.Counts = s.own[row.Hotspot].on(day, row.Served), beacon.InDays
	}
	return rows, err
}

// Standings returns those that the replay has counted.
func (s *replayStore) Standings(_ context.Context, ids []beacon.HotspotID) (found []ledger.Standing, _ error) {
	for _, id := range ids {
		found = append(found, s.standings[id]...)
	}
	return found, nil
}

// StandingsThrough returns through which day the replay has counted.
func (s *replayStore) StandingsThrough(context.Context) (ledger.StandingsThrough, bool, error) {
	return s.through, s.counted, nil
}

// ForgetStandings begins to count again.
func (s *replayStore) ForgetStandings(context.Context, lease.Lease) error {
	clear(s.standings)
	return nil
}

// PutStandings keeps what was counted.
func (s *replayStore) PutStandings(_ context.Context, _ lease.Lease, standings []ledger.Standing) error {
	s.put(standings)
	return nil
}

func (s *replayStore) put(standings []ledger.Standing) {
	for _, one := range standings {
		of := s.standings[one.Hotspot]
		if at := slices.IndexFunc(of, func(is ledger.Standing) bool { return is.Since == one.Since }); at >= 0 {
			of[at] = one
		} else {
			s.standings[one.Hotspot] = append(of, one)
		}
	}
}

// FinishStandings keeps through which day all are counted.
func (s *replayStore) FinishStandings(_ context.Context, _ lease.Lease, through ledger.StandingsThrough) error {
	s.through, s.counted = through, true
	return nil
}

// replayReport is a Replay that grows.
type replayReport struct {
	Replay
	day       ReplayedDay
	operators map[beacon.UserID]*ReplayedOperator
	hotspots  map[beacon.Owned]bool
}

// add adds the rows of a page: those of the ledger, and those computed again. Both are in
// the same order.
func (r *replayReport) add(was, is []ledger.Row) {
	for len(was) > 0 || len(is) > 0 {
		var before, after *ledger.Row
		if len(was) > 0 && (len(is) == 0 || was[0].Compare(is[0].Owned) <= 0) {
			before = &was[0]
		}
		if len(is) > 0 && (before == nil || is[0].Owned == before.Owned) {
			after = &is[0]
		}
		of := r.operator(cmp.Or(before, after).Owned)
		if before != nil {
			was = was[1:]
			of.Was, r.Was, r.day.Was = of.Was.Plus(before.Earned), r.Was.Plus(before.Earned), r.day.Was.Plus(before.Earned)
		}
		if after != nil {
			is = is[1:]
			of.Is, r.Is, r.day.Is = of.Is.Plus(after.Earned), r.Is.Plus(after.Earned), r.day.Is.Plus(after.Earned)
			if r.day.Day == r.To && after.Counts == beacon.InMinutes && after.Proof == 0 {
				r.Unvisited++
			}
		}
		r.Rows++
		r.day.Rows++
		r.compare(before, after)
	}
}

// compare counts rows that differ.
func (r *replayReport) compare(was, is *ledger.Row) {
	if was != nil && is != nil {
		same := *is
		// These do not follow from records.
		same.Revision, same.Hold = was.Revision, was.Hold
		if r.Policy != nil { // a replayed policy has another version
			same.Policy = was.Policy
		}
		if same == *was {
			return
		}
	}
	r.Differ++
	if r.Policy != nil || r.Differ > 1 {
		return
	}
	row := cmp.Or(was, is)
	switch r.First = fmt.Sprintf("%s on %s: ", row.Hotspot, row.Day); {
	case was == nil:
		r.First += "has a record but no row"
	case is == nil:
		r.First += "has a row but no record"
	default:
		r.First += fmt.Sprintf("the ledger has %s, its records give %s", was.AppendLine(nil), is.AppendLine(nil))
	}
}

// operator returns the operator of a hotspot.
func (r *replayReport) operator(of beacon.Owned) *ReplayedOperator {
	o := r.operators[of.User]
	if o == nil {
		o = &ReplayedOperator{User: of.User}
		r.operators[of.User] = o
	}
	if !r.hotspots[of] {
		r.hotspots[of] = true
		o.Hotspots++
	}
	return o
}

// sorted returns the replay with its operators.
func (r *replayReport) sorted() *Replay {
	for _, user := range slices.Sorted(maps.Keys(r.operators)) {
		r.Operators = append(r.Operators, *r.operators[user])
	}
	return &r.Replay
}
