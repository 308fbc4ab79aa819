package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
)

type linkCode struct {
	Code      string `json:"code"`
	ExpiresAt string `json:"expires_at"`
}

type linked struct {
	HotspotID     string `json:"hotspot_id"`
	DeviceKey     string `json:"device_key"`
	LinkedAt      string `json:"linked_at"`
	HeartbeatPath string `json:"heartbeat_path"`
	NextInS       int    `json:"next_in_s"`
}

// machine is the device of a hotspot, with its key.
type machine struct {
	client
	hotspot string // the path of its hotspot
}

func (m machine) beat(t testing.TB, body string, header ...string) answer {
	t.Helper()
	return m.post(t, m.hotspot+"/heartbeats", body, header...)
}

func at(format string, args ...any) string { return fmt.Sprintf(format, args...) }

func (c client) newCode(t testing.TB, hotspot string) string {
	t.Helper()
	return data[linkCode](t, c.post(t, hotspot+"/link-code", ""), http.StatusOK).Code
}

func (s *server) tryLink(t testing.TB, code, mac string) answer {
	t.Helper()
	return s.call(t, "POST", "/v1/devices/link", at(`{"code":%q,"mac_address":%q}`, code, mac))
}

// install registers a hotspot and links its device.
func (c client) install(t testing.TB, n int, edits ...string) machine {
	t.Helper()
	hotspot := "/v1/hotspots/" + c.register(t, n, edits...).ID
	done := data[linked](t, c.tryLink(t, c.newCode(t, hotspot), mac(n)), http.StatusOK)
	return machine{client{server: c.server, plain: done.DeviceKey}, hotspot}
}

// verify has a hotspot verified where it stands.
func (s *server) verify(t testing.TB, spot string) {
	t.Helper()
	staff := s.anyone(t, "hotspots:verify")
	place := data[hotspot](t, staff.get(t, spot), http.StatusOK).Location
	body := at(`{"lat":%v,"lng":%v,"accuracy_m":5,"method":"gps"}`, place.Lat, place.Lng)
	staff.post(t, spot+"/verification", body).want(t, http.StatusOK)
}

// refused gives the notes of the audit rows of a kind, the oldest first.
func (s *server) notes(t testing.TB, kind beacon.ChangeKind) []string {
	t.Helper()
	notes := []string{}
	for _, c := range s.changes(t, kind) {
		notes = append(notes, c.Actor.Note)
	}
	return notes
}

