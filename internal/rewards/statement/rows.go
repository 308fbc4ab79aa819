package statement

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

var rowNames = []string{
	"date", "hotspot_id", "policy", "served_minutes", "expected_minutes", "closed_minutes", "excused_minutes",
	"outside_minutes", "traffic_bytes", "performance_tier", "availability", "performance", "utilization", "hash",
}

// groundNames are those of a row whose policy pays places.
var groundNames = strings.Split(ledger.GroundColumns, ",")

// rowMembers are all names that a row can have: only a correction has corrects, a held row
// hold_id, and what became of one the rest.
var rowMembers = slices.Concat(rowNames, groundNames, []string{"corrects", "hold_id", "releases", "voids", "amount"})

// rows reads and checks the rows one by one.
func (v *verifier) rows() error {
	if err := missing(head, v.seen); err != nil {
		return fmt.Errorf("%w: user_id, period and policies must come before rows, as a server writes them", err)
	}
	if err := v.inForce(); err != nil {
		return err
	}
	v.sum.Chain = ledger.Seed(v.sum.User, v.sum.Month)
	return v.array(func() error {
		row := ledger.Row{Day: -1}
		var hash ledger.Hash
		ground, err := v.readRow(&row, &hash)
		switch {
		case err != nil:
		case !row.Ends.IsZero():
			err = v.ending(&row, hash)
		case v.holds.closed:
			err = errors.New("comes after what became of held rows, which must be last")
		case row.Corrects.IsZero():
			err = v.judge(&row, hash, ground)
		default:
			err = v.correct(&row, hash)
		}
		if err != nil {
			return rowFault{fmt.Errorf("%s: %w", called(v.sum.Rows+1, &row), err)}
		}
		v.add(&row, hash)
		return nil
	})
}

// called names a row, as far as it could be read.
func called(n int, row *ledger.Row) string {
	switch {
	case row.Day < 0:
		return fmt.Sprintf("row %d", n)
	case row.Hotspot == "":
		return fmt.Sprintf("row %d (%s)", n, row.Day)
	default:
		return fmt.Sprintf("row %d (%s, %s)", n, row.Day, row.Hotspot)
	}
}

// readRow reads a row, and returns which of the names of ground it has, as bits.
func (v *verifier) readRow(row *ledger.Row, hash *ledger.Hash) (ground uint, err error) {
	seen, err := v.object(rowMembers, len(rowNames), func(i int) error {
		switch rowMembers[i] {
		case "date":
			return v.day(&row.Day)
		case "hotspot_id":
			return v.hotspot(row)
		case "policy":
			return natural(&v.reader, &row.Policy)
		case "served_minutes":
			return v.signed(&row.Served)
		case "expected_minutes":
			return v.signed(&row.Expected)
		case "closed_minutes":
			return natural(&v.reader, &row.Closed)
		case "excused_minutes":
			return natural(&v.reader, &row.Excused)
		case "outside_minutes":
			return natural(&v.reader, &row.Outside)
		case "traffic_bytes":
			return v.bytes(&row.Bytes)
		case "performance_tier":
			return parsed(&v.reader, &row.Tier, parseTier)
		case "availability":
			return v.amount(&row.Availability)
		case "performance":
			return v.amount(&row.Performance)
		case "utilization":
			return v.amount(&row.Utilization)
		case "corrects":
			return v.reader.hash(&row.Corrects)
		case "hash":
			return v.reader.hash(hash)
		case "hold_id":
			return ident(&v.reader, &row.Hold, beacon.HoldPrefix)
		case "releases", "voids":
			row.Void = rowMembers[i] == "voids"
			return v.reader.hash(&row.Ends)
		case "amount":
			return v.amount(&row.Amount)
		default:
			return v.ground(rowMembers[i], &row.Ground)
		}
	})
	if err == nil {
		err = v.oneKind(row, seen>>(len(rowNames)+len(groundNames)))
	}
	return seen >> len(rowNames) & (1<<len(groundNames) - 1), err
}

