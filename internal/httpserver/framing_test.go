package httpserver

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// startRecording runs a server that notes every request that a handler sees, as
// "GET /path body".
func startRecording(t *testing.T) (addr string, seen func() []string) {
	t.Helper()
	var mu sync.Mutex
	var requests []string
	front := &Handler{
		Next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			mu.Lock()
			defer mu.Unlock()
			requests = append(requests, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body)))
		}),
		Refuse:  func(w http.ResponseWriter, _ *http.Request, status int) { http.Error(w, "refused", status) },
		Now:     time.Now,
		Log:     slog.New(slog.DiscardHandler),
		Observe: func(*http.Request, RequestInfo) {},
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, ln, front) }()
	t.Cleanup(func() { cancel(); <-done })
	return ln.Addr().String(), func() []string {
		mu.Lock()
		defer mu.Unlock()
		all := requests
		requests = nil
		return all
	}
}

// statuses are those of the answers in what a server sent.
func statuses(sent string) (all []string) {
	for line := range strings.Lines(sent) {
		if status, ok := strings.CutPrefix(line, "HTTP/1.1 "); ok {
			all = append(all, status[:3])
		}
	}
	return all
}

const (
	chunks   = "3\r\nabc\r\n0\r\n\r\n"
	smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
)

// A request whose body could end in two places is answered 400, wherever it
// stands on its connection, and nothing behind it is read.
func TestServe_RefusesAmbiguousBodies(t *testing.T) {
	addr, seen := startRecording(t)
	ambiguous := map[string]string{
		"length first":     inLines("POST /a HTTP/1.1", "Host: x", "Content-Length: 3", "Transfer-Encoding: chunked") + chunks,
		"encoding first":   inLines("POST /a HTTP/1.1", "Host: x", "Transfer-Encoding: chunked", "X-A: b", "Content-Length: 3") + chunks,
		"any case":         inLines("POST /a HTTP/1.1", "Host: x", "cONTENT-lENGTH:3", "tRANSFER-eNCODING:chunked") + chunks,
		"GET":              inLines("GET /a HTTP/1.1", "Host: x", "Content-Length: 0", "Transfer-Encoding: chunked") + chunks,
		"identity":         inLines("POST /a HTTP/1.1", "Host: x", "Transfer-Encoding: identity", "Content-Length: 3") + "abc",
		"folded":           inLines("POST /a HTTP/1.1", "Host: x", "X-A: b", " c", "Content-Length: 3", "Transfer-Encoding: chunked") + chunks,
		"bare line breaks": strings.ReplaceAll(inLines("POST /a HTTP/1.1", "Host: x", "Content-Length: 3", "Transfer-Encoding: chunked"), "\r", "") + chunks,
		"folded length":    inLines("POST /a HTTP/1.1", "Host: x", "Content-Length:", " 3", "Transfer-Encoding: chunked") + chunks,
		"blanks at end":    inLines("POST /a HTTP/1.1", "Host: x", "Content-Length: 3"+strings.Repeat(" ", maxWord), "Transfer-Encoding: chunked") + chunks,
		"old version":      inLines("POST /a HTTP/1.0", "Host: x", "Connection: keep-alive", "Transfer-Encoding: chunked") + chunks,
	}
	before := map[string][]string{ // a connection that begins with these, and what is seen of them
		"":    nil,
		"GET": {inLines("GET /b HTTP/1.1", "Host: x"), "GET /b"},
		"PUT": {inLines("PUT /b HTTP/1.1", "Host: x", "Content-Length: 5") + "abcde", "PUT /b abcde"},
		"PUT of what is refused itself": {
			inLines("PUT /b HTTP/1.1", "Host: x", "content-length:48") + "A: b\r\nTransfer-Encoding: a\r\nContent-Length: b\r\n\r\n"[:48],
			"PUT /b " + strings.TrimSpace("A: b\r\nTransfer-Encoding: a\r\nContent-Length: b\r\n\r\n"[:48]),
		},
		"PUT of a folded length":     {inLines("PUT /b HTTP/1.1", "Host: x", "Content-Length:", "\t5", " ") + "abcde", "PUT /b abcde"},
		"PUT of a length and blanks": {inLines("PUT /b HTTP/1.1", "Host: x", "Content-Length: 5"+strings.Repeat(" \t", maxWord)) + "abcde", "PUT /b abcde"},
		"HEAD":                       {inLines("HEAD /b HTTP/1.1", "Host: x"), "HEAD /b"},
	}
	for name, request := range ambiguous {
		for start, first := range before {
			for _, cut := range []bool{false, true} {
				text, want, wantStatuses := request+smuggled, []string(nil), []string{"400"}
				if first != nil {
					text, want, wantStatuses = first[0]+text, []string{first[1]}, []string{"200", "400"}
				}
				packets := []string{text}
				if cut {
					packets = strings.Split(text, "")
				}
				got := talk(t, addr, false, packets...)
				if handled := seen(); !slices.Equal(handled, want) || !slices.Equal(statuses(got), wantStatuses) {
					t.Errorf("%s after %q, byte by byte %t: the handler saw %q; want %q; the client was answered %q", name, start, cut, handled, want, got)
				}
				if !strings.Contains(got, "Connection: close") {
					t.Errorf("%s after %q: the connection is kept: %q", name, start, got)
				}
			}
		}
	}
}

