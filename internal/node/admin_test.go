package node

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// The admin interface is served by its own names only: a web page whose name was made to
// point at this machine (DNS rebinding) could otherwise read it through a browser.
func TestServer_AdminHost(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.AdminHosts = []string{"metrics.internal"}
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var listeners [2]net.Listener
	for i := range listeners {
		if listeners[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listeners[0], listeners[1], func() {}) }()
	defer func() { cancel(); <-ended }()
	address := listeners[1].Addr().String()
	for host, want := range map[string]int{
		address: 200, "localhost": 200, "LOCALHOST:9090": 200, "localhost.": 200, "127.0.0.1": 200, "[::1]:9090": 200, "::1": 200,
		"10.0.0.7:9090": 200, "metrics.internal": 200, "Metrics.Internal:80": 200,
		"evil.example": 421, "evil.example:9090": 421, "localhost.evil.example": 421, "evil.localhost": 421, "127.0.0.1.evil.example": 421,
		"metrics.internal.evil.example": 421, "0x7f.1": 421, "[evil]": 421,
	} {
		for _, path := range []string{"/metrics", "/debug/pprof/heap?debug=1", "/none"} {
			request, err := http.NewRequest(http.MethodGet, "http://"+address+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = host
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			if path == "/none" && want == 200 {
				want = 404
			}
			if response.StatusCode != want {
				t.Errorf("%s of %s returns %d; want %d", path, host, response.StatusCode, want)
			}
			if want == 421 && (strings.Contains(string(body), "go_") || !strings.Contains(string(body), "--admin-hosts")) {
				t.Errorf("%s of %s: %.200s", path, host, body)
			}
		}
	}
}
