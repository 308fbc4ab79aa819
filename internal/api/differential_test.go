package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// step is a request of the script. In its path, body and header, {h0} is the id
// of the first hotspot that was registered, {k0} that of the first key that was
// created, and {alice} that of Alice's user.
type step struct {
	who, method, path, body string
	header                  []string
}

// script is a conversation of many requests, good and hostile. Hotspots stand
// at different distances from wherever it asks: their ids differ between runs,
// and would decide the order of equals.
func script() []step {
	var s steps
	s.registrations()
	s.reads()
	s.changes()
	s.strangeIDs()
	s.lists()
	s.devices()
	s.coverage()
	s.rewards()
	s.keys()
	return s
}

type steps []step

func (s *steps) add(who, method, path, body string, header ...string) {
	*s = append(*s, step{who, method, path, body, header})
}

func (s *steps) registrations() {
	at := func(n int, edits ...string) string {
		return registration(n, append([]string{"location.lat", fmt.Sprintf("40.%04d", 7000+n), "type", `"public"`}, edits...)...)
	}
	once := []string{"Idempotency-Key", "once"}
	for n := range 8 { // {h0} to {h7}
		s.add("alice", "POST", "/v1/hotspots", at(n, "name", fmt.Sprintf(`"Ort %d \u00e9\u0301 <&>"`, n), "location.address", `"a\"b\\c/d \u00df"`))
	}
	s.add("bob", "POST", "/v1/hotspots", at(20, "settings.operating_hours", `{"timezone":"Europe/Paris","weekly":[{"days":["sun"],"open":"22:00","close":"02:00"}]}`), once...) // {h8}
	s.add("bob", "POST", "/v1/hotspots", at(20, "settings.operating_hours", `{"timezone":"Europe/Paris","weekly":[{"days":["sun"],"open":"22:00","close":"02:00"}]}`), once...)
	s.add("bob", "POST", "/v1/hotspots", at(21), once...)
	s.add("alice", "POST", "/v1/hotspots", at(22, "location.lat", "1e-7", "location.lng", "-179.99999999999997", "settings.bandwidth_limit_mbps", "0.1"), once...) // {h9}
	for _, taken := range []string{mac(1), "02-00-5E-00-00-01", "0200.5e00.0001", "02005E000001"} {
		s.add("bob", "POST", "/v1/hotspots", at(1, "device.mac_address", quoted(taken)))
	}
	s.add("alice", "DELETE", "/v1/hotspots/{h3}", "")
	s.add("bob", "POST", "/v1/hotspots", at(3)) // a MAC that is free again: {h10}
}

func (s *steps) reads() {
	for _, who := range []string{"alice", "bob", "reader", "admin", "nobody"} {
		for _, path := range []string{
			"/v1/hotspots/{h0}", "/v1/hotspots/{h8}", "/v1/users/me/hotspots?per_page=3&page=2", "/v1/users/{alice}/hotspots?per_page=2", "/v1/users/{bob}/hotspots",
			"/v1/keys/self", "/v1/keys?user_id={bob}", "/v1/hotspots/nearby?lat=40.7&lng=-74&radius=10000&status=all&limit=5",
		} {
			s.add(who, "GET", path, "")
		}
	}
	for _, path := range []string{
		"/v1/hotspots/nearby?lat=0&lng=180&status=all", "/v1/hotspots/nearby?lat=40.7&lng=-74&status=offline", "/v1/hotspots/nearby?lat=NaN&lng=", "/v1/nope", "/v1/hotspots",
		"/v1/hotspots/nearby?lat=40.7010&lng=-74&status=all&radius=60", "/v1//keys", "/v1/openapi.json",
	} {
		s.add("reader", "GET", path, "")
		s.add("reader", "OPTIONS", path, "")
	}
	for _, page := range []string{"1", "2", "3", "99", "9223372036854775807", "4611686018427387905", "0", "-1", "x"} {
		s.add("alice", "GET", "/v1/users/me/hotspots?per_page=4&page="+page, "")
	}
}

