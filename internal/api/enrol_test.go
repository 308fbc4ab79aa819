package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

type enrolled struct {
	linked
	Registered bool `json:"registered"`
}

type enrolmentKey struct {
	apiKey
	MaxEnrolments int      `json:"max_enrolments"`
	Enrolments    int      `json:"enrolments"`
	Hotspots      []string `json:"hotspots"`
	MayRegister   bool     `json:"may_register"`
}

// enroller returns a user's new enrolment key, with some members of its form in JSON.
func (c client) enroller(t testing.TB, most int, more ...string) client {
	t.Helper()
	form := append([]string{`"scopes":["devices:enrol"]`, at(`"max_enrolments":%d`, most), `"expires_at":"2026-11-22T12:00:00Z"`}, more...)
	giver := c.keyOf(t, c.user, access.Creation{Scopes: beacon.Some([]string{"keys:manage", "hotspots:write"})})
	made := data[apiKey](t, giver.post(t, "/v1/keys", "{"+strings.Join(form, ",")+"}"), http.StatusOK)
	return client{server: c.server, plain: made.Key, key: beacon.KeyID(made.ID), user: c.user}
}

func (c client) enrol(t testing.TB, n int, more ...string) answer {
	t.Helper()
	return c.post(t, "/v1/devices/enrol", "{"+strings.Join(append([]string{at(`"mac_address":%q`, mac(n))}, more...), ",")+"}")
}

// enrolments returns how many devices the key has linked, as its user sees it.
func (c client) enrolments(t testing.TB) int {
	t.Helper()
	user := c.keyOf(t, c.user, access.Creation{Scopes: beacon.Some([]string{"keys:manage"})})
	for _, k := range data[[]enrolmentKey](t, user.get(t, "/v1/keys?per_page=100"), http.StatusOK) {
		if k.ID == string(c.key) {
			return k.Enrolments
		}
	}
	t.Fatalf("the key %s is not listed", c.key)
	return 0
}

const townHall = `"location":{"latitude":52.5186,"longitude":13.4083}`

func TestEnrol(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.operator(t)
		spot := c.register(t, 1)
		key := c.enroller(t, 2)
		done := data[enrolled](t, key.post(t, "/v1/devices/enrol",
			at(`{"mac_address":%q,"agent":{"version":"2.0.0"},"color":"red"}`, strings.ToUpper(strings.ReplaceAll(mac(1), ":", "-")))), http.StatusOK)
		if done.HotspotID != spot.ID || done.Registered || done.HeartbeatPath != "/v1/hotspots/"+spot.ID+"/heartbeats" || done.NextInS != 60 {
			t.Errorf("enrolled: %+v", done)
		}
		device := machine{client{server: s, plain: done.DeviceKey}, "/v1/hotspots/" + spot.ID}
		device.beat(t, beat(1)).want(t, http.StatusOK)
		if got := data[hotspot](t, c.get(t, device.hotspot), http.StatusOK); !got.Device.Linked || got.Status != "pending" {
			t.Errorf("the hotspot: %+v", got)
		}
		if n := key.enrolments(t); n != 1 {
			t.Errorf("%d enrolments; want 1", n)
		}
		row := s.changes(t, beacon.HotspotLinked)
		if len(row) != 1 || row[0].Actor.Key != key.key || row[0].Actor.User != c.user || row[0].Target != spot.ID {
			t.Errorf("the audit: %+v", row)
		}

		taken := key.enrol(t, 1)
		wantFault(t, taken, http.StatusConflict, "conflict")
		if !strings.Contains(string(taken.body), "unlink that one first") {
			t.Errorf("%s; want what to do", taken)
		}
		device.beat(t, beat(2)).want(t, http.StatusOK) // it is still linked
		c.delete(t, device.hotspot+"/device").want(t, http.StatusNoContent)
		again := data[enrolled](t, key.enrol(t, 1), http.StatusOK)
		if again.HotspotID != spot.ID || again.DeviceKey == done.DeviceKey {
			t.Errorf("enrolled again: %+v", again)
		}
		c.register(t, 2)
		for range 2 {
			wantFault(t, key.enrol(t, 2), http.StatusForbidden, "enrolments_used_up")
			wantFault(t, key.enrol(t, 77), http.StatusForbidden, "enrolments_used_up")
		}
		if n := key.enrolments(t); n != 2 {
			t.Errorf("%d enrolments; want 2", n)
		}
	})
}

