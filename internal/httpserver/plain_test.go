package httpserver

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
)

// inLines spells a head, with a line break after each line and an empty one.
func inLines(lines ...string) string { return strings.Join(lines, "\r\n") + "\r\n\r\n" }

// plainSamples are plain, each with what may follow it on its connection.
var plainSamples = []string{
	inLines("GET / HTTP/1.1", "Host: x"),
	inLines("GET / HTTP/1.1", "host:x"),
	inLines("GET /v1/hotspots/nearby?lat=40.7&lng=-74&status=all HTTP/1.1", "Host: beacon", "Authorization: Bearer bk_1", "User-Agent: curl/8.1 (a; b)"),
	inLines("GET /a/../b/./c/ HTTP/1.1", "Host: [::1]:8080", "Accept: */*", "Connection: Keep-Alive", "x-forwarded-for: 10.0.0.1, 10.0.0.2"),
	inLines("GET /a//b?a=%zz&&=?+;x HTTP/1.1", "Host: a-b_c.example:80", "X-Odd!#$%&'*+-.^_`|~: 1", "If-None-Match:    \"a\", W/\"b\""),
	inLines("POST /v1/hotspots/hs_1/heartbeats HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 2") + "{}",
	inLines("POST / HTTP/1.1", "Content-Length: 0", "Host: x"),
	inLines("POST / HTTP/1.1", "Content-Length: 0005", "Host: x") + "GET /" + inLines("GET / HTTP/1.1", "Host: y"),
	inLines("GET / HTTP/1.1", "Host: x") + "garbage\x00\r\n\r\n",
	inLines("GET / HTTP/1.1", "Host: x", "X-Long: "+strings.Repeat("v", 4000)),
	inLines("POST /"+strings.Repeat("p", 1000)+"?"+strings.Repeat("q", 1000)+" HTTP/1.1", "Host: x", "Content-Length: 1900") + strings.Repeat("\x00", 1900),
}

// endless promises more than it sends.
var endless = inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 9999999") + "abc"