func (s *steps) changes() {
	for _, body := range []string{
		`{}`, `{"name":"Renamed é"}`, `{"name":"Renamed é "}`, `{"settings":{"max_connections":7}}`, `{"settings":{"operating_hours":null}}`, `{"name":null}`,
		`{"settings":{"operating_hours":{"timezone":"UTC","weekly":[],"exceptions":[{"date":"2026-12-25","closed":true}]}}}`, `{"settings":{"bandwidth_limit_mbps":1e-300}}`,
		`{"name":"a\u0000b"}`, `{"name":"\ud800abc"}`, `[]`, `{"id":"x"}`, `{"settings":{"coverage_radius_m":33.3333333333333333}}`,
	} {
		s.add("alice", "PATCH", "/v1/hotspots/{h1}", body)
		s.add("bob", "PATCH", "/v1/hotspots/{h1}", body, "If-Match", `"v1"`)
		s.add("admin", "PATCH", "/v1/hotspots/{h2}", body, "If-Match", `"v2", "v3"`)
	}
}

func (s *steps) strangeIDs() {
	for _, id := range []string{"%00", "%FF", "hs_", "..%2f", "hs_01kb3gzk00e9x8q6s5t4v3w2y1", "'%20OR%201=1", "{h3}", "{h3}", "{h4}%00", "{alice}"} {
		s.add("alice", "DELETE", "/v1/hotspots/"+id, "")
		s.add("admin", "GET", "/v1/hotspots/"+id, "")
		s.add("admin", "GET", "/v1/users/"+id+"/hotspots", "")
		s.add("admin", "DELETE", "/v1/keys/"+id, "")
	}
}

// devices bring two hotspots to life. A device is named by its hotspot: {h5}
// also stands for whoever has the key that the last link to it gave.
func (s *steps) devices() {
	here := func(n int) string {
		return fmt.Sprintf(`{"lat":40.%04d,"lng":-74,"accuracy_m":3.5,"method":"gps é"}`, 7000+n)
	}
	for _, body := range []string{here(500), `{"lat":1}`, `{"lat":1,"lng":2,"accuracy_m":1e4,"method":"\u0000"}`, here(5), here(500)} {
		s.add("staff", "POST", "/v1/hotspots/{h5}/verification", body)
		s.add("alice", "POST", "/v1/hotspots/{h5}/verification", body)
	}
	s.add("staff", "POST", "/v1/hotspots/{h6}/verification", here(6))
	s.add("staff", "POST", "/v1/hotspots/{h3}/verification", here(3)) // which is deleted
	for _, hotspot := range []string{"{h5}", "{h6}", "{h3}", "hs_", "%00"} {
		s.add("bob", "POST", "/v1/hotspots/"+hotspot+"/link-code", "")
		s.add("alice", "POST", "/v1/hotspots/"+hotspot+"/link-code", "") // {code}
		for _, body := range []string{
			`{"code":"{code}","mac_address":"02:00:5e:00:00:01"}`, `{"code":"{code}","mac_address":"\u0000"}`, `{"code":"\u0000","mac_address":""}`,
			`{"code":"{code}","mac_address":"02-00-5E-00-00-05"}`, `{"code":"{code}","mac_address":"02005e000006"}`, `{"code":"{code}","mac_address":"02005e000006"}`, `{"code":1}`,
		} {
			s.add("nobody", "POST", "/v1/devices/link", body)
		}
	}
	for _, who := range []string{"{h5}", "{h6}", "alice", "nobody"} {
		for _, hotspot := range []string{"{h5}", "{h6}", "{h7}"} {
			for _, seq := range []int{1, 1, 2} {
				s.add(who, "POST", "/v1/hotspots/"+hotspot+"/heartbeats", fmt.Sprintf(
					`{"boot_id":"a","seq":%d,"clients":%d,"rx_bytes":%d,"tx_bytes":0,"rssi_dbm":-60,"speedtest":{"down_mbps":70.5,"up_mbps":7,"latency_ms":9.9}}`, seq, seq, seq*1e9))
			}
			s.add(who, "POST", "/v1/hotspots/"+hotspot+"/heartbeats", `{"boot_id":"","seq":1e99,"x":[]}`)
			s.add(who, "GET", "/v1/hotspots/"+hotspot, "")
			s.add(who, "GET", "/v1/hotspots/"+hotspot+"/history?from=2026-11-15T11:00:00Z", "")
		}
		s.add(who, "GET", "/v1/hotspots/nearby?lat=40.7&lng=-74&radius=10000&limit=5", "")
	}
	s.add("alice", "PATCH", "/v1/hotspots/{h5}", `{"settings":{"operating_hours":{"timezone":"UTC","weekly":[]}}}`)
	s.add("reader", "GET", "/v1/hotspots/{h5}/history?step=2d", "")
	s.add("reader", "GET", "/v1/events?after=x", "")
	for range 2 {
		s.add("bob", "DELETE", "/v1/hotspots/{h5}/device", "")
		s.add("alice", "DELETE", "/v1/hotspots/{h5}/device", "")
		s.add("{h5}", "POST", "/v1/hotspots/{h5}/heartbeats", `{}`)
	}
	s.add("alice", "GET", "/v1/users/me/hotspots", "")
	s.add("staff", "GET", "/v1/hotspots?status=pending&verified=false", "")
}