// A key that may register takes an unknown address for a new hotspot, which waits for a visit
// and counts toward the quota of its user.
func TestEnrol_Registers(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, admin := s.operator(t), s.anyone(t, "admin")
		key := c.enroller(t, 100, `"may_register":true`)
		wantFault(t, key.enrol(t, 1), http.StatusBadRequest, "missing_parameter", "location")
		wantFault(t, key.enrol(t, 1, `"location":{"latitude":52}`), http.StatusBadRequest, "missing_parameter", "location.longitude")
		bare := data[enrolled](t, key.enrol(t, 1, townHall), http.StatusOK)
		named := data[enrolled](t, key.enrol(t, 2, townHall, `"name":"Town hall","ssid":"freifunk.net","type":"public"`), http.StatusOK)
		if !bare.Registered || !named.Registered {
			t.Errorf("registered: %+v, %+v", bare, named)
		}
		label := "Hotspot " + strings.ToUpper(bare.HotspotID[len(bare.HotspotID)-6:])
		for _, want := range []struct{ id, name, ssid, kind string }{{bare.HotspotID, label, label, "home"}, {named.HotspotID, "Town hall", "freifunk.net", "public"}} {
			got := data[hotspot](t, c.get(t, "/v1/hotspots/"+want.id), http.StatusOK)
			wantEqual(t, "the hotspot", []any{got.Name, got.Device.SSID, got.Type, got.Location.Lat, got.Location.Lng, got.Status, got.Device.Linked, got.OperatorID, got.Location.Verified},
				[]any{want.name, want.ssid, want.kind, 52.5186, 13.4083, "pending", true, string(c.user), false})
		}
		device := machine{client{server: s, plain: named.DeviceKey}, "/v1/hotspots/" + named.HotspotID}
		device.beat(t, beat(1)).want(t, http.StatusOK)
		var kinds []string
		for _, change := range s.changes(t, beacon.HotspotRegistered, beacon.HotspotLinked) {
			kinds = append(kinds, at("%s %d %s", change.Kind, change.Version, change.Actor.Key))
		}
		both := []string{at("hotspot.registered 1 %s", key.key), at("hotspot.linked 2 %s", key.key)}
		wantEqual(t, "the audit", kinds, append(both, both...))

		admin.do(t, "PUT", "/v1/users/"+string(c.user)+"/quota", `{"hotspots":3}`).want(t, http.StatusOK)
		key.enrol(t, 3, townHall).want(t, http.StatusOK)
		wantFault(t, key.enrol(t, 4, townHall), http.StatusForbidden, "forbidden")
		if n := key.enrolments(t); n != 3 {
			t.Errorf("%d enrolments; want 3", n)
		}
	})
}