func TestVerification(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, staff, stranger, admin := s.anyone(t, "hotspots:write", "hotspots:verify"), s.anyone(t, "hotspots:verify"), s.operator(t), s.anyone(t, "admin")
		spot := "/v1/hotspots/" + c.register(t, 1).ID // at 40.7, -74
		const here, far = `{"lat":40.7005,"lng":-74,"accuracy_m":5,"method":" gps "}`, `{"lat":40.7031567,"lng":-74,"accuracy_m":20,"method":"gps"}`

		wantFault(t, s.call(t, "POST", spot+"/verification", here), http.StatusUnauthorized, "unauthorized")
		wantFault(t, stranger.post(t, spot+"/verification", "garbage"), http.StatusForbidden, "forbidden") // 403 before 400
		wantFault(t, staff.post(t, "/v1/hotspots/hs_nope/verification", `{}`), http.StatusBadRequest, "missing_parameter", "lat", "lng", "accuracy_m", "method")
		wantFault(t, staff.post(t, spot+"/verification", `{"lat":91,"lng":"west","accuracy_m":-1,"method":"","status":"online"}`),
			http.StatusBadRequest, "invalid_request", "lat", "lng", "accuracy_m", "method", "status")
		wantFault(t, staff.post(t, spot+"/verification", `{"lat":40.7005,"lng":-74,"accuracy_m":5,"method":"gps","type":"shop","speedtest":{"down_mbps":-1,"up_mbps":1,"ping":1}}`),
			http.StatusBadRequest, "invalid_request", "type", "speedtest.down_mbps", "speedtest.latency_ms", "speedtest.ping")
		wantFault(t, staff.post(t, spot+"/verification", `{"lat":1,"lng":1,"accuracy_m":null,"method":7}`), http.StatusBadRequest, "invalid_request", "accuracy_m", "method")
		wantFault(t, staff.post(t, spot+"/verification", here, "Content-Type", "text/plain"), http.StatusUnsupportedMediaType, "unsupported_media_type")
		for _, id := range []string{"hs_nope", "hs_01kb3gzk00e9x8q6s5t4v3w2y1", "%00"} {
			wantFault(t, staff.post(t, "/v1/hotspots/"+id+"/verification", here), http.StatusNotFound, "not_found")
		}
		if n := len(s.changes(t, beacon.VerificationRefused)); n != 0 {
			t.Errorf("%d refusals were noted before there was a hotspot to judge", n)
		}

		a := staff.post(t, spot+"/verification", far)
		wantFault(t, a, http.StatusConflict, "conflict")
		if !strings.Contains(string(a.body), " 352 m ") {
			t.Errorf("%s; want the distance", a)
		}
		wantEqual(t, "the refusals", s.notes(t, beacon.VerificationRefused), []string{"gps, 352 m away, accuracy 20 m"})

		s.advance(time.Minute)
		a = staff.post(t, spot+"/verification", here)
		got := data[hotspot](t, a, http.StatusOK)
		if !got.Location.Verified || got.Location.VerifiedAt != "2026-11-15T12:01:00.000Z" || got.UpdatedAt != got.Location.VerifiedAt || got.Status != "pending" || a.Header.Get("ETag") != `"v2"` {
			t.Errorf("verified: %s", a)
		}
		s.advance(time.Minute)
		again := staff.post(t, spot+"/verification", here) // it is where it was
		wantEqual(t, "a second verification", data[hotspot](t, again, http.StatusOK), got)
		wantEqual(t, "the hotspot", data[hotspot](t, c.get(t, spot), http.StatusOK), got)
		wantEqual(t, "the audit", s.notes(t, beacon.HotspotVerified), []string{"gps, 56 m away, accuracy 5 m"})

		// A visit may find another type, and measure the speed.
		more := staff.post(t, spot+"/verification", `{"lat":40.7005,"lng":-74,"accuracy_m":5,"method":"gps","type":"public","speedtest":{"down_mbps":40,"up_mbps":4.5,"latency_ms":12}}`)
		if got := data[hotspot](t, more, http.StatusOK); got.Type != "public" || more.Header.Get("ETag") != `"v3"` {
			t.Errorf("with a type and a speed: %s", more)
		}
		wantEqual(t, "the audit", s.notes(t, beacon.HotspotVerified)[1:], []string{"gps, 56 m away, accuracy 5 m, type public, 40 Mbps down, 4.5 up, 12 ms"})

		second := "/v1/hotspots/" + admin.register(t, 2).ID
		admin.post(t, second+"/verification", here).want(t, http.StatusOK) // an admin's own
	})
}

// Two honest measurements of one place differ: a visit confirms it, or asks. What a hotspot
// is paid depends on how long it has served at its place.
func TestVerification_Again(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, staff := s.operator(t), s.anyone(t, "hotspots:verify")
		id := beacon.HotspotID(c.register(t, 1).ID) // at 40.7, -74
		visit := func(metres, accuracy int, more string) answer {
			s.advance(24 * time.Hour)
			return staff.post(t, "/v1/hotspots/"+string(id)+"/verification",
				at(`{"lat":%.7f,"lng":-74,"accuracy_m":%d,"method":"gps"%s}`, 40.7+float64(metres)/111_195, accuracy, more))
		}
		since := func() (days int) {
			t.Helper()
			h, err := s.db.Hotspots.Hotspot(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			return int(beacon.DayOf(s.now()) + 1 - h.PlaceOn(beacon.DayOf(s.now())+1).Since)
		}
		for _, step := range []struct {
			metres, accuracy int
			more             string
			want, days       int
		}{
			{10, 20, "", http.StatusOK, 1},
			{43, 25, "", http.StatusOK, 2},
			{60, 25, "", http.StatusConflict, 3},
			{60, 25, `,"moved":null`, http.StatusBadRequest, 4},
			{60, 25, `,"moved":"yes"`, http.StatusBadRequest, 5},
			{60, 25, `,"moved":false`, http.StatusConflict, 6},
			{60, 40, `,"moved":true`, http.StatusOK, 7}, // not exact, and near enough
			{75, 40, `,"moved":true`, http.StatusConflict, 8},
			{60, 25, `,"moved":true`, http.StatusOK, 0},
			{60, 5, "", http.StatusOK, 1},
			{20, 10, "", http.StatusConflict, 2},
			{20, 10, `,"moved":true`, http.StatusOK, 12},
		} {
			if a := visit(step.metres, step.accuracy, step.more); a.StatusCode != step.want || since() != step.days {
				t.Errorf("%+v: %d days at its place after %s", step, since(), a)
			}
		}
		if refused := s.notes(t, beacon.VerificationRefused); len(refused) != 4 || refused[3] != "gps, 21 m away, accuracy 10 m" {
			t.Errorf("the audit says %q", refused)
		}
	})
}

