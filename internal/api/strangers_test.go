package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// What a reviewer once did with a key without a scope: list every id with one request, read
// address, MAC address, operator and clients by the hour of each, and compute incomes from
// that. While homes are hidden, none of it says where a home is, whose it is, when someone
// is there, or what anyone earns.
func TestStrangers(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		operator, stranger := s.operator(t), s.anyone(t)
		var hotspots []machine
		// More digits than a public place has, so that no public one is equal by chance.
		lat := func(n int) string { return at("40.70%d1123", n) }
		for n, kind := range []string{"home", "home", "business", "business"} {
			m := operator.install(t, n+1, "type", `"`+kind+`"`, "name", `"A place"`, "location.lat", lat(n),
				"location.address", at(`"%d Main Street"`, n+1), "device.ssid", at(`"family-%d"`, n))
			s.verify(t, m.hotspot)
			hotspots = append(hotspots, m)
		}
		s.blur(t, "blur")
		// Of two hotspots of a type, one has many clients and much traffic, and one has none.
		for minute := range 10 {
			for n, m := range hotspots {
				m.beat(t, at(`{"boot_id":"b","seq":%d,"clients":%d,"rx_bytes":%d,"tx_bytes":0}`, minute+10, 5*(n%2), 3_000_000_000*minute*(n%2))).want(t, http.StatusOK)
			}
			s.advance(time.Minute)
		}

		operator.patch(t, hotspots[0].hotspot, `{"settings":{"max_connections":17}}`).want(t, http.StatusOK)
		operator.patch(t, hotspots[1].hotspot, `{"settings":{"max_connections":17}}`).want(t, http.StatusOK)
		changed := data[hotspot](t, operator.get(t, hotspots[1].hotspot), http.StatusOK).UpdatedAt // by someone who was there, or not

		const world = "/v1/coverage?north=90&south=-90&east=180&west=-180"
		listed := string(stranger.get(t, world+"&zoom=22").want(t, http.StatusOK).body)
		told := map[string]string{"coverage": listed}
		var seen []hotspot
		for _, m := range hotspots {
			id := strings.TrimPrefix(m.hotspot, "/v1/hotspots/")
			if !strings.Contains(listed, id) {
				t.Errorf("%s is not listed: the document promises every hotspot of the box", id)
			}
			told[m.hotspot] = string(stranger.get(t, m.hotspot).want(t, http.StatusOK).body)
			told[m.hotspot+" by the hour"] = string(stranger.get(t, m.hotspot+"/history?step=1h&from=2026-11-15T00:00:00Z").want(t, http.StatusOK).body)
			seen = append(seen, data[hotspot](t, stranger.get(t, m.hotspot), http.StatusOK))
		}
		for n, m := range hotspots[:2] {
			for from, text := range told {
				for _, secret := range []string{at("%d Main Street", n+1), at("family-%d", n), mac(n + 1), lat(n), at("updated_at\":\"%s", changed)} {
					if strings.Contains(text, secret) {
						t.Errorf("%s tells %s of %s: %s", from, secret, m.hotspot, text)
					}
				}
			}
			if got := beacon.UserID(seen[n].OperatorID); got == operator.user {
				t.Errorf("the operator of %s is told", m.hotspot)
			}
			for _, path := range []string{m.hotspot + "/rewards/explain?date=2026-11-15", "/v1/users/" + seen[n].OperatorID + "/rewards", "/v1/users/" + seen[n].OperatorID + "/hotspots"} {
				wantFault(t, s.anyone(t, "rewards:read").get(t, path), http.StatusForbidden, "forbidden")
			}
		}
		if seen[0].OperatorID == seen[1].OperatorID {
			t.Error("two homes are linked by their operator")
		}

		// Nothing that a stranger gets tells a hotspot that earned much from one that earned
		// little, but for what the document promises of shops.
		s.advance(24 * time.Hour)
		for _, pair := range [][2]machine{{hotspots[0], hotspots[1]}, {hotspots[2], hotspots[3]}} {
			for _, path := range []string{"/history?step=1h&from=2026-11-15T00:00:00Z&to=2026-11-17T00:00:00Z", "/history?step=1d&from=2026-11-15T00:00:00Z", ""} {
				little, much := stranger.told(t, pair, path)
				if (path != "" || pair[0] == hotspots[0]) && little != much {
					t.Errorf("%s tells what was earned:\n%s\n%s", path, little, much)
				}
			}
		}
	})
}

// told returns what a stranger gets of two hotspots from one state of the server. It finds
// out by and by that it was not up for a day, which may be between two requests.
func (c client) told(t *testing.T, of [2]machine, path string) (first, second string) {
	t.Helper()
	get := func(m machine) string {
		return same(string(c.get(t, m.hotspot+path).want(t, http.StatusOK).body))
	}
	for {
		first, second = get(of[0]), get(of[1])
		if get(of[0]) == first {
			return first, second
		}
	}
}

// same takes away what any two hotspots differ in: identifiers, places, and when they
// were registered.
func same(text string) string {
	text = regexp.MustCompile(`(hs|usr|req)_[0-9a-z]{26}`).ReplaceAllString(text, "$1")
	return regexp.MustCompile(`"(lat|lng|created_at|updated_at|timestamp)":("[^"]*"|[-0-9.]+)`).ReplaceAllString(text, `"$1"`)
}