// oddSamples are not plain: some net/http serves, some it refuses.
var oddSamples = []string{
	// The request line.
	inLines("HEAD / HTTP/1.1", "Host: x"),
	inLines("PUT / HTTP/1.1", "Host: x", "Content-Length: 0"),
	inLines("OPTIONS * HTTP/1.1", "Host: x"),
	inLines("CONNECT x:80 HTTP/1.1", "Host: x"),
	inLines("get / HTTP/1.1", "Host: x"),
	inLines("GETS / HTTP/1.1", "Host: x"),
	inLines("G\x00T / HTTP/1.1", "Host: x"),
	inLines(" GET / HTTP/1.1", "Host: x"),
	inLines("GET  / HTTP/1.1", "Host: x"),
	inLines("GET\t/ HTTP/1.1", "Host: x"),
	inLines("GET /  HTTP/1.1", "Host: x"),
	inLines("GET / HTTP/1.1 ", "Host: x"),
	inLines("GET / HTTP/1.0", "Host: x"),
	inLines("GET / HTTP/1.2", "Host: x"),
	inLines("GET / HTTP/2.0", "Host: x"),
	inLines("GET / HTTP/0.9", "Host: x"),
	inLines("GET / HTTP/1.10", "Host: x"),
	inLines("GET / HTTP/01.1", "Host: x"),
	inLines("GET / http/1.1", "Host: x"),
	inLines("GET / HTTP/1.1x", "Host: x"),
	inLines("GET /", "Host: x"),
	inLines("GET HTTP/1.1", "Host: x"),
	inLines("GET", "Host: x"),
	inLines("PRI * HTTP/2.0", "", "SM"),
	// Targets.
	inLines("GET * HTTP/1.1", "Host: x"),
	inLines("GET http://other/a HTTP/1.1", "Host: x"),
	inLines("GET //other/a HTTP/1.1", "Host: x"),
	inLines("GET ///a HTTP/1.1", "Host: x"),
	inLines("GET a HTTP/1.1", "Host: x"),
	inLines("GET ?a HTTP/1.1", "Host: x"),
	inLines("GET /a? HTTP/1.1", "Host: x"),
	inLines("GET /%41 HTTP/1.1", "Host: x"),
	inLines("GET /a%2Fb HTTP/1.1", "Host: x"),
	inLines("GET /%zz HTTP/1.1", "Host: x"),
	inLines("GET /a%00 HTTP/1.1", "Host: x"),
	inLines("GET /a#b HTTP/1.1", "Host: x"),
	inLines("GET /a?b#c HTTP/1.1", "Host: x"),
	inLines("GET /a b HTTP/1.1", "Host: x"),
	inLines("GET /a?b c HTTP/1.1", "Host: x"),
	inLines("GET /a\tb HTTP/1.1", "Host: x"),
	inLines("GET /a\x00b HTTP/1.1", "Host: x"),
	inLines("GET /a\x7fb HTTP/1.1", "Host: x"),
	inLines("GET /é HTTP/1.1", "Host: x"),
	inLines("GET /a?é HTTP/1.1", "Host: x"),
	inLines("GET /a?b\rc HTTP/1.1", "Host: x"),
	inLines("GET /a\\b HTTP/1.1", "Host: x"),
	inLines("GET /a;b HTTP/1.1", "Host: x"),
	inLines("GET /a:b HTTP/1.1", "Host: x"),
	inLines("GET /a?b=\"<>[]^`{|}\\ HTTP/1.1", "Host: x"),
	inLines("GET /"+strings.Repeat("x", 5000)+" HTTP/1.1", "Host: x"),
	"GET /" + strings.Repeat("x", maxPlain),
	// Lines.
	"GET / HTTP/1.1\nHost: x\n\n",
	"GET / HTTP/1.1\nHost: x\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\n\n",
	"GET / HTTP/1.1\r\nHost: xyz\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\nX-A: bcd\nX-E: f\r\n\r\n",
	"GET /abc HTTP/1.1x\nHost: x\r\n\r\n",
	"GET / HTTP/1.1\r\n\nHost: x\r\n\r\n",
	"\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
	"\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\r\n\r\n",
	"GET / HTTP/1.1\r\r\nHost: x\r\n\r\n",
	inLines("GET / HTTP/1.1", "Host: x", "X-A: b\rc"),
	inLines("GET / HTTP/1.1", "Host: x", "X-A: b\nX-C: d"),
	inLines("GET / HTTP/1.1", "Host: x", "X-A: b\x00c"),
	inLines("GET / HTTP/1.1", "Host: x", "X-A: b\x7fc"),
	inLines("GET / HTTP/1.1", "Host: x", "X-A: b\tc"),
	inLines("GET / HTTP/1.1", "Host: x", "X-A:\tb"),
	inLines("GET / HTTP/1.1", "Host: x", "X-A: b "),
	inLines("GET / HTTP/1.1", "Host: x", "X-A: b\t"),
	inLines("GET / HTTP/1.1", "Host: x", "X-A: é"),
	inLines("GET / HTTP/1.1", "Host: x", "X-A:"),
	inLines("GET / HTTP/1.1", "Host: x", "X-A: "),
	inLines("GET / HTTP/1.1", "Host: x", "X-A : b"),
	inLines("GET / HTTP/1.1", "Host: x", " X-A: b"),
	inLines("GET / HTTP/1.1", "Host: x", "X-A: b", " c"),
	inLines("GET / HTTP/1.1", "Host: x", "X-A: b", "\tc"),
	inLines("GET / HTTP/1.1", " Host: x"),
	inLines("GET / HTTP/1.1", "Host: x", ": b"),
	inLines("GET / HTTP/1.1", "Host: x", "b"),
	inLines("GET / HTTP/1.1", "Host: x", "X A: b"),
	inLines("GET / HTTP/1.1", "Host: x", "X(A): b"),
	inLines("GET / HTTP/1.1", "Host: x", "É: b"),
	inLines("GET / HTTP/1.1", "Host: x", "X\x00A: b"),
	inLines("GET / HTTP/1.1", "Host: x", "X-A: b", "X-A: c"),
	inLines("GET / HTTP/1.1", "Host: x", "X-A: b", "x-a: b"),
	inLines("GET / HTTP/1.1", "Host: x", "X-Long: "+strings.Repeat("v", 5000)),
	inLines("GET / HTTP/1.1", "Host: x", strings.Repeat("X-Many: 1\r\n", 30)+"X-A: b"),
	inLines("GET / HTTP/1.1", "Host: x", "Pragma: no-cache"),
	// Host.
	inLines("GET / HTTP/1.1"),
	inLines("GET / HTTP/1.1", "X-A: b"),
	inLines("GET / HTTP/1.1", "Host: x", "Host: x"),
	inLines("GET / HTTP/1.1", "Host: x", "Host: y"),
	inLines("GET / HTTP/1.1", "Host:"),
	inLines("GET / HTTP/1.1", "Host: a b"),
	inLines("GET / HTTP/1.1", "Host: a/b"),
	inLines("GET / HTTP/1.1", "Host: a@b"),
	inLines("GET / HTTP/1.1", "Host: a,b"),
	inLines("GET / HTTP/1.1", "Host: a\"b"),
	// How the body and the connection are read.
	inLines("GET / HTTP/1.1", "Host: x", "Connection: close"),
	inLines("GET / HTTP/1.1", "Host: x", "Connection: keep-alive, close"),
	inLines("GET / HTTP/1.1", "Host: x", "Connection: X-A", "X-A: b"),
	inLines("GET / HTTP/1.1", "Host: x", "Connection: Upgrade", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"),
	inLines("GET / HTTP/1.1", "Host: x", "Upgrade: websocket"),
	inLines("GET / HTTP/1.1", "Host: x", "TE: trailers"),
	inLines("GET / HTTP/1.1", "Host: x", "Trailer: X-A"),
	inLines("GET / HTTP/1.1", "Host: x", "Expect: 100-continue"),
	inLines("GET / HTTP/1.1", "Host: x", "Content-Length: 0"),
	inLines("GET / HTTP/1.1", "Host: x", "Content-Length: 3") + "abc",
	inLines("GET / HTTP/1.1", "Host: x", "Transfer-Encoding: chunked") + "3\r\nabc\r\n0\r\n\r\n",
	inLines("POST / HTTP/1.1", "Host: x"),
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 3", "Expect: 100-continue") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 3", "Expect: magic") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 3", "Connection: close") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 3", "Content-Length: 3") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 3", "Content-Length: 4") + "abcd",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 3, 3") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 3", "content-length: 0") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: +3") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: -0"),
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: -1") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 0x3") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 1_0") + "0123456789",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 3.0") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 3 ") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 3;a") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length:"),
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: \u0663") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 00000000000000000003") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 18446744073709551619") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length : 3") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 3", "Transfer-Encoding: chunked") + "3\r\nabc\r\n0\r\n\r\n",
	inLines("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: chunked", "Content-Length: 3") + "3\r\nabc\r\n0\r\n\r\n",
	inLines("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: chunked") + "3\r\nabc\r\n0\r\n\r\n",
	inLines("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: CHUNKED") + "3;a=b\r\nabc\r\n0\r\nX-A: b\r\n\r\n",
	inLines("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: xchunked", "Content-Length: 3") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Transfer-Encoding : chunked", "Content-Length: 3") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Transfer-Encoding:\tchunked", "Content-Length: 3") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: identity", "Content-Length: 3") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: gzip, chunked") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "X-A: b", " Transfer-Encoding: chunked", "Content-Length: 3") + "abc",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 5000") + strings.Repeat("b", 5000),
	endless,
	// No HTTP at all.
	"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
	"\x00\x00\x00\x00\r\n\r\n",
	"\r\n\r\n\r\n\r\n",
	"SSH-2.0-OpenSSH_9.6\r\n",
	"GET\r\n\r\n",
}

