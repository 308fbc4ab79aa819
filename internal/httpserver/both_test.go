package httpserver

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"
)

// serveBoth runs one handler behind two servers: one with the fast path, one without.
func serveBoth(t *testing.T, next http.HandlerFunc, times ...Times) (addrs map[string]string) {
	t.Helper()
	addrs = map[string]string{}
	for name, off := range map[string]bool{"fast path": false, "net/http": true} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addrs[name] = ln.Addr().String()
		front := &Handler{
			Next:   next,
			Refuse: func(w http.ResponseWriter, _ *http.Request, status int) { http.Error(w, "refused", status) },
			Now:    time.Now, Log: slog.New(slog.DiscardHandler), Observe: func(*http.Request, RequestInfo) {}, NoFastPath: off,
		}
		for _, front.Times = range times { // one, or none
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- Serve(ctx, ln, front) }()
		t.Cleanup(func() { cancel(); <-done })
	}
	return addrs
}

// isFast reports whether a request is served by the fast path.
func isFast(w http.ResponseWriter) bool {
	_, ok := w.(*recorder).ResponseWriter.(interface{ SendsWhole() })
	return ok
}
