package rewards_test

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/store"
)

// What hotspots at one spot earn under a policy that counts minutes. The figures are from
// what was asked for, and not from the code.

// block is hotspots at one spot, all found there on the first day.
type block struct {
	*street
	all []beacon.HotspotID
	did uint64 // how often one did something
}

func newBlock(t *testing.T, open func(testing.TB, time.Time) *store.DB, hotspots int, minutesFrom ...beacon.Day) *block {
	t.Helper()
	began := at("2026-10-01T00:00:00Z")
	for i := range minutesFrom {
		minutesFrom[i] += beacon.DayOf(began)
	}
	b := &block{street: newStreet(t, newWorld(t, open(t, began), began, hotspots), beacon.DayOf(began), minutesFrom...)}
	for n := range hotspots {
		b.join(t, b.users[n])
	}
	return b
}

func (b *block) join(t *testing.T, user beacon.UserID) beacon.HotspotID {
	t.Helper()
	id := b.register(t, user)
	b.visit(t, id, 0, true)
	b.all = append(b.all, id)
	return id
}

// pass lets a day pass on which each hotspot serves from a minute on, until another. The
// service is down in some minutes before midnight.
func (b *block) pass(t *testing.T, down int, served ...[2]int) {
	t.Helper()
	for i, span := range served {
		long := span[1] - span[0]
		if long == 0 && down == 0 {
			continue // it is not there yet
		}
		b.did++
		b.acts(b.all[i], span[0], beacon.Facts{Served: long, Expected: long, Closed: 1440 - down - long, Excused: down, Bytes: b.did})
	}
	b.midnight(t)
	b.step(t)
}

// row is what was closed of the day before.
func (b *block) row(t *testing.T, i int) (r ledger.Row) {
	t.Helper()
	err := b.db.Ledger.Books(t.Context(), func(books ledger.Books) (err error) {
		r, _, err = books.Row(t.Context(), b.today()-1, beacon.Owned{User: b.owners[b.all[i]], Hotspot: b.all[i]})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// One that serves 65 minutes a day has served on as many days as an always-on neighbour, and
// for a tenth of the time that counts. A shop of ten hours is as senior as one that is always
// on: the one that came first stays first.
func TestMinutes_Seniority(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		const always, newcomer = 1440, 3
		for _, tt := range []struct {
			name      string
			first     int // minutes a day of the one that was there before
			minutes   bool
			contested int // minutes that the first gets of those that both serve
		}{
			{"short days, by days", 65, false, 65},
			{"short days, by minutes", 65, true, 0},
			{"a shop, by minutes", 600, true, 600},
		} {
			var minutesFrom []beacon.Day
			if tt.minutes {
				minutesFrom = []beacon.Day{1}
			}
			b := newBlock(t, open, 1, minutesFrom...)
			b.users = append(b.users, "usr_01k8a0000000000000000000zz")
			for day := range 20 {
				if day == newcomer {
					b.join(t, b.users[1])
				}
				b.pass(t, 0, [][2]int{{300, 300 + tt.first}, {0, always}}[:len(b.all)]...)
			}
			if first, second := b.row(t, 0).Own, b.row(t, 1).Own; first != int64(tt.contested)*1e6 || second != int64(always-tt.contested)*1e6 {
				t.Errorf("%s: the first owns %d and the newcomer %d millionths of minutes; want %d of %d minutes", tt.name, first, second, tt.contested, always)
			}
			b.check(t)
		}
	})
}

// Clones that are open in turn, and then all day before an outage that was announced, are paid
// for it together what one place is paid, and a shop with short hours in full. Days on which a
// clone was not in service are days on which it did not serve.
func TestMinutes_Outage(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		const down = 240 // the last minutes of the day
		b := newBlock(t, open, 6, 1)
		for day := range 10 {
			turns := make([][2]int, 6)
			for i := range turns { // each serves those minutes on one day in six
				if day%6 == i {
					turns[i] = [2]int{0, 1440}
				}
			}
			b.pass(t, 0, turns...)
		}
		var all [6][2]int
		b.pass(t, down, all[:]...)
		var due, owned int64
		for i := range all {
			row := b.row(t, i)
			due += row.Due
			owned += row.Due * row.Recent / 1e6
		}
		if most := int64(down) * 1e6; due > most || owned > most || owned < most*9/10 {
			t.Errorf("six clones are paid for %d of %d minutes together", owned, down)
		}
		b.check(t)

		shop := newBlock(t, open, 1, 1)
		for range 10 {
			shop.pass(t, 0, [2]int{1440 - down, 1440})
		}
		for n := range 9 { // a week and more is paid on its last day as on its first
			shop.pass(t, down, [2]int{})
			if row := shop.row(t, 0); row.Due != down*1e6 || row.Recent != 1e6 || row.Availability != down*1_000_000/1440 {
				t.Errorf("day %d of an outage: a shop is paid %s, for %d millionths of minutes", n, row.Availability, row.Due)
			}
		}
		shop.check(t)
	})
}

