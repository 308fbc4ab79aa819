package fastpath

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// show answers with everything that a handler can see of a request.
func show(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s %#v %s %d.%d host=%q length=%d coding=%v close=%v trailer=%v pattern=%q body=%q %v form=%v\n",
		r.Method, r.RequestURI, *r.URL, r.Proto, r.ProtoMajor, r.ProtoMinor, r.Host, r.ContentLength, r.TransferEncoding, r.Close,
		r.Trailer, r.Pattern, body, err, r.Form)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		fmt.Fprintf(w, "%s: %q\n", name, r.Header[name])
	}
}

// text answers with a body of n bytes.
func text(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", n)) }
}

// status answers with a status, a header of all kinds, and a body if it may have one.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h["Etag"], h["Vary"], h["X-Empty"], h["X-None"] = []string{`"a"`}, []string{"A", "B"}, []string{""}, nil
		h["Content-Type"] = []string{"text/plain"}
		h["Content-Length"] = []string{"4"}
		w.WriteHeader(code)
		h["X-Late"] = []string{"1"}
		w.WriteHeader(500)
		_, _ = io.WriteString(w, "body")
	}
}

// withHeader answers with one more field.
func withHeader(name, value, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()[name] = []string{value}
		_, _ = io.WriteString(w, body)
	}
}

// answers are handlers that answer in every way that one can, by path.
var answers = map[string]http.HandlerFunc{
	"/nothing": func(http.ResponseWriter, *http.Request) {},
	"/200":     status(200), "/201": status(201), "/204": status(204), "/304": status(304), "/404": status(404), "/499": status(499), "/503": status(503),
	"/text/1": text(1), "/text/2047": text(2047), "/text/2048": text(2048), "/text/2049": text(2049), "/text/4096": text(4096), "/text/70000": text(70_000),
	"/html":   func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html><p>Hi") },
	"/binary": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte{0, 1, 2, 255}) },
	"/split":  withHeader("X-Split", "a\r\nX-Evil: 1\n\r", ""), "/blanks": withHeader("X-Blanks", " \t a b\t ", "b"), "/badname": withHeader("X Bad", "1", "b"),
	"/unnamed": withHeader("", "1", "b"), "/date": withHeader("Date", "then", "b"), "/encoded": withHeader("Content-Encoding", "gzip", "b"),
	"/closing": withHeader("Connection", "close", "b"), "/lying": withHeader("Content-Length", "no", "b"), "/negative": withHeader("Content-Length", "-1", "b"),
	"/short": withHeader("Content-Length", "10", "b"), "/over": withHeader("Content-Length", "1", "bbb"), "/exact": withHeader("Content-Length", "3", "bbb"),
	"/untyped": withHeader("Content-Type", "", "<html>"),
	"/json": func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{"application/json"}
		_, _ = io.WriteString(w, `{"a":"`+strings.Repeat("b", 9000)+`"}`)
	},
	"/whole": func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Length"] = []string{"9002"}
		_, _ = io.WriteString(w, `"`+strings.Repeat("b", 9000)+`"`)
	},
	"/read": func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 100))
		fmt.Fprintf(w, "%q %v", body, err)
	},
	"/closebody": func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Body.Close()) },
	"/pieces": func(w http.ResponseWriter, _ *http.Request) {
		for n := 1; n < 6000; n += 700 {
			_, _ = io.WriteString(w, strings.Repeat("p", n))
		}
	},
	"/flushed": func(w http.ResponseWriter, _ *http.Request) {
		control := http.NewResponseController(w)
		_ = control.SetWriteDeadline(time.Now().Add(time.Minute))
		for n := range 3 {
			fmt.Fprintf(w, "piece %d\n", n)
			fmt.Fprint(w, control.Flush())
		}
	},
	"/flushedlength": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "6")
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, "abcdef")
	},
	"/flushedempty": func(w http.ResponseWriter, _ *http.Request) { _ = http.NewResponseController(w).Flush() },
	"/panic":        func(http.ResponseWriter, *http.Request) { panic("on purpose") },
	"/panic/small":  func(w http.ResponseWriter, _ *http.Request) { text(100)(w, nil); panic("on purpose") },
	"/panic/large":  func(w http.ResponseWriter, _ *http.Request) { text(3000)(w, nil); panic("on purpose") },
	"/panic/abort":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	"/notready":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
	"/many": func(w http.ResponseWriter, _ *http.Request) {
		for n := range 60 {
			w.Header().Set(fmt.Sprintf("X-Many-%d", n*37%60), strings.Repeat("m", n))
		}
	},
}

