package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

type heldBack struct {
	ID, Status, Reason, Evidence, Until string

	Operator string  `json:"operator_id"`
	Hotspot  *string `json:"hotspot_id"`
	Answer   *struct{ At, Text string }
	Ended    *struct{ At, Text string }
}

// A hotspot is held over the end of a month, its operator answers, and the release pays what
// was held with the next statement.
func TestHolds(t *testing.T) {
	level.Repeats(t)
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, staff, second := s.anyone(t, "hotspots:write", "rewards:read"), s.anyone(t, "hotspots:verify"), s.anyone(t, "hotspots:verify")
		m := c.install(t, 1)
		s.verify(t, m.hotspot)
		for i := range 5 {
			m.beat(t, at(`{"boot_id":"b","seq":%d,"clients":1,"rx_bytes":%d,"tx_bytes":0}`, i, 1_000_000_000*i)).want(t, http.StatusOK)
			s.advance(time.Minute)
		}
		hotspot := strings.TrimPrefix(m.hotspot, "/v1/hotspots/")
		placed := data[heldBack](t, staff.post(t, "/v1/holds", at(`{"hotspot_id":%q,"reason":"no radio","evidence":"photo 7","until":"2026-12-10T00:00:00Z"}`, hotspot)), http.StatusCreated)
		if placed.Status != "active" || placed.Operator != string(c.user) || placed.Hotspot == nil || *placed.Hotspot != hotspot || placed.Until != "2026-12-10T00:00:00.000Z" {
			t.Errorf("placed %+v", placed)
		}
		settled := func(now time.Time, month string) {
			t.Helper()
			s.time.Store(now.UnixMicro())
			harness.Eventually(t, "the settlement", func() bool {
				s.advance(10 * time.Second)
				for _, period := range []string{"current", "last", "all"} {
					c.rewards(t, period)
				}
				return c.get(t, "/v1/users/me/rewards/statements/"+month).StatusCode == http.StatusOK
			})
		}
		settled(time.Date(2026, 12, 4, 0, 10, 0, 0, time.UTC), "2026-11")
		last := c.rewards(t, "last")
		if last.Summary.Held == 0 || last.Summary.Held != last.Summary.Total || last.Summary.Settled != 0 || last.Summary.Pending != 0 {
			t.Errorf("November is %+v", last.Summary)
		}
		if e := data[struct{ Hold *heldBack }](t, c.get(t, m.hotspot+"/rewards/explain?date=2026-11-15"), http.StatusOK); e.Hold == nil || e.Hold.ID != placed.ID || e.Hold.Reason != "no radio" {
			t.Errorf("the day is explained by %+v", e)
		}
		c.post(t, "/v1/holds/"+placed.ID+"/answer", `{"text":"it is on the roof"}`).want(t, http.StatusOK)
		for _, list := range [][]heldBack{
			data[[]heldBack](t, c.get(t, "/v1/users/me/holds"), http.StatusOK), data[[]heldBack](t, second.get(t, "/v1/holds"), http.StatusOK),
		} {
			if len(list) != 1 || list[0].ID != placed.ID || list[0].Answer == nil || list[0].Answer.Text != "it is on the roof" || list[0].Ended != nil {
				t.Errorf("the holds are %+v", list)
			}
		}
		second.post(t, "/v1/holds/"+placed.ID+"/decisions", `{"action":"release","reason":"it is on the roof"}`).want(t, http.StatusOK)
		if last = c.rewards(t, "last"); last.Summary.Held != 0 || last.Summary.Pending != last.Summary.Total {
			t.Errorf("after the release November is %+v", last.Summary)
		}
		settled(time.Date(2027, 1, 4, 0, 10, 0, 0, time.UTC), "2026-12")
		all := c.rewards(t, "all")
		if all.Summary.Held != 0 || all.Summary.Voided != 0 || all.Summary.Settled == 0 || all.Summary.Pending != c.rewards(t, "current").Summary.Total {
			t.Errorf("all rewards are %+v", all.Summary)
		}
		statement := data[struct {
			Totals struct{ Released, Paid, Held micros }
			Rows   []struct {
				Date, Releases string
				Hold           string `json:"hold_id"`
				Amount         micros
			}
		}](t, c.get(t, "/v1/users/me/rewards/statements/2026-12"), http.StatusOK)
		if statement.Totals.Paid != all.Summary.Settled || statement.Totals.Released < last.Summary.Total {
			t.Errorf("the statement says %+v; paid is %d", statement.Totals, all.Summary.Settled)
		}
	})
}