// cutSamples may still become plain when they are not over yet.
var cutSamples = []string{
	"", "G", "GET /", "POST /", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: x\r\n", "GET / HTTP/1.1\rHost: x\r\r",
	inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 3"), inLines("POST / HTTP/1.1", "Host: x", "Content-Length: 3") + "ab",
}

func TestPlain(t *testing.T) {
	var p plainRequest // one for all: nothing of a request may stay in it
	for _, sample := range plainSamples {
		if got := p.parse([]byte(sample)); got != plain {
			t.Errorf("%.100q is not plain: %d", sample, got)
			continue
		}
		compareWithStandard(t, []byte(sample))
		whole := p.size()
		for cut := range whole {
			if got := p.parse([]byte(sample[:cut])); got != unfinished {
				t.Fatalf("%.100q, cut to %d of %d bytes, is %d; want unfinished", sample, cut, whole, got)
			}
		}
	}
	for _, sample := range cutSamples {
		if got := p.parse([]byte(sample)); got != unfinished {
			t.Errorf("%.100q is %d; want unfinished", sample, got)
		}
	}
	for _, sample := range oddSamples {
		if got := p.parse([]byte(sample)); got != foreign {
			t.Errorf("%.100q is %d; want foreign", sample, got)
		}
	}
}

// Whatever the lane takes for plain, net/http's own reader takes for the same
// request, and the next one begins at the same byte.
func FuzzPlain(f *testing.F) {
	for _, sample := range append(plainSamples, oddSamples...) {
		f.Add([]byte(sample))
		f.Add([]byte(sample + plainSamples[0]))
	}
	f.Fuzz(func(t *testing.T, data []byte) { compareWithStandard(t, data) })
}

func compareWithStandard(t *testing.T, data []byte) {
	t.Helper()
	var p plainRequest
	if p.parse(data) != plain {
		return
	}
	in := bufio.NewReader(bytes.NewReader(data))
	want, err := http.ReadRequest(in)
	if err != nil {
		t.Fatalf("%q is plain, and net/http says: %v", data, err)
	}
	wantBody, err := io.ReadAll(want.Body)
	if err != nil {
		t.Fatalf("%q is plain, and net/http says of its body: %v", data, err)
	}
	rest, _ := io.ReadAll(in)
	if !bytes.Equal(rest, data[p.size():]) {
		t.Errorf("%q: %q follows; net/http says %q", data, data[p.size():], rest)
	}
	if body := data[p.head:p.size()]; !bytes.Equal(body, wantBody) {
		t.Errorf("%q: the body is %q; net/http says %q", data, body, wantBody)
	}
	var got http.Request
	var values [maxFields]string
	p.fill(&got, &url.URL{}, http.Header{}, &values, data)
	want.Body = nil // compared already
	if !reflect.DeepEqual(&got, want) {
		t.Errorf("%q gives\n%+v, %+v; net/http says\n%+v, %+v", data, got, got.URL, want, want.URL)
	}
}