// ground reads what a row says of the ground around its hotspot.
func (v *verifier) ground(name string, g *beacon.Ground) error {
	switch name {
	case "owned_minutes":
		return v.amount((*beacon.Amount)(&g.Own))
	case "recent_share":
		return v.amount((*beacon.Amount)(&g.Recent))
	case "proof":
		return v.amount((*beacon.Amount)(&g.Proof))
	case "days_served":
		return natural(&v.reader, &g.Days)
	case "place_lat_e7":
		return v.degrees(&g.Lat)
	case "place_lng_e7":
		return v.degrees(&g.Lng)
	case "shared_minutes":
		return natural(&v.reader, &g.Shared)
	default:
		return natural(&v.reader, &g.Older)
	}
}

// degrees reads an angle in ten-millionths of a degree.
func (v *verifier) degrees(into *int32) error {
	var n int
	if err := v.signed(&n); err != nil {
		return err
	}
	if *into = int32(n); int(*into) != n { //nolint:gosec // compared
		return errors.New("must be an angle in ten-millionths of a degree")
	}
	return nil
}

// judge checks a row against the rows before it, its facts, its policy, and its hash.
func (v *verifier) judge(row *ledger.Row, hash ledger.Hash, ground uint) error {
	last := &v.last
	switch {
	case row.Hotspot == "":
		return errors.New("hotspot_id: only a correction has none")
	case row.Day.Month() != v.sum.Month:
		return fmt.Errorf("date: is not a day of %s", v.sum.Month)
	case v.sum.Rows > 0 && (row.Day < last.Day || row.Day == last.Day && row.Hotspot <= last.Hotspot):
		return fmt.Errorf("comes after the row of %s and %s: rows must be sorted by day and hotspot, without duplicates",
			last.Day, last.Hotspot)
	}
	if err := plausible(&row.Facts); err != nil {
		return err
	}
	if _, known := v.hotspots[row.Hotspot]; !known && len(v.hotspots) == maxHotspots {
		return fmt.Errorf("a statement of more than %d hotspots cannot be verified", maxHotspots)
	}
	p := policy.Set(v.policies).On(row.Day)
	if row.Policy != p.Version {
		return fmt.Errorf("policy: is %d, but policy %d was in force on that day", row.Policy, p.Version)
	}
	if err := onGround(p, &row.Facts, ground); err != nil {
		return err
	}
	for _, component := range earnings(row.Earned, p.Reward(row.Facts)) {
		if component.got != component.want {
			return fmt.Errorf("%s: is %s, but policy %d gives %s", component.name, component.got, p.Version, component.want)
		}
	}
	if err := v.follows(row, hash); err != nil || !row.IsHeld() {
		return err
	}
	return v.holds.hold(row, hash)
}

// follows checks the hash of a row.
func (v *verifier) follows(row *ledger.Row, hash ledger.Hash) error {
	if want := v.sum.Chain.Next(row); hash != want {
		return fmt.Errorf("hash: is %s, but this row and the hash before it give %s: "+
			"this row, or something before it, was changed", hash, want)
	}
	return nil
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
	if f.Served < 0 || f.Expected < 0 {
		return errors.New("minutes are negative in a correction only")
	}
	switch all := f.Expected + f.Closed + f.Excused + f.Outside; {
	case f.Served > f.Expected:
		return fmt.Errorf("served_minutes: is %d, but only %d were expected", f.Served, f.Expected)
	case all != beacon.MinutesADay:
		return fmt.Errorf("expected, closed, excused and outside minutes add up to %d, but a day has %d", all, beacon.MinutesADay)
	}
	return nil
}

// onGround returns an error if the ground of a hotspot cannot have been so, or has not all
// its members.
func onGround(p *policy.Policy, f *beacon.Facts, has uint) error {
	if !p.PaysPlaces() && has != 0 {
		return fmt.Errorf("only a policy that pays places has %s", groundNames[bits.TrailingZeros(has)])
	}
	if !p.PaysPlaces() {
		return nil
	}
	if err := missing(groundNames, has); err != nil {
		return err
	}
	return p.CheckGround(f)
}

