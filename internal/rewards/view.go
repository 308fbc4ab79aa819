package rewards

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// view is how far the ledger is, as of one snapshot.
type view struct {
	closing ledger.Closing
	begun   bool         // a day was closed, or is being closed
	first   beacon.Day   // the first day that is not closed for everyone
	since   beacon.Day   // the first day with a record of heartbeats
	month   beacon.Month // the first month that is not settled for everyone
	settled bool         // some month is settled for everyone

	recorded bool // there is a day with a record
	reopened ledger.Reopenings
}

// revision is how often days were opened again.
func (v *view) revision() int64 { return int64(len(v.reopened)) }

// view reads the state from a snapshot. More reads whatever else the caller needs
// from the same snapshot; it may be called again from the start.
func (r *Rewards) view(ctx context.Context, more func(v view, b ledger.Books) error) (v view, err error) {
	err = r.Store.Books(ctx, func(b ledger.Books) error {
		v, err = r.readView(ctx, b)
		if err == nil && more != nil {
			err = more(v, b)
		}
		return err
	})
	return v, err
}

func (r *Rewards) readView(ctx context.Context, b ledger.Books) (v view, err error) {
	if v.closing, v.begun, err = b.Closing(ctx); err != nil {
		return v, err
	}
	if v.reopened, err = b.Reopenings(ctx); err != nil {
		return v, err
	}
	if v.since, v.recorded, err = b.FirstRecord(ctx); err != nil {
		return v, err
	}
	if v.first = v.since; !v.recorded {
		v.first = r.today() // memory may have heartbeats that are in no record yet
	}
	v.month = v.first.Month()
	if v.begun {
		v.first = v.closing.Through() + 1
	}
	var last beacon.Month
	if last, v.settled, err = b.Finished(ctx); v.settled {
		v.month = last + 1
	}
	return v, err
}

func (r *Rewards) today() beacon.Day { return beacon.DayOf(r.Now()) }

// open returns the days that are not closed, up to today: all of them, or those of
// one month.
func (r *Rewards) open(v view, month beacon.Month) (days []beacon.Day) {
	from, to := v.first, r.today()
	if month != anyMonth {
		from, to = max(from, month.First()), min(to, month.Last())
	}
	for day := from; day <= to; day++ {
		days = append(days, day)
	}
	return days
}

// anyMonth selects all months.
const anyMonth = ledger.NoMonth

// status returns the state of a month; settled means that it has a statement. A month
// before everything in the ledger counts as settled.
func (r *Rewards) status(v view, month beacon.Month, settled bool) Status {
	switch end := (month + 1).Start(); {
	case settled, v.settled && month < v.month:
		return Settled
	case r.Now().Before(end):
		return InProgress
	case month < v.month && !r.Now().Before(end.Add(Grace)):
		return Settled
	default:
		return Finalizing
	}
}

// Bookkeeping is how far the books are.
type Bookkeeping struct {
	First   beacon.Day // with a record of heartbeats
	Any     bool       // there is one
	Closing ledger.Closing
	Begun   bool         // a day was closed, or is being closed
	Months  []MonthState // newest first

	Policies policy.Set
}

// MonthState is how far a month is for everyone; a single user's may be settled before.
type MonthState struct {
	Month  beacon.Month
	Status Status
	Closed int // days
	ledger.MonthTotals
}

// Bookkeeping returns how far the books are, with up to so many months, for staff.
func (r *Rewards) Bookkeeping(ctx context.Context, _ beacon.Principal, months int) (Bookkeeping, error) {
	v, err := r.view(ctx, nil)
	b := Bookkeeping{First: v.since, Any: v.recorded, Closing: v.closing, Begun: v.begun, Policies: r.policySet()}
	if err != nil || !b.Any {
		return b, err
	}
	newest := beacon.MonthOf(r.Now())
	for month := newest; month >= b.First.Month() && month > newest-beacon.Month(months); month-- {
		m := MonthState{Month: month, Status: r.status(v, month, false)}
		if b.Begun {
			m.Closed = max(0, int(min(b.Closing.Through(), month.Last())-month.First())+1)
		}
		if m.MonthTotals, err = r.Store.MonthTotals(ctx, month); err != nil {
			return b, err
		}
		b.Months = append(b.Months, m)
	}
	return b, nil
}

