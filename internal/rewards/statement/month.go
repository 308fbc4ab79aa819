package statement

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// Limits on what must be in memory of a month.
const (
	maxHotspots = 1_000_000
	maxHeld     = 1_000_000 // rows
)

// Month checks the rows of a user's month in the order of their chain, and adds them up.
type Month struct {
	Sum         ledger.UserMonth // of the rows so far
	Corrections int

	policies policy.Set
	last     ledger.Row
	hotspots map[beacon.HotspotID]beacon.Day // with the first valid day of each
	next     map[beacon.HotspotID]next       // if minutes count
	left     map[place]next                  // what it was at places that hotspots have left
	days     []endOfDay                      // with valid rows, in order

	paid    payment                 // without what is held, which is in Sum
	held    map[ledger.Hash]heldRow // of this month, without those that have ended
	earlier map[ledger.Hash]heldRow // of earlier months, that have ended
}

// endOfDay is what the valid rows through a day add up to.
type endOfDay struct {
	day  beacon.Day
	sum  ledger.Sum
	hash ledger.Hash // of its last row
}

// next is what the next row of a hotspot must say.
type next struct {
	day      beacon.Day // of its last row
	lat, lng int32
	aDay     int // how many minutes of a day count
	standing int // at the same place, if as many minutes count
	spare    beacon.Amount
}

// place is one of a hotspot.
type place struct {
	hotspot  beacon.HotspotID
	lat, lng int32
}

// heldRow is a row under a hold.
type heldRow struct {
	day    beacon.Day
	hold   beacon.HoldID
	amount beacon.Amount
}

// NewMonth returns a month without rows, under the policies in force.
func NewMonth(user beacon.UserID, month beacon.Month, policies policy.Set) *Month {
	return &Month{
		Sum: ledger.UserMonth{User: user, Month: month, Chain: ledger.Seed(user, month)}, policies: policies,
		hotspots: map[beacon.HotspotID]beacon.Day{}, next: map[beacon.HotspotID]next{}, left: map[place]next{}, held: map[ledger.Hash]heldRow{}, earlier: map[ledger.Hash]heldRow{},
	}
}

// payment returns how the month is paid.
func (m *Month) payment() payment { return payment{m.Sum.Held, m.paid.released, m.paid.voided} }

// Add adds the next row. It returns an error if the row is wrong, and adds it all the same.
func (m *Month) Add(row *ledger.Row) (err error) {
	before := m.Sum.Sum
	m.Sum.Rows, m.Sum.Chain, m.Sum.Sum = m.Sum.Rows+1, m.Sum.Chain.Next(row), m.Sum.Plus(row.Sum())
	if row.Kind != ledger.Ending && m.last.Kind == ledger.Ending {
		err = errors.New("comes after what became of held rows, which must be last")
	}
	switch row.Kind {
	case ledger.Correction:
		err = cmp.Or(err, m.correct(row, before))
	case ledger.Ending:
		err = m.end(row)
		m.last = *row
	case ledger.Earning:
		err = cmp.Or(err, m.judge(row), m.follows(row), m.earn(row))
		m.last = *row
	}
	m.Sum.Hotspots = len(m.hotspots)
	return err
}

// judge checks a row against the row before it, its facts, and its policy.
func (m *Month) judge(row *ledger.Row) error {
	last := &m.last
	switch {
	case row.Hotspot == "":
		return errors.New("hotspot_id: only a correction has none")
	case row.Day.Month() != m.Sum.Month:
		return fmt.Errorf("date: is not a day of %s", m.Sum.Month)
	case m.Sum.Rows > 1 && (row.Day < last.Day || row.Day == last.Day && row.Hotspot <= last.Hotspot):
		return fmt.Errorf("comes after the row of %s and %s: rows must be sorted by day and hotspot, without duplicates",
			last.Day, last.Hotspot)
	}
	if err := plausible(&row.Facts); err != nil {
		return err
	}
	p := m.policies.On(row.Day)
	if row.Policy != p.Version {
		return fmt.Errorf("policy: is %d, but policy %d was in force on that day", row.Policy, p.Version)
	}
	if err := p.CheckGround(&row.Facts); err != nil {
		return err
	}
	for _, component := range earnings(row.Earned, p.Reward(row.Facts)) {
		if component.got != component.want {
			return fmt.Errorf("%s: is %s, but policy %d gives %s", component.name, component.got, p.Version, component.want)
		}
	}
	return nil
}

