package httpserver_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/httpserver"
)

func TestParseProxies_Refuses(t *testing.T) {
	for _, text := range []string{"", "proxy", "10.0.0.0/33", "10.0.0.7/8", "10.0.0.1:80", "::ffff:10.0.0.0/104", "10.0.0.0/8 10.1.0.0/16", "*"} {
		if all, err := httpserver.ParseProxies([]string{text}); err == nil {
			t.Errorf("%q is taken for %v", text, all)
		}
	}
}

// serveBehind runs a server that answers with the address that it takes for the
// client's, as text and as such.
func serveBehind(t *testing.T, proxies ...string) (addr string) {
	t.Helper()
	trusted, err := httpserver.ParseProxies(proxies)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	front := &httpserver.Handler{
		Next:    http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RemoteAddr, " ", httpserver.Client(r)) }),
		Refuse:  refuse,
		Now:     time.Now,
		Log:     slog.New(slog.DiscardHandler),
		Observe: func(*http.Request, httpserver.RequestInfo) {},
		Proxies: trusted,
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- httpserver.Serve(ctx, ln, front) }()
	t.Cleanup(func() { cancel(); <-done })
	return ln.Addr().String()
}

// The client is the address that our proxies heard from, not one that the client itself
// names before that.
func TestFront_FindsTheClientBehindProxies(t *testing.T) {
	for _, tc := range []struct {
		proxies, lines []string // of X-Forwarded-For
		want           string   // or the peer of the connection
	}{
		{nil, []string{"192.0.2.1"}, ""},
		{[]string{"10.0.0.0/8"}, []string{"192.0.2.1"}, ""},
		{[]string{"127.0.0.1"}, nil, ""},
		{[]string{"127.0.0.1"}, []string{"192.0.2.1"}, "192.0.2.1:0"},
		{[]string{"127.0.0.0/8"}, []string{"203.0.113.9, 192.0.2.1"}, "192.0.2.1:0"},
		{[]string{"127.0.0.1"}, []string{"203.0.113.9", "192.0.2.1"}, "192.0.2.1:0"},
		{[]string{"127.0.0.1", "10.0.0.0/8"}, []string{"203.0.113.9, 192.0.2.1, 10.1.2.3,10.3.2.1"}, "192.0.2.1:0"},
		{[]string{"127.0.0.1"}, []string{"192.0.2.1, 10.1.2.3"}, "10.1.2.3:0"},
		{[]string{"127.0.0.1", "10.0.0.0/8"}, []string{"10.1.2.3"}, "10.1.2.3:0"},
		{[]string{"127.0.0.1"}, []string{"192.0.2.1:5678"}, "192.0.2.1:0"},
		{[]string{"127.0.0.1"}, []string{"2001:db8::1"}, "[2001:db8::1]:0"},
		{[]string{"127.0.0.1"}, []string{"[2001:db8::1]:5678"}, "[2001:db8::1]:0"},
		{[]string{"127.0.0.1"}, []string{"[2001:db8::1]"}, "[2001:db8::1]:0"},
		{[]string{"127.0.0.1", "2001:db8:1::/48"}, []string{"192.0.2.1, 2001:db8:1::7"}, "192.0.2.1:0"},
		{[]string{"127.0.0.1"}, []string{"::ffff:192.0.2.1"}, "192.0.2.1:0"},
		{[]string{"::ffff:127.0.0.1"}, []string{"192.0.2.1"}, "192.0.2.1:0"},
		{[]string{"127.0.0.1"}, []string{"192.0.2.1, unknown"}, ""},
		{[]string{"127.0.0.1"}, []string{"192.0.2.1, "}, ""},
		{[]string{"127.0.0.1"}, []string{"<script>\", 1"}, ""},
		{[]string{"127.0.0.1", "10.0.0.1"}, []string{"_hidden, 10.0.0.1"}, "10.0.0.1:0"},
	} {
		addr := serveBehind(t, tc.proxies...)
		for _, method := range []string{"GET", "DELETE"} { // on the fast path, and by net/http
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "%s / HTTP/1.1\r\nHost: x\r\n", method)
			for _, line := range tc.lines {
				fmt.Fprintf(conn, "X-Forwarded-For: %s\r\n", line)
			}
			fmt.Fprint(conn, "Forwarded: for=192.0.2.77\r\nX-Real-Ip: 192.0.2.78\r\n\r\n")
			_ = conn.(*net.TCPConn).CloseWrite()
			all, err := io.ReadAll(conn)
			if err != nil {
				t.Fatal(err)
			}
			_, got, _ := strings.Cut(string(all), "\r\n\r\n")
			want := tc.want
			if want == "" {
				want = conn.LocalAddr().String()
			}
			if want += " " + netip.MustParseAddrPort(want).Addr().String(); got != want {
				t.Errorf("%s behind %v, forwarded for %q: the client is %q; want %q", method, tc.proxies, tc.lines, got, want)
			}
			conn.Close()
		}
	}
}

// A proxy on the same machine or network that nobody named is a mistake of the staff, and
// is logged once. A stranger's claim is not.
func TestFront_WarnsOfAProxyThatIsNotTrusted(t *testing.T) {
	for _, tc := range []struct {
		peer, header string
		warns        bool
	}{
		{"127.0.0.1:1", "192.0.2.1", true},
		{"10.1.2.3:1", "192.0.2.1", true},
		{"[::ffff:10.1.2.3]:1", "192.0.2.1", true},
		{"10.1.2.3:1", "", false},
		{"198.51.100.7:1", "192.0.2.1", false},
		{"10.9.9.9:1", "192.0.2.1", false}, // trusted
	} {
		var log strings.Builder
		front := &httpserver.Handler{
			Next: http.NotFoundHandler(), Refuse: refuse, Now: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil)),
			Observe: func(*http.Request, httpserver.RequestInfo) {}, Proxies: httpserver.Proxies{netip.MustParsePrefix("10.9.9.9/32")},
		}
		for range 3 {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.RemoteAddr = tc.peer
			if tc.header != "" {
				r.Header.Set("X-Forwarded-For", tc.header)
			}
			front.ServeHTTP(httptest.NewRecorder(), r)
		}
		if got := strings.Count(log.String(), "--trusted-proxies"); got > 1 || (got == 1) != tc.warns {
			t.Errorf("of %s, forwarded for %q, it says:\n%s", tc.peer, tc.header, log.String())
		}
	}
}
