package preview_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

var paths = []string{
	"/api/v1/hotspots", "/api/v1/hotspots/7", "/api/v1/hotspots/79", "/api/v1/network/status", "/api/v1/unknown",
	"/api/v1", "/api/v1/", "/api/v1/hotspots/", "/api/v1//hotspots", "/nope", "/",
}

func wantCORS(t *testing.T, a answer) {
	t.Helper()
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":  "*",
		"Access-Control-Allow-Headers": "x-api-key, content-type",
		"Access-Control-Allow-Methods": "GET, OPTIONS",
		"X-Content-Type-Options":       "nosniff",
		"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'",
	} {
		if got := a.Header.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s %s answered %d with %s %q; want %q", a.Request.Method, a.Request.URL.Path, a.StatusCode, name, got, want)
		}
	}
}

// A preflight is answered on any path, without a key.
func TestOptions(t *testing.T) {
	s := start(t)
	for _, path := range paths {
		a := s.call(t, http.MethodOptions, path, "Origin", "https://app.example", "Access-Control-Request-Method", "GET",
			"Access-Control-Request-Headers", "x-api-key")
		if a.StatusCode != http.StatusNoContent || len(a.body) != 0 {
			t.Errorf("OPTIONS %s answered %d with %d bytes; want 204 without a body", path, a.StatusCode, len(a.body))
		}
		wantCORS(t, a)
	}
}

// OPTIONS * names no path at all; net/http would answer it by itself.
func TestOptions_Star(t *testing.T) {
	conn, err := net.Dial("tcp", start(t).Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "OPTIONS * HTTP/1.1\r\nHost: beacon\r\nConnection: close\r\n\r\n")
	var answer strings.Builder
	if _, err := conn.(*net.TCPConn).WriteTo(&answer); err != nil {
		t.Fatal(err)
	}
	if got := answer.String(); !strings.HasPrefix(got, "HTTP/1.1 204 ") || !strings.Contains(got, "Access-Control-Allow-Origin: *\r\n") {
		t.Errorf("OPTIONS * answered %s", got)
	}
}

// Any other method is refused on any path, before the key is looked at.
func TestMethodNotAllowed(t *testing.T) {
	s := start(t)
	for _, path := range paths {
		for _, method := range []string{"HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "get"} {
			for _, header := range [][]string{nil, {"x-api-key", demoKey}} {
				a := s.call(t, method, path, header...)
				if a.StatusCode != http.StatusMethodNotAllowed || a.Header.Get("Allow") != "GET, OPTIONS" {
					t.Errorf("%s %s answered %d, Allow %q", method, path, a.StatusCode, a.Header.Get("Allow"))
				}
				if want := `{"error":"Method not allowed"}` + "\n"; method != "HEAD" && string(a.body) != want {
					t.Errorf("%s %s answered %q; want %q", method, path, a.body, want)
				}
				wantCORS(t, a)
			}
		}
	}
}

// Decision P1: the whole value has the shape, and there is one of it.
func TestKey(t *testing.T) {
	s := start(t)
	long := strings.Repeat("a", 8000) // any length that fits into a header
	for _, good := range []string{
		"svc_test_abcdef", "svc_live_abcdef", "svc_test_ABC123", "svc_live_000000", "svc_test_" + long,
	} {
		if a := s.call(t, "GET", "/api/v1/hotspots", "x-api-key", good); a.StatusCode != http.StatusOK {
			t.Errorf("the key %q gives %d; want 200", good, a.StatusCode)
		}
	}
	for _, bad := range []string{
		"", "svc", "svc_test_", "svc_test_abcde", "svc_prod_abcdef", "SVC_test_abcdef", "svc_TEST_abcdef",
		"xxsvc_test_abcdef", "svc_test_abcdef!!", "svc_test_abc def", "svc_test_abcdef_", "svc-test-abcdef",
		"svc_test_abcdé", "svc_test_abcdef\tx", "svc_testabcdef", "Bearer svc_test_abcdef", "svc_test_" + long + "!",
		"bcn_01k9zzzzzzzzzzzzzzzzzzzzzz_0000000000000000000000000000000000",
	} {
		wantUnauthorized(t, s.call(t, "GET", "/api/v1/hotspots", "x-api-key", bad))
	}
	wantUnauthorized(t, s.call(t, "GET", "/api/v1/hotspots"))
	wantUnauthorized(t, s.call(t, "GET", "/api/v1/hotspots", "x-api-key", demoKey, "x-api-key", demoKey))
	wantUnauthorized(t, s.call(t, "GET", "/api/v1/hotspots", "Authorization", "Bearer "+demoKey))
	wantUnauthorized(t, s.call(t, "GET", "/api/v1/hotspots?x-api-key="+demoKey))
}