// add counts a row that was verified.
func (v *verifier) add(row *ledger.Row, hash ledger.Hash) {
	v.sum.Rows++
	v.sum.Chain = hash
	v.sum.Sum = v.sum.Plus(row.Sum())
	if row.Corrects.IsZero() && row.Ends.IsZero() {
		v.last = *row
		if _, known := v.hotspots[row.Hotspot]; !known {
			v.hotspots[row.Hotspot] = row.Day
		}
		if n := len(v.days); n == 0 || v.days[n-1].day != row.Day {
			v.days = append(v.days, endOfDay{day: row.Day})
		}
		end := &v.days[len(v.days)-1]
		end.sum, end.hash = v.sum.Sum, hash
	}
	v.sum.Hotspots = len(v.hotspots)
}

// totals is what a statement says that its rows add up to.
type totals struct {
	rows, hotspots int
	ledger.Sum
	total beacon.Amount

	payment
	paid    beacon.Amount
	isSplit bool // it has the names of heldNames
}

var totalNames = []string{
	"rows", "hotspot_count", "served_minutes", "expected_minutes", "availability", "performance", "utilization", "total_earned",
}

// heldNames are those of a month with held days, or with what became of some.
var (
	heldNames    = []string{"held", "released", "voided", "paid"}
	totalMembers = slices.Concat(totalNames, heldNames)
)

func (v *verifier) readTotals() error {
	t := &v.totals
	seen, err := v.object(totalMembers, len(totalNames), func(i int) error {
		switch totalMembers[i] {
		case "rows":
			return natural(&v.reader, &t.rows)
		case "hotspot_count":
			return natural(&v.reader, &t.hotspots)
		case "served_minutes":
			return natural(&v.reader, &t.Served)
		case "expected_minutes":
			return natural(&v.reader, &t.Expected)
		case "availability":
			return v.amount(&t.Availability)
		case "performance":
			return v.amount(&t.Performance)
		case "utilization":
			return v.amount(&t.Utilization)
		case "held":
			return v.amount(&t.held)
		case "released":
			return v.amount(&t.released)
		case "voided":
			return v.amount(&t.voided)
		case "paid":
			return v.amount(&t.paid)
		default:
			return v.amount(&t.total)
		}
	})
	if held := seen >> len(totalNames); err == nil && held != 0 {
		t.isSplit = true
		err = missing(heldNames, held)
	}
	return err
}

// check compares the totals with the sum of the rows.
func (t *totals) check(sum *ledger.UserMonth, paid payment) error {
	for _, count := range []struct {
		name      string
		got, want int64
	}{
		{"rows", int64(t.rows), int64(sum.Rows)},
		{"hotspot_count", int64(t.hotspots), int64(sum.Hotspots)},
		{"served_minutes", t.Served, sum.Served},
		{"expected_minutes", t.Expected, sum.Expected},
	} {
		if count.got != count.want {
			return fmt.Errorf("totals: %s is %d, but the rows give %d", count.name, count.got, count.want)
		}
	}
	parts := earnings(t.Earned, sum.Earned)
	all := append(parts[:], component{"total_earned", t.total, sum.Total()})
	if t.isSplit != (paid != payment{}) {
		return fmt.Errorf("totals: held, released, voided and paid must be there if anything was held or released, and only then")
	}
	if t.isSplit {
		all = append(all, component{"held", t.held, paid.held}, component{"released", t.released, paid.released},
			component{"voided", t.voided, paid.voided}, component{"paid", t.paid, paid.of(sum.Total())})
	}
	for _, part := range all {
		if part.got != part.want {
			return fmt.Errorf("totals: %s is %s, but the rows give %s", part.name, part.got, part.want)
		}
	}
	return nil
}