// lists are asked for, and searched, before any hotspot has an uptime: that is looked
// after once in a while by the machine's clock.
func (s *steps) lists() {
	for _, who := range []string{"staff", "admin", "alice", "nobody"} {
		for _, query := range []string{
			"", "?status=pending&per_page=3", "?status=pending&per_page=3&page=2&order=newest", "?status=online", "?status=offline", "?verified=false", "?status=pending&verified=true",
			"?q=ORT", "?q=%C3%89", "?q=ort+5", "?q=%25", "?q=%00", "?q=%FF", "?q=", "?q=renamed&status=nope&order=x&verified=x", "?page=9223372036854775807",
		} {
			s.add(who, "GET", "/v1/hotspots"+query, "")
			s.add(who, "GET", "/v1/users/me/hotspots"+query, "")
			s.add(who, "GET", "/v1/users/{alice}/hotspots"+query, "")
		}
	}
}

// coverage is asked for while a device is online.
func (s *steps) coverage() {
	s.add("{h6}", "POST", "/v1/hotspots/{h6}/heartbeats", `{"boot_id":"a","seq":9,"clients":1,"rx_bytes":9000000000,"tx_bytes":0}`)
	for _, query := range []string{"", "&zoom=3", "&zoom=13.9", "&zoom=14", "&zoom=25", "&zoom=NaN"} {
		for _, sides := range []string{"north=40.71&south=40.70&east=-73.99&west=-74.01", "north=1&south=-1&east=-179&west=179", world, "north=1&south=2"} {
			s.add("reader", "GET", "/v1/coverage?"+sides+query, "")
			s.add("alice", "GET", "/v1/coverage?"+sides+query, "", "Accept", "application/geo+json")
		}
	}
	for _, body := range []string{
		`{"bounds":{"north":40.71,"south":40.70,"east":-73.99,"west":-74.01},"add":[{"lat":40.7007,"lng":-74,"radius_m":120}]}`, `{"bounds":{"north":1},"add":[{"lat":"x"}]}`,
	} {
		s.add("reader", "POST", "/v1/coverage/simulate", body)
	}
	for _, tile := range []string{"0/0/0.mvt", "12/1206/1539.mvt", "12/1206/1540.mvt", "23/0/0.mvt", "x/0/0.mvt"} { // clusters, whose ids are the same everywhere
		s.add("reader", "GET", "/v1/coverage/tiles/"+tile, "")
	}
	s.add("nobody", "GET", "/v1/coverage/tiles/0/0/0.mvt", "")
}