// Whoever holds a stolen key learns nothing of the hotspots of others, or of those that the key
// is not for: the answer is the same as for an address that nobody has.
func TestEnrol_UnknownToTheKey(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, other, admin := s.operator(t), s.operator(t), s.anyone(t, "admin")
		mine, second := c.register(t, 1), c.register(t, 2)
		other.install(t, 3)
		other.register(t, 4)
		gone := c.register(t, 5)
		c.delete(t, "/v1/hotspots/"+gone.ID).want(t, http.StatusNoContent)
		listed := c.enroller(t, 9, at(`"hotspots":[%q,%q]`, mine.ID, mine.ID))
		unknown := listed.enrol(t, 99)
		wantFault(t, unknown, http.StatusNotFound, "not_found")
		same := func(a answer) {
			t.Helper()
			wantFault(t, a, http.StatusNotFound, "not_found")
			if told, want := decode[failure](t, a).Error.Message, decode[failure](t, unknown).Error.Message; told != want {
				t.Errorf("told %q; want %q", told, want)
			}
		}
		for n := 2; n <= 5; n++ {
			same(listed.enrol(t, n))
			same(listed.enrol(t, n, townHall))
		}
		listed.enrol(t, 1).want(t, http.StatusOK)
		all := c.enroller(t, 9)
		same(all.enrol(t, 3))
		same(all.enrol(t, 4))
		if got := data[enrolled](t, all.enrol(t, 2), http.StatusOK); got.HotspotID != second.ID {
			t.Errorf("enrolled %s; want %s", got.HotspotID, second.ID)
		}

		// A key that may register is told that an address is taken only where it could
		// register: each try costs a registration, of which the quota allows few.
		registering := c.enroller(t, 9, `"may_register":true`)
		for _, n := range []int{3, 4, 99} {
			wantFault(t, registering.enrol(t, n), http.StatusBadRequest, "missing_parameter", "location")
		}
		same(registering.enrol(t, 3, townHall))
		admin.do(t, "PUT", "/v1/users/"+string(c.user)+"/quota", `{"hotspots":1}`).want(t, http.StatusOK)
		for _, n := range []int{3, 4, 99} {
			wantFault(t, registering.enrol(t, n, townHall), http.StatusForbidden, "forbidden")
		}
		if n := registering.enrolments(t); n != 0 {
			t.Errorf("%d enrolments; want 0", n)
		}
	})
}

// An address that was just taken from service stays its owner's, for enrolments too.
func TestEnrol_ReservedMAC(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, other := s.operator(t), s.operator(t)
		m := other.install(t, 1)
		s.verify(t, m.hotspot)
		s.advance(time.Hour)
		other.delete(t, m.hotspot).want(t, http.StatusNoContent)
		key := c.enroller(t, 9, `"may_register":true`)
		wantFault(t, key.enrol(t, 1, townHall), http.StatusNotFound, "not_found")
		if n := key.enrolments(t); n != 0 {
			t.Errorf("%d enrolments; want 0", n)
		}
	})
}

// Of many devices at once, as many are enrolled as the key permits.
func TestEnrol_Race(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		const devices, most = 16, 5
		for n := range devices / 2 {
			c.register(t, n)
		}
		key := c.enroller(t, most, `"may_register":true`)
		var all sync.WaitGroup
		statuses := make([]int, 2*devices)
		for i := range statuses { // two of each: only one of them may win
			all.Go(func() { statuses[i] = key.enrol(t, i%devices, townHall).StatusCode })
		}
		all.Wait()
		won := 0
		for _, status := range statuses {
			switch status {
			case http.StatusOK:
				won++
			case http.StatusForbidden, http.StatusConflict, http.StatusNotFound:
			default:
				t.Errorf("a device got %d", status)
			}
		}
		if linked := len(s.changes(t, beacon.HotspotLinked)); won != most || linked != most || key.enrolments(t) != most {
			t.Errorf("%d devices have a key, %d are linked, %d were counted; want %d of each", won, linked, key.enrolments(t), most)
		}
	})
}

// An enrolment key is for a while, for some addresses, until it is revoked.
func TestEnrol_WhatEndsAKey(t *testing.T) {
	eachStoreWith(t, options{limits: ample, proxied: true}, func(t *testing.T, s *server) {
		c, admin := s.operator(t), s.anyone(t, "admin")
		for n := range 4 {
			c.register(t, n)
		}
		key := c.enroller(t, 9, `"addresses":["10.0.0.0/8"]`)
		from := func(n int, address string) answer {
			return key.post(t, "/v1/devices/enrol", at(`{"mac_address":%q}`, mac(n)), "X-Forwarded-For", address)
		}
		wantFault(t, from(1, "192.0.2.1"), http.StatusForbidden, "forbidden")
		from(1, "10.1.2.3").want(t, http.StatusOK)
		admin.delete(t, "/v1/keys/"+string(key.key)).want(t, http.StatusNoContent)
		wantFault(t, from(2, "10.1.2.3"), http.StatusUnauthorized, "unauthorized")

		// Another server revokes it, and this one has not heard of it.
		unheard := c.enroller(t, 9)
		unheard.enrol(t, 2).want(t, http.StatusOK)
		if err := s.db.Keys.RevokeKey(t.Context(), unheard.key, s.now(), beacon.Actor{}); err != nil {
			t.Fatal(err)
		}
		wantFault(t, unheard.enrol(t, 3), http.StatusUnauthorized, "unauthorized")

		late := c.enroller(t, 9)
		s.advance(7 * 24 * time.Hour)
		wantFault(t, late.enrol(t, 3), http.StatusUnauthorized, "unauthorized")
	})
}

