package api_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// leave writes the record of a request as an earlier build left it.
func (c client) leave(t *testing.T, n int, key, fingerprint, result string) {
	t.Helper()
	once := &beacon.Once{
		Owner: string(c.user), Key: key, Fingerprint: sha256.Sum256([]byte(fingerprint)), At: noon, ExpiresAt: noon.Add(24 * time.Hour), Result: []byte(result),
	}
	h := storetest.Hotspot(n)
	h.Operator = c.user
	if err := c.db.Hotspots.InsertHotspot(t.Context(), h, beacon.Actor{Request: "cli", Once: once}, nil); err != nil {
		t.Fatal(err)
	}
}

// wantLeft wants the response that was left.
func wantLeft(t *testing.T, got answer, status int, etag, data string) {
	t.Helper()
	body, _, _ := strings.Cut(string(got.want(t, status).body), `,"meta"`)
	if body != `{"data":`+data || got.Header.Get("ETag") != etag || got.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("%s with %v; want %s", body, got.Header, data)
	}
}

// made returns the data of a response, of something with another id.
func (a answer) made(t *testing.T, status int, was, id string) string {
	t.Helper()
	text, _, _ := strings.Cut(strings.TrimPrefix(string(a.want(t, status).body), `{"data":`), `,"meta"`)
	return strings.ReplaceAll(text, was, id)
}

// A server that was upgraded knows what the build before it kept: the response.
func TestOnce_OfAnEarlierBuild(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.anyone(t, "hotspots:write", "hotspots:verify", "keys:manage")
		path := "/v1/hotspots/" + c.register(t, 1).ID + "/verification"
		const visit, wanted, another = `{"accuracy_m":5,"lat":40.7,"lng":-74,"method":"gps"}`, `{"scopes":[]}`, "01kb3gzk00e9x8q6s5t4v3w2y1"

		verified := c.post(t, path, visit).made(t, http.StatusOK, "Café", "Earlier")
		c.leave(t, 901, "plain", "POST "+path+"\n"+visit, `{"etag":"\"v7\"","data":`+verified+"}\n")
		wantLeft(t, c.post(t, path, visit, "Idempotency-Key", "plain"), http.StatusOK, `"v7"`, verified)
		wantFault(t, c.post(t, path, strings.Replace(visit, "5", "6", 1), "Idempotency-Key", "plain"), http.StatusConflict, "conflict")

		created := c.post(t, "/v1/keys", wanted)
		key := created.made(t, http.StatusOK, data[apiKey](t, created, http.StatusOK).ID, "key_"+another)
		sealed, err := access.Seal(c.plain, "idempotency "+string(c.user)+" secret", []byte(key))
		if err != nil {
			t.Fatal(err)
		}
		c.leave(t, 902, "secret", "POST /v1/keys\n"+wanted, fmt.Sprintf(`{"id":"key_%s","sealed":%q}`, another, base64.StdEncoding.EncodeToString(sealed)))
		wantLeft(t, c.post(t, "/v1/keys", wanted, "Idempotency-Key", "secret"), http.StatusOK, "", key)
		second := s.keyOf(t, c.user, access.Creation{Scopes: beacon.Some([]string{"keys:manage"})})
		a := second.post(t, "/v1/keys", wanted, "Idempotency-Key", "secret")
		if wantFault(t, a, http.StatusConflict, "conflict"); !strings.Contains(string(a.body), another) {
			t.Errorf("%s does not name the key", a)
		}
	})
}

// Registrations had a form of their own, and older ones the hash of their bytes.
func TestOnce_RegistrationOfAnEarlierBuild(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.anyone(t, "hotspots:write", "keys:manage")
		body := registration(1, "settings.operating_hours", `{"timezone":"UTC","weekly":[{"days":["mon"],"open":"08:00","close":"24:00"}],`+
			`"exceptions":[{"date":"2026-12-25","closed":true},{"date":"2026-12-31","open":"10:00","close":"14:00"}]}`)
		first := c.post(t, "/v1/hotspots", body)
		now, another := data[hotspot](t, first, http.StatusCreated), id.New("hs_", noon)
		c.leave(t, 903, "k", body, fmt.Sprintf(`{"id":%q,"operator":%q,"name":%q,"type":%q,"lat":%v,"lng":%v,"address":"","ssid":%q,"mac":%q,`+
			`"max_connections":%d,"bandwidth_mbps":%v,"coverage_m":%v,"hours":{"timezone":"UTC","weekly":[{"days":["mon"],"open":480,"close":1440}],`+
			`"exceptions":[{"date":"2026-12-25","closed":true},{"date":"2026-12-31","spans":[{"open":600,"close":840}]}]},"created_at":%q}`,
			another, c.user, now.Name, now.Type, now.Location.Lat, now.Location.Lng, now.Device.SSID, now.Device.MAC,
			now.Settings.MaxConnections, now.Settings.BandwidthLimitMbps, now.Settings.CoverageRadiusM, now.CreatedAt))
		replayed := c.post(t, "/v1/hotspots", body, "Idempotency-Key", "k")
		wantLeft(t, replayed, http.StatusCreated, `"v1"`, first.made(t, http.StatusCreated, now.ID, another))
		if at := replayed.Header.Get("Location"); at != "/v1/hotspots/"+another {
			t.Errorf("Location: %s", at)
		}
		wantFault(t, c.post(t, "/v1/hotspots", registration(2), "Idempotency-Key", "k"), http.StatusConflict, "conflict")
		wantFault(t, c.post(t, "/v1/keys", `{"scopes":[]}`, "Idempotency-Key", "k"), http.StatusConflict, "conflict")
	})
}