// rewards are asked for after two devices have beaten.
func (s *steps) rewards() {
	for _, who := range []string{"alice", "bob", "reader", "admin"} {
		for _, user := range []string{"me", "{alice}", "{bob}", "ME", "%00", "%FF", "usr_01kb3gzk00a1b2c3d4e5f6g7h8"} {
			for _, path := range []string{
				"", "?period=last", "?period=all", "?period=CURRENT", "/history", "/history?start_date=2026-02-30&page=0", "/history?page=9223372036854775807",
				"/history?start_date=1970-01-01&end_date=9999-12-31", "/history?end_date=1970-01-01", "/statements/2026-10", "/statements/2026-11", "/statements/2026-13", "/statements/%00",
			} {
				s.add(who, "GET", "/v1/users/"+user+"/rewards"+path, "")
			}
		}
		for _, hotspot := range []string{"{h5}", "{h6}", "{h7}", "{h3}", "{h8}", "hs_", "%00", "hs_01kb3gzk00e9x8q6s5t4v3w2y1"} {
			for _, query := range []string{"", "?date=2026-11-14", "?date=1970-01-01", "?date=2026-11-16", "?date=%00"} {
				s.add(who, "GET", "/v1/hotspots/"+hotspot+"/rewards/explain"+query, "")
			}
		}
	}
	for _, path := range []string{"/v1/users/me/rewards", "/v1/users/me/rewards/history", "/v1/users/me/rewards/days", "/v1/hotspots/{h5}/rewards/explain", "/v1/users/me/rewards/statements/2026-10"} {
		s.add("alice", "GET", path, "", "Accept", "text/csv")
		s.add("alice", "HEAD", path, "")
	}
}

func (s *steps) keys() {
	for _, body := range []string{
		`{"scopes":["hotspots:write"],"name":"ci é"}`, `{"scopes":[],"user_id":"{bob}","expires_at":"2026-11-16T00:00:00.123456789Z"}`, `{"scopes":["admin"]}`, // {k0} to {k2}
		`{"scopes":["nope"]}`, `{}`, `{"scopes":[],"name":"\u0000"}`, `{"scopes":[],"expires_at":"1969-01-01T00:00:00Z"}`,
	} {
		s.add("admin", "POST", "/v1/keys", body)
		s.add("reader", "POST", "/v1/keys", body)
	}
	for _, path := range []string{"/v1/keys/{k0}", "/v1/keys/{k0}", "/v1/keys/{k1}"} {
		s.add("admin", "DELETE", path, "")
		s.add("admin", "GET", "/v1/keys", "")
	}
}

// The two stores cannot be told apart: the same script gives the same answers
// byte for byte, but for ids and keys; and the same records.
func TestStores_AnswerAlike(t *testing.T) {
	t.Parallel()
	transcripts := map[string][]string{}
	for name, open := range stores {
		transcripts[name] = perform(t, start(t, open(t), alive))
	}
	if n := len(transcripts["sqlite"]); n < 200 {
		t.Fatalf("the script has %d lines", n)
	}
	if diff := cmp.Diff(transcripts["sqlite"], transcripts["postgres"]); diff != "" {
		t.Errorf("SQLite (-) and PostgreSQL (+) answer differently:\n%s", diff)
	}
	all := strings.Join(transcripts["sqlite"], "\n")
	for _, status := range []int{200, 201, 204, 400, 401, 403, 404, 405, 409} {
		if !strings.Contains(all, fmt.Sprintf(" %d ", status)) {
			t.Errorf("nothing in the script is answered with %d", status)
		}
	}
	if strings.Contains(all, " 500 ") {
		t.Errorf("something in the script is answered with 500")
	}
}