// An enrolment key opens nothing else, and no other key enrols.
func TestEnrol_OnlyThat(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, admin := s.operator(t), s.anyone(t, "admin")
		spot := c.register(t, 1)
		key := c.enroller(t, 9)
		asked := 0
		for route, guard := range guards {
			method, path, _ := strings.Cut(route, " ")
			if guard.scope == "none" || path == "/v1/devices/enrol" {
				continue
			}
			asked++
			path = strings.NewReplacer("users/{id}", "users/me", "{id}", spot.ID, "{z}/{x}/{y}", "0/0/0").Replace(path)
			wantFault(t, key.do(t, method, path, ""), http.StatusForbidden, "forbidden")
		}
		if asked < 40 {
			t.Errorf("only %d routes were asked", asked)
		}
		wantFault(t, key.post(t, "/console/session", ""), http.StatusForbidden, "forbidden")
		for _, other := range []client{c, admin, s.anyone(t)} {
			wantFault(t, other.enrol(t, 1), http.StatusForbidden, "forbidden")
		}
		wantFault(t, s.call(t, "POST", "/v1/devices/enrol", `{}`), http.StatusUnauthorized, "unauthorized")
	})
}

func TestEnrol_BadBodies(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	key := s.operator(t).enroller(t, 9, `"may_register":true`)
	for body, fields := range map[string]string{
		`{}`: "mac_address", `{"location":{}}`: "mac_address location.latitude location.longitude",
	} {
		wantFault(t, key.post(t, "/v1/devices/enrol", body), http.StatusBadRequest, "missing_parameter", strings.Fields(fields)...)
	}
	for body, fields := range map[string]string{
		`[]`: "", `{`: "", `"x"`: "", `{"mac_address":"a","mac_address":"b"}`: "mac_address",
		`{"mac_address":null,"name":null,"ssid":null,"type":null,"location":null,"agent":null}`:                                                  "mac_address name ssid type location agent",
		`{"mac_address":7,"name":7,"ssid":7,"type":7,"location":7,"agent":7}`:                                                                    "mac_address name ssid type location agent",
		`{"mac_address":"ff:ff:ff:ff:ff:ff","name":"a","ssid":"","type":"shop","agent":{}}`:                                                      "mac_address name ssid type agent.version",
		`{"mac_address":"00:00:00:00:00:00"}`:                                                                                                    "mac_address",
		`{"mac_address":"02:00:5e:00:00:01","location":{"latitude":91,"longitude":-181}}`:                                                        "location.latitude location.longitude",
		`{"mac_address":"02:00:5e:00:00:01","location":{"latitude":1e999,"longitude":"east"}}`:                                                   "location.latitude location.longitude",
		`{"mac_address":"02:00:5e:00:00:01","location":{"latitude":1,"longitude":1},"name":"a\u202eb","ssid":"` + strings.Repeat("x", 33) + `"}`: "name ssid",
	} {
		wantFault(t, key.post(t, "/v1/devices/enrol", body), http.StatusBadRequest, "invalid_request", strings.Fields(fields)...)
	}
	wantFault(t, key.post(t, "/v1/devices/enrol", `{"mac_address":"`+strings.Repeat(" ", 1<<16)+`"}`), http.StatusRequestEntityTooLarge, "payload_too_large")
	wantFault(t, key.post(t, "/v1/devices/enrol", `{}`, "Content-Type", "text/plain"), http.StatusUnsupportedMediaType, "unsupported_media_type")
	if n := key.enrolments(t); n != 0 {
		t.Errorf("%d enrolments; want 0", n)
	}
}

