package api_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

type taken struct {
	Status  string `json:"status"`
	NextInS int    `json:"next_in_s"`
	Counted *bool  `json:"counted"`
	Reason  string `json:"reason"`
}

// beat is the body of a heartbeat: the seq-th of one boot.
func beat(seq int) string {
	return at(`{"boot_id":"boot-1","seq":%d,"clients":4,"rx_bytes":%d,"tx_bytes":0}`, seq, seq*1000)
}

func TestHeartbeat(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.operator(t)
		m := c.install(t, 1)
		status := func(want string) {
			t.Helper()
			if got := data[hotspot](t, c.get(t, m.hotspot), http.StatusOK).Status; got != want {
				t.Errorf("the hotspot is %s; want %s", got, want)
			}
		}
		wantEqual(t, "before it is verified", data[taken](t, m.beat(t, beat(1)), http.StatusOK), taken{Status: "pending", NextInS: 60})
		status("pending")
		s.verify(t, m.hotspot)
		wantEqual(t, "a beat that comes again", data[taken](t, m.beat(t, beat(1)), http.StatusOK), taken{"online", 60, new(bool), "repeated"})
		s.advance(30 * time.Second)
		wantEqual(t, "a beat", data[taken](t, m.beat(t, beat(2)), http.StatusOK), taken{Status: "online", NextInS: 60})
		status("online")
		s.advance(240 * time.Second)
		status("online")
		s.advance(time.Millisecond)
		status("offline") // decision N15: by the clock alone
		wantEqual(t, "back again", data[taken](t, m.beat(t, beat(3)), http.StatusOK), taken{Status: "online", NextInS: 60})
		status("online")
		c.delete(t, m.hotspot+"/device").want(t, http.StatusNoContent)
		status("pending")
	})
}

// A device that lost its key is linked again, and its hotspot keeps its uptime. The time
// in which none was linked does not count.
func TestHeartbeat_UptimeOfALinkedAgain(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.operator(t)
		m := c.install(t, 1)
		s.verify(t, m.hotspot)
		uptime := func(when string, served, expected int) {
			t.Helper()
			got := data[hotspot](t, c.get(t, m.hotspot), http.StatusOK)
			if want := api.ShareOf(served, expected); fmt.Sprint(got.Metrics["uptime_30d"]) != want {
				t.Errorf("%s: uptime_30d is %v; want %s", when, got.Metrics["uptime_30d"], want)
			}
		}
		link := func() {
			t.Helper()
			m.plain = data[linked](t, c.tryLink(t, c.newCode(t, m.hotspot), mac(1)), http.StatusOK).DeviceKey
		}
		m.beat(t, beat(1)).want(t, http.StatusOK)
		s.advance(10 * time.Minute)
		uptime("before", 4, 11)
		link()
		uptime("linked again", 4, 11)
		m.beat(t, beat(2)).want(t, http.StatusOK)
		s.advance(9 * time.Minute)
		uptime("after its first heartbeat", 8, 20)
		c.delete(t, m.hotspot+"/device").want(t, http.StatusNoContent)
		uptime("unlinked", 0, 1)
		s.advance(2 * time.Hour)
		link()
		m.beat(t, beat(3)).want(t, http.StatusOK)
		uptime("linked after two hours", 9, 20) // it was unlinked when the last minute began
	})
}

