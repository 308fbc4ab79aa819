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

// books spells what was added up as linesOf spells the tables.
func (d *derivation) books() (b books) {
	for day, s := range d.days {
		b.days = append(b.days, fmt.Sprintf("%d,%d,%d,%d,%d,", day, s.rows, s.Availability, s.Performance, s.Utilization))
	}
	for of, s := range d.months {
		b.months = append(b.months, fmt.Sprintf("%d,%s,%s,%d,%d,%s", of.month, of.user, of.hotspot, s.last, s.tier, s.sums()))
	}
	for of, s := range d.users {
		b.users = append(b.users, fmt.Sprintf("%d,%s,%d,%d,%s,%s", of.month, of.user, s.hotspots, s.rows, s.chain, s.sums()))
	}
	b.totals = d.totals()
	d.settle(&b)
	for month := range d.finished {
		b.changes = append(b.changes, fmt.Sprintf("rewards.finished,%s,,", month))
	}
	for _, list := range []*[]string{&b.days, &b.months, &b.users, &b.totals, &b.statements, &b.accounts, &b.changes} {
		slices.Sort(*list)
	}
	return b
}

// totals adds up the months of each hotspot that are settled.
func (d *derivation) totals() (lines []string) {
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
		lines = append(lines, fmt.Sprintf("%s,%s,%d,%d,%s", of.user, of.hotspot, through[of], s.tier, s.sums()))
	}
	return lines
}

// account is how a user stands after some statements.
type account struct {
	tally
	settled Month
	hash    string
}

// settle writes the statements of all finished months, in their order, and the
// accounts that they lead to.
func (d *derivation) settle(b *books) {
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
		b.statements = append(b.statements, fmt.Sprintf("%s,%d,%d,%d,%s,%s%s,%s,", of.user, of.month, s.hotspots, s.rows, s.chain, s.sums(), previous, a.hash))
		b.changes = append(b.changes, fmt.Sprintf("rewards.settled,%s,%s,", of.user, of.month))
	}
	for user, a := range accounts {
		b.accounts = append(b.accounts, fmt.Sprintf("%s,%d,%d,%s,%s", user, a.first, a.settled, a.hash, a.sums()))
	}
}
