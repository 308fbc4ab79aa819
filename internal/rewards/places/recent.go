package places

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// Recent returns what hotspots owned of the ground on the last days at their places, in
// millionths, given the rows of these days: of each minute that was expected of them or, if
// standing is counted in minutes, of each that they served. Under a policy that pays devices
// that is what they served.
func Recent(d *Division, of []beacon.HotspotID, rowsOf func(beacon.Day) ([]ledger.Row, error)) (map[beacon.HotspotID]int64, error) {
	if d.Rules.Counts() == beacon.InMinutes {
		return ownedWhileServing(d, of, rowsOf)
	}
	sums := map[beacon.HotspotID]recent{}
	for day := d.Day - RecentDays; day < d.Day; day++ {
		rows, err := rowsOf(day)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if c := d.Claims[row.Hotspot]; c != nil && day >= c.Began {
				sums[row.Hotspot] = sums[row.Hotspot].plus(&row, row.Expected)
			}
		}
	}
	return rates(sums), nil
}

// ownedWhileServing goes back to the last days on which each hotspot served.
func ownedWhileServing(d *Division, of []beacon.HotspotID, rowsOf func(beacon.Day) ([]ledger.Row, error)) (map[beacon.HotspotID]int64, error) {
	left := map[beacon.HotspotID]bool{}
	for _, id := range of {
		left[id] = true
	}
	sums := map[beacon.HotspotID]recent{}
	for day := d.Day - 1; day >= d.Day-LookBackDays; day-- {
		maps.DeleteFunc(left, func(id beacon.HotspotID, _ bool) bool {
			return day < d.Claims[id].Began || sums[id].days == RecentDays
		})
		if len(left) == 0 {
			break
		}
		rows, err := rowsOf(day)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if left[row.Hotspot] && row.Served > 0 {
				sums[row.Hotspot] = sums[row.Hotspot].plus(&row, row.Served)
			}
		}
	}
	return rates(sums), nil
}

// recent is what a hotspot owned on some days, of some minutes.
type recent struct {
	days         int
	own, minutes int64
}

func (r recent) plus(row *ledger.Row, minutes int) recent {
	own := row.Own
	if row.Counts == beacon.NoStanding {
		own = Whole * int64(row.Served)
	}
	return recent{r.days + 1, r.own + own, r.minutes + int64(minutes)}
}

func rates(sums map[beacon.HotspotID]recent) map[beacon.HotspotID]int64 {
	rates := make(map[beacon.HotspotID]int64, len(sums))
	for id, s := range sums {
		if s.minutes > 0 {
			rates[id] = s.own / s.minutes
		}
	}
	return rates
}

// history counts, for each excused minute of a day, on how many of the last RecentDays days
// on which it was not itself excused the hotspot served in it. A day on which it was not in
// service, or closed, is one on which it did not serve: otherwise clones that take turns would
// each be paid for an outage that was announced.
//
// Counts are bits of three words, one for each power of two: most minutes have the same.
type history struct {
	began   beacon.Day
	minutes beacon.Minutes    // those that have not had enough days yet
	all     beacon.Minutes    // excused on the day
	days    [3]beacon.Minutes // on which they were not excused
	served  [3]beacon.Minutes
}

func newHistory(began beacon.Day, excused *beacon.Minutes) *history {
	return &history{began: began, minutes: *excused, all: *excused}
}

// add adds a day.
func (h *history) add(did *beacon.Did) {
	for i := range h.minutes {
		counts := h.minutes[i] &^ did.ExcusedMinutes[i]
		increase(&h.days, i, counts)
		increase(&h.served, i, counts&did.Minutes[i])
		h.minutes[i] &^= h.days[0][i] & h.days[1][i] & h.days[2][i]
	}
}

// increase adds one to the counts of some minutes. They do not overflow: a minute that has
// seven days gets no more.
func increase(counts *[3]beacon.Minutes, i int, minutes uint64) {
	for bit := range counts {
		carry := counts[bit][i] & minutes
		counts[bit][i] ^= minutes
		minutes = carry
	}
}

func (h *history) wants(day beacon.Day) bool { return day >= h.began && h.minutes != beacon.Minutes{} }

// due returns the sum of the parts of these days on which it served, each in millionths.
func (h *history) due() (sum int64) {
	for n := 1; n <= RecentDays; n++ {
		for k := 1; k <= n; k++ {
			count := 0
			for i := range h.all {
				count += bits.OnesCount64(h.all[i] & equal(&h.days, i, n) & equal(&h.served, i, k))
			}
			sum += int64(count) * (int64(k) * Whole / int64(n))
		}
	}
	return sum
}

// equal returns the minutes of a word with a count.
func equal(counts *[3]beacon.Minutes, i, n int) uint64 {
	is := ^uint64(0)
	for bit := range counts {
		if n>>bit&1 == 1 {
			is &= counts[bit][i]
		} else {
			is &^= counts[bit][i]
		}
	}
	return is
}

// AddDue adds to the claims of hotspots what their excused minutes come to, if standing is
// counted in minutes. It goes back from the day until it has enough days of each minute.
func (d *Division) AddDue(excused map[beacon.HotspotID]*beacon.Minutes, did func(beacon.Day, []beacon.HotspotID) (map[beacon.HotspotID]beacon.Did, error)) error {
	of := map[beacon.HotspotID]*history{}
	for id, minutes := range excused {
		if c := d.Claims[id]; d.Rules.Counts() == beacon.InMinutes && c.Proof > 0 {
			of[id] = newHistory(c.Began, minutes)
		}
	}
	for day := d.Day - 1; day >= d.Day-LookBackDays; day-- {
		var ids []beacon.HotspotID
		for id, h := range of {
			if h.wants(day) {
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			break
		}
		slices.Sort(ids)
		past, err := did(day, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			of[id].add(new(past[id]))
		}
	}
	for id, h := range of {
		d.Claims[id].Due = h.due()
	}
	return nil
}