// Without one exact visit by someone else nothing is paid, no standing is collected, and
// nothing is said of the ground: it would say where others are.
func TestMinutes_NeverFound(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		b := newBlock(t, open, 1, 1)
		b.users = append(b.users, "usr_01k8a0000000000000000000zz")
		id := b.register(t, b.users[1])
		b.visit(t, id, 0, false) // its operator
		b.all = append(b.all, id)
		for range 3 {
			b.pass(t, 0, [2]int{0, 700}, [2]int{0, 1440})
		}
		row := b.row(t, 1)
		if row.Total() != 0 || row.Proof != 0 || row.Own != 0 || row.Shared != 0 || row.Older != 0 || row.Standing != 0 || row.Served != 1440 {
			t.Errorf("one that nobody has found is paid %s, by %+v", row.Total(), row.Ground)
		}
		if first := b.row(t, 0); first.Own != 700*1e6 || first.Shared != 0 {
			t.Errorf("and its neighbour has %+v", first.Ground)
		}
		b.visit(t, id, 0, true)
		b.pass(t, 0, [2]int{0, 700}, [2]int{0, 1440})
		b.pass(t, 0, [2]int{0, 700}, [2]int{0, 1440})
		if row := b.row(t, 1); row.Standing != 0 || row.Own != 740*1e6 || row.Proof != 1e6 {
			t.Errorf("found, it has %+v", row.Ground)
		}
		b.check(t)
	})
}

// The days of grace after places are first paid are for places whose proof has ended. Under a
// policy that counts minutes they pay nothing where no exact visit has found the hotspot, and
// give it no standing.
func TestMinutes_NeverFoundInGrace(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		began := at("2026-10-01T00:00:00Z")
		first := beacon.DayOf(began)
		b := &block{street: newStreet(t, newWorld(t, open(t, began), began, 2), first+2, first+3)}
		b.join(t, b.users[0])
		id := b.register(t, b.users[1])
		b.visit(t, id, 1, false) // its operator
		b.all = append(b.all, id)
		for n := range 6 {
			b.pass(t, 0, [2]int{0, 1440}, [2]int{0, 1440})
			row := b.row(t, 1)
			switch paid := row.Availability > 0; {
			case n < 3 && (!paid || n == 2 && row.Proof != 1e6):
				t.Errorf("day %d: it is paid %s, by %+v", n, row.Total(), row.Ground)
			case n >= 3 && (paid || row.Proof != 0 || row.Standing != 0):
				t.Errorf("day %d: one that nobody has found is paid %s, by %+v", n, row.Total(), row.Ground)
			}
		}
		b.check(t)
	})
}

// Traffic that a device tells of after an outage is paid within the most that the days pay which
// it was down for, whenever that began, and no more than once.
func TestMinutes_Traffic(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		const cap = 250_000
		b := newBlock(t, open, 1, 1)
		day := func(down int, gigabytes uint64) beacon.Amount {
			t.Helper()
			b.did++
			b.acts(b.all[0], 0, beacon.Facts{Served: 1440 - down, Expected: 1440 - down, Excused: down, Bytes: gigabytes*1e9 + b.did})
			b.midnight(t)
			b.step(t)
			return b.row(t, 0).Utilization
		}
		for range 8 {
			if got := day(0, 100); got != cap {
				t.Errorf("on an ordinary day traffic earns %s", got)
			}
		}
		for n, step := range []struct {
			down      int
			gigabytes uint64
			want      beacon.Amount
		}{
			{720, 5, 100_000},          // half a day down: 150,000 are left, 125,000 of them of the outage
			{1440, 0, 0}, {1440, 0, 0}, // 125,000 + 2 × 250,000
			{360, 100, 125_000 + 3*cap},   // heard again: all of it, and its own
			{0, 100, cap},                 // it was paid
			{1440, 0, 0}, {0, 7, 140_000}, // less than is left
			{0, 100, cap}, // and that is gone
			{1440, 0, 0}, {0, 100, 2 * cap},
		} {
			if got := day(step.down, step.gigabytes); got != step.want {
				t.Errorf("step %d: %d GB earn %s; want %s", n, step.gigabytes, got, step.want)
			}
		}
		b.check(t)
		if again := b.replay(t, closing.ReplayQuery{From: beacon.DayOf(b.began), To: b.today() - 1}); again.Differ != 0 {
			t.Errorf("replayed, %d rows differ: %s", again.Differ, again.First)
		}
	})
}