func TestLink(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, stranger := s.operator(t), s.operator(t)
		id := c.register(t, 1).ID
		spot := "/v1/hotspots/" + id
		wantFault(t, stranger.post(t, spot+"/link-code", ""), http.StatusForbidden, "forbidden")
		wantFault(t, s.anyone(t).post(t, spot+"/link-code", ""), http.StatusForbidden, "forbidden")
		wantFault(t, c.post(t, "/v1/hotspots/hs_nope/link-code", ""), http.StatusNotFound, "not_found")

		code := data[linkCode](t, c.post(t, spot+"/link-code", ""), http.StatusOK)
		if code.ExpiresAt != "2026-11-15T12:15:00.000Z" {
			t.Errorf("%+v; want a code of 15 minutes", code)
		}
		s.advance(15*time.Minute - time.Millisecond)
		a := s.tryLink(t, strings.ToLower(strings.NewReplacer("-", " ", "0", "o", "1", "L").Replace(code.Code)), "0200.5E00.0001")
		done := data[linked](t, a, http.StatusOK)
		if done.HotspotID != id || done.HeartbeatPath != spot+"/heartbeats" || done.NextInS != 60 || done.LinkedAt != "2026-11-15T12:14:59.999Z" {
			t.Errorf("%s; want the link", a)
		}
		got := data[hotspot](t, c.get(t, spot), http.StatusOK)
		if !got.Device.Linked || got.Device.LinkedAt != done.LinkedAt || got.Status != "pending" || strings.Contains(string(a.body), `"mac`) {
			t.Errorf("linked: %+v", got)
		}
		if s.verify(t, spot); data[hotspot](t, c.get(t, spot), http.StatusOK).Status != "offline" {
			t.Error("a hotspot that is verified and linked is not offline")
		}

		wantFault(t, stranger.delete(t, spot+"/device"), http.StatusForbidden, "forbidden")
		wantFault(t, c.delete(t, "/v1/hotspots/hs_nope/device"), http.StatusNotFound, "not_found")
		for range 2 {
			c.delete(t, spot+"/device").want(t, http.StatusNoContent)
		}
		got = data[hotspot](t, c.get(t, spot), http.StatusOK)
		if got.Device.Linked || got.Device.LinkedAt != "" || got.Status != "pending" {
			t.Errorf("unlinked: %+v", got)
		}
		if n := len(s.changes(t, beacon.HotspotUnlinked)); n != 1 {
			t.Errorf("unlinked twice: %d audit rows; want 1", n)
		}
	})
}

