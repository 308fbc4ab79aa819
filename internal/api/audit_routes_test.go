package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// unaudited are the routes that are no GET and leave no audit row, with why.
var unaudited = map[string]string{
	"POST /v1/coverage/simulate":        "it asks what would be, and writes nothing",
	"POST /v1/rewards/estimate":         "it asks what would be, and writes nothing",
	"POST /v1/rewards/replays":          "it asks what would have been, and writes nothing",
	"POST /v1/hotspots/{id}/heartbeats": "a beat is a fact in the journal, under its hotspot and minute; 16,700 rows a second would bury the audit (decisions X3, D24)",
	"POST /v1/hotspots/{id}/checkins":   "the audit is kept for ever, and must not show who was where; that a check-in extended a proof is in it (decision D160)",
}

// Decision X10: whatever route writes, it leaves exactly one row, that names what
// it changed and the request. A new route is in none of the tables, and fails here.
func TestAudit_EveryWriteRoute(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, staff, admin := s.anyone(t, "hotspots:write", "keys:manage"), s.anyone(t, "hotspots:verify"), s.anyone(t, "admin")
		spot, batched, key, code, hold, device, user := "", "", "", "", "", machine{}, string(c.user)
		setting := "home_privacy"
		ghost, heir := s.operator(t), s.operator(t)
		orphaned := ghost.register(t, 0x78).ID
		admin.delete(t, "/v1/keys/"+string(ghost.key)).want(t, http.StatusNoContent)
		waiting, enroller := c.register(t, 0x77).ID, c.enroller(t, 1)
		var tried []string
		c.delete(t, c.serves(t, 7)).want(t, http.StatusNoContent) // its MAC address is reserved
		for _, step := range []struct {
			route  string
			kind   beacon.ChangeKind // none for those above
			target *string
			send   func() answer
		}{
			{"POST /v1/hotspots", beacon.HotspotRegistered, &spot, func() answer {
				a := c.post(t, "/v1/hotspots", registration(1))
				spot = data[hotspot](t, a, http.StatusCreated).ID
				return a
			}},
			{"POST /v1/hotspots/batch", beacon.HotspotRegistered, &batched, func() answer {
				a := c.post(t, "/v1/hotspots/batch", batch(registration(1), registration(2), "7"))
				batched = data[[]outcome](t, a, http.StatusOK)[1].ID
				return a
			}},
			{"PATCH /v1/hotspots/{id}", beacon.HotspotUpdated, &spot, func() answer { return c.patch(t, "/v1/hotspots/"+spot, `{"name":"Another"}`) }},
			{"POST /v1/hotspots/{id}/verification", beacon.HotspotVerified, &spot, func() answer {
				place := data[hotspot](t, c.get(t, "/v1/hotspots/"+spot), http.StatusOK).Location
				return staff.post(t, "/v1/hotspots/"+spot+"/verification", at(`{"lat":%v,"lng":%v,"accuracy_m":5,"method":"gps"}`, place.Lat, place.Lng))
			}},
			{"POST /v1/hotspots/{id}/link-code", beacon.LinkCodeCreated, &spot, func() answer {
				a := c.post(t, "/v1/hotspots/"+spot+"/link-code", "")
				code = data[linkCode](t, a, http.StatusOK).Code
				return a
			}},
			{"POST /v1/devices/link", beacon.HotspotLinked, &spot, func() answer {
				a := s.tryLink(t, code, mac(1))
				device = machine{client{server: s, plain: data[linked](t, a, http.StatusOK).DeviceKey}, "/v1/hotspots/" + spot}
				return a
			}},
			{"POST /v1/devices/enrol", beacon.HotspotLinked, &waiting, func() answer {
				return enroller.enrol(t, 0x77)
			}},
			{"POST /v1/hotspots/{id}/heartbeats", "", nil, func() answer {
				return device.beat(t, `{"boot_id":"a","seq":0,"clients":1,"rx_bytes":1,"tx_bytes":1}`)
			}},
			{"POST /v1/hotspots/{id}/checkins", "", nil, func() answer {
				return admin.post(t, "/v1/hotspots/"+spot+"/checkins", `{"install":"0123456789abcdef","works":true}`)
			}},
			{"POST /v1/coverage/simulate", "", nil, func() answer {
				return c.post(t, "/v1/coverage/simulate", `{"bounds":{"north":41,"south":40,"east":-73,"west":-75},"add":[{"lat":40.5,"lng":-74,"radius_m":50}]}`)
			}},
			{"POST /v1/rewards/estimate", "", nil, func() answer { return c.post(t, "/v1/rewards/estimate", `{"places":[{"lat":40.5,"lng":-74}]}`) }},
			{"POST /v1/rewards/replays", "", nil, func() answer { return admin.post(t, "/v1/rewards/replays", `{"from":"2026-11-01","to":"2026-11-01"}`) }},
			{"DELETE /v1/hotspots/{id}/verification", beacon.HotspotUnverified, &spot, func() answer { return staff.delete(t, "/v1/hotspots/"+spot+"/verification") }},
			{"DELETE /v1/hotspots/{id}/device", beacon.HotspotUnlinked, &spot, func() answer { return c.delete(t, "/v1/hotspots/"+spot+"/device") }},
			{"POST /v1/holds", beacon.HoldPlaced, &hold, func() answer {
				a := staff.post(t, "/v1/holds", at(`{"hotspot_id":%q,"reason":"r","evidence":"e","until":"2026-11-30T00:00:00Z"}`, spot))
				hold = data[struct{ ID string }](t, a, http.StatusCreated).ID
				return a
			}},
			{"POST /v1/holds/{id}/answer", beacon.HoldAnswered, &hold, func() answer { return c.post(t, "/v1/holds/"+hold+"/answer", `{"text":"it is on the roof"}`) }},
			{"POST /v1/holds/{id}/decisions", beacon.HoldReleased, &hold, func() answer {
				return staff.post(t, "/v1/holds/"+hold+"/decisions", `{"action":"release","reason":"found"}`)
			}},
			{"DELETE /v1/review/{id}/{kind}", beacon.FlagDismissed, &spot, func() answer {
				s.flag(t, beacon.Flag{Hotspot: beacon.HotspotID(spot), Operator: c.user, Kind: beacon.TooRegular, Weight: 1})
				return staff.delete(t, "/v1/review/"+spot+"/too_regular?reason=seen")
			}},
			{"POST /v1/hotspots/{id}/offer", beacon.OfferMade, &batched, func() answer { return c.post(t, "/v1/hotspots/"+batched+"/offer", `{}`) }},
			{"DELETE /v1/hotspots/{id}/offer", beacon.OfferWithdrawn, &batched, func() answer { return c.delete(t, "/v1/hotspots/"+batched+"/offer") }},
			{"POST /v1/hotspots/{id}/claim", beacon.OfferMade, &orphaned, func() answer {
				return staff.post(t, "/v1/hotspots/"+orphaned+"/claim", at(`{"to_user_id":%q,"reason":"they live there"}`, heir.user))
			}},
			{"POST /v1/hotspots/{id}/offer/acceptance", beacon.HotspotHandedOver, &orphaned, func() answer {
				return heir.post(t, "/v1/hotspots/"+orphaned+"/offer/acceptance", `{}`)
			}},
			{"DELETE /v1/hotspots/{id}", beacon.HotspotDeleted, &spot, func() answer { return c.delete(t, "/v1/hotspots/"+spot) }},
			{"POST /v1/hotspots/{id}/restoration", beacon.HotspotRestored, &spot, func() answer { return c.post(t, "/v1/hotspots/"+spot+"/restoration", "") }},
			{"POST /v1/keys", beacon.KeyCreated, &key, func() answer {
				a := c.post(t, "/v1/keys", `{"scopes":[]}`)
				key = data[apiKey](t, a, http.StatusOK).ID
				return a
			}},
			{"PUT /v1/users/{id}/quota", beacon.QuotaSet, &user, func() answer {
				return admin.do(t, "PUT", "/v1/users/"+user+"/quota", `{"keys":7}`)
			}},
			{"POST /v1/users/{id}/erasure", beacon.ErasureAsked, &user, func() answer { return c.post(t, "/v1/users/me/erasure", "") }},
			{"DELETE /v1/users/{id}/erasure", beacon.ErasureWithdrawn, &user, func() answer { return c.delete(t, "/v1/users/me/erasure") }},
			{"PATCH /v1/settings", beacon.SettingChanged, &setting, func() answer {
				return admin.do(t, "PATCH", "/v1/settings", `{"home_privacy":"blur"}`)
			}},
			{"POST /v1/macs/releases", beacon.MACReleased, &user, func() answer {
				return admin.post(t, "/v1/macs/releases", at(`{"mac_address":%q,"reason":"sold"}`, mac(7)))
			}},
			{"POST /v1/rewards/policies", beacon.PolicyAdopted, new("2027-01-01"), func() answer {
				return admin.post(t, "/v1/rewards/policies", `{"from":"2027-01-01","confirm":true}`)
			}},
			{"POST /v1/rewards/reopenings", beacon.RewardsReopened, new("2026-11-15"), func() answer {
				s.closed(t, admin, "2026-11-15")
				return admin.post(t, "/v1/rewards/reopenings", `{"from":"2026-11-15","confirm":true}`)
			}},
			{"POST /v1/rewards/months/{month}/settlement", beacon.RewardsFinished, new("2026-11"), func() answer {
				s.closed(t, admin, "2026-11-30")
				return admin.post(t, "/v1/rewards/months/2026-11/settlement", `{"early":true}`)
			}},
			{"POST /v1/rewards/clock", beacon.ClockConfirmed, new("2026-12-01"), func() answer {
				return admin.post(t, "/v1/rewards/clock", `{"today":"2026-12-01"}`)
			}},
			{"DELETE /v1/keys/{id}", beacon.KeyRevoked, &key, func() answer { return c.delete(t, "/v1/keys/"+key) }},
		} {
			tried = append(tried, step.route)
			before := len(s.changes(t))
			a := step.send()
			noDays := step.route == "POST /v1/rewards/replays" && a.StatusCode == http.StatusConflict
			if a.StatusCode >= http.StatusMultipleChoices && !noDays {
				t.Fatalf("%s: %s", step.route, a)
			}
			left := s.changes(t)[before:]
			if step.kind == "" {
				if len(left) != 0 || unaudited[step.route] == "" {
					t.Errorf("%s left %v; it should leave nothing, for the reason %q", step.route, left, unaudited[step.route])
				}
				continue
			}
			if len(left) != 1 || left[0].Kind != step.kind || left[0].Target != *step.target || left[0].Actor.Request != a.Header.Get("X-Request-Id") {
				t.Errorf("%s left %+v; want one row, %s of %s by %s", step.route, left, step.kind, *step.target, a.Header.Get("X-Request-Id"))
			}
		}
		writes := slices.DeleteFunc(s.api.Routes(), func(route string) bool {
			return strings.HasPrefix(route, "GET ") || route == "PATCH /v1/users/{id}" || // see TestPeople_Audited
				strings.Contains(route, "/people") || strings.Contains(route, "/members") || strings.Contains(route, "/invitations")
		})
		slices.Sort(tried)
		wantEqual(t, "the routes that write", tried, writes)
	})
}
