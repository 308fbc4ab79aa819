package statement_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
)

const aHold beacon.HoldID = "hld_01k8a0000000000000000000aa"

// heldMonth is a month in which every second row is held, and what became of some of them,
// and of earlier ones, is told.
func heldMonth(month beacon.Month, previous ledger.Hash, earlier []ledger.HeldDay, void bool) (b *books, held []ledger.HeldDay) {
	p := book()[0]
	var rows []ledger.Row
	chain := ledger.Seed(user, month)
	var sum beacon.Amount
	add := func(row ledger.Row) {
		chain = chain.Next(&row)
		rows = append(rows, row)
	}
	for n := range 6 {
		f := beacon.Facts{Served: 600 + n, Expected: 1440, Bytes: uint64(n) * 1e9}
		row := ledger.Row{
			Day: month.First() + beacon.Day(n/2), Owned: beacon.Owned{User: user, Hotspot: beacon.HotspotID(fmt.Sprintf("hs_%026d", n%2))},
			Policy: p.Version, Facts: f, Earned: p.Reward(f),
		}
		if n%2 == 1 {
			row.Hold = aHold
		}
		add(row)
		if n%2 == 1 {
			sum += row.Total()
			held = append(held, ledger.HeldDay{Day: row.Day, Owned: row.Owned, Hold: aHold, Hash: chain, Amount: row.Total()})
		}
	}
	for _, d := range append(earlier, held[0]) {
		if d.State = beacon.HoldIsReleased; void {
			d.State = beacon.HoldIsVoided
		}
		row := d.Ending()
		row.User = ""
		add(row)
	}
	b = settle(book(), month, previous, rows)
	b.statement.Held, b.statement.Hotspots = sum, 2
	var lines []string
	for _, p := range b.inForce() {
		lines = append(lines, p.Lines()...)
	}
	b.statement.Hash = ledger.Seal(previous, &b.statement.UserMonth, lines)
	return b, held[1:]
}

// Statements with held rows verify, each by itself and one after the other; and nothing
// about them can be changed.
func TestVerify_Holds(t *testing.T) {
	month := mustDay("2026-08-01").Month()
	first, rest := heldMonth(month, ledger.Hash{}, nil, false)
	second, _ := heldMonth(month+1, first.statement.Hash, rest, true)
	a, err := verify(first.json(t))
	if err != nil {
		t.Fatal(err)
	}
	b, err := verify(second.json(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := statement.Follows(a, b); err != nil {
		t.Error(err)
	}
	var earlier beacon.Amount
	for _, d := range rest {
		earlier += d.Amount
	}
	if a.Released == 0 || a.Paid() != a.Earned.Total()-a.Held+a.Released || b.Voided < earlier || b.Released != 0 || b.Paid() != b.Earned.Total()-b.Held {
		t.Errorf("the reports are %+v and %+v", a, b)
	}
	text := second.json(t)
	scalars, _ := spots(t, text)
	tried := 0
	for _, s := range scalars {
		value := s.in(text)
		if value == `""` { // of a row without a hotspot
			continue
		}
		for _, other := range changesOf(value) {
			if other == value || value == "0" && other == "-0" || s.pointer == "/settled_at" && strings.Contains(other, "000") {
				continue
			}
			tried++
			if _, err := verify(s.replace(text, other)); err == nil {
				t.Errorf("%s was changed from %s to %s, and nobody noticed", s.pointer, value, other)
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d changes were tried", tried)
	}
}

// A held row is paid once, and only what was held is.
func TestVerify_HoldsTwice(t *testing.T) {
	month := mustDay("2026-08-01").Month()
	first, rest := heldMonth(month, ledger.Hash{}, nil, false)
	stranger := rest[0]
	stranger.Hash[3]++
	dearer := rest[0]
	dearer.Amount++
	for name, test := range map[string]struct {
		earlier []ledger.HeldDay
		want    string
	}{
		"twice in one":   {[]ledger.HeldDay{rest[0], rest[0]}, "said twice"},
		"not held":       {[]ledger.HeldDay{stranger}, "no row of"},
		"another amount": {[]ledger.HeldDay{dearer}, "no row of"},
	} {
		second, _ := heldMonth(month+1, first.statement.Hash, test.earlier, false)
		b, err := verify(second.json(t))
		if err == nil {
			a, _ := verify(first.json(t))
			err = statement.Follows(a, b)
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %q", name, err, test.want)
		}
	}
	second, _ := heldMonth(month+1, first.statement.Hash, rest[:1], false)
	third, _ := heldMonth(month+2, second.statement.Hash, rest[:1], false)
	a, _ := verify(first.json(t))
	b, _ := verify(second.json(t))
	c, err := verify(third.json(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := statement.Follows(a, b); err != nil {
		t.Fatal(err)
	}
	if err := statement.Follows(b, c); err == nil || !strings.Contains(err.Error(), "paid before") {
		t.Errorf("paid twice: %v", err)
	}
	older := rest[0]
	older.Day -= 31
	alone, _ := heldMonth(month, ledger.Hash{}, []ledger.HeldDay{older}, false) // the first statement of all
	if _, err := verify(alone.json(t)); err == nil || !strings.Contains(err.Error(), "was not held") {
		t.Errorf("the first statement pays a row of an earlier month: %v", err)
	}
}
