package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Decision N7: a body is one JSON object, and nothing looser. (Whatever is
// wrong with it, the answer is the same for every endpoint that takes one.)
func TestBody(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.anyone(t, "hotspots:write", "keys:manage")
		hotspot := "/v1/hotspots/" + c.register(t, 1).ID
		deep := func(levels int) string {
			return strings.Repeat(`{"a":`, levels-1) + `{}` + strings.Repeat(`}`, levels-1)
		}
		for _, tc := range []struct{ body, field string }{
			{"", ""},
			{" ", ""},
			{"null", ""},
			{"[]", ""},
			{`"x"`, ""},
			{"7", ""},
			{"true", ""},
			{"[{}]", ""},
			{"{", ""},
			{"{}garbage", ""},
			{"{} {}", ""},
			{"{}\x00", ""},
			{"{},", ""},
			{`{"a":1,}`, ""},
			{"{'a':1}", ""},
			{"{a:1}", ""},
			{"/**/{}", ""},
			{"\ufeff{}", ""},
			{"\xff\xfe{\x00}\x00", ""},
			{`{"name":NaN}`, "name"},
			{`{"name":01}`, ""},
			{`{"name":"abc","name":"abc"}`, "name"},
			{`{"name":"abc","n\u0061me":"abd"}`, "name"},
			{`{"settings":{"max_connections":1,"max_connections":2}}`, "settings.max_connections"},
			{`{"name":"a\ud800bc"}`, "name"},
			{`{"name":"\udc00\ud800"}`, "name"},
			{"{\"name\":\"a\xffbc\"}", "name"},
			{"{\"name\":\"a\nbc\"}", "name"},
			{`{"name":"abc`, "name"},
			{`{"name":tru}`, "name"},
			{deep(17), strings.TrimSuffix(strings.Repeat("a.", 16), ".")},
			{`{"name":` + strings.Repeat("[", 10_000), "name" + strings.Repeat("[0]", 15)},
			{deep(16), "a"}, // deep enough to be read, and then unknown
		} {
			for _, a := range []answer{c.post(t, "/v1/hotspots", tc.body), c.patch(t, hotspot, tc.body), c.post(t, "/v1/keys", tc.body)} {
				if a.StatusCode != http.StatusBadRequest {
					t.Errorf("%.60q: %s", tc.body, a)
					continue
				}
				got := decode[failure](t, a).Error
				if got.Code != "invalid_request" || got.Message == "" {
					t.Errorf("%.60q: %s", tc.body, a)
				}
				if tc.field == "" && len(got.Details) != 0 || tc.field != "" && (len(got.Details) == 0 || got.Details[0].Field != tc.field) {
					t.Errorf("%.60q: %s; want the field %q named", tc.body, a, tc.field)
				}
			}
		}
		if read := c.get(t, hotspot); read.Header.Get("ETag") != `"v1"` {
			t.Errorf("something was changed: %s", read)
		}
	})
}

// 64 KiB fit, one byte more does not, and it is not read to its end.
func TestBody_Size(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.anyone(t, "hotspots:write", "keys:manage")
		padded := func(n, size int) string {
			body := registration(n)
			return body + strings.Repeat(" ", size-len(body))
		}
		c.post(t, "/v1/hotspots", padded(1, 65536)).want(t, http.StatusCreated)
		hotspot := "/v1/hotspots/" + c.register(t, 2).ID
		for _, a := range []answer{
			c.post(t, "/v1/hotspots", padded(3, 65537)),
			c.post(t, "/v1/hotspots", padded(3, 1_000_000)),
			c.patch(t, hotspot, strings.Repeat("[", 65537)),
			c.post(t, "/v1/keys", padded(3, 65537)),
		} {
			wantFault(t, a, http.StatusRequestEntityTooLarge, "payload_too_large")
			if !a.Close {
				t.Errorf("%s keeps the connection, and would have to read the rest", a)
			}
		}
	})
}

// A body full of mistakes gets a short answer, which says how many there are.
func TestBody_ManyFaults(t *testing.T) {
	c := onSQLite(t, options{}).operator(t)
	var members strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&members, `"f%d":1,`, i)
	}
	for _, body := range []string{
		`{` + members.String() + `"name":"x"}`,
		`{"settings":{"operating_hours":{"timezone":"UTC","weekly":[` + strings.Repeat("1,", 30_000) + `1]}}}`,
	} {
		a := c.post(t, "/v1/hotspots", body)
		got := decode[failure](t, a).Error
		if a.StatusCode != http.StatusBadRequest || got.Code != "invalid_request" || len(got.Details) != 100 || !strings.Contains(got.Message, "the first 100 are listed") {
			t.Errorf("%d faults are listed: %.300s", len(got.Details), a)
		}
		if len(a.body) > 20_000 {
			t.Errorf("the answer has %d bytes", len(a.body))
		}
	}
}

func TestBody_ContentType(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		hotspot := "/v1/hotspots/" + c.register(t, 1).ID
		for _, good := range []string{
			"application/json", "Application/JSON", "application/json; charset=utf-8", "application/json;charset=UTF-8", " application/json ",
		} {
			c.patch(t, hotspot, `{}`, "Content-Type", good).want(t, http.StatusOK)
		}
		for _, bad := range []string{
			absent, "", "text/plain", "application/x-www-form-urlencoded", "application/json-patch+json", "application/jsonx", "json",
			"application/json, text/plain", "*/*", "application/json; charset", ";",
		} {
			wantFault(t, c.patch(t, hotspot, `{}`, "Content-Type", bad), http.StatusUnsupportedMediaType, "unsupported_media_type")
			wantFault(t, c.post(t, "/v1/hotspots", registration(2), "Content-Type", bad), http.StatusUnsupportedMediaType, "unsupported_media_type")
		}
		wantFault(t, c.patch(t, hotspot, `{}`, "Content-Encoding", "gzip"), http.StatusUnsupportedMediaType, "unsupported_media_type")
	})
}

// A client that does not send its body in time, or not to its end, may still be
// connected, and gets a response: 499 is for clients that left (decision D99). Repeating
// the request may help the first, but not the second.
func TestBody_Unfinished(t *testing.T) {
	s := onSQLite(t, alive)
	m := s.operator(t).install(t, 1)
	// Only what never arrives is sent to the server that waits for so little.
	hasty := start(t, s.db, options{limits: ample, telemetry: atOnce{}, arrival: 200 * time.Millisecond})
	for path, key := range map[string]string{
		"/v1/hotspots": s.operator(t).plain, m.hotspot + "/heartbeats": m.plain, "/v1/devices/link": "",
	} {
		head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{", path, key)
		wantUnfinished(t, hasty, head, http.StatusRequestTimeout, `"code":"request_timeout","message":"the body did not arrive in time"`)
		wantUnfinished(t, s, head, http.StatusBadRequest, `"code":"invalid_request","message":"the body could not be read to its end"`)
	}
}

// wantUnfinished sends the beginning of a request and then nothing, or, for 400, the end
// of all.
func wantUnfinished(t *testing.T, s *server, begins string, status int, fault string) {
	t.Helper()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, begins)
	ends := status == http.StatusBadRequest
	if ends {
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status || !resp.Close && !ends || !strings.Contains(string(body), fault) || (resp.Header.Get("Retry-After") == "1") == ends {
		t.Errorf("%.40q: %s, close %t, %v: %s %v; want %d %s", begins, resp.Status, resp.Close, resp.Header, body, err, status, fault)
	}
}
