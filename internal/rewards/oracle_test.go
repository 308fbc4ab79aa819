package rewards_test

import (
	"math/big"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// The oracle computes every answer from the facts alone, in fractions, without
// the books and without any code of the packages that it judges.

// expected is what a user or a hotspot should have.
type expected struct {
	served, expected                       int64
	availability, performance, utilization int64
}

func (e expected) total() int64 { return e.availability + e.performance + e.utilization }

func (e *expected) add(o expected) {
	e.served += o.served
	e.expected += o.expected
	e.availability += o.availability
	e.performance += o.performance
	e.utilization += o.utilization
}

// terms are those of a policy, in whole numbers: availability in millionths, the
// rates in hundredths, the price of a gigabyte and the cap in millionths.
type terms struct{ availability, standard, enhanced, premium, gigabyte, limit int64 }

var policy1 = terms{1_000_000, 0, 25, 50, 20_000, 1_000_000}

// floor rounds a fraction of whole numbers down.
func floor(r *big.Rat) int64 { return new(big.Int).Div(r.Num(), r.Denom()).Int64() }

func (c terms) reward(f beacon.Facts) expected {
	e := expected{served: int64(f.Served), expected: int64(f.Expected)}
	if f.Expected > 0 {
		exact := new(big.Rat).Mul(big.NewRat(c.availability, 1), big.NewRat(int64(f.Served), int64(f.Expected)))
		e.availability = floor(exact)
		rate := map[string]int64{"standard": c.standard, "enhanced": c.enhanced, "premium": c.premium}[f.Tier.String()]
		e.performance = floor(new(big.Rat).Mul(big.NewRat(e.availability, 1), big.NewRat(rate, 100)))
	}
	bytes := new(big.Rat).SetInt(new(big.Int).SetUint64(f.Bytes))
	carried := new(big.Rat).Mul(bytes, big.NewRat(c.gigabyte, 1_000_000_000))
	if carried.Cmp(big.NewRat(c.limit, 1)) > 0 {
		carried = big.NewRat(c.limit, 1)
	}
	e.utilization = floor(carried)
	return e
}

// oracle knows a world's facts, and which terms hold from which day on.
type oracle struct {
	*world
	from  []string // days, rising
	terms []terms
	held  *heldModel // nil: nothing is ever held
}

func oracleOf(w *world) oracle { return oracle{w, []string{"1970-01-01"}, []terms{policy1}, nil} }

func (o oracle) on(day string) terms {
	for i := len(o.from) - 1; ; i-- {
		if o.from[i] <= day {
			return o.terms[i]
		}
	}
}

// earned adds up what a user's hotspots earned on the days that match, by
// hotspot. Days are texts, which sort like days.
func (o oracle) earned(user beacon.UserID, match func(day string) bool) map[beacon.HotspotID]*expected {
	sums := map[beacon.HotspotID]*expected{}
	for day, hotspots := range o.facts {
		text := day.Time().Format("2006-01-02")
		if !match(text) {
			continue
		}
		for hotspot, f := range hotspots {
			nothing := f.Expected+f.Closed+f.Excused == 0 && f.Bytes == 0
			if o.ownerOn(hotspot, day) != user || nothing {
				continue
			}
			if sums[hotspot] == nil {
				sums[hotspot] = &expected{}
			}
			sums[hotspot].add(o.on(text).reward(f))
		}
	}
	return sums
}

// tier is that of the last of a hotspot's days that are the user's and match.
func (o oracle) tier(user beacon.UserID, hotspot beacon.HotspotID, match func(day string) bool) (tier string) {
	last := ""
	for day, hotspots := range o.facts {
		text := day.Time().Format("2006-01-02")
		if f, ok := hotspots[hotspot]; ok && o.ownerOn(hotspot, day) == user && match(text) && text > last && !(f.Expected+f.Closed+f.Excused == 0 && f.Bytes == 0) {
			last, tier = text, f.Tier.String()
		}
	}
	return tier
}

// firstDay is the first on which a user's hotspots did something; "": never.
func (o oracle) firstDay(user beacon.UserID) string {
	var days []string
	for day, hotspots := range o.facts {
		for hotspot, f := range hotspots {
			if o.ownerOn(hotspot, day) == user && !(f.Expected+f.Closed+f.Excused == 0 && f.Bytes == 0) {
				days = append(days, day.Time().Format("2006-01-02"))
			}
		}
	}
	if len(days) == 0 {
		return ""
	}
	return slices.Min(days)
}

// monthsBetween lists months like 2026-11, the newest first, both included.
func monthsBetween(first, last string) (all []string) {
	year, month := int(last[0]-'0')*1000+int(last[1]-'0')*100+int(last[2]-'0')*10+int(last[3]-'0'), int(last[5]-'0')*10+int(last[6]-'0')
	for {
		text := string([]byte{
			byte('0' + year/1000), byte('0' + year/100%10), byte('0' + year/10%10), byte('0' + year%10), '-',
			byte('0' + month/10), byte('0' + month%10),
		})
		if text < first {
			return all
		}
		all = append(all, text)
		if month--; month == 0 {
			year, month = year-1, 12
		}
	}
}
