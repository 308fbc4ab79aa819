package api_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/test/harness"
)

type clockPage struct {
	Certain   *time.Time
	Waiting   bool
	OpenDay   *string `json:"first_open_day"`
	OpenMonth *string `json:"first_open_month"`
	Clocks    []struct {
		Name    string
		Says    time.Time
		Closes  int `json:"closes_days"`
		Settles int `json:"settles_months"`
	}
}

type reopenPage struct {
	From, Through string
	Rows, Users   int
	Earned        json.Number `json:"total_earned"`
	Largest       []struct {
		UserID string `json:"user_id"`
		Rows   int
		Earned json.Number
	}
	Confirmed bool
}

// closed lets time pass until a day is closed.
func (s *server) closed(t *testing.T, admin client, day string) {
	t.Helper()
	over, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t.Fatal(err)
	}
	s.time.Store(over.Add(24*time.Hour + 10*time.Minute).UnixMicro())
	harness.Eventually(t, day+" is closed", func() bool {
		s.advance(10 * time.Second)
		books := data[bookPage](t, admin.get(t, "/v1/rewards/months"), http.StatusOK)
		return books.ClosedThrough != nil && *books.ClosedThrough >= day
	})
}

// Decision D199: what the command line does to the books, admins do over HTTP: they see
// what would happen first, and it happens once they confirm it.
func TestBooks_ByHand(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		admin, c := s.anyone(t, "admin"), s.anyone(t, "hotspots:write", "rewards:read")
		m := c.install(t, 1)
		s.verify(t, m.hotspot)
		for i := range 5 {
			m.beat(t, at(`{"boot_id":"b","seq":%d,"clients":1,"rx_bytes":%d,"tx_bytes":0}`, i, 1_000_000_000*i)).want(t, http.StatusOK)
			s.advance(time.Minute)
		}
		clock := data[clockPage](t, admin.get(t, "/v1/rewards/clock"), http.StatusOK)
		if len(clock.Clocks) == 0 || clock.Clocks[0].Name != "server" || clock.Clocks[0].Closes != 0 || clock.Waiting {
			t.Errorf("the clocks are %+v", clock)
		}
		wantFault(t, admin.post(t, "/v1/rewards/clock", `{"today":"2027-11-15"}`), http.StatusConflict, "conflict")
		wantFault(t, admin.post(t, "/v1/rewards/reopenings", `{"from":"2026-11-15"}`), http.StatusConflict, "conflict")
		s.closed(t, admin, "2026-11-15")

		earned := func() json.Number {
			return data[bookPage](t, admin.get(t, "/v1/rewards/months"), http.StatusOK).Months[0].Earned
		}
		before := earned()
		would := data[reopenPage](t, admin.post(t, "/v1/rewards/reopenings", `{"from":"2026-11-15"}`), http.StatusOK)
		if would.Confirmed || would.From != "2026-11-15" || would.Through != "2026-11-15" || would.Rows != 1 || would.Users != 1 || would.Earned != before ||
			len(would.Largest) != 1 || would.Largest[0].UserID != string(c.user) || would.Largest[0].Earned != before {
			t.Errorf("opening the day again would do %+v; it earned %s", would, before)
		}
		if after := earned(); after != before {
			t.Errorf("after asking what would be, %s are earned; before it was %s", after, before)
		}
		wantFault(t, admin.post(t, "/v1/rewards/reopenings", `{"from":"2026-11-14","through":"2026-11-14","confirm":true}`), http.StatusConflict, "conflict")
		open := admin.repeating(t, "/v1/rewards/reopenings")
		const body = `{"from":"2026-11-15","through":"2026-11-15","confirm":true}`
		first := open(body, "k 1")
		if done := data[reopenPage](t, first, http.StatusOK); !done.Confirmed || done.Rows != 1 {
			t.Errorf("opening the day again did %+v", done)
		}
		s.closed(t, admin, "2026-11-15") // and would be opened once more
		sameAnswer(t, open(body, "k 1"), first)
		wantFault(t, open(`{"from":"2026-11-15"}`, "k 1"), http.StatusConflict, "conflict")
		if n := len(s.changes(t, beacon.RewardsReopened)); n != 1 {
			t.Errorf("the day was opened again %d times; want 1", n)
		}
		s.closed(t, admin, "2026-11-30")
		if again := data[bookPage](t, admin.get(t, "/v1/rewards/months"), http.StatusOK).Months[1].Earned; again != before {
			t.Errorf("closed again, the month has %s; want %s", again, before)
		}

		const path = "/v1/rewards/months/2026-11/settlement"
		wantFault(t, admin.post(t, path, `{}`), http.StatusConflict, "conflict")
		type settled struct {
			Period              string
			Statements, Written int
			Earned              json.Number `json:"total_earned"`
		}
		wantEqual(t, "settled early", data[settled](t, admin.post(t, path, `{"early":true}`), http.StatusOK), settled{"2026-11", 1, 1, before})
		wantEqual(t, "settled twice", data[settled](t, admin.post(t, path, `{}`), http.StatusOK), settled{"2026-11", 1, 0, before})
		wantFault(t, admin.post(t, "/v1/rewards/months/november/settlement", `{}`), http.StatusNotFound, "not_found")
	})
}

