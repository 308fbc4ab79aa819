package rewards_test

import (
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
)

var anyone = beacon.Principal{Scopes: []beacon.Scope{beacon.Admin}}

// check compares every answer about a user with the oracle's.
func (o oracle) check(t *testing.T, r process, user beacon.UserID) {
	t.Helper()
	today := o.today().String()
	month, last := today[:7], monthsBetween("1970-01", today[:7])[1]
	o.checkSummary(t, r, user, earnings.Current, func(day string) bool { return day[:7] == month })
	o.checkSummary(t, r, user, earnings.Last, func(day string) bool { return day[:7] == last })
	o.checkSummary(t, r, user, earnings.All, func(string) bool { return true })
	o.checkHistory(t, r, user)
	o.checkDays(t, r, user, month)
	o.checkDays(t, r, user, last)
}

func (o oracle) checkSummary(t *testing.T, r process, user beacon.UserID, period earnings.Period, match func(string) bool) {
	t.Helper()
	s, err := r.Summary(t.Context(), anyone, earnings.SummaryQuery{User: user, Period: period})
	if err != nil {
		t.Fatal(err)
	}
	if first := o.firstDay(user); period == earnings.All {
		if first == "" {
			first = o.now.Format(time.RFC3339)
		}
		if got := s.Start.Format(time.RFC3339); !strings.HasPrefix(got, first) || !s.End.Equal(o.now) {
			t.Fatalf("all of %s is from %s to %s; want %s to %s", user, got, s.End, first, o.now)
		}
	}
	want := o.earned(user, match)
	var total expected
	for _, e := range want {
		total.add(*e)
	}
	paid, by := o.divide(t, user, match)
	if got, pending := sums(s.Total), total.total()-paid.settled-paid.held-paid.voided; got != total || dividedAs(s.Payment) != paid || int64(s.Pending()) != pending {
		t.Fatalf("%s: %s of %s: %+v, %+v, %d pending; want %+v, %+v and %d", o.now, period, user, got, s.Payment, s.Pending(), total, paid, pending)
	}
	if len(s.Hotspots) != len(want) {
		t.Fatalf("%s: %s of %s: %d hotspots; want %d", o.now, period, user, len(s.Hotspots), len(want))
	}
	for i, h := range s.Hotspots {
		e := want[h.ID]
		if e == nil || sums(h.Sum) != *e || h.Name != o.names[h.ID] || h.Tier.String() != o.tier(user, h.ID, match) || dividedAs(h.Payment) != by[h.ID] {
			t.Fatalf("%s: %s of %s: hotspot %+v; want %+v, %+v, tier %s", o.now, period, user, h, e, by[h.ID], o.tier(user, h.ID, match))
		}
		if i > 0 && s.Hotspots[i-1].ID >= h.ID {
			t.Fatalf("%s before %s", s.Hotspots[i-1].ID, h.ID)
		}
	}
}

func sums(s ledger.Sum) expected {
	return expected{s.Served, s.Expected, int64(s.Availability), int64(s.Performance), int64(s.Utilization)}
}

func (o oracle) checkHistory(t *testing.T, r process, user beacon.UserID) {
	t.Helper()
	page := beacon.Page{Number: 1, Size: 100}
	got, err := r.History(t.Context(), anyone, earnings.HistoryQuery{User: user, Page: page})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	if first := o.firstDay(user); first != "" {
		want = monthsBetween(first[:7], o.today().String()[:7])
		want = want[:min(len(want), 12)]
	}
	if got.Total != len(want) || len(got.Items) != len(want) {
		t.Fatalf("%s: history of %s: %d months; want %s", o.now, user, got.Total, strings.Join(want, " "))
	}
	for i, m := range got.Items {
		var total expected
		hotspots := o.earned(user, func(day string) bool { return day[:7] == want[i] })
		for _, e := range hotspots {
			total.add(*e)
		}
		paid, _ := o.divide(t, user, func(day string) bool { return day[:7] == want[i] })
		if m.Month.String() != want[i] || m.Hotspots != len(hotspots) || sums(m.Sum) != total || dividedAs(m.Payment) != paid {
			t.Fatalf("%s: history of %s: %s %+v; want %s %d hotspots %+v %+v", o.now, user, m.Month, m, want[i], len(hotspots), total, paid)
		}
	}
}

// checkDays compares the days of a month with the rows of the hotspots on each of them.
func (o oracle) checkDays(t *testing.T, r process, user beacon.UserID, month string) {
	t.Helper()
	m, err := beacon.ParseMonth(month)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Days(t.Context(), anyone, earnings.DaysQuery{User: user, Month: &m})
	if err != nil {
		t.Fatal(err)
	}
	first, _ := time.Parse("2006-01-02", month+"-01")
	today := o.today().String()
	n := 0
	for at := first; at.Month() == first.Month() && at.Format("2006-01-02") <= today; at = at.AddDate(0, 0, 1) {
		day := at.Format("2006-01-02")
		var total expected
		hotspots := o.earned(user, func(d string) bool { return d == day })
		for _, e := range hotspots {
			total.add(*e)
		}
		if n >= len(got.Days) || got.Days[n].Day.String() != day || got.Days[n].Hotspots != len(hotspots) || sums(got.Days[n].Sum) != total ||
			(day == today && !got.Days[n].Open) {
			t.Fatalf("%s: %s of %s: %+v; want %d hotspots with %+v", o.now, day, user, got.Days[min(n, len(got.Days)-1)], len(hotspots), total)
		}
		n++
	}
	if len(got.Days) != n || got.Month != m || got.User != user {
		t.Fatalf("%s: %s of %s has %d days; want %d", o.now, month, user, len(got.Days), n)
	}
}