// A body in chunks alone is served, and is the last on its connection.
func TestServe_ClosesAfterChunks(t *testing.T) {
	addr, seen := startRecording(t)
	got := talk(t, addr, false, inLines("POST /a HTTP/1.1", "Host: x", "Transfer-Encoding: chunked")+chunks+smuggled)
	if handled := seen(); !slices.Equal(handled, []string{"POST /a abc"}) || !strings.Contains(got, "Connection: close") {
		t.Errorf("the handler saw %q; the client was answered %q", handled, got)
	}
}

// What is not ambiguous goes on as it came, also where words look like it.
func TestFraming_LetsTheRestPass(t *testing.T) {
	long := strings.Repeat("v", 100)
	for _, sample := range []string{
		inLines("PUT / HTTP/1.1", "Host: x", "X-Transfer-Encoding: chunked", "Content-Length: 3") + "abc",
		inLines("PUT / HTTP/1.1", "Host: x", "X-A: Transfer-Encoding: chunked", "Content-Length: 3") + "abc",
		inLines("PUT / HTTP/1.1", "Host: x", "X-A: b", " Transfer-Encoding: chunked", "Content-Length: 3") + "abc",
		inLines("PUT /"+long+" HTTP/1.1", "Host: x", long+"Transfer-Encoding: "+long, "Content-Length: 3") + "abc",
		inLines("PUT / HTTP/1.1", "Host: x", "Content-Length: 3", "Content-Length: 3") + "abc",
		inLines("PUT / HTTP/1.0", "Host: x", "Content-Length: 3") + "abc\r\n",
		inLines("PUT / HTTP/1.1", "Host: x"),
		inLines("PUT / HTTP/1.1", "Host: x", "Transfer-Encoding: chunked"),
	} {
		var f framing
		if n, v := f.pass([]byte(sample)); v != passes || n != len(sample) {
			t.Errorf("%.200q is refused at %d", sample, n)
		}
		if f.part != between && f.part != lost {
			t.Errorf("%.200q leaves it in part %d", sample, f.part)
		}
	}
}

// HTTP/2 is for a proxy with TLS to speak: nobody is led to believe that it is
// spoken here.
func TestServe_SpeaksNoHTTP2(t *testing.T) {
	addr, seen := startRecording(t)
	got := talk(t, addr, true, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
	if handled := seen(); !slices.Equal(handled, []string{"PRI *"}) || !slices.Equal(statuses(got), []string{"200"}) || !strings.Contains(got, "Connection: close") {
		t.Errorf("the preface of HTTP/2 is an odd request of HTTP/1.1; the handler saw %q; the client was answered %q", handled, got)
	}
	got = talk(t, addr, true, inLines("GET /a HTTP/1.1", "Host: x", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"))
	if handled := seen(); !slices.Equal(handled, []string{"GET /a"}) || !slices.Equal(statuses(got), []string{"200"}) {
		t.Errorf("asked to change to HTTP/2, the handler saw %q; the client was answered %q", handled, got)
	}
}

// Whatever comes, what net/http would take for a request with both fields does not
// get past, and what it takes for requests without a Transfer-Encoding does.
func FuzzFraming(f *testing.F) {
	for _, sample := range slices.Concat(plainSamples, oddSamples) {
		f.Add([]byte(sample), 3)
		f.Add([]byte(oddSamples[1]+sample), 100)
	}
	for _, length := range []string{"Content-Length:\r\n 3", "Content-Length: 3" + strings.Repeat(" ", maxWord), "Content-Length: 3\r\n ", "Content-Length: 3\r\n 4"} {
		f.Add([]byte(inLines("POST / HTTP/1.1", "Host: x", length)+"abc"+smuggled), 3)
		f.Add([]byte(inLines("POST / HTTP/1.1", "Host: x", length, "Transfer-Encoding: chunked")+chunks), 3)
	}
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		end, bad := readPlainly(data)
		var watch framing
		cut = min(max(cut, 0), len(data))
		n, v := watch.pass(data[:cut])
		if v == passes {
			var more int
			more, v = watch.pass(data[cut:])
			n += more
		}
		switch {
		case v == tooLong && n < MaxHeaderBytes:
			t.Errorf("%q is too long at %d", data, n)
		case bad && v == passes:
			t.Errorf("%q is let past", data)
		case v == ambiguous && n < end:
			t.Errorf("%q is refused at %d; net/http takes all up to %d", data, n, end)
		}
	})
}

// readPlainly reads requests as net/http does, up to where it would stop, or up to
// one with a Transfer-Encoding; bad is one that also has a Content-Length.
func readPlainly(data []byte) (end int, bad bool) {
	source := bytes.NewReader(data)
	in := bufio.NewReader(source)
	for {
		peek := bufio.NewReader(bytes.NewReader(data[end:]))
		head := textproto.NewReader(peek)
		line, err := head.ReadLine()
		if err != nil || line == "" {
			return end, false
		}
		header, err := head.ReadMIMEHeader()
		if err != nil {
			return end, false
		}
		_, coded := header["Transfer-Encoding"]
		_, sized := header["Content-Length"]
		request, err := http.ReadRequest(in)
		if err != nil || coded {
			return end, err == nil && coded && sized
		}
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return end, false
		}
		end = len(data) - source.Len() - in.Buffered()
	}
}