// A beat that does not count says so, and its operator and staff can see that; nobody
// else can.
func TestHeartbeat_Uncounted(t *testing.T) {
	level.Repeats(t)
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.operator(t)
		m := c.install(t, 1)
		shown := func(c client) any {
			return data[hotspot](t, c.get(t, m.hotspot), http.StatusOK).Metrics["last_uncounted"]
		}
		m.beat(t, beat(1)).want(t, http.StatusOK)
		if got := shown(c); got != nil {
			t.Errorf("before, %v did not count", got)
		}
		s.advance(90 * time.Second)
		wantEqual(t, "a repeated beat", data[taken](t, m.beat(t, beat(1)), http.StatusOK), taken{"pending", 60, new(bool), "repeated"})
		want := map[string]any{"at": "2026-11-15T12:01:00.000Z", "reason": "repeated"}
		for who, c := range map[string]client{"its operator": c, "staff": s.anyone(t, "hotspots:verify")} {
			if diff := cmp.Diff(any(want), shown(c)); diff != "" {
				t.Errorf("%s sees (-want +got):\n%s", who, diff)
			}
		}
		if got := shown(s.operator(t)); got != nil {
			t.Errorf("others see %v", got)
		}
		for n := range 2048 {
			m.beat(t, at(`{"boot_id":"loop-%d","seq":1,"clients":4,"rx_bytes":1,"tx_bytes":0}`, n))
		}
		wantEqual(t, "too many boots", data[taken](t, m.beat(t, `{"boot_id":"new","seq":1,"clients":4,"rx_bytes":1,"tx_bytes":0}`), http.StatusOK),
			taken{"pending", 60, new(bool), "too_many_boots"})
		wantEqual(t, "a known boot", data[taken](t, m.beat(t, beat(2)), http.StatusOK), taken{Status: "pending", NextInS: 60})
		wantFault(t, m.beat(t, `{"boot_id":"b","seq":9007199254740992,"clients":1,"rx_bytes":1,"tx_bytes":1}`), http.StatusBadRequest, "invalid_request", "seq")
	})
}

// Counters that are lower than before inside a boot are noticed, unless the device says
// why: its response has a warning, and its operator and staff can see it.
func TestHeartbeat_CountersFell(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.operator(t)
		m := c.install(t, 1)
		shown := func(c client) any {
			return data[hotspot](t, c.get(t, m.hotspot), http.StatusOK).Metrics["counters_fell_at"]
		}
		for i, test := range []struct {
			body, warning string
			at            any
		}{
			{`"boot_id":"a","seq":1,"rx_bytes":5000000000`, "", nil},
			{`"boot_id":"a","seq":2,"rx_bytes":5000000000`, "", nil},
			{`"boot_id":"b","seq":3,"rx_bytes":1`, "", nil},
			{`"boot_id":"b","counter_epoch":"2","seq":4,"rx_bytes":0`, "", nil},
			{`"boot_id":"c","counter_bits":32,"seq":5,"rx_bytes":4294967295`, "", nil},
			{`"boot_id":"c","counter_bits":32,"seq":6,"rx_bytes":7`, "", nil},
			{`"boot_id":"a","seq":7,"rx_bytes":4000000000`, "counters_fell", "2026-11-15T12:07:00.000Z"},
			{`"boot_id":"a","seq":8,"rx_bytes":4000000001`, "", "2026-11-15T12:07:00.000Z"},
			{`"boot_id":"a","seq":1000,"rx_bytes":4000000002`, "", "2026-11-15T12:07:00.000Z"},
			{`"boot_id":"a","seq":2,"rx_bytes":5`, "counters_fell", "2026-11-15T12:10:00.000Z"}, // both started again
		} {
			s.advance(time.Minute)
			got := data[map[string]any](t, m.beat(t, `{`+test.body+`,"tx_bytes":0,"clients":1}`), http.StatusOK)
			if warning, _ := got["warning"].(string); warning != test.warning || shown(c) != test.at {
				t.Errorf("beat %d, %s: the warning is %q, and the operator sees %v; want %q and %v", i, test.body, warning, shown(c), test.warning, test.at)
			}
		}
		wantEqual(t, "to staff", shown(s.anyone(t, "hotspots:verify")), any("2026-11-15T12:10:00.000Z"))
		wantEqual(t, "to others", shown(s.operator(t)), any(nil))
	})
}

