package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	p := startServer(t, nil)
	addr := strings.TrimPrefix(p.url, "http://")
	ill := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"status":"draining"}`))
		}
	}))
	t.Cleanup(ill.Close)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := free.Addr().String()
	free.Close()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--addr", addr}, exitDone, `{"status":"ok"}`},
		{[]string{"--addr", addr, "--ready"}, exitDone, `"checks":{`},
		{[]string{"--addr", ill.Listener.Addr().String()}, exitDone, ""},
		{[]string{"--addr", ill.Listener.Addr().String(), "--ready"}, exitFailed, `says 503 Service Unavailable: {"status":"draining"}`},
		{[]string{"--addr", nobody}, exitFailed, "no server answers at " + nobody},
		{[]string{"--addr", "127.0.0.1:port"}, exitUsage, "--addr must be HOST:PORT"},
	} {
		var out strings.Builder
		code := run(t.Context(), append([]string{"health"}, c.args...), &out, &out)
		if code != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("health %v: %d, %s", c.args, code, out.String())
		}
	}
	p.stop(t)
}