// perform plays the script and writes down what comes back.
func perform(t *testing.T, s *server) []string {
	t.Helper()
	cast := map[string]client{"nobody": {server: s, plain: "bcn_nobody"}}
	mask := masker{}
	for _, name := range []string{"alice", "bob", "reader", "admin", "staff"} {
		s.advance(time.Second) // ids and keys are in the order of their times
		scopes := map[string][]string{"alice": {"hotspots:write", "rewards:read"}, "bob": {"hotspots:write", "rewards:read"}, "admin": {"admin"}, "staff": {"hotspots:verify"}}[name]
		cast[name] = s.anyone(t, scopes...)
		mask.text(string(cast[name].user) + " " + string(cast[name].key))
	}
	names := map[string]string{"{alice}": string(cast["alice"].user), "{bob}": string(cast["bob"].user)}
	var transcript []string
	counts := map[string]int{}
	for _, step := range script() {
		s.advance(time.Second)
		replace := func(text string) string {
			for name, id := range names {
				text = strings.ReplaceAll(text, name, id)
			}
			return text
		}
		a := cast[step.who].do(t, step.method, replace(step.path), replace(step.body), step.header...)
		transcript = append(transcript, mask.answer(step, a))
		switch {
		case a.StatusCode == http.StatusCreated && a.Header.Get("Idempotency-Replayed") == "":
			names[fmt.Sprintf("{h%d}", counts["h"])] = data[hotspot](t, a, http.StatusCreated).ID
			counts["h"]++
		case strings.HasSuffix(step.path, "/link-code") && a.StatusCode == http.StatusOK:
			names["{code}"] = data[linkCode](t, a, http.StatusOK).Code
		case step.path == "/v1/devices/link" && a.StatusCode == http.StatusOK:
			done := data[linked](t, a, http.StatusOK)
			for name, id := range names {
				if id == done.HotspotID {
					cast[name] = client{server: s, plain: done.DeviceKey}
				}
			}
		case step.path == "/v1/keys" && step.method == "POST" && a.StatusCode == http.StatusOK:
			names[fmt.Sprintf("{k%d}", counts["k"])] = data[apiKey](t, a, http.StatusOK).ID
			counts["k"]++
		}
	}
	for _, c := range s.changes(t) {
		c.Node = "" // each database has nodes of its own
		transcript = append(transcript, mask.text(fmt.Sprintf("%+v", c)))
	}
	return transcript
}

// masker names ids by the order in which they first appear: two runs then look
// alike only where the same thing stands in the same place.
type masker map[string]string

var anyName = regexp.MustCompile(`\bbcn_[0-7][0-9a-hjkmnp-tv-z]{25}_[0-9A-Za-z]{36}\b|\b(hs|usr|req|key)_[0-7][0-9a-hjkmnp-tv-z]{25}\b`)

func (m masker) text(text string) string {
	return anyName.ReplaceAllStringFunc(text, func(name string) string {
		kind, _, _ := strings.Cut(name, "_")
		if kind == "bcn" {
			return "bcn_…"
		}
		if m[name] == "" {
			m[name] = fmt.Sprintf("%s_#%d", kind, len(m))
		}
		return m[name]
	})
}

// lastUse is written once a minute of the machine's clock, so it depends on how long a
// run takes, and with it the length of the body.
var lastUse = regexp.MustCompile(`"last_used_at":(null|"[^"]*")`)

// anyCursor names an item, whose id is another in each run.
var anyCursor = regexp.MustCompile(`"next":"[^"]*"`)

func (m masker) answer(s step, a answer) string {
	used := lastUse.Match(a.body)
	out := fmt.Sprintf("%s %s %s %s: %d ", s.who, s.method, s.path, s.body, a.StatusCode)
	for _, name := range slices.Sorted(maps.Keys(a.Header)) {
		if name != "Date" && (name != "Content-Length" || !used) {
			out += fmt.Sprintf("%s: %q ", name, a.Header[name])
		}
	}
	out = anyCode.ReplaceAllString(out+string(a.body), `"code":"…"`)
	out = anyCursor.ReplaceAllString(out, `"next":"…"`)
	return m.text(lastUse.ReplaceAllString(out, `"last_used_at":"…"`))
}
