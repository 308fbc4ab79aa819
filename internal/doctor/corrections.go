package doctor

import (
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// corrected adds up one user's rows in a month of which days were opened again. Rows
// from the day of a correction on are void, and it takes away what they had added.
func (b *bookkeeper) corrected(user beacon.UserID) {
	for _, day := range b.days {
		for r := day.head(); r != nil && r.User == user; r = day.head() {
			day.pass() // Walk reads them again, in the order of the chain
		}
	}
	is := ledger.UserMonth{Month: b.month, User: user, Chain: ledger.Seed(user, b.month)}
	sums := map[beacon.HotspotID]*ledger.HotspotMonth{}
	firstDay := beacon.Day(-1)
	days := []holding{{hash: is.Chain, day: -1}}
	var held []ledger.HeldDay
	err := ledger.Walk(b.ctx, func(read func(ledger.Books) error) error { return read(b.s) }, user, b.month, func(r ledger.Row, hash ledger.Hash) error {
		b.row()
		if !r.Corrects.IsZero() {
			for days[len(days)-1].day >= r.Day {
				days = days[:len(days)-1]
			}
			if last := days[len(days)-1]; last.hash != r.Corrects || is.Plus(r.Sum()) != last.sum {
				b.wrong(fmt.Sprintf("correction of %s in %s", user, b.month), "goes back to %.12s… and leaves %s, but what holds before %s is %s up to %.12s…",
					r.Corrects, is.Plus(r.Sum()).Total(), r.Day, last.sum.Total(), last.hash)
			}
		}
		is.Rows, is.Chain, is.Sum = is.Rows+1, hash, is.Plus(r.Sum())
		if !r.Corrects.IsZero() || !r.Ends.IsZero() {
			return nil
		}
		b.earned(&r)
		if firstDay < 0 || r.Day < firstDay {
			firstDay = r.Day
		}
		if last := &days[len(days)-1]; last.day != r.Day {
			days = append(days, holding{day: r.Day})
		}
		days[len(days)-1].sum, days[len(days)-1].hash = is.Sum, hash
		if b.reopened.Holds(&r) {
			if b.totals[r.Day] == nil {
				b.totals[r.Day] = &ledger.Closing{Day: r.Day}
			}
			b.add(&r, sums)
			held = appendHeld(held, &r, hash)
		}
		return nil
	})
	if err != nil {
		b.wrong(fmt.Sprintf("%s in %s", user, b.month), "its rows cannot be read: %v", err)
	}
	b.conclude(&is, sums, held, firstDay)
}

// holding is what the rows through a day add up to, as far as they hold.
type holding struct {
	day  beacon.Day
	sum  ledger.Sum
	hash ledger.Hash
}