// Every fault of a body is told, all of them at once, whichever way it is read.
func TestHeartbeat_Faults(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		m := s.operator(t).install(t, 1)
		for body, fields := range map[string]string{
			`{}`:                      "boot_id seq clients rx_bytes tx_bytes",
			`{"boot_id":"b","seq":1}`: "clients rx_bytes tx_bytes",
			`{"boot_id":"b","seq":1,"clients":1,"rx_bytes":1,"tx_bytes":1,"speedtest":{}}`: "speedtest.down_mbps speedtest.up_mbps speedtest.latency_ms",
		} {
			wantFault(t, m.beat(t, body), http.StatusBadRequest, "missing_parameter", strings.Fields(fields)...)
		}
		good := `"boot_id":"b","seq":1,"clients":1,"rx_bytes":1,"tx_bytes":1`
		for body, fields := range map[string]string{
			`{"boot_id":"","seq":-1,"clients":1.5,"rx_bytes":"1","tx_bytes":null,"rssi_dbm":1,"speedtest":[],"id":1}`: "boot_id seq clients rx_bytes tx_bytes rssi_dbm speedtest",
			`{` + good + `,"seq":1}`:                                                     "seq",
			`{` + good + `,"\u0073eq":1}`:                                                "seq",
			`{` + good + `,"rssi_dbm":1e999}`:                                            "rssi_dbm",
			`{` + good + `,"rssi_dbm":null}`:                                             "rssi_dbm",
			`{` + good + `,"speedtest":{"down_mbps":1,"up_mbps":1,"latency_ms":0}}`:      "speedtest.latency_ms",
			`{` + strings.Replace(good, `"b"`, `"a b"`, 1) + `}`:                         "boot_id",
			`{` + strings.Replace(good, `"b"`, `"`+strings.Repeat("x", 65)+`"`, 1) + `}`: "boot_id",
			`{` + strings.Replace(good, `"seq":1`, `"seq":9007199254740994`, 1) + `}`:    "seq",
			`{` + strings.Replace(good, `"clients":1`, `"clients":10001`, 1) + `}`:       "clients",
			`[` + good + `]`: "", `{` + good + `}{}`: "", `{` + good: "", `garbage`: "", `null`: "", `{"boot_id":01}`: "", `{` + good + `,}`: "", "{\"\xff\":1}": "",
			strings.Repeat(`{"a":`, 20) + `1` + strings.Repeat("}", 20): "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a",
		} {
			wantFault(t, m.beat(t, body), http.StatusBadRequest, "invalid_request", strings.Fields(fields)...)
		}
		for _, kind := range []string{"text/plain", "application/jsonp", absent, "application/json; charset"} {
			wantFault(t, m.beat(t, `{`+good+`}`, "Content-Type", kind), http.StatusUnsupportedMediaType, "unsupported_media_type")
		}
		wantFault(t, m.beat(t, `{`+good+`}`, "Content-Encoding", "gzip"), http.StatusUnsupportedMediaType, "unsupported_media_type")
		wantFault(t, m.beat(t, strings.Repeat(" ", 1<<16)+`{`+good+`}`), http.StatusRequestEntityTooLarge, "payload_too_large")
	})
}

