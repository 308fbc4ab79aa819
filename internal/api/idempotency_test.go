package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Decision N12: the same key and body within 24 hours get the first answer
// again; another body gets 409.
func TestIdempotency(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, other := s.operator(t), s.operator(t)
		body := registration(1, "name", `"Café"`, "settings.operating_hours", `{"timezone":"UTC","weekly":[{"days":["mon"],"open":"08:00","close":"24:00"}]}`)
		first := c.post(t, "/v1/hotspots", body, "Idempotency-Key", "k 1")
		made := data[hotspot](t, first, http.StatusCreated)
		if first.Header["Idempotency-Replayed"] != nil {
			t.Error("the first answer counts as repeated")
		}
		same := func(a answer) {
			t.Helper()
			a.want(t, http.StatusCreated)
			if a.Header.Get("Idempotency-Replayed") != "true" || a.Header.Get("Location") != first.Header.Get("Location") || a.Header.Get("ETag") != `"v1"` {
				t.Errorf("repeated with %v", a.Header)
			}
			before, _, _ := strings.Cut(string(first.body), `"meta"`)
			if got, _, _ := strings.Cut(string(a.body), `"meta"`); got != before {
				t.Errorf("repeated as\n%s; want\n%s", got, before)
			}
			if a.Header.Get("X-Request-Id") == first.Header.Get("X-Request-Id") {
				t.Error("two requests have one id")
			}
		}
		s.advance(time.Hour)
		same(c.post(t, "/v1/hotspots", body, "Idempotency-Key", "k 1"))
		c.patch(t, "/v1/hotspots/"+made.ID, `{"name":"Changed since"}`).want(t, http.StatusOK)
		same(c.post(t, "/v1/hotspots", body, "Idempotency-Key", "k 1"))
		s.anyone(t, "admin").delete(t, "/v1/hotspots/"+made.ID).want(t, http.StatusNoContent) // which frees the MAC at once
		same(c.post(t, "/v1/hotspots", body, "Idempotency-Key", "k 1"))

		for _, another := range []string{registration(2), strings.Replace(body, "08:00", "08:01", 1), registration(1)} {
			wantFault(t, c.post(t, "/v1/hotspots", another, "Idempotency-Key", "k 1"), http.StatusConflict, "conflict")
		}
		wantFault(t, c.post(t, "/v1/hotspots", `{}`, "Idempotency-Key", "k 1"), http.StatusBadRequest, "missing_parameter",
			"name", "type", "location.lat", "location.lng", "device.ssid", "device.mac_address")
		// Keys are each user's own, and case counts. (The MAC is free again.)
		theirs := data[hotspot](t, other.post(t, "/v1/hotspots", body, "Idempotency-Key", "k 1"), http.StatusCreated)
		if theirs.ID == made.ID || theirs.OperatorID != string(other.user) {
			t.Errorf("another user gets %+v", theirs)
		}
		c.post(t, "/v1/hotspots", registration(3), "Idempotency-Key", "K 1").want(t, http.StatusCreated)

		s.advance(23*time.Hour - time.Second)
		same(c.post(t, "/v1/hotspots", body, "Idempotency-Key", "k 1"))
		s.advance(time.Second) // a day is over: the request counts, and meets the other user's MAC
		wantFault(t, c.post(t, "/v1/hotspots", body, "Idempotency-Key", "k 1"), http.StatusConflict, "conflict")
		if n := len(s.changes(t, beacon.HotspotRegistered)); n != 3 {
			t.Errorf("%d hotspots were registered; want 3", n)
		}
	})
}

// Decision D105: what a body says counts, not how it is formatted.
func TestIdempotency_Formatting(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		const body = `{"name":"Café","type":"home","location":{"lat":40.7,"lng":-74},"device":{"ssid":"guest","mac_address":"02:00:5e:00:00:01"},"settings":{"max_connections":20}}`
		made := data[hotspot](t, c.post(t, "/v1/hotspots", body, "Idempotency-Key", "k"), http.StatusCreated)
		for _, same := range []string{
			" " + body + "\n\t",
			`{"settings":{"max_connections":2e1},"type":"home","name":"Caf\u00e9","device":{"mac_address":"02:00:5e:00:00:01","ssid":"guest"},"location":{"lng":-74.0,"lat":4.07E1}}`,
		} {
			a := c.post(t, "/v1/hotspots", same, "Idempotency-Key", "k")
			if got := data[hotspot](t, a, http.StatusCreated); got.ID != made.ID || a.Header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("%s: %s", same, a)
			}
		}
		for _, other := range []string{
			strings.Replace(body, "40.7", "40.70000001", 1), strings.Replace(body, "guest", "Guest", 1),
			strings.Replace(body, "02:00:5e:00:00:01", "02-00-5e-00-00-01", 1), strings.Replace(body, `,"settings":{"max_connections":20}`, "", 1),
		} {
			wantFault(t, c.post(t, "/v1/hotspots", other, "Idempotency-Key", "k"), http.StatusConflict, "conflict")
		}
	})
}

// What was refused is not remembered: the key is free for a better try.
func TestIdempotency_AfterARefusal(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		taken := c.register(t, 1)
		wantFault(t, c.post(t, "/v1/hotspots", registration(2, "name", `"x"`), "Idempotency-Key", "k"), http.StatusBadRequest, "invalid_request", "name")
		wantFault(t, c.post(t, "/v1/hotspots", registration(1), "Idempotency-Key", "k"), http.StatusConflict, "conflict")
		c.delete(t, "/v1/hotspots/"+taken.ID).want(t, http.StatusNoContent)
		a := c.post(t, "/v1/hotspots", registration(1), "Idempotency-Key", "k").want(t, http.StatusCreated)
		if a.Header["Idempotency-Replayed"] != nil {
			t.Errorf("%s counts as repeated", a)
		}
	})
}

func TestIdempotency_Keys(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		for n, good := range []string{"x", strings.Repeat("k", 255), "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "a b"} {
			c.post(t, "/v1/hotspots", registration(n), "Idempotency-Key", good).want(t, http.StatusCreated)
			if a := c.post(t, "/v1/hotspots", registration(n), "Idempotency-Key", good); a.Header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("%q: %s", good, a)
			}
		}
		for _, bad := range []string{"", strings.Repeat("k", 256), "é", "\xff", "a\tb"} {
			wantFault(t, c.post(t, "/v1/hotspots", registration(9), "Idempotency-Key", bad), http.StatusBadRequest, "invalid_request", "Idempotency-Key")
		}
		wantFault(t, c.post(t, "/v1/hotspots", registration(9), "Idempotency-Key", "a", "Idempotency-Key", "b"), http.StatusBadRequest, "invalid_request", "Idempotency-Key")
		c.post(t, "/v1/hotspots", registration(9)).want(t, http.StatusCreated)
	})
}

// Twenty at once under one key: one hotspot, and all hear of it.
func TestIdempotency_AtOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		bodies := map[string]int{}
		replayed := 0
		for _, a := range inParallel(20, func(int) answer {
			return c.post(t, "/v1/hotspots", registration(1), "Idempotency-Key", "once")
		}) {
			a.want(t, http.StatusCreated)
			text, _, _ := strings.Cut(string(a.body), `"meta"`)
			bodies[text]++
			if a.Header.Get("Idempotency-Replayed") == "true" {
				replayed++
			}
		}
		if len(bodies) != 1 || replayed != 19 || len(s.changes(t, beacon.HotspotRegistered)) != 1 {
			t.Errorf("%d answers differ, %d were repeated: %v", len(bodies), replayed, bodies)
		}
	})
}
