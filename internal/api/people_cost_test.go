package api_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// costs are what the two most frequent requests ask of a server: with a key, and nearby also
// with the session of a person. People is how many there are besides.
type costs struct{ nearby, beat, session func() }

func newCosts(t testing.TB, people int) costs {
	t.Helper()
	s := onSQLite(t, options{limits: ample, telemetry: atOnce{}})
	var session func()
	if people > 0 {
		ada := s.firstAdmin(t)
		for range people - 1 {
			ada.invited(t, "/v1/invitations", `{"account":"new"}`, "Ben").send(t, "GET", "/v1/people/me", "").want(t, http.StatusOK)
		}
		session = past(s, "GET", "/v1/hotspots/nearby", "", "Cookie", ada.cookie, "Sec-Fetch-Site", "same-origin")
	}
	c := s.anyone(t)
	s.populate(t, 75, grid(1000, 40.7001, -73.9999, 0.0001)...)
	return costs{nearbyWith(s, c), beatOf(s, s.operator(t).install(t, 1_000_000)), session}
}

func nearbyWith(s *server, c client) func() {
	return past(s, "GET", "/v1/hotspots/nearby", "", "Authorization", "Bearer "+c.plain)
}

func beatOf(s *server, m machine) func() {
	const body = `{"boot_id":"0b7c8d3e-6c2f-4a53-9a51-3a1d5a0f6f10","seq":4711,"clients":12,"rx_bytes":90120417,"tx_bytes":1204470512,"rssi_dbm":-61}`
	return past(s, "POST", m.hotspot+"/heartbeats", body, "Authorization", "Bearer "+m.plain, "Content-Type", "application/json")
}

// past returns a function that sends a request past the network. It panics on any answer but
// 200, so that nobody measures a refusal.
func past(s *server, method, path, body string, header ...string) func() {
	reader := strings.NewReader(body)
	target := &url.URL{Path: path}
	if method == http.MethodGet {
		target.RawQuery = "lat=40.7&lng=-74&radius=10000&status=all"
	}
	r := &http.Request{
		Method: method, URL: target, Host: strings.TrimPrefix(s.URL, "http://"), Header: http.Header{}, RemoteAddr: "192.0.2.1:1234",
		ContentLength: int64(len(body)), Body: io.NopCloser(reader),
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := &judged{bare: bare{header: http.Header{}}}
	id := []string{"req_01kb3gzk00f8m7n6p5q4r3s2t1"}
	return func() {
		clear(w.header)
		w.header["X-Request-Id"] = id
		reader.Reset(body)
		s.api.ServeHTTP(w, r)
	}
}

// judged is a writer of answers that takes none but good ones.
type judged struct{ bare }

func (j *judged) WriteHeader(status int) {
	if status != http.StatusOK {
		panic(status)
	}
}

// Requests with a key cost the same memory whether or not there are people; that of a person
// costs a little more than one with a key. Under the race detector, pools lose some on purpose.
func TestPeople_Allocations(t *testing.T) {
	without, with := newCosts(t, 0), newCosts(t, 20)
	count := func(ask func()) float64 { return testing.AllocsPerRun(1000, ask) }
	if before, now := count(without.nearby), count(with.nearby); now > before {
		t.Errorf("with people, nearby takes %v allocations; without %v", now, before)
	}
	if before, now := count(without.beat), count(with.beat); now > before {
		t.Errorf("with people, a heartbeat takes %v allocations; without %v", now, before)
	}
	if key, session := count(with.nearby), count(with.session); session > key+manyOfASession {
		t.Errorf("nearby takes %v allocations of a person, and %v with a key", session, key)
	}
}

// manyOfASession bounds how many more allocations a session takes than a key: its cookie is
// read, its text decoded and hashed, and a page of ours checked.
const manyOfASession = 8

// What people cost: nearby and a heartbeat with a key where there are 1,000 people, as a ratio
// to where there are none, and nearby by the session of a person, as a ratio to that with a
// key. In turns within one run; the fastest turn of each counts, since other programs only make
// a turn slower. BenchmarkPeople in test/bench measures whole servers.
func BenchmarkPeople(b *testing.B) {
	without, with := newCosts(b, 0), newCosts(b, 1000)
	kinds := []struct {
		name    string
		ask, to func()
	}{
		{"nearby", with.nearby, without.nearby},
		{"beat", with.beat, without.beat},
		{"session", with.session, with.nearby},
		{"again", without.nearby, without.nearby}, // what the machine alone does to a ratio
	}
	took := make([][2]time.Duration, len(kinds))
	const perTurn = 20
	for b.Loop() {
		for i, kind := range kinds {
			for k, ask := range []func(){kind.ask, kind.to} {
				began := time.Now()
				for range perTurn {
					ask()
				}
				if d := time.Since(began); took[i][k] == 0 || d < took[i][k] {
					took[i][k] = d
				}
			}
		}
	}
	for i, kind := range kinds {
		b.ReportMetric(float64(took[i][0])/float64(took[i][1]), kind.name+"-ratio")
	}
	b.ReportMetric(float64(took[2][0]-took[2][1])/perTurn, "session-more-ns")
}