// follows checks what a row says of the days before it by the row before it: standing in
// minutes, which grew by what that row adds, and what outages left for traffic. Where the
// hotspot has moved, standing is not known: at another place it served at other times. At one
// that it had left in the month it is what it was there, or nothing. On days without a row it
// may have been someone else's, with whom it served: what outages left then is not known, and
// standing grew by what such days can add at most.
func (m *Month) follows(row *ledger.Row) error {
	if row.Counts != beacon.InMinutes {
		return nil
	}
	p := m.policies.On(row.Day)
	was, known := m.next[row.Hotspot]
	if known || len(m.next) < maxHotspots {
		m.next[row.Hotspot] = next{
			row.Day, row.Lat, row.Lng, p.StandingADay, row.Standing + p.Standing(row.Served, row.Proof > 0), p.Spare(row.Facts, row.Utilization),
		}
	}
	there, again := was, known
	if known && (was.lat != row.Lat || was.lng != row.Lng) {
		there, again = m.moves(row, was)
	}
	grown := row.Standing - there.standing
	if again && there.aDay == p.StandingADay && (grown < 0 || int64(grown) > int64(row.Day-1-was.day)*int64(p.StandingADay)) {
		return fmt.Errorf("standing_minutes: is %d, but with its row of %s the hotspot has %d", row.Standing, there.day, there.standing)
	}
	if known && was.day == row.Day-1 && row.Proof > 0 && row.Spare != was.spare {
		return fmt.Errorf("spare_credits: is %s, but the day before leaves %s", row.Spare, was.spare)
	}
	return nil
}

// moves returns what was known of the place to which a hotspot has moved when it left it. It
// may be a new place at the same point, and then it is not known which of them it is later.
func (m *Month) moves(row *ledger.Row, was next) (there next, known bool) {
	const several = -1
	from, to := place{row.Hotspot, was.lat, was.lng}, place{row.Hotspot, row.Lat, row.Lng}
	if len(m.left) < maxHotspots && m.left[from].aDay != several {
		m.left[from] = was
	}
	if there, known = m.left[to]; known && row.Standing == 0 && there.standing > 0 {
		m.left[to] = next{day: row.Day, aDay: several}
		return next{}, false
	}
	return there, known
}

type component struct {
	name      string
	got, want beacon.Amount
}

func earnings(got, want beacon.Earned) [3]component {
	return [...]component{
		{"availability", got.Availability, want.Availability},
		{"performance", got.Performance, want.Performance},
		{"utilization", got.Utilization, want.Utilization},
	}
}

// plausible returns an error if a day cannot have been so.
func plausible(f *beacon.Facts) error {
	for _, minutes := range [...]int{f.Expected, f.Closed, f.Excused, f.Outside} {
		if minutes > beacon.MinutesADay { // also keeps their sum from overflowing
			return fmt.Errorf("a day has at most %d minutes", beacon.MinutesADay)
		}
	}
	switch all := f.Expected + f.Closed + f.Excused + f.Outside; {
	case min(f.Served, f.Expected, f.Closed, f.Excused, f.Outside) < 0:
		return errors.New("minutes are negative in a correction only")
	case f.Served > f.Expected:
		return fmt.Errorf("served_minutes: is %d, but only %d were expected", f.Served, f.Expected)
	case all != beacon.MinutesADay:
		return fmt.Errorf("expected, closed, excused and outside minutes add up to %d, but a day has %d", all, beacon.MinutesADay)
	}
	return nil
}

