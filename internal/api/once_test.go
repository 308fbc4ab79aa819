package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// repeatable is a POST that changes something, other than a registration.
type repeatable struct {
	body    string
	spelled string // the body once more, formatted differently
	other   string // another body; empty: there is none
	send    func(body, once string) answer
	kind    beacon.ChangeKind // what it leaves in the audit
	secret  string            // the member with a secret
	lasts   time.Duration
}

// eachRepeatable runs a test with each of them, on a hotspot and with users of its own.
func eachRepeatable(t *testing.T, s *server, test func(t *testing.T, p repeatable)) {
	t.Helper()
	n := 0
	for name, prepare := range map[string]func(c client, hotspot string) repeatable{
		"keys": func(c client, _ string) repeatable {
			return repeatable{
				body: `{"scopes":["hotspots:write"],"name":"ci"}`, spelled: ` {"name":"c\u0069", "scopes":["hotspots:write"]}`, other: `{"scopes":["hotspots:write"]}`,
				send: c.repeating(t, "/v1/keys"), kind: beacon.KeyCreated, secret: "key", lasts: 24 * time.Hour,
			}
		},
		"link-code": func(c client, hotspot string) repeatable {
			return repeatable{send: c.repeating(t, hotspot+"/link-code"), kind: beacon.LinkCodeCreated, secret: "code", lasts: 24 * time.Hour}
		},
		"verification": func(_ client, hotspot string) repeatable {
			return repeatable{
				body: `{"lat":40.7,"lng":-74,"accuracy_m":5,"method":"gps"}`, spelled: `{"method":"gps","lat":40.70,"lng":-74e0,"accuracy_m":5}`,
				other: `{"lat":40.7,"lng":-74,"accuracy_m":6,"method":"gps"}`,
				send:  s.anyone(t, "hotspots:verify").repeating(t, hotspot+"/verification"), kind: beacon.HotspotVerified, lasts: 24 * time.Hour,
			}
		},
		"link": func(c client, hotspot string) repeatable {
			code := c.newCode(t, hotspot)
			return repeatable{
				body: at(`{"code":%q,"mac_address":%q}`, code, mac(n)), spelled: at(`{"mac_address":%q ,"code":%q}`, mac(n), code),
				other: at(`{"code":%q,"mac_address":%q}`, code, mac(n+1)),
				send: func(body, once string) answer {
					return s.call(t, http.MethodPost, "/v1/devices/link", body, "Idempotency-Key", once)
				},
				kind: beacon.HotspotLinked, secret: "device_key", lasts: 15 * time.Minute,
			}
		},
		"enrol": func(c client, _ string) repeatable {
			return repeatable{
				body: at(`{"mac_address":%q}`, mac(n)), spelled: at(` { "mac_address": %q } `, mac(n)), other: at(`{"mac_address":%q,"name":"Other"}`, mac(n)),
				send: c.enroller(t, 1).repeating(t, "/v1/devices/enrol"), kind: beacon.HotspotLinked, secret: "device_key", lasts: 15 * time.Minute,
			}
		},
	} {
		n++
		t.Run(name, func(t *testing.T) {
			c := s.anyone(t, "hotspots:write", "keys:manage")
			test(t, prepare(c, "/v1/hotspots/"+c.register(t, n).ID))
		})
	}
}

// repeating returns a function that sends a request with an Idempotency-Key.
func (c client) repeating(t *testing.T, path string) func(body, once string) answer {
	return func(body, once string) answer { return c.post(t, path, body, "Idempotency-Key", once) }
}

// sameAnswer wants the first response again.
func sameAnswer(t *testing.T, got, first answer) {
	t.Helper()
	before, _, _ := strings.Cut(string(first.body), `,"meta"`)
	again, _, _ := strings.Cut(string(got.body), `,"meta"`)
	if got.StatusCode != first.StatusCode || again != before || got.Header.Get("Idempotency-Replayed") != "true" || got.Header.Get("ETag") != first.Header.Get("ETag") {
		t.Errorf("%s with %v; want\n%s", got, got.Header, before)
	}
	if got.Header.Get("X-Request-Id") == first.Header.Get("X-Request-Id") {
		t.Error("two requests have one id")
	}
}