// Guessing, reuse, expiry, a wrong device: one answer, and the audit knows.
func TestLink_Refuses(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		hotspot := "/v1/hotspots/" + c.register(t, 1).ID
		replaced := c.newCode(t, hotspot)
		code := c.newCode(t, hotspot)
		var first string
		refused := func(what, code, mac string) {
			t.Helper()
			before := len(s.changes(t, beacon.LinkRefused))
			a := s.tryLink(t, code, mac)
			wantFault(t, a, http.StatusForbidden, "forbidden")
			said := decode[failure](t, a).Error.Message
			if first == "" {
				first = said
			}
			if said != first {
				t.Errorf("%s is told as %q, another thing as %q", what, said, first)
			}
			for _, row := range s.changes(t, beacon.LinkRefused)[before:] {
				if row.Actor.Note == "" || row.Actor.Request != a.Header.Get("X-Request-Id") || strings.Contains(row.Actor.Note, "02:") || code != "" && strings.Contains(row.Actor.Note, code) {
					t.Errorf("%s: the audit has %+v", what, row)
				}
			}
			if len(s.changes(t, beacon.LinkRefused)) == before {
				t.Errorf("%s is not in the audit", what)
			}
		}
		refused("a guess", "0000-0000", mac(1))
		refused("no code at all", "", mac(1))
		refused("nonsense", strings.Repeat("x", 1000), mac(1))
		refused("a code that was replaced", replaced, mac(1))
		refused("another device", code, mac(2))
		refused("a device that is none", code, "nonsense")
		s.tryLink(t, code, mac(1)).want(t, http.StatusOK)
		refused("a code that was used", code, mac(1))

		code = c.newCode(t, hotspot)
		for range 5 {
			refused("another device", code, mac(2))
		}
		refused("a code that was tried too often", code, mac(1))

		code = c.newCode(t, hotspot)
		s.advance(15 * time.Minute)
		refused("an expired code", code, mac(1))

		code = c.newCode(t, hotspot)
		c.delete(t, hotspot).want(t, http.StatusNoContent)
		refused("the code of a deleted hotspot", code, mac(1))

		for body, fields := range map[string][]string{
			`{}`: {"code", "mac_address"}, `{"code":"K7QX-29MD"}`: {"mac_address"},
		} {
			wantFault(t, s.call(t, "POST", "/v1/devices/link", body), http.StatusBadRequest, "missing_parameter", fields...)
		}
		for body, fields := range map[string][]string{
			`{"code":7,"mac_address":null,"id":1}`: {"code", "mac_address"}, `[]`: nil, `{`: nil, `{"code":"a","code":"b"}`: {"code"},
		} {
			wantFault(t, s.call(t, "POST", "/v1/devices/link", body), http.StatusBadRequest, "invalid_request", fields...)
		}
		wantFault(t, s.call(t, "POST", "/v1/devices/link", `{"code":"`+strings.Repeat(" ", 1<<16)+`"}`), http.StatusRequestEntityTooLarge, "payload_too_large")
	})
}

// An address may try a few times, whatever it tries; then nothing is looked up.
func TestLink_Limit(t *testing.T) {
	limits := ample
	limits.LinkTries = ratelimit.Limit{Every: time.Hour, Burst: 4}
	eachStoreWith(t, options{limits: limits}, func(t *testing.T, s *server) {
		c := s.operator(t)
		spot := "/v1/hotspots/" + c.register(t, 1).ID
		code := c.newCode(t, spot)
		for i, a := range []answer{
			s.tryLink(t, "0000-0000", mac(1)), s.tryLink(t, "nonsense", ""), s.call(t, "POST", "/v1/devices/link", "garbage"), s.tryLink(t, code, mac(2)),
		} {
			wantRate(t, a, 4, 3-i)
		}
		before := len(s.changes(t))
		for range 3 {
			wantLimited(t, s.tryLink(t, code, mac(1)), 4)
		}
		if after := len(s.changes(t)); after != before || data[hotspot](t, c.get(t, spot), http.StatusOK).Device.Linked {
			t.Errorf("what is limited was looked at: %d audit rows more", after-before)
		}
	})
}

// A device's key opens its own heartbeats and nothing else.
func TestDeviceKey_OpensNothingElse(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.operator(t)
		m, other := c.install(t, 1), c.install(t, 2)
		asked := 0
		for _, pattern := range s.api.Routes() {
			method, path, _ := strings.Cut(pattern, " ")
			path = strings.Replace(path, "{id}", strings.TrimPrefix(m.hotspot, "/v1/hotspots/"), 1)
			if strings.HasPrefix(path, "/v1/openapi") || path == "/v1/devices/link" || path == m.hotspot+"/heartbeats" {
				continue
			}
			asked++
			wantFault(t, m.do(t, method, path, ""), http.StatusForbidden, "forbidden")
		}
		if asked < 13 {
			t.Errorf("only %d routes were asked", asked)
		}
		m.beat(t, beat(1)).want(t, http.StatusOK)
		wantFault(t, m.post(t, other.hotspot+"/heartbeats", beat(2)), http.StatusForbidden, "forbidden")
		wantFault(t, m.post(t, "/v1/hotspots/hs_nope/heartbeats", beat(2)), http.StatusForbidden, "forbidden")
		wantFault(t, m.post(t, other.hotspot+"/heartbeats", "garbage"), http.StatusForbidden, "forbidden") // 403 before 400
		for _, who := range []client{c, s.anyone(t), s.anyone(t, "admin")} {
			wantFault(t, who.post(t, m.hotspot+"/heartbeats", beat(2)), http.StatusForbidden, "forbidden")
		}
		if got := s.changes(t, beacon.HotspotDeleted, beacon.KeyCreated); len(got) != 3 {
			t.Errorf("a device changed something: %v", got)
		}
	})
}

