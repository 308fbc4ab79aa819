package statement

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/go-json-experiment/json/jsontext"
)

var rowNames = []string{
	"date", "hotspot_id", "policy", "served_minutes", "expected_minutes", "closed_minutes", "excused_minutes",
	"outside_minutes", "traffic_bytes", "performance_tier", "availability", "performance", "utilization", "hash",
}

// groundNames are those that a row has if its policy pays places: days_served if standing is
// counted in days, and the last three if it is counted in minutes.
var groundNames = append(ledger.GroundColumns(beacon.InDays), "standing_minutes", "due_minutes", "spare_credits")

// rowMembers are all names that a row can have: only a correction has corrects, a held row
// hold_id, and the row that ends one the rest.
var rowMembers = slices.Concat(rowNames, groundNames, []string{"corrects", "hold_id", "releases", "voids", "amount"})

// rows reads and checks the rows one by one.
func (v *verifier) rows() error {
	if err := missing(head, v.seen); err != nil {
		return fmt.Errorf("%w: user_id, period and policies must come before rows, as a server writes them", err)
	}
	if err := v.inForce(); err != nil {
		return err
	}
	v.month = NewMonth(v.user, v.period, v.policies)
	return v.array(func() error {
		row := ledger.Row{Day: -1}
		n := v.month.Sum.Rows + 1
		if err := v.row(&row); err != nil {
			return rowFault{fmt.Errorf("%s: %w", called(n, &row), err)}
		}
		return nil
	})
}

// row reads and checks a row.
func (v *verifier) row(row *ledger.Row) error {
	var hash ledger.Hash
	ground, err := v.readRow(row, &hash)
	if err == nil && row.Kind == ledger.Earning {
		row.Counts = v.policies.On(row.Day).Counts()
		err = hasGround(row.Counts, ground)
	}
	if err == nil {
		err = v.month.Add(row)
	}
	if err == nil && hash != v.month.Sum.Chain {
		err = fmt.Errorf("hash: is %s, but this row and the hash before it give %s: "+
			"this row, or something before it, was changed", hash, v.month.Sum.Chain)
	}
	return err
}

// called names a row by what could be read of it.
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
		err = setKind(row, seen>>(len(rowNames)+len(groundNames)))
	}
	return seen >> len(rowNames) & (1<<len(groundNames) - 1), err
}

// setKind decides what kind of row was read, by the last names of rowMembers that it has.
func setKind(row *ledger.Row, has uint) error {
	const corrects, hold, releases, voids, amount = 1, 2, 4, 8, 16
	switch has {
	case 0, hold:
	case corrects:
		if !row.Corrects.IsZero() {
			*row = *negative(row)
			row.Kind = ledger.Correction
		}
	case hold | releases | amount, hold | voids | amount:
		row.Kind = ledger.Ending
		if row.Ends.IsZero() {
			return errors.New("releases, voids: must be the hash of a row")
		}
	default:
		return errors.New("corrects stands alone, and releases or voids with hold_id and amount")
	}
	return nil
}

// hotspot reads the id of a row's hotspot, which only an earning has.
func (v *verifier) hotspot(row *ledger.Row) error {
	text, err := v.text()
	if err != nil || text == "" {
		return err
	}
	if err = checkIdent(text, "hs_"); err == nil {
		row.Hotspot = beacon.HotspotID(text)
	}
	return err
}

// signed reads a whole number, which is negative in a correction.
func (v *verifier) signed(into *int) error {
	text, err := v.take(jsontext.KindNumber, "must be a whole number")
	if err != nil {
		return err
	}
	if *into, err = strconv.Atoi(text); err != nil || text == "-0" {
		return fmt.Errorf("must be a whole number, but is %.40s", text)
	}
	return nil
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
	case "days_served", "standing_minutes":
		return natural(&v.reader, &g.Standing)
	case "due_minutes":
		return v.amount((*beacon.Amount)(&g.Due))
	case "spare_credits":
		return v.amount(&g.Spare)
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

// hasGround returns an error unless a row has all names of the ground that its policy has, and
// no others.
func hasGround(counts beacon.StandingUnit, has uint) error {
	var want uint
	for _, name := range ledger.GroundColumns(counts) {
		want |= 1 << slices.Index(groundNames, name)
	}
	if other := has &^ want; other != 0 {
		return fmt.Errorf("only another policy has %s", groundNames[bits.TrailingZeros(other)])
	}
	return missing(groundNames, has|^want)
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

// heldNames are those of a month in which days are held, released or voided.
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

// check compares the totals with the rows.
func (t *totals) check(m *Month) error {
	sum := &m.Sum
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
	paid := m.payment()
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