// Decision N12 for every POST that changes something.
func TestOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		eachRepeatable(t, s, func(t *testing.T, p repeatable) {
			before := len(s.changes(t, p.kind))
			first := p.send(p.body, "k 1").want(t, http.StatusOK)
			if first.Header["Idempotency-Replayed"] != nil {
				t.Error("the first answer counts as repeated")
			}
			s.advance(time.Minute)
			sameAnswer(t, p.send(p.body, "k 1"), first)
			if p.spelled != "" {
				sameAnswer(t, p.send(p.spelled, "k 1"), first)
			}
			if p.other != "" {
				wantFault(t, p.send(p.other, "k 1"), http.StatusConflict, "conflict")
			}
			s.advance(p.lasts - time.Minute - time.Second)
			sameAnswer(t, p.send(p.body, "k 1"), first)
			if n := len(s.changes(t, p.kind)) - before; n != 1 {
				t.Errorf("%d changes; want 1", n)
			}
			s.advance(time.Second) // it is forgotten, and counts again
			late := p.send(p.body, "k 1")
			if late.Header["Idempotency-Replayed"] != nil {
				t.Errorf("%s after %s", late, p.lasts)
			}
			for _, bad := range []string{"", strings.Repeat("k", 256), "a\tb"} {
				wantFault(t, p.send(p.body, bad), http.StatusBadRequest, "invalid_request", "Idempotency-Key")
			}
		})
	})
}

// A key belongs to its user, for all requests together.
func TestOnce_Owner(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.anyone(t, "hotspots:write", "keys:manage", "hotspots:verify")
		hotspot, another := "/v1/hotspots/"+c.register(t, 1).ID, "/v1/hotspots/"+c.register(t, 2).ID
		once := []string{"Idempotency-Key", "k"}
		first := c.post(t, "/v1/keys", `{"scopes":[]}`, once...).want(t, http.StatusOK)
		for path, body := range map[string]string{
			"/v1/hotspots": registration(3), hotspot + "/link-code": "", hotspot + "/verification": `{"lat":40.7,"lng":-74,"accuracy_m":5,"method":"gps"}`,
		} {
			wantFault(t, c.post(t, path, body, once...), http.StatusConflict, "conflict")
		}
		c.post(t, "/v1/hotspots", registration(3), "Idempotency-Key", "r").want(t, http.StatusCreated)
		wantFault(t, c.post(t, "/v1/keys", registration(3), "Idempotency-Key", "r"), http.StatusBadRequest, "invalid_request",
			"device", "location", "type", "scopes")
		wantFault(t, c.post(t, "/v1/keys", `{"scopes":[]}`, "Idempotency-Key", "r"), http.StatusConflict, "conflict")

		// Another hotspot is another request.
		c.post(t, hotspot+"/link-code", "", "Idempotency-Key", "l").want(t, http.StatusOK)
		wantFault(t, c.post(t, another+"/link-code", "", "Idempotency-Key", "l"), http.StatusConflict, "conflict")

		// Another key of the same user cannot read the secret, but learns what was made.
		second := s.keyOf(t, c.user, access.Creation{Scopes: beacon.Some([]string{"keys:manage"})})
		a := second.post(t, "/v1/keys", `{"scopes":[]}`, once...)
		wantFault(t, a, http.StatusConflict, "conflict")
		if id := data[apiKey](t, first, http.StatusOK).ID; !strings.Contains(string(a.body), id) {
			t.Errorf("%s does not name %s", a, id)
		}
		// Another user has keys of its own.
		other := s.anyone(t, "keys:manage").post(t, "/v1/keys", `{"scopes":[]}`, once...).want(t, http.StatusOK)
		if other.Header["Idempotency-Replayed"] != nil {
			t.Errorf("another user gets %s", other)
		}
		// What is gone since is still the answer to the first request.
		code := c.post(t, another+"/link-code", "", "Idempotency-Key", "m").want(t, http.StatusOK)
		c.delete(t, another).want(t, http.StatusNoContent)
		sameAnswer(t, c.post(t, another+"/link-code", "", "Idempotency-Key", "m"), code)
	})
}