// What must not be is refused, and leaves nothing.
func TestHolds_Refused(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, staff, second := s.anyone(t, "hotspots:write", "hotspots:verify", "rewards:read"), s.anyone(t, "hotspots:verify"), s.anyone(t, "hotspots:verify")
		near, stranger := s.anyone(t, "hotspots:write", "hotspots:verify"), s.anyone(t, "hotspots:write", "rewards:read")
		hotspot := data[hotspot](t, c.post(t, "/v1/hotspots", registration(1)), http.StatusCreated)
		beside := at(`{"name":"Beside it","type":"home","location":{"lat":%v,"lng":%v},"device":{"ssid":"x","mac_address":"02:00:5e:77:00:01"}}`,
			hotspot.Location.Lat+0.0015, hotspot.Location.Lng)
		near.post(t, "/v1/hotspots", beside).want(t, http.StatusCreated)
		form := func(member, value string) string {
			members := map[string]string{
				"hotspot_id": `"` + hotspot.ID + `"`, "reason": `"r"`, "evidence": `"e"`, "until": `"2026-11-30T00:00:00Z"`,
			}
			members[member] = value
			var all []string
			for name, v := range members {
				if v != "" {
					all = append(all, `"`+name+`":`+v)
				}
			}
			return "{" + strings.Join(all, ",") + "}"
		}
		for _, bad := range [][2]string{
			{"hotspot_id", ""},
			{"hotspot_id", `"hs_1"`},
			{"hotspot_id", `null`},
			{"hotspot_id", `7`},
			{"operator_id", `"` + string(c.user) + `"`},
			{"operator_id", `"me"`},
			{"reason", ""},
			{"reason", `""`},
			{"reason", `"a\nb"`},
			{"reason", `"\u0000"`},
			{"reason", `"` + strings.Repeat("é", 2001) + `"`},
			{"evidence", ""},
			{"evidence", `[]`},
			{"until", ""},
			{"until", `"2026-11-15"`},
			{"until", `"2026-11-15T11:00:00Z"`},
			{"until", `"2026-12-15T12:00:01Z"`},
			{"until", `"9999-12-31T23:59:59Z"`},
			{"until", `1`},
			{"more", `1`},
		} {
			if a := staff.post(t, "/v1/holds", form(bad[0], bad[1])); a.StatusCode != http.StatusBadRequest {
				t.Errorf("%s %s: %s", bad[0], bad[1], a)
			}
		}
		staff.post(t, "/v1/holds", form("hotspot_id", `"hs_01kb3gzk00e9x8q6s5t4v3w2y1"`)).want(t, http.StatusNotFound)
		nobody := strings.Replace(form("hotspot_id", `"usr_01kb3gzk00a1b2c3d4e5f6g7h8"`), "hotspot_id", "operator_id", 1)
		staff.post(t, "/v1/holds", nobody).want(t, http.StatusNotFound)
		for _, involved := range []client{c, near} {
			wantFault(t, involved.post(t, "/v1/holds", form("", "")), http.StatusForbidden, "forbidden")
		}
		hold := data[heldBack](t, staff.post(t, "/v1/holds", form("", "")), http.StatusCreated)
		decisions := "/v1/holds/" + hold.ID + "/decisions"
		staff.post(t, "/v1/holds", form("", "")).want(t, http.StatusConflict)
		second.post(t, "/v1/holds", form("", "")).want(t, http.StatusConflict)
		for body, status := range map[string]int{
			`{}`: 400, `{"action":"void"}`: 400, `{"action":"burn","reason":"r"}`: 400, `{"action":"extend","reason":"r"}`: 400,
			`{"action":"release","reason":"r","until":"2026-12-01T00:00:00Z"}`: 400,
			`{"action":"extend","reason":"r","until":"2026-12-01T00:00:00Z"}`:  409, // by the same person
		} {
			if a := staff.post(t, decisions, body); a.StatusCode != status {
				t.Errorf("%s: %s; want %d", body, a, status)
			}
		}
		for body, status := range map[string]int{
			`{"action":"extend","reason":"r","until":"2026-11-20T00:00:00Z"}`: 409, // earlier than it is
			`{"action":"extend","reason":"r","until":"2026-12-15T12:00:01Z"}`: 400,
		} {
			if a := second.post(t, decisions, body); a.StatusCode != status {
				t.Errorf("%s: %s; want %d", body, a, status)
			}
		}
		for _, involved := range []client{c, near} {
			wantFault(t, involved.post(t, decisions, `{"action":"release","reason":"r"}`), http.StatusForbidden, "forbidden")
		}
		second.post(t, "/v1/holds/hld_1/decisions", `{"action":"release","reason":"r"}`).want(t, http.StatusNotFound)
		stranger.post(t, "/v1/holds/"+hold.ID+"/answer", `{"text":"mine"}`).want(t, http.StatusNotFound)
		stranger.get(t, "/v1/users/"+string(c.user)+"/holds").want(t, http.StatusForbidden)
		c.post(t, "/v1/holds/"+hold.ID+"/answer", `{"text":"`+strings.Repeat("x", 2001)+`"}`).want(t, http.StatusBadRequest)
		// One person cannot make days void.
		staff.post(t, decisions, `{"action":"void","reason":"nobody there"}`).want(t, http.StatusOK)
		staff.post(t, decisions, `{"action":"void","reason":"nobody there"}`).want(t, http.StatusConflict)
		second.post(t, decisions, `{"action":"void","reason":"nor for me"}`).want(t, http.StatusOK)
		for _, action := range []string{"release", "void"} {
			second.post(t, decisions, `{"action":"`+action+`","reason":"r"}`).want(t, http.StatusConflict)
		}
		c.post(t, "/v1/holds/"+hold.ID+"/answer", `{"text":"late"}`).want(t, http.StatusConflict)
		// A second hold needs a second person, also of all hotspots.
		staff.post(t, "/v1/holds", form("", "")).want(t, http.StatusConflict)
		if list := data[[]heldBack](t, c.get(t, "/v1/users/me/holds"), http.StatusOK); len(list) != 1 || list[0].Status != "voided" || list[0].Ended == nil {
			t.Errorf("the holds are %+v", list)
		}
		second.post(t, "/v1/holds", form("", "")).want(t, http.StatusCreated)
	})
}

