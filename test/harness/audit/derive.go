//go:build linux

package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// none is the hash before the first statement.
var none = strings.Repeat("0", 64)

func (s *tally) sums() string {
	return fmt.Sprintf("%d,%d,%d,%d,%d,", s.served, s.expected, s.Availability, s.Performance, s.Utilization)
}

// Sorted sorts lines.
func Sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}

// books spells what was added up as Lines spells the tables.
func (d *derivation) books() books {
	b := books{}
	for day, s := range d.days {
		b.add("reward_days", fmt.Sprintf("%d,%d,%d,%d,%d,", day, s.rows, s.Availability, s.Performance, s.Utilization))
	}
	for of, s := range d.months {
		b.add("hotspot_months", fmt.Sprintf("%d,%s,%s,%d,%d,%s", of.month, of.user, of.hotspot, s.last, s.tier, s.sums()))
	}
	for of, s := range d.users {
		b.add("user_months", fmt.Sprintf("%d,%s,%d,%d,%s,%s", of.month, of.user, s.hotspots, s.rows, s.chain, s.sums()))
	}
	d.addTotals(b)
	d.settle(b)
	for month := range d.finished {
		b.add("changes", fmt.Sprintf("rewards.finished,%s,,", month))
	}
	for _, lines := range b {
		slices.Sort(lines)
	}
	return b
}

func (b books) add(table, line string) { b[table] = append(b[table], line) }

// addTotals adds up the months of each hotspot that are settled.
func (d *derivation) addTotals(b books) {
	type owned struct{ user, hotspot string }
	totals, through := map[owned]*tally{}, map[owned]Month{}
	for _, of := range slices.SortedFunc(maps.Keys(d.months), func(a, b hotspotMonth) int { return int(a.month - b.month) }) {
		if !d.finished[of.month] {
			continue
		}
		key := owned{of.user, of.hotspot}
		total := entry(totals, key)
		total.bookSum = total.plus(d.months[of].bookSum)
		total.tier, through[key] = d.months[of].tier, of.month
	}
	for of, s := range totals {
		b.add("hotspot_totals", fmt.Sprintf("%s,%s,%d,%d,%s", of.user, of.hotspot, through[of], s.tier, s.sums()))
	}
}

// account is how a user stands after some statements.
type account struct {
	tally
	settled Month
	hash    string
}

// settle writes the statements of all finished months, in their order, and the
// accounts that they lead to.
func (d *derivation) settle(b books) {
	accounts := map[string]*account{}
	byMonth := func(x, y userMonth) int { return int(x.month - y.month) }
	for _, of := range slices.SortedFunc(maps.Keys(d.users), byMonth) {
		s := d.users[of]
		a := accounts[of.user]
		if a == nil {
			a = &account{settled: -1, hash: none}
			a.first = s.first
			accounts[of.user] = a
		}
		if !d.finished[of.month] {
			continue
		}
		previous := a.hash
		a.hash = hashOf(fmt.Sprintf("%s\n%s\n%s,%s,%d,%d,%s\n%s\n", previous, s.chain, of.user, of.month, s.rows, s.hotspots,
			strings.TrimSuffix(s.sums(), ","), strings.TrimSuffix(d.policy, ",")))
		a.settled, a.bookSum = of.month, a.plus(s.bookSum)
		b.add("statements", fmt.Sprintf("%s,%d,%d,%d,%s,%s%s,%s,", of.user, of.month, s.hotspots, s.rows, s.chain, s.sums(), previous, a.hash))
		b.add("changes", fmt.Sprintf("rewards.settled,%s,%s,", of.user, of.month))
	}
	for user, a := range accounts {
		b.add("accounts", fmt.Sprintf("%s,%d,%d,%s,%s", user, a.first, a.settled, a.hash, a.sums()))
	}
}
