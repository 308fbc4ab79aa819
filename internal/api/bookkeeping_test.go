package api_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

type bookPage struct {
	ClosedThrough *string `json:"closed_through"`
	Closing       *struct{ Day string }
	Months        []struct {
		Period, Status          string
		Days, Users, Statements int
		Closed                  int         `json:"closed_days"`
		Earned                  json.Number `json:"total_earned"`
	}
}

// Admins see days being closed, and months being settled.
func TestBookkeeping(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		admin, c := s.anyone(t, "admin"), s.anyone(t, "hotspots:write", "rewards:read")
		read := func() bookPage {
			t.Helper()
			return data[bookPage](t, admin.get(t, "/v1/rewards/months?months=2"), http.StatusOK)
		}
		if books := read(); books.ClosedThrough != nil || books.Closing != nil || len(books.Months) != 0 {
			t.Errorf("a new network has %+v", books)
		}
		m := c.install(t, 1)
		s.verify(t, m.hotspot)
		for i := range 5 {
			m.beat(t, at(`{"boot_id":"b","seq":%d,"clients":1,"rx_bytes":%d,"tx_bytes":0}`, i, 1_000_000_000*i)).want(t, http.StatusOK)
			s.advance(time.Minute)
		}
		wait := func(what string, now time.Time, is func(bookPage) bool) bookPage {
			t.Helper()
			s.time.Store(now.UnixMicro())
			var books bookPage
			harness.Eventually(t, what, func() bool {
				s.advance(10 * time.Second)
				books = read()
				return is(books)
			})
			return books
		}
		books := wait("the first day is closed", time.Date(2026, 11, 16, 0, 10, 0, 0, time.UTC), func(b bookPage) bool { return b.ClosedThrough != nil })
		if m := books.Months[0]; *books.ClosedThrough != "2026-11-15" || len(books.Months) != 1 || m.Period != "2026-11" || m.Status != "in_progress" || m.Days != 30 || m.Closed != 15 || m.Users != 1 || m.Statements != 0 {
			t.Errorf("after the first day: %+v", books)
		}
		earned := c.rewards(t, "current").Summary.Total
		page := data[operatorPage](t, admin.get(t, "/v1/operators"), http.StatusOK)
		if shown, _ := page.Operators[0].Earned.Float64(); earned == 0 || shown == 0 {
			t.Errorf("%v earned so far, of it %v on closed days", earned, shown)
		}
		books = wait("November is settled", time.Date(2026, 12, 4, 0, 10, 0, 0, time.UTC), func(b bookPage) bool { return len(b.Months) == 2 && b.Months[1].Status == "settled" })
		if m := books.Months[1]; m.Period != "2026-11" || m.Closed != 30 || m.Users != 1 || m.Statements != 1 || books.Months[0].Status != "in_progress" {
			t.Errorf("after the month: %+v", books)
		}
		for query, field := range map[string]string{"months=0": "months", "months=25": "months"} {
			wantFault(t, admin.get(t, "/v1/rewards/months?"+query), http.StatusBadRequest, "invalid_request", field)
		}
		wantFault(t, c.get(t, "/v1/rewards/months"), http.StatusForbidden, "forbidden")
	})
}