// What was refused is not remembered: the key is free for a better try.
func TestOnce_AfterARefusal(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, staff := s.anyone(t, "hotspots:write", "keys:manage"), s.anyone(t, "hotspots:verify")
		hotspot := "/v1/hotspots/" + c.register(t, 1).ID
		once := []string{"Idempotency-Key", "k"}
		for range 2 {
			wantFault(t, c.post(t, "/v1/keys", `{"scopes":["admin"]}`, once...), http.StatusForbidden, "forbidden")
			wantFault(t, c.post(t, "/v1/hotspots/hs_nope/link-code", "", once...), http.StatusNotFound, "not_found")
			wantFault(t, staff.post(t, hotspot+"/verification", `{"lat":41,"lng":-74,"accuracy_m":5,"method":"gps"}`, once...), http.StatusConflict, "conflict")
		}
		c.post(t, hotspot+"/link-code", "", once...).want(t, http.StatusOK)
		staff.post(t, hotspot+"/verification", `{"lat":40.7,"lng":-74,"accuracy_m":5,"method":"gps"}`, once...).want(t, http.StatusOK)
		// Staff find it elsewhere: that is refused too, and takes the verification away.
		for range 2 {
			wantFault(t, staff.post(t, hotspot+"/verification", `{"lat":41,"lng":-74,"accuracy_m":5,"method":"gps"}`, "Idempotency-Key", "f"), http.StatusConflict, "conflict")
		}
		staff.post(t, hotspot+"/verification", `{"lat":40.7,"lng":-74,"accuracy_m":5,"method":"gps"}`, "Idempotency-Key", "f").want(t, http.StatusOK)

		code := c.newCode(t, hotspot)
		link := func(mac string) answer {
			return s.call(t, http.MethodPost, "/v1/devices/link", fmt.Sprintf(`{"code":%q,"mac_address":%q}`, code, mac), once...)
		}
		wantFault(t, link(mac(2)), http.StatusForbidden, "forbidden")
		link(mac(1)).want(t, http.StatusOK)
		wantFault(t, s.tryLink(t, code, mac(1)), http.StatusForbidden, "forbidden") // without the key, a code is used once
		wantFault(t, s.call(t, http.MethodPost, "/v1/devices/link", fmt.Sprintf(`{"code":%q,"mac_address":%q}`, code, mac(1)), "Idempotency-Key", "guess"),
			http.StatusForbidden, "forbidden")
	})
}

// Ten at once under one key: one effect, and all get the same answer.
func TestOnce_AtOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		eachRepeatable(t, s, func(t *testing.T, p repeatable) {
			before, refusals := len(s.changes(t, p.kind)), len(s.changes(t, beacon.LinkRefused))
			bodies, replayed := map[string]int{}, 0
			for _, a := range inParallel(10, func(int) answer { return p.send(p.body, "once") }) {
				a.want(t, http.StatusOK)
				text, _, _ := strings.Cut(string(a.body), `"meta"`)
				bodies[text]++
				if a.Header.Get("Idempotency-Replayed") == "true" {
					replayed++
				}
			}
			if n := len(s.changes(t, p.kind)) - before; len(bodies) != 1 || replayed != 9 || n != 1 {
				t.Errorf("%d changes, %d repeated, answers %v", n, replayed, bodies)
			}
			if n := len(s.changes(t, beacon.LinkRefused)) - refusals; n != 0 {
				t.Errorf("%d links were refused", n)
			}
		})
	})
}

// Requests that change nothing, or have an identity of their own, take the header too.
func TestOnce_NothingToRepeat(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.operator(t)
		d := c.install(t, 1)
		for range 2 {
			a := d.beat(t, beat(1), "Idempotency-Key", "k").want(t, http.StatusOK)
			simulated := c.post(t, "/v1/coverage/simulate", `{"bounds":{"north":41,"south":40,"east":-73,"west":-74},"add":[]}`, "Idempotency-Key", "k")
			if simulated.want(t, http.StatusOK); a.Header["Idempotency-Replayed"] != nil || simulated.Header["Idempotency-Replayed"] != nil {
				t.Error("something was repeated that changes nothing")
			}
		}
	})
}

// Secrets are in no file, and nothing can be read with a copy of the database.
func TestOnce_Secrets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "beacon.db")
	s := start(t, storetest.Opened(t)(sqlite.Open(t.Context(), file, sqlite.Options{Now: noon})), options{limits: ample})
	var secrets []string
	eachRepeatable(t, s, func(t *testing.T, p repeatable) {
		if p.secret != "" {
			secrets = append(secrets, data[map[string]any](t, p.send(p.body, "k"), http.StatusOK)[p.secret].(string))
		}
	})
	if len(secrets) != 4 {
		t.Fatalf("secrets: %d", len(secrets))
	}
	for _, name := range []string{file, file + "-wal"} {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if bytes.Contains(content, []byte(secret)) {
				t.Errorf("%s holds %.8s…", filepath.Base(name), secret)
			}
		}
	}
}
