package httpserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
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
	var names []string
	for name := range r.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
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
		WriteBody(w, 200, []byte(`{"a":"`+strings.Repeat("b", 9000)+`"}`))
	},
	"/whole": func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Length"] = []string{"9002"}
		WriteBody(w, 200, []byte(`"`+strings.Repeat("b", 9000)+`"`))
	},
	"/read": func(w http.ResponseWriter, r *http.Request) {
		body, err := ReadJSONObject(w, r, 100, 4)
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

// twoServers runs the same handlers with the lane and without it, and counts the
// requests that the lane served.
func twoServers(t *testing.T) (with, without string, inLane *atomic.Int64) {
	t.Helper()
	inLane = new(atomic.Int64)
	front := func() *Handler {
		return &Handler{
			Next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, ok := w.(*recorder).ResponseWriter.(*fastResponse); ok {
					inLane.Add(1)
				}
				if handler, ok := answers[r.URL.Path]; ok {
					handler(w, r)
					return
				}
				show(w, r)
			}),
			Refuse:  func(w http.ResponseWriter, _ *http.Request, status int) { http.Error(w, "refused", status) },
			Now:     time.Now,
			Log:     slog.New(slog.DiscardHandler),
			Observe: func(*http.Request, RequestInfo) {},
		}
	}
	listen := func() net.Listener {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return ln
	}
	inner, outer := listen(), listen()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, inner, front()) }()
	srv := NewServer(front(), slog.New(slog.DiscardHandler))
	go func() { _ = srv.Serve(limitListener(outer, maxConnections)) }()
	t.Cleanup(func() { cancel(); srv.Close(); <-done })
	return inner.Addr().String(), outer.Addr().String(), inLane
}

var varying = regexp.MustCompile(`\r\n(Date: [A-Z][a-z][a-z], .*|X-Request-Id: .*)\r\n`)

// talk sends what a client sends, in as many packets, and gives all that comes
// back until the server is done with it.
func talk(t *testing.T, addr string, halfClose bool, packets ...string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	for _, packet := range packets {
		if _, err := io.WriteString(conn, packet); err != nil {
			break // the server may have heard enough
		}
	}
	if halfClose {
		_ = conn.(*net.TCPConn).CloseWrite() // the same
	}
	got, err := io.ReadAll(conn)
	if err != nil && !strings.Contains(err.Error(), "reset") {
		t.Fatalf("%.200q: %v after %q", packets, err, got)
	}
	// The last pattern matches twice in a row where both fields follow each other.
	return string(varying.ReplaceAll(varying.ReplaceAll(got, []byte("\r\n(varies)\r\n")), []byte("\r\n(varies)\r\n")))
}

// last is a request after which every server closes the connection.
var last = inLines("GET /last HTTP/1.1", "Host: x", "Connection: close")

// With the lane, every client gets the bytes that it gets without: but for the
// date, and the id of the request.
func TestLane_AnswersAsNetHTTPDoes(t *testing.T) {
	with, without, inLane := twoServers(t)
	same := func(halfClose bool, packets ...string) {
		t.Helper()
		got, want := talk(t, with, halfClose, packets...), talk(t, without, halfClose, packets...)
		if got != want {
			t.Errorf("%.300q is answered with\n%q\nand without the lane with\n%q", packets, abridged(got, want), abridged(want, got))
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
	before := inLane.Load()
	for _, sample := range samples {
		same(true, sample)
	}
	if n := inLane.Load() - before; n < 200 {
		t.Errorf("the lane served %d requests; the rest of this test says little", n)
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
