package httpserver

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

func namePath(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Method+r.URL.Path) }

// With the fast path and without it, a client receives the same: of handlers that read
// and write as ours do, or panic, and of what no handler sees.
func TestServe_FastPathChangesNothing(t *testing.T) {
	var fast atomic.Int64
	addrs := serveBoth(t, func(w http.ResponseWriter, r *http.Request) {
		if isFast(w) {
			fast.Add(1)
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
	})
	samples := slices.Concat(plainSamples, oddSamples)
	for _, path := range []string{"/panic", "/json", "/"} {
		samples = append(samples,
			inLines("GET "+path+" HTTP/1.1", "Host: x"),
			inLines("POST "+path+" HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 7")+`{"a":1}`,
			inLines("POST "+path+" HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 1000")+`{"a":"`+strings.Repeat("b", 992)+`"}`)
	}
	for _, sample := range samples {
		before := fast.Load()
		without := talk(t, addrs["net/http"], true, sample)
		if fast.Load() != before {
			t.Errorf("%.300q is served by the fast path, which is off", sample)
		}
		if with := talk(t, addrs["fast path"], true, sample); with != without {
			t.Errorf("%.300q is answered with\n%.300q\nand without the fast path with\n%.300q", sample, with, without)
		}
	}
	if fast.Load() < 15 {
		t.Errorf("the fast path served %d requests when on", fast.Load())
	}
}