// Whatever is wrong with a device's key, the answer is the same 401.
func TestDeviceKey_Dead(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.operator(t)
		m := c.install(t, 1)
		m.beat(t, beat(1)).want(t, http.StatusOK)
		wrong, _ := access.MintDevice(beacon.HotspotID(strings.TrimPrefix(m.hotspot, "/v1/hotspots/")))
		nobody, _ := access.MintDevice("hs_01kb3gzk00e9x8q6s5t4v3w2y1")
		_, unknown := access.Mint(noon, beacon.Key{})
		dead := func(key string) {
			t.Helper()
			m := machine{client{server: s, plain: key}, m.hotspot}
			wantFault(t, m.beat(t, "garbage"), http.StatusUnauthorized, "unauthorized") // 401 before 400
			wantFault(t, m.get(t, m.hotspot), http.StatusUnauthorized, "unauthorized")
		}
		for _, key := range []string{"", "garbage", wrong, nobody, unknown, m.plain[:65] + m.plain[66:], strings.ToUpper(m.plain)} {
			dead(key)
		}
		wantFault(t, client{server: s, plain: nobody}.post(t, "/v1/hotspots/hs_01kb3gzk00e9x8q6s5t4v3w2y1/heartbeats", beat(1)), http.StatusUnauthorized, "unauthorized")

		again := data[linked](t, s.tryLink(t, c.newCode(t, m.hotspot), mac(1)), http.StatusOK).DeviceKey
		dead(m.plain)
		m.plain = again
		m.beat(t, beat(2)).want(t, http.StatusOK)

		c.delete(t, m.hotspot+"/device").want(t, http.StatusNoContent)
		dead(m.plain)

		m.plain = data[linked](t, s.tryLink(t, c.newCode(t, m.hotspot), mac(1)), http.StatusOK).DeviceKey
		m.beat(t, beat(3)).want(t, http.StatusOK)
		c.delete(t, m.hotspot).want(t, http.StatusNoContent)
		wantFault(t, m.beat(t, beat(4)), http.StatusUnauthorized, "unauthorized")
		wantFault(t, m.get(t, "/v1/keys/self"), http.StatusUnauthorized, "unauthorized")
	})
}

// A device that one server linked can beat at another at once.
func TestDeviceKey_AnotherServer(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.operator(t)
		other := start(t, s.db, options{limits: ample, telemetry: atOnce{}}) // it follows nobody
		m := c.install(t, 1)
		m.server = other
		m.beat(t, beat(1)).want(t, http.StatusOK)
	})
}

// Devices have a limit of their own, by hotspot.
func TestDeviceKey_Limit(t *testing.T) {
	limits := ample
	limits.Devices = ratelimit.Limit{Every: time.Hour, Burst: 4}
	eachStoreWith(t, options{limits: limits, live: true}, func(t *testing.T, s *server) {
		c := s.operator(t)
		m, other := c.install(t, 1), c.install(t, 2)
		for i, a := range []answer{ // each is counted, good and bad
			m.beat(t, beat(1)), m.beat(t, "garbage"), m.get(t, "/v1/keys/self"), m.post(t, other.hotspot+"/heartbeats", beat(1)),
		} {
			wantRate(t, a, 4, 3-i)
		}
		for _, a := range []answer{m.beat(t, beat(2)), m.beat(t, "garbage"), m.get(t, m.hotspot), m.post(t, other.hotspot+"/heartbeats", beat(1))} {
			wantLimited(t, a, 4)
		}
		wantRate(t, other.beat(t, beat(1)).want(t, http.StatusOK), 4, 3)
	})
}

// The limits of devices can be off, like all of them.
func TestDeviceKey_NoLimit(t *testing.T) {
	s := onSQLite(t, options{limits: edge.Limits{}, live: true})
	m := s.operator(t).install(t, 1)
	for i := range 15 {
		m.beat(t, beat(i)).want(t, http.StatusOK)
	}
}