// The devices of a user share a limit of their own: one with a stolen key uses up nothing that
// the user has for other requests.
func TestEnrol_Limit(t *testing.T) {
	limits := ample
	limits.Enrolling = ratelimit.Limit{Every: time.Hour, Burst: 3}
	limits.PerKey = ratelimit.Limit{Every: time.Hour, Burst: 20}
	limits.LinkTries = ratelimit.Limit{Every: time.Hour, Burst: 1}
	s := onSQLite(t, options{limits: limits})
	c := s.operator(t)
	for n := range 4 {
		c.register(t, n)
	}
	first, second := c.enroller(t, 9), c.enroller(t, 9)
	wantRate(t, first.enrol(t, 1), 3, 2)
	wantRateLimit(t, second.enrol(t, 2).want(t, http.StatusOK), `"enrolments";q=3;w=10800`, `"enrolments"`)
	wantRate(t, first.get(t, "/v1/keys/self"), 3, 0)
	wantLimited(t, second.enrol(t, 3), 3)
	for range 60 {
		wantLimited(t, first.enrol(t, 3), 3)
	}
	c.get(t, "/v1/hotspots/nearby?lat=1&lng=1").want(t, http.StatusOK)
	other := s.operator(t)
	other.register(t, 7)
	other.enroller(t, 1).enrol(t, 7).want(t, http.StatusOK)
}

