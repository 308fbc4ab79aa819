package api_test

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

type overview struct {
	Online, Offline, Pending int

	Silent []struct {
		HotspotID string `json:"hotspot_id"`
		Name      string
		LastSeen  *time.Time `json:"last_seen_at"`
	}
	Uptime []struct {
		Date   string
		Uptime float64
	}
	New      int `json:"registered_7d"`
	ToVisit  int `json:"to_visit"`
	Rejected int

	Flags, Holds int

	ClosedThrough *string `json:"closed_through"`
	DaysDue       int     `json:"days_due"`
	ClockWaiting  bool    `json:"clock_waiting"`
}

// Staff see how the network is, up to two seconds late.
func TestOverview(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		staff, admin := s.anyone(t, "hotspots:verify"), s.anyone(t, "admin")
		look := func() overview {
			t.Helper()
			return data[overview](t, staff.get(t, "/v1/overview"), http.StatusOK)
		}
		if empty := look(); empty.Silent == nil || empty.Uptime == nil || empty.Online+empty.Offline+empty.Pending+empty.New != 0 || empty.ClosedThrough != nil {
			t.Errorf("an empty network is %+v", empty)
		}
		first, _ := s.settle(t)
		s.advance(2 * time.Second)
		is := look()
		if is.Online != 1 || is.Offline != 1 || is.Pending != 4 || is.New != 6 || is.ToVisit != 3 || is.Rejected != 0 || is.ClockWaiting || is.DaysDue != 0 {
			t.Errorf("six hotspots are %+v", is)
		}
		if len(is.Silent) != 1 || is.Silent[0].Name != "Κάφε ΤΗΣ ΟΔΟΣ" || is.Silent[0].LastSeen != nil {
			t.Errorf("silent are %+v", is.Silent)
		}

		listed := data[[]listed](t, staff.get(t, "/v1/hotspots?verified=false"), http.StatusOK)
		staff.delete(t, "/v1/hotspots/"+listed[0].ID+"/verification?reason=no+radio").want(t, http.StatusNoContent)
		day := beacon.DayOf(s.now())
		for _, h := range listed {
			s.flag(t, beacon.Flag{Hotspot: beacon.HotspotID(h.ID), Operator: first.user, Kind: beacon.RadiusGrown, Weight: 20, First: day, Last: day})
		}
		staff.post(t, "/v1/holds", at(`{"operator_id":%q,"reason":"r","evidence":"e","until":"2026-11-20T00:00:00Z"}`, first.user)).want(t, http.StatusCreated)
		if early := look(); early.Flags != 0 || early.Rejected != 0 {
			t.Errorf("at the same moment it is %+v; want what others got", early)
		}
		s.advance(2 * time.Second)
		if is = look(); is.Flags != 1 || is.Holds != 1 || is.Rejected != 1 || is.ToVisit != 2 {
			t.Errorf("after a flag of two hotspots, a hold and a rejection it is %+v", is)
		}
		s.advance(10 * time.Minute)
		if is = look(); is.Online != 0 || is.Offline != 2 || len(is.Silent) != 2 || is.Silent[1].Name != "日本橋 Wi-Fi" || is.Silent[1].LastSeen == nil {
			t.Errorf("after ten minutes of silence it is %+v", is)
		}

		// A day is summed up once it is closed, and again after it was opened again.
		for range 2 {
			s.closed(t, admin, "2026-11-15")
			s.advance(2 * time.Second)
			if is = look(); is.ClosedThrough == nil || *is.ClosedThrough != "2026-11-15" || len(is.Uptime) != 1 || is.Uptime[0].Date != "2026-11-15" {
				t.Fatalf("after a day it is %+v", is)
			}
			var served, expected int
			for _, h := range data[[]listedID](t, staff.get(t, "/v1/hotspots"), http.StatusOK) {
				facts := data[struct{ Facts minutes }](t, admin.get(t, "/v1/hotspots/"+h.ID+"/rewards/explain?date=2026-11-15"), http.StatusOK).Facts
				served, expected = served+facts.Served, expected+facts.Expected
			}
			if err := s.db.Ledger.Books(t.Context(), func(b ledger.Books) error {
				reopened, err := b.Reopenings(t.Context())
				if err != nil {
					return err
				}
				is, should, err := s.db.Ledger.DayUptime(t.Context(), beacon.DayOf(noon), reopened)
				if int(is) != served || int(should) != expected {
					t.Errorf("the rows that are not void have %d of %d minutes; want %d of %d", is, should, served, expected)
				}
				return err
			}); err != nil {
				t.Error(err)
			}
			if want := float64(served) / float64(expected); served == 0 || math.Abs(is.Uptime[0].Uptime-want) > 0.0001 {
				t.Errorf("the uptime is %v; %d of %d minutes were served", is.Uptime[0].Uptime, served, expected)
			}
			admin.post(t, "/v1/rewards/reopenings", `{"from":"2026-11-15","confirm":true}`).want(t, http.StatusOK)
		}
		s.advance(2 * time.Second)
		if is = look(); is.New != 6 {
			t.Errorf("after a day %d are new", is.New)
		}
		s.advance(7 * 24 * time.Hour)
		if is = look(); is.New != 0 {
			t.Errorf("after a week %d are new", is.New)
		}
	})
}

type listedID struct{ ID string }

type minutes struct {
	Served   int `json:"served_minutes"`
	Expected int `json:"expected_minutes"`
}