func wantUnauthorized(t *testing.T, a answer) {
	t.Helper()
	got := decode[failure](t, a, http.StatusUnauthorized)
	if got.Error != "Unauthorized" || got.Message == nil {
		t.Fatalf("a 401 says %s", a.body)
	}
	for _, word := range []string{"x-api-key", "svc_test_", "svc_live_", "invalid", "missing"} {
		if !strings.Contains(*got.Message, word) {
			t.Errorf("the 401 %q does not name %s", *got.Message, word)
		}
	}
	wantCORS(t, a)
}

// Decision P2: the key comes before the path, but only under this interface.
func TestOrderOfChecks(t *testing.T) {
	s := start(t)
	for _, path := range []string{
		"/api/v1", "/api/v1/", "/api/v1/unknown", "/api/v1/hotspots/79", "/api/v1/hotspots/", "/api/v1//hotspots",
		"/api/v1/hotspots/7/", "/api/v1/hotspots%2f7", "/api/v1%2Fhotspots/7", "/api/v1/network%2Fstatus", "/api/v1/network", "/api/v1/network/status/", "/api/v1/images/999.svg", "/api/v1/openapi.xml",
	} {
		wantUnauthorized(t, s.call(t, "GET", path))
		a := s.get(t, path)
		if got := decode[failure](t, a, http.StatusNotFound); got.Error != "Not found" || got.Message == nil {
			t.Errorf("GET %s answered %s", path, a.body)
		}
		wantCORS(t, a)
	}
	for _, path := range []string{"/nope", "/", "/api", "/api/", "/api/v10/hotspots", "/api/v1hotspots", "/metrics"} {
		wantCORS(t, s.call(t, "GET", path))
		decode[failure](t, s.call(t, "GET", path), http.StatusNotFound)
	}
}

// Decision P5: only the plain decimal numbers 1 to 78 name a record, and the
// message names what was asked for.
func TestHotspot_UnknownID(t *testing.T) {
	s := start(t)
	for path, named := range map[string]string{
		"0": "0", "79": "79", "-1": "-1", "007": "007", "01": "01", "1.0": "1.0", "+1": "+1", "1e1": "1e1", "abc": "abc",
		"%31%2F2": "1/2", "%EF%BC%91": "１", "1%20": "1 ", "%3Cb%3E": "<b>", "hs_%2e%2e": "hs_..",
		"9223372036854775808": "9223372036854775808", "%FF": "\uFFFD", "nearby": "nearby",
		strings.Repeat("9", 5000): strings.Repeat("9", 64) + "…",
		strings.Repeat("é", 100):  strings.Repeat("é", 64) + "…",
	} {
		a := s.get(t, "/api/v1/hotspots/"+path)
		got := decode[failure](t, a, http.StatusNotFound)
		if got.Error != "Not found" || got.Message == nil || !strings.Contains(*got.Message, "id "+named+".") {
			t.Errorf("id %q: %s does not name %q", path, a.body, named)
		}
	}
	// An escaped digit is the digit.
	if a := s.get(t, "/api/v1/hotspots/%37"); a.StatusCode != http.StatusOK {
		t.Errorf("%%37 answered %d; want the record 7", a.StatusCode)
	}
}

func TestURITooLong(t *testing.T) {
	s := start(t)
	fits := "/api/v1/hotspots?search=" + strings.Repeat("x", 8192-len("/api/v1/hotspots?search="))
	if a := s.get(t, fits); a.StatusCode != http.StatusOK {
		t.Errorf("a URL of 8192 bytes answered %d", a.StatusCode)
	}
	a := s.get(t, fits+"x")
	if a.StatusCode != http.StatusRequestURITooLong {
		t.Errorf("a URL of 8193 bytes answered %d; want 414", a.StatusCode)
	}
	wantCORS(t, a)
}