// Two keys of one user are one person. Two accounts are two people: the server knows users.
// What one person did with both can be seen in the audit.
func TestHolds_TwoAccounts(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, admin := s.operator(t), s.anyone(t, "admin")
		hotspot := data[hotspot](t, c.post(t, "/v1/hotspots", registration(1)), http.StatusCreated)
		made := func(user string) (as client) {
			t.Helper()
			key := data[struct{ Key string }](t, admin.post(t, "/v1/keys", at(`{"user_id":%q,"scopes":["hotspots:verify"]}`, user)), http.StatusOK)
			return client{server: s, plain: key.Key}
		}
		hold := data[heldBack](t, admin.post(t, "/v1/holds", at(`{"hotspot_id":%q,"reason":"r","evidence":"e","until":"2026-11-30T00:00:00Z"}`, hotspot.ID)), http.StatusCreated)
		decisions, void := "/v1/holds/"+hold.ID+"/decisions", `{"action":"void","reason":"nobody there"}`
		admin.post(t, decisions, void).want(t, http.StatusOK)
		wantFault(t, made(string(admin.user)).post(t, decisions, void), http.StatusConflict, "conflict")
		made("new").post(t, decisions, void).want(t, http.StatusOK)

		voided := s.changes(t, beacon.HoldVoided)
		if len(voided) != 1 || voided[0].Actor.User == admin.user {
			t.Fatalf("the audit has %+v", voided)
		}
		for _, change := range s.changes(t, beacon.KeyCreated) {
			if change.Target == string(voided[0].Actor.Key) && change.Actor.User == admin.user && change.Actor.Key == admin.key {
				return
			}
		}
		t.Errorf("the audit does not show that %s made the key %s", admin.user, voided[0].Actor.Key)
	})
}