// A field that the server does not know is ignored, and the response says so: a device
// may be newer than the server. All responses say what the server knows.
func TestHeartbeat_Ignored(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		type answer struct {
			Status  string         `json:"status"`
			Accepts map[string]int `json:"accepts"`
			Ignored []string       `json:"ignored"`
		}
		c := s.operator(t)
		m := c.install(t, 1)
		before := s.api.Hotspots.FieldsIgnored()
		for n, test := range []struct {
			more string // of the beat
			want []string
		}{
			{"", nil},
			{`,"status":"online"`, []string{"status"}},
			{`,"uptime":{"a":[1,{}],"b":null},"é\u000a\"":1,"speedtest":{"down_mbps":1,"up_mbps":1,"latency_ms":1,"x":{}}`, []string{"speedtest.x", "uptime", "é\n\""}},
			{`,"` + strings.Repeat("é", 33) + `":1`, []string{strings.Repeat("é", 32)}},
			{`,"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1`, strings.Split("abcdefghij", "")},
		} {
			body := strings.TrimSuffix(beat(n), "}") + test.more + "}"
			got := data[answer](t, m.beat(t, body), http.StatusOK)
			if diff := cmp.Diff(test.want, got.Ignored); diff != "" {
				t.Errorf("%s: ignored (-want +got):\n%s", body, diff)
			}
			if got.Accepts["boot_id"] != 1 || got.Accepts["speedtest"] != 1 || got.Accepts["status"] != 0 {
				t.Errorf("%s: it accepts %v", body, got.Accepts)
			}
		}
		if n := s.api.Hotspots.FieldsIgnored() - before; n != 1+3+1+11 {
			t.Errorf("%d fields were counted", n)
		}
		again := data[answer](t, m.beat(t, strings.TrimSuffix(beat(1), "}")+`,"x":1}`), http.StatusOK)
		if diff := cmp.Diff([]string{"x"}, again.Ignored); diff != "" {
			t.Errorf("of a repeated beat: ignored (-want +got):\n%s", diff)
		}
		wantFault(t, m.beat(t, strings.TrimSuffix(beat(9), "}")+`,"x":1,"rssi_dbm":"1"}`), http.StatusBadRequest, "invalid_request", "rssi_dbm")
	})
}

// Every spelling of a good beat is taken.
func TestHeartbeat_Spellings(t *testing.T) {
	s := onSQLite(t, alive)
	m := s.operator(t).install(t, 1)
	s.verify(t, m.hotspot)
	for i, body := range []string{
		"{\n\t\"seq\" : 7 , \"boot_id\"\r\n:\"x\",\"clients\":0,\"rx_bytes\":0.0,\"tx_bytes\":-0}",
		`{"seq":1e0,"boot_id":"\u0078","clients":1E+1,"rx_bytes":9007199254740992,"tx_bytes":9007199254740992}`,
		`{"seq":1,"boot_id":"x","clients":1,"rx_bytes":1,"tx_bytes":1,"rssi_dbm":-70.25,"speedtest":{"latency_ms":1e-300,"up_mbps":0.125,"down_mbps":100000}}`,
		strings.Repeat(" ", 2000) + beat(1) + strings.Repeat("\n", 2000),
		beat(2), beat(3),
	} {
		header := []string{"Content-Type", []string{"application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"}[i%3]}
		wantEqual(t, body, data[taken](t, m.beat(t, body, header...), http.StatusOK), taken{Status: "online", NextInS: 60})
	}
	// In pieces, without a length.
	request, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+m.hotspot+"/heartbeats", io.MultiReader(strings.NewReader(beat(4)[:20]), strings.NewReader(beat(4)[20:])))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+m.plain)
	request.Header.Set("Content-Type", "application/json")
	response, err := s.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("in pieces: %s", response.Status)
	}
}

// A path in another spelling is the same path, or none.
func TestHeartbeat_Paths(t *testing.T) {
	s := onSQLite(t, alive)
	m := s.operator(t).install(t, 1)
	escaped := strings.Replace(m.hotspot, "hs_", "%68s_", 1)
	data[taken](t, m.post(t, escaped+"/heartbeats", beat(1)), http.StatusOK)
	wantFault(t, m.post(t, m.hotspot+"/heartbeats/", beat(1)), http.StatusNotFound, "not_found")
	wantFault(t, m.post(t, "/v1/hotspots/hs_01kb3gzk00/9x8q6s5t4v3w2y1/heartbeats", beat(1)), http.StatusNotFound, "not_found")
	wantFault(t, m.post(t, m.hotspot+"%2Fheartbeats", beat(1)), http.StatusMethodNotAllowed, "method_not_allowed") // %2F is no slash
	a := m.get(t, m.hotspot+"/heartbeats")
	wantFault(t, a, http.StatusMethodNotAllowed, "method_not_allowed")
	if a.Header.Get("Allow") != "POST" {
		t.Errorf("%s: Allow %q", a, a.Header.Get("Allow"))
	}
}