// accrual adds up what a user's hotspots earned in a period.
type accrual struct {
	names []beacon.HotspotName // by id: live, live on an open day, or with a sum
	sums  map[beacon.HotspotID]*HotspotSum

	// closed is the last closed day of each hotspot, as far as known.
	closed map[beacon.HotspotID]beacon.Day
}

func newAccrual(names []beacon.HotspotName) *accrual {
	return &accrual{
		names: names, sums: make(map[beacon.HotspotID]*HotspotSum, len(names)),
		closed: make(map[beacon.HotspotID]beacon.Day, len(names)),
	}
}

// add adds s to a hotspot's sum. The tier is the one of the last day in s.
func (a *accrual) add(id beacon.HotspotID, tier beacon.Tier, s ledger.Sum) {
	sum := a.sums[id]
	if sum == nil {
		sum = &HotspotSum{HotspotName: beacon.HotspotName{ID: id}}
		a.sums[id] = sum
	}
	sum.Tier = tier
	sum.Sum = sum.Plus(s)
}

// addMonths adds the months that are not in totals yet, oldest first.
func (a *accrual) addMonths(months []ledger.HotspotMonth, totals map[beacon.HotspotID]beacon.Month) {
	for _, m := range months {
		a.closed[m.Hotspot] = max(a.closed[m.Hotspot], m.Through)
		if through, ok := totals[m.Hotspot]; !ok || through < m.Month {
			a.add(m.Hotspot, m.Tier, m.Sum)
		}
	}
}

// nameRest looks up the names of hotspots that were deleted long ago and had earned
// something.
func (a *accrual) nameRest(ctx context.Context, b ledger.Books) error {
	rest := maps.Clone(a.sums)
	for _, n := range a.names {
		delete(rest, n.ID)
	}
	names, err := b.NamesOf(ctx, slices.Collect(maps.Keys(rest)))
	if len(names) > 0 {
		a.names = append(a.names, names...)
		slices.SortFunc(a.names, func(x, y beacon.HotspotName) int { return cmp.Compare(x.ID, y.ID) })
	}
	return err
}

// each calls fn with what each hotspot has earned on a day that is not closed for it, by the
// function that will close it.
func (o *openDays) each(ctx context.Context, a *accrual, day beacon.Day, fn func(beacon.HotspotID, beacon.Tier, ledger.Sum)) error {
	facts, err := o.on(ctx, day, a.open(day))
	if err != nil {
		return err
	}
	rules := o.policySet().On(day)
	for id, f := range facts {
		fn(id, f.Tier, ledger.Sum{Served: int64(f.Served), Expected: int64(f.Expected), Earned: rules.Reward(f)})
	}
	return nil
}

// open returns the hotspots whose day is not closed yet.
func (a *accrual) open(day beacon.Day) []beacon.HotspotID {
	ids := make([]beacon.HotspotID, 0, len(a.names))
	for _, n := range a.names {
		closed, any := a.closed[n.ID]
		gone := !n.DeletedAt.IsZero() && n.DeletedAt.Before(day.Time())
		if !gone && !(any && closed >= day) {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// list returns the hotspots by id, with their names.
func (a *accrual) list() []HotspotSum {
	all := make([]HotspotSum, 0, len(a.sums))
	for _, n := range a.names {
		if sum := a.sums[n.ID]; sum != nil {
			sum.HotspotName = n
			all = append(all, *sum)
		}
	}
	return all
}

// total returns what all hotspots earned, and what of it was paid.
func (a *accrual) total() (earned ledger.Sum, paid Payment) {
	for _, s := range a.sums {
		earned, paid = earned.Plus(s.Sum), paid.plus(s.Payment)
	}
	return earned, paid
}