// Who may make an enrolment key, and of which form it must be.
func TestKeys_Enrolment(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, other := s.anyone(t, "keys:manage", "hotspots:write"), s.operator(t)
		mine, foreign, gone := c.register(t, 1).ID, other.register(t, 2).ID, c.register(t, 3).ID
		c.delete(t, "/v1/hotspots/"+gone).want(t, http.StatusNoContent)
		const good = `"scopes":["devices:enrol"],"max_enrolments":10,"expires_at":"2027-11-15T12:00:00Z"`
		made := data[enrolmentKey](t, c.post(t, "/v1/keys", "{"+good+at(`,"hotspots":[%q,%q]}`, mine, mine)), http.StatusOK)
		list := data[[]enrolmentKey](t, c.get(t, "/v1/keys"), http.StatusOK)
		listed := list[slices.IndexFunc(list, func(k enrolmentKey) bool { return k.ID == made.ID })]
		wantEqual(t, "the listed key", []any{listed.ID, listed.Scopes, *listed.ExpiresAt, listed.MaxEnrolments, listed.Enrolments, listed.Hotspots, listed.MayRegister},
			[]any{made.ID, []string{"devices:enrol"}, "2027-11-15T12:00:00.000Z", 10, 0, []string{mine}, false})

		for body, fields := range map[string]string{
			`{"scopes":["devices:enrol"]}`: "expires_at max_enrolments",
		} {
			wantFault(t, c.post(t, "/v1/keys", body), http.StatusBadRequest, "missing_parameter", strings.Fields(fields)...)
		}
		many := make([]string, 1001)
		for i := range many {
			many[i] = at("%q", mine)
		}
		for body, fields := range map[string]string{
			`{"scopes":["devices:enrol","hotspots:write"],"max_enrolments":10,"expires_at":"2027-01-01T00:00:00Z"}`: "scopes",
			`{"scopes":["devices:enrol"],"max_enrolments":10,"expires_at":"2027-11-17T12:00:00Z"}`:                  "expires_at",
			`{"scopes":["devices:enrol"],"max_enrolments":10,"expires_at":null}`:                                    "expires_at",
			`{"scopes":["devices:enrol"],"max_enrolments":0,"expires_at":"2027-01-01T00:00:00Z"}`:                   "max_enrolments",
			`{"scopes":["devices:enrol"],"max_enrolments":1.5,"expires_at":"2027-01-01T00:00:00Z"}`:                 "max_enrolments",
			`{"scopes":["devices:enrol"],"max_enrolments":100001,"expires_at":"2027-01-01T00:00:00Z"}`:              "max_enrolments",
			`{"scopes":["devices:enrol"],"max_enrolments":-1e300,"expires_at":"2027-01-01T00:00:00Z"}`:              "max_enrolments",
			"{" + good + `,"publishable":true}`:                                                                     "scopes",
			"{" + good + `,"enrolments":3}`:                                                                         "enrolments",
			"{" + good + `,"hotspots":["hs_1",7]}`:                                                                  "hotspots[0] hotspots[1]",
			"{" + good + `,"hotspots":[` + strings.Join(many, ",") + `]}`:                                           "hotspots",
			"{" + good + at(`,"may_register":true,"hotspots":[%q]}`, mine):                                          "may_register",
			`{"scopes":["hotspots:write"],"max_enrolments":10}`:                                                     "max_enrolments",
			`{"scopes":[],"max_enrolments":null,"may_register":true,"hotspots":["hs_01kb3gzk00e9x8q6s5t4v3w2y1"]}`:  "max_enrolments may_register hotspots",
			"{" + good + at(`,"hotspots":[%q,%q]}`, mine, foreign):                                                  "hotspots",
			"{" + good + at(`,"hotspots":[%q]}`, gone):                                                              "hotspots",
			"{" + good + `,"hotspots":["hs_01kb3gzk00e9x8q6s5t4v3w2y1"]}`:                                           "hotspots",
		} {
			wantFault(t, c.post(t, "/v1/keys", body), http.StatusBadRequest, "invalid_request", strings.Fields(fields)...)
		}
		for _, by := range []client{s.anyone(t, "keys:manage"), s.anyone(t, "keys:manage", "rewards:read", "hotspots:verify")} {
			wantFault(t, by.post(t, "/v1/keys", "{"+good+"}"), http.StatusForbidden, "forbidden")
		}
		s.anyone(t, "admin").post(t, "/v1/keys", "{"+good+at(`,"user_id":%q}`, string(c.user))).want(t, http.StatusOK)

		// It is for the addresses of the key that made it, and for no others.
		inside := s.keyOf(t, c.user, access.Creation{Scopes: beacon.Some([]string{"keys:manage", "hotspots:write"}), Addresses: beacon.Some([]string{"127.0.0.0/8"})})
		if got := data[struct{ Addresses []string }](t, inside.post(t, "/v1/keys", "{"+good+"}"), http.StatusOK); fmt.Sprint(got.Addresses) != "[127.0.0.0/8]" {
			t.Errorf("the key is for %v", got.Addresses)
		}
		wantFault(t, inside.post(t, "/v1/keys", "{"+good+`,"addresses":["0.0.0.0/0"]}`), http.StatusForbidden, "forbidden")
	})
}

// A thousand hotspots is what fits into one key.
func TestKeys_EnrolmentOfManyHotspots(t *testing.T) {
	level.Repeats(t)
	s := onSQLite(t, options{limits: ample})
	staff := s.anyone(t, "hotspots:write", "hotspots:verify", "keys:manage")
	var ids []string
	for n := range 1000 {
		ids = append(ids, at("%q", staff.register(t, n).ID))
	}
	key := staff.enroller(t, 1000, `"hotspots":[`+strings.Join(ids, ",")+`]`)
	key.enrol(t, 999).want(t, http.StatusOK)
	listed := data[[]enrolmentKey](t, s.keyOf(t, staff.user, access.Creation{Scopes: beacon.Some([]string{"keys:manage"})}).get(t, "/v1/keys"), http.StatusOK)
	for _, k := range listed {
		if k.ID == string(key.key) && (len(k.Hotspots) != 1000 || k.Enrolments != 1) {
			t.Errorf("the key is for %d hotspots, and has linked %d", len(k.Hotspots), k.Enrolments)
		}
	}
}