// A body that ends before its time is a fault of the client's, and no beat.
func TestHeartbeat_CutOff(t *testing.T) {
	s := onSQLite(t, alive)
	m := s.operator(t).install(t, 1)
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s/heartbeats HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n%s", m.hotspot, m.plain, beat(1))
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil {
		response.Body.Close()
	}
	if err == nil && response.StatusCode == http.StatusOK {
		t.Errorf("half a beat is answered with %s", response.Status)
	}
}

// What another beat left in memory does not complete one that was cut off.
func TestHeartbeat_CutOffAfterAnother(t *testing.T) {
	read := api.BeatReader()
	whole := beat(7)
	if _, err := read(whole, len(whole)); err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(whole); n++ {
		got, err := read(whole[:n], len(whole))
		if e, ok := errors.AsType[*beacon.Error](err); !ok || e.Kind != beacon.InvalidRequest || !strings.Contains(e.Message, "to its end") {
			t.Fatalf("%q is read as %+v, %v", whole[:n], got, err)
		}
	}
}

// When a beat cannot be taken, the device hears when to come back, and the log
// is not flooded.
func TestHeartbeat_Refused(t *testing.T) {
	away := &beacon.Error{Kind: beacon.Overloaded, Message: "the beat could not be stored; try again", RetryAfter: 15 * time.Second, Err: errors.New(secret)}
	s := onSQLite(t, options{limits: ample, telemetry: faulty{err: away}})
	m := s.operator(t).install(t, 1)
	for range 200 {
		a := m.beat(t, beat(1))
		wantFault(t, a, http.StatusServiceUnavailable, "overloaded")
		if a.Header.Get("Retry-After") != "15" || bytes.Contains(a.body, []byte("hunter2")) {
			t.Fatalf("%s: Retry-After %q", a, a.Header.Get("Retry-After"))
		}
	}
	if n := strings.Count(s.log.String(), "heartbeats cannot be taken"); n < 1 || n > 30 {
		t.Errorf("200 refusals make %d lines in the log", n)
	}

	broken := onSQLite(t, options{limits: ample, telemetry: faulty{err: errors.New(secret)}})
	a := broken.operator(t).install(t, 1).beat(t, beat(1))
	wantFault(t, a, http.StatusInternalServerError, "internal_error")
	if !loggedUnder(broken.log.String(), a.Header.Get("X-Request-Id"), secret) {
		t.Error("the log does not tell why")
	}
}

// beatMembers are pieces that bodies are made of, good and bad.
var beatMembers = []string{
	`"boot_id":"b"`, `"boot_id":"0b7c8d3e-6c2f-4a53"`, `"seq":1`, `"seq":0`, `"clients":3`, `"rx_bytes":123456789012`, `"tx_bytes":9007199254740992`, `"rssi_dbm":-61.5`,
	`"counter_epoch":"e"`, `"counter_epoch":7`, `"counter_bits":32`, `"counter_bits":64`, `"counter_bits":null`,
	`"speedtest":{"down_mbps":100.25,"up_mbps":10,"latency_ms":0.1}`, `"seq":1.0`, `"seq":-0`, `"seq":01`, `"seq":1e2`, `"seq":9007199254740993`, `"seq":12345678901234567890`,
	`"clients":-1`, `"clients":0.30000000000000004`, `"rssi_dbm":-0.1234567890123456789`, `"rssi_dbm":null`, `"boot_id":"\u0062"`, `"boot_id":"é"`, `"x":1`, `"seq":"1"`, `"seq":1.`, `"seq":.5`, `"seq":-`,
	`"speedtest":{}`, `"speedtest":{"latency_ms":1,"latency_ms":1}`, `"speedtest":null`, `"speedtest":{"x":{}}`, `"seq":1 2`, `"seq":+1`, `"seq":0x1`, `"rssi_dbm":-75.000000000000000001`,
}

var plainJSON = http.Header{"Content-Type": {"application/json"}}