// wrapped hides that net/http's writer has a WriteString, which cuts chunks in other
// places than Write does. The handler of every server of ours wraps its writer too.
type wrapped struct{ http.ResponseWriter }

func (w wrapped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// twoServers runs the same handlers with the fast path and without it, and counts the
// requests that the fast path served.
func twoServers(t *testing.T) (with, without string, fast *atomic.Int64) {
	t.Helper()
	fast = new(atomic.Int64)
	handler := func(w http.ResponseWriter, r *http.Request) {
		if _, ok := w.(*responseWriter); ok {
			fast.Add(1)
		}
		w = wrapped{w}
		if handler, ok := answers[r.URL.Path]; ok {
			handler(w, r)
			return
		}
		show(w, r)
	}
	l, with := startListener(t, handler)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { l.Run(ctx); close(done) }()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := newServer(handler)
	go func() { _ = srv.Serve(ln) }()
	t.Cleanup(func() { cancel(); srv.Close(); <-done })
	return with, ln.Addr().String(), fast
}

// last is a request after which every server closes the connection.
var last = inLines("GET /last HTTP/1.1", "Host: x", "Connection: close")

// With the fast path, every client gets the bytes that it gets without: but for the
// date.
func TestListener_AnswersAsNetHTTPDoes(t *testing.T) {
	with, without, fast := twoServers(t)
	same := func(halfClose bool, packets ...string) {
		t.Helper()
		got, want := talk(t, with, halfClose, packets...), talk(t, without, halfClose, packets...)
		if got != want {
			t.Errorf("%.300q is answered with\n%q\nand without the fast path with\n%q", packets, abridged(got, want), abridged(want, got))
		}
	}
	samples := slices.Concat(plainSamples, oddSamples)
	for path := range answers {
		samples = append(samples,
			inLines("GET "+path+" HTTP/1.1", "Host: x"),
			inLines("GET "+path+"?a=b&c HTTP/1.1", "Host: x", "Accept: */*"),
			inLines("HEAD "+path+" HTTP/1.1", "Host: x"),
			inLines("POST "+path+" HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 7")+`{"a":1}`,
			inLines("POST "+path+" HTTP/1.1", "Host: x", "Content-Length: 0"),
			inLines("POST "+path+" HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 1000")+`{"a":"`+strings.Repeat("b", 992)+`"}`)
	}
	before := fast.Load()
	for _, sample := range samples {
		same(true, sample)
	}
	if n := fast.Load() - before; n < 200 {
		t.Errorf("the fast path served %d requests; the rest of this test says little", n)
	}
	for _, sample := range samples {
		end := sample == endless                      // or the server waits for the rest
		same(end, sample+last)                        // in one packet
		same(end, plainSamples[2]+sample+last)        // after a plain one
		same(end, plainSamples[5], sample, last)      // after a body, in packets
		same(end, plainSamples[5]+"\r\n"+sample+last) // and a line break too many
	}
	for _, sample := range slices.Concat(cutSamples, []string{plainSamples[0] + "GE", plainSamples[0] + "GET /", plainSamples[5] + "\r\n\r\n\r\n"}) {
		same(true, sample)
	}
	if testing.Short() {
		return
	}
	for _, sample := range samples { // byte by byte
		if len(sample) < 300 {
			same(sample == endless, strings.Split(sample+last, "")...)
		}
	}
}

// abridged leaves out what two texts begin with.
func abridged(s, other string) string {
	n := 0
	for n < min(len(s), len(other)) && s[n] == other[n] {
		n++
	}
	from := max(0, n-60)
	return "byte " + strconv.Itoa(n) + ": …" + string(bytes.ToValidUTF8([]byte(s[from:min(len(s), n+200)]), []byte("?")))
}