// A date that is far ahead of what is certain waits for someone to say that it is right.
func TestBooks_ConfirmClock(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		admin, c := s.anyone(t, "admin"), s.anyone(t, "hotspots:write")
		m := c.install(t, 1)
		s.verify(t, m.hotspot)
		m.beat(t, `{"boot_id":"b","seq":0,"clients":1,"rx_bytes":0,"tx_bytes":0}`).want(t, http.StatusOK)
		s.closed(t, admin, "2026-11-15")
		s.time.Store(time.Date(2026, 12, 20, 10, 0, 0, 0, time.UTC).UnixMicro())
		clock := data[clockPage](t, admin.get(t, "/v1/rewards/clock"), http.StatusOK)
		if !clock.Waiting || clock.OpenDay == nil || *clock.OpenDay != "2026-11-16" || *clock.OpenMonth != "2026-11" || clock.Clocks[0].Closes != 34 || clock.Clocks[0].Settles != 1 {
			t.Errorf("after a month without a server, the clocks are %+v", clock)
		}
		done := data[clockPage](t, admin.post(t, "/v1/rewards/clock", `{"today":"2026-12-20"}`), http.StatusOK)
		if done.Waiting || done.Certain == nil || !done.Certain.Equal(time.Date(2026, 12, 20, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("after it was confirmed, the clocks are %+v", done)
		}
		harness.Eventually(t, "the days are closed", func() bool {
			s.advance(10 * time.Second)
			books := data[bookPage](t, admin.get(t, "/v1/rewards/months"), http.StatusOK)
			return *books.ClosedThrough == "2026-12-19"
		})
	})
}

func TestBooks_Adopt(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		admin := s.anyone(t, "admin")
		type terms struct {
			Version      int
			From         string `json:"effective_from"`
			Availability json.Number
			Radius       int `json:"radius_m"`
		}
		type page struct {
			Before, Policy terms
			Proven         *string `json:"proven_through"`
			Confirmed      bool
		}
		const path, ours = "/v1/rewards/policies", `{"from":"2026-12-01","policy":{"availability":"2","performance":{"standard":"0","enhanced":"0.1","premium":"0.2"},"utilization_per_gb":"0","utilization_cap":"0"},"confirm":true}`
		a := data[page](t, admin.post(t, path, `{"from":"2026-12-01"}`), http.StatusOK)
		if a.Confirmed || a.Before.Version != 1 || a.Policy.Version != 2 || a.Policy.Radius != 50 || a.Proven == nil {
			t.Errorf("the built-in policy would do %+v", a)
		}
		adopt := admin.repeating(t, path)
		first := adopt(ours, "k 1")
		wantEqual(t, "our own", data[page](t, first, http.StatusOK),
			page{terms{1, "1970-01-01", "1", 0}, terms{2, "2026-12-01", "2", 0}, nil, true})
		sameAnswer(t, adopt(ours, "k 1"), first)
		wantFault(t, adopt(`{"from":"2027-12-01","confirm":true}`, "k 1"), http.StatusConflict, "conflict")
		wantFault(t, admin.post(t, path, ours), http.StatusConflict, "conflict")
		wantFault(t, admin.post(t, path, `{"from":"2026-11-14"}`), http.StatusConflict, "conflict")
		wantFault(t, admin.post(t, path, `{}`), http.StatusBadRequest, "missing_parameter", "from")
		for body, field := range map[string]string{
			`{"from":"tomorrow"}`:                  "from",
			`{"from":"2027-01-01","confirm":1}`:    "confirm",
			`{"from":"2027-01-01","policy":[]}`:    "policy",
			`{"from":"2027-01-01","policy":{}}`:    "policy",
			`{"from":"2027-01-01","rewards":"no"}`: "rewards",
			`{"from":"2027-01-01","rewards":true}`: "rewards",
			`{"from":"2027-01-01","rewards":"off","policy":{"availability":"1","performance":{"standard":"0","enhanced":"0","premium":"0"},"utilization_per_gb":"0","utilization_cap":"0"}}`: "rewards",
			`{"from":"2027-01-01","terms":{}}`: "terms",
			`{"from":"2027-01-01","policy":{"version":3,"availability":"1","performance":{"standard":"0","enhanced":"0","premium":"0"},"utilization_per_gb":"0","utilization_cap":"0"}}`: "policy",
			`{"from":"2027-01-01","policy":{"availability":"1","performance":{"standard":"1","enhanced":"0","premium":"0"},"utilization_per_gb":"0","utilization_cap":"0"}}`:             "policy",
			`{"from":"2027-01-01","policy":{"availability":"1","performance":{"standard":"0","enhanced":"0","premium":"0"},"utilization_per_gb":"0","utilization_cap":"0","bonus":"1"}}`: "policy",
		} {
			wantFault(t, admin.post(t, path, body), http.StatusBadRequest, "invalid_request", field)
		}
	})
}

