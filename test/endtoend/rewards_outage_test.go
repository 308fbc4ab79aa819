//go:build linux

package endtoend_test

import (
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
)

// TestOutageExplained: when an outage of ours costs a shop its day, the explanation says
// that it was our outage and what was lost through it, and does not blame the shop's
// closing hours; the same for a day on which the service was down from end to end.
func TestOutageExplained(t *testing.T) { harness.Stores(t, testOutageExplained) }

func testOutageExplained(t *testing.T, db string) {
	staff := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	day := func(day, hour, minute int) time.Time { return time.Date(2026, 10, day, hour, minute, 30, 0, time.UTC) }
	clock := harness.NewHeldClock(t, day(29, 7, 45))
	server := clock.Start(t, db)
	ada := audit.NewOperator(t, db)
	passUntil := func(at time.Time) {
		for ; clock.Now().Before(at) && !t.Failed(); clock.Pass(time.Minute) {
			for _, h := range ada.Hotspots {
				h.MustBeat(t, staff, server)
			}
		}
	}
	shop := ada.Link(t, staff, server, 0, harness.Fields{"operating_hours": harness.Fields{
		"timezone": "UTC", "weekly": []any{harness.Fields{"days": []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, "open": "08:00", "close": "10:00"}},
	}})
	always := ada.Link(t, staff, server, 1, nil)
	passUntil(day(29, 7, 50))
	server.Stop(t)
	clock.Set(day(29, 10, 10)) // a first outage, over all opening hours of the shop
	server = clock.Start(t, db)
	passUntil(day(29, 10, 12))
	server.Stop(t)
	clock.Set(day(31, 0, 1)) // a second one, over a whole day
	server = clock.Start(t, db)

	want := func(h *audit.Rewarded, date string, excused int64, reasons ...string) {
		t.Helper()
		e, _ := h.Explain(t, ada.Client, server, date)
		var costly []string
		for _, loss := range e.Losses {
			if loss.Total > 0 {
				costly = append(costly, loss.Reason)
			}
			if loss.Reason == "excused" && (loss.Availability != 1_000_000 || !strings.Contains(loss.Explanation, "Our own service was down")) {
				t.Errorf("%s, %s: our outage lost %+v: %s", h.SSID, date, loss.Parts, loss.Explanation)
			}
			if loss.Reason == "closed" && !strings.Contains(loss.Explanation, "cost nothing") {
				t.Errorf("%s, %s: %s", h.SSID, date, loss.Explanation)
			}
		}
		if e.Facts.Excused != excused || strings.Join(costly, " ") != strings.Join(reasons, " ") || e.Facts.Expected != 0 || e.Earned.Total != 0 {
			t.Errorf("%s, %s: lost to %v, with %+v and %+v earned; want %v and %d minutes excused", h.SSID, date, costly, e.Facts, e.Earned, reasons, excused)
		}
	}
	both := func() {
		want(shop, "2026-10-29", 120, "excused")
		want(shop, "2026-10-30", 120, "excused")
		want(always, "2026-10-30", 24*60, "excused")
	}
	both() // while the days are open
	audit.AwaitClosed(t, db, "2026-10-30", server, func() { passUntil(clock.Now().Add(5 * time.Minute)) })
	both()
	if rows := audit.Number(t, harness.OpenSQL(t, db), `SELECT count(*) FROM ledger`); rows != 4 {
		t.Errorf("%d rows are written; want those of the two hotspots on two days", rows)
	}
}
