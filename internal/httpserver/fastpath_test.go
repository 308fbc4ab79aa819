package httpserver

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func namePath(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Method+r.URL.Path) }

// With the fast path and without it, a client receives the same: of handlers that read
// and write as ours do, or panic, and of what no handler sees.
func TestServe_FastPathChangesNothing(t *testing.T) {
	var fast [2]atomic.Int64
	var addrs [2]string
	for i := range addrs {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addrs[i] = ln.Addr().String()
		front := &Handler{
			Next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, ok := w.(*recorder).ResponseWriter.(interface{ SendsWhole() }); ok {
					fast[i].Add(1)
				}
				switch r.URL.Path {
				case "/panic":
					panic("on purpose")
				case "/json":
					WriteBody(w, http.StatusOK, []byte(`"`+strings.Repeat("b", 9000)+`"`))
				default:
					body, err := ReadJSONObject(w, r, 100, 4)
					fmt.Fprintf(w, "%s %s %v %q %v", r.Method, r.URL, r.Header, body, err)
				}
			}),
			Refuse: func(w http.ResponseWriter, _ *http.Request, status int) { http.Error(w, "refused", status) },
			Now:    time.Now, Log: slog.New(slog.DiscardHandler), Observe: func(*http.Request, RequestInfo) {}, NoFastPath: i == 1,
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- Serve(ctx, ln, front) }()
		t.Cleanup(func() { cancel(); <-done })
	}
	samples := slices.Concat(plainSamples, oddSamples)
	for _, path := range []string{"/panic", "/json", "/"} {
		samples = append(samples,
			inLines("GET "+path+" HTTP/1.1", "Host: x"),
			inLines("POST "+path+" HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 7")+`{"a":1}`,
			inLines("POST "+path+" HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 1000")+`{"a":"`+strings.Repeat("b", 992)+`"}`)
	}
	for _, sample := range samples {
		var got [2]string
		for i, addr := range addrs {
			got[i] = talk(t, addr, true, sample)
		}
		if got[0] != got[1] {
			t.Errorf("%.300q is answered with\n%.300q\nand without the fast path with\n%.300q", sample, got[0], got[1])
		}
	}
	if fast[0].Load() < 15 || fast[1].Load() > 0 {
		t.Errorf("the fast path served %d requests when on, and %d when off", fast[0].Load(), fast[1].Load())
	}
}