// Rewards can be turned off, and on again by the last terms that they had.
func TestBooks_Switch(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		admin := s.anyone(t, "admin")
		type switched struct {
			On      bool
			Changes *string `json:"changes_on"`
		}
		want := func(why string, on bool, changes ...string) {
			t.Helper()
			got := data[struct{ Rewards switched }](t, admin.get(t, "/v1/settings"), http.StatusOK).Rewards
			if got.On != on || (got.Changes != nil) != (len(changes) == 1) || got.Changes != nil && *got.Changes != changes[0] {
				t.Errorf("%s: %v, changes on %v; want %v, %q", why, got.On, got.Changes, on, changes)
			}
		}
		turn := func(way, from string) answer {
			return admin.post(t, "/v1/rewards/policies", at(`{"from":%q,"rewards":%q,"confirm":true}`, from, way))
		}
		want("a new network", true)
		wantFault(t, turn("on", "2026-11-20"), http.StatusConflict, "conflict") // they are
		turn("off", "2026-11-20").want(t, http.StatusOK)
		want("to be turned off", true, "2026-11-20")
		wantFault(t, turn("off", "2026-11-25"), http.StatusConflict, "conflict")
		on := turn("on", "2026-11-25").want(t, http.StatusOK)
		wantEqual(t, "the terms", data[struct {
			Before, Policy struct{ Availability json.Number }
		}](t, on, http.StatusOK), struct {
			Before, Policy struct{ Availability json.Number }
		}{struct{ Availability json.Number }{"0"}, struct{ Availability json.Number }{"1"}})
		s.advance(5 * 24 * time.Hour)
		want("while they are off", false, "2026-11-25")
		s.advance(5 * 24 * time.Hour)
		want("when they are on again", true)
	})
}

func TestBooks_Faults(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		admin := s.anyone(t, "admin")
		for _, bad := range []struct{ path, body, field string }{
			{"/v1/rewards/clock", `{"today":20261115}`, "today"},
			{"/v1/rewards/clock", `{"today":"2026-02-30"}`, "today"},
			{"/v1/rewards/reopenings", `{"from":null}`, "from"},
			{"/v1/rewards/reopenings", `{"from":"2026-11-15","through":7}`, "through"},
			{"/v1/rewards/reopenings", `{"from":"2026-11-15","confirm":"yes"}`, "confirm"},
			{"/v1/rewards/months/2026-10/settlement", `{"force":true}`, "force"},
			{"/v1/rewards/months/2026-10/settlement", `{"early":1}`, "early"},
			{"/v1/macs/releases", `{"mac_address":"02:00:5e","reason":"sold"}`, "mac_address"},
			{"/v1/macs/releases", `{"mac_address":"02:00:5e:10:00:01","reason":" "}`, "reason"},
		} {
			wantFault(t, admin.post(t, bad.path, bad.body), http.StatusBadRequest, "invalid_request", bad.field)
		}
		wantFault(t, admin.post(t, "/v1/rewards/clock", `{}`), http.StatusBadRequest, "missing_parameter", "today")
		wantFault(t, admin.post(t, "/v1/macs/releases", `{}`), http.StatusBadRequest, "missing_parameter", "mac_address", "reason")
	})
}

// A MAC address that was in service and given up is its operator's for 30 days, unless staff release it.
func TestReleaseMAC(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		admin, first, second := s.anyone(t, "admin"), s.operator(t), s.operator(t)
		release := func() answer {
			return admin.repeating(t, "/v1/macs/releases")(at(`{"mac_address":%q,"reason":"sold"}`, mac(1)), "k 1")
		}
		hotspot := first.serves(t, 1)
		wantFault(t, release(), http.StatusNotFound, "not_found") // it is in use
		first.delete(t, hotspot).want(t, http.StatusNoContent)
		wantFault(t, second.post(t, "/v1/hotspots", registration(1)), http.StatusConflict, "conflict")
		freed := release() // what was refused is not remembered
		done := data[struct {
			MAC    string `json:"mac_address"`
			UserID string `json:"user_id"`
		}](t, freed, http.StatusOK)
		if done.UserID != string(first.user) || done.MAC == "" {
			t.Errorf("released %+v; it was reserved for %s", done, first.user)
		}
		sameAnswer(t, release(), freed)
		second.post(t, "/v1/hotspots", registration(1)).want(t, http.StatusCreated)
	})
}