// earn counts what a hotspot earned on a day.
func (m *Month) earn(row *ledger.Row) error {
	if _, known := m.hotspots[row.Hotspot]; !known {
		if len(m.hotspots) == maxHotspots {
			return fmt.Errorf("a statement of more than %d hotspots cannot be verified", maxHotspots)
		}
		m.hotspots[row.Hotspot] = row.Day
	}
	if n := len(m.days); n == 0 || m.days[n-1].day != row.Day {
		m.days = append(m.days, endOfDay{day: row.Day})
	}
	end := &m.days[len(m.days)-1]
	end.sum, end.hash = m.Sum.Sum, m.Sum.Chain
	if row.IsHeld() {
		if len(m.held) == maxHeld {
			return fmt.Errorf("a statement of more than %d held rows cannot be verified", maxHeld)
		}
		m.held[m.Sum.Chain] = heldRow{row.Day, row.Hold, row.Total()}
		m.Sum.Held += row.Total()
	}
	return nil
}

// correct goes back to the day before a correction: the rows of its day and of later days
// are void. It must take away exactly what they had added.
func (m *Month) correct(row *ledger.Row, before ledger.Sum) error {
	m.Corrections++
	for n := len(m.days); n > 0 && m.days[n-1].day >= row.Day; n = len(m.days) {
		m.days = m.days[:n-1]
	}
	valid := endOfDay{hash: ledger.Seed(m.Sum.User, m.Sum.Month)}
	if n := len(m.days); n > 0 {
		valid = m.days[n-1]
	}
	for hash, held := range m.held {
		if held.day >= row.Day {
			m.Sum.Held -= held.amount
			delete(m.held, hash)
		}
	}
	maps.DeleteFunc(m.next, func(_ beacon.HotspotID, n next) bool { return n.day >= row.Day })
	maps.DeleteFunc(m.left, func(_ place, n next) bool { return n.day >= row.Day })
	maps.DeleteFunc(m.hotspots, func(_ beacon.HotspotID, first beacon.Day) bool { return first >= row.Day })
	m.last = ledger.Row{Day: row.Day - 1, Owned: beacon.Owned{Hotspot: "~"}} // after every id
	only := ledger.Row{
		Kind: row.Kind, Day: row.Day, Owned: beacon.Owned{User: row.User}, Earned: row.Earned, Revision: row.Revision, Corrects: row.Corrects,
		Facts: beacon.Facts{Served: row.Served, Expected: row.Expected},
	}
	switch takes := before.Minus(valid.sum); {
	case row.Day.Month() != m.Sum.Month:
		return fmt.Errorf("date: is not a day of %s", m.Sum.Month)
	case *row != only:
		return errors.New("a correction has only a date, two counts of minutes and the three amounts")
	case row.Corrects != valid.hash:
		return fmt.Errorf("corrects: is %s, but the last valid row before %s is %s", row.Corrects, row.Day, valid.hash)
	case row.Sum() != (ledger.Sum{}).Minus(takes):
		return fmt.Errorf("takes away %s, but the rows from %s on add up to %s", row.Total(), row.Day, takes.Total())
	}
	return nil
}

// end checks and counts a row that says what happened to a held one.
func (m *Month) end(row *ledger.Row) error {
	m.paid.add(row)
	only := ledger.Row{
		Kind: row.Kind, Day: row.Day, Owned: beacon.Owned{User: row.User}, Hold: row.Hold, Ends: row.Ends, Amount: row.Amount, Void: row.Void,
	}
	held := heldRow{row.Day, row.Hold, row.Amount}
	switch month := row.Day.Month(); {
	case *row != only:
		return errors.New("what becomes of a held row has only a date, a hold, a hash and an amount")
	case row.Amount < 0:
		return errors.New("amount: must not be negative")
	case month > m.Sum.Month:
		return fmt.Errorf("date: is after %s", m.Sum.Month)
	case m.last.Kind == ledger.Ending && row.Day < m.last.Day:
		return errors.New("what became of held rows must be sorted by day")
	case month == m.Sum.Month:
		return take(m.held, row.Ends, held)
	}
	if _, twice := m.earlier[row.Ends]; twice || len(m.earlier) == maxHeld {
		return errors.New("is said twice, or there are too many such rows")
	}
	m.earlier[row.Ends] = held
	return nil
}

// take removes a held row.
func take(from map[ledger.Hash]heldRow, hash ledger.Hash, want heldRow) error {
	if got, found := from[hash]; !found || got != want {
		return fmt.Errorf("%s: no row of %s with this hash was held by %s with %s, or it was paid before",
			hash, want.day, want.hold, want.amount)
	}
	delete(from, hash)
	return nil
}
