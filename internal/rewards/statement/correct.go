package statement

import (
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/go-json-experiment/json/jsontext"
)

// endOfDay is what the rows through a day add up to, as far as they hold.
type endOfDay struct {
	day  beacon.Day
	sum  ledger.Sum
	hash ledger.Hash // of its last row
}

// correct checks a correction, and goes back to the day before it: the rows of its day
// and of later days are void. It must take away exactly what they had added.
func (v *verifier) correct(row *ledger.Row, hash ledger.Hash) error {
	switch {
	case row.Day.Month() != v.sum.Month:
		return fmt.Errorf("date: is not a day of %s", v.sum.Month)
	case row.Hotspot != "" || row.Policy != 0 || row.Closed != 0 || row.Excused != 0 || row.Outside != 0 || row.Bytes != 0 || row.Tier != 0 || row.Ground != (beacon.Ground{}) || row.Hold != "":
		return errors.New("a correction has only a date, two counts of minutes and the three amounts")
	}
	*row = *negative(row)
	was := v.sum.Sum
	var holds ledger.Sum
	back := ledger.Seed(v.sum.User, v.sum.Month)
	for n := len(v.days); n > 0 && v.days[n-1].day >= row.Day; n = len(v.days) {
		v.days = v.days[:n-1]
	}
	if n := len(v.days); n > 0 {
		holds, back = v.days[n-1].sum, v.days[n-1].hash
	}
	if row.Corrects != back {
		return fmt.Errorf("corrects: is %s, but the last row before %s that holds is %s", row.Corrects, row.Day, back)
	}
	if want := was.Minus(holds); row.Sum() != (ledger.Sum{}).Minus(want) {
		return fmt.Errorf("takes away %s, but the rows from %s on add up to %s", row.Total(), row.Day, want.Total())
	}
	if err := v.follows(row, hash); err != nil {
		return err
	}
	v.holds.void(row.Day)
	maps.DeleteFunc(v.hotspots, func(_ beacon.HotspotID, first beacon.Day) bool { return first >= row.Day })
	v.last = ledger.Row{Day: row.Day - 1, Owned: beacon.Owned{Hotspot: "~"}} // after every id
	v.corrects++
	return nil
}

// hotspot reads the id of a row's hotspot, which a correction does not have.
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
