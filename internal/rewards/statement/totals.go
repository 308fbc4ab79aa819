package statement

import (
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// totals is what a statement says that its rows add up to.
type totals struct {
	rows, hotspots   int
	served, expected int64
	earned           beacon.Earned
	total            beacon.Amount
}

var totalNames = []string{
	"rows", "hotspot_count", "served_minutes", "expected_minutes", "availability", "performance", "utilization", "total_earned",
}

func (v *verifier) readTotals() error {
	t := &v.totals
	return v.whole(totalNames, func(i int) error {
		switch totalNames[i] {
		case "rows":
			return natural(&v.reader, &t.rows)
		case "hotspot_count":
			return natural(&v.reader, &t.hotspots)
		case "served_minutes":
			return natural(&v.reader, &t.served)
		case "expected_minutes":
			return natural(&v.reader, &t.expected)
		case "availability":
			return v.amount(&t.earned.Availability)
		case "performance":
			return v.amount(&t.earned.Performance)
		case "utilization":
			return v.amount(&t.earned.Utilization)
		default:
			return v.amount(&t.total)
		}
	})
}

// check compares the totals with the sum of the rows.
func (t *totals) check(sum *ledger.UserMonth) error {
	for _, count := range []struct {
		name      string
		got, want int64
	}{
		{"rows", int64(t.rows), int64(sum.Rows)},
		{"hotspot_count", int64(t.hotspots), int64(sum.Hotspots)},
		{"served_minutes", t.served, sum.Served},
		{"expected_minutes", t.expected, sum.Expected},
	} {
		if count.got != count.want {
			return fmt.Errorf("totals: %s is %d, but the rows give %d", count.name, count.got, count.want)
		}
	}
	parts := earnings(t.earned, sum.Earned)
	for _, part := range append(parts[:], component{"total_earned", t.total, sum.Total()}) {
		if part.got != part.want {
			return fmt.Errorf("totals: %s is %s, but the rows give %s", part.name, part.got, part.want)
		}
	}
	return nil
}
