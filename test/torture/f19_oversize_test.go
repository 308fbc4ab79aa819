//go:build linux

package torture_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// TestF19_Oversize: clients that send too much of everything, or what is no
// HTTP, each on a connection of its own. The server lets them go, keeps its memory,
// and goes on for others.
func TestF19_Oversize(t *testing.T) {
	db := filepath.Join(t.TempDir(), "beacon.db")
	s := harness.Start(t, db)
	key := harness.CreateKey(t, db, "hotspots:write").Key
	for name, attack := range map[string]func(*testing.T, *harness.Server, string){
		"huge body":            hugeBody,
		"huge chunked body":    hugeChunkedBody,
		"huge header":          hugeHeader,
		"many headers":         manyHeaders,
		"long URL":             longURL,
		"odd bodies":           oddBodies,
		"garbage":              garbage,
		"keep-alive of errors": keepAliveOfErrors,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // so that each also shows that the others do not disturb it
			attack(t, s, key)
			s.Running(t)
		})
	}
}

func dial(t *testing.T, s *harness.Server) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(harness.Patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// hugeBody announces 100 MB and sends as much as is taken.
func hugeBody(t *testing.T, s *harness.Server, key string) {
	const size = 100 << 20
	conn := dial(t, s)
	fmt.Fprintf(conn, "POST /v1/hotspots HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", key, size)
	refusedBody(t, s, conn, func(part []byte) error {
		_, err := conn.Write(part)
		return err
	})
}

// hugeChunkedBody does not say how much it will be.
func hugeChunkedBody(t *testing.T, s *harness.Server, key string) {
	conn := dial(t, s)
	fmt.Fprintf(conn, "POST /v1/hotspots HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", key)
	refusedBody(t, s, conn, func(part []byte) error {
		_, err := fmt.Fprintf(conn, "%x\r\n%s\r\n", len(part), part)
		return err
	})
}

// refusedBody sends up to 100 MB, and wants a 413 before all of it was sent, and flat
// memory.
func refusedBody(t *testing.T, s *harness.Server, conn net.Conn, send func([]byte) error) {
	t.Helper()
	sent := make(chan int, 1)
	go func() {
		part, total := bytes.Repeat([]byte("["), 1<<20), 0
		for total < 100<<20 && send(part) == nil {
			total += len(part)
		}
		sent <- total
	}()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	switch {
	case err != nil:
		t.Errorf("a body of 100 MB: %v", err)
	case response.StatusCode != http.StatusRequestEntityTooLarge:
		t.Errorf("a body of 100 MB was answered %d; want 413", response.StatusCode)
	}
	if total := <-sent; total >= 100<<20 {
		t.Errorf("the server took %d MB", total>>20)
	}
	if mb := resident(t, s) >> 20; mb > 200 {
		t.Errorf("the server has %d MB of memory in use; want 200 at the most", mb)
	} else {
		t.Logf("the server has %d MB of memory in use", mb)
	}
}

// hugeHeader sends a header of 1 MB.
func hugeHeader(t *testing.T, s *harness.Server, _ string) {
	expect(t, s, http.StatusRequestHeaderFieldsTooLarge,
		"GET /v1/hotspots/nearby HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer "+strings.Repeat("x", 1<<20)+"\r\n\r\n")
}

// manyHeaders sends ten thousand of them.
func manyHeaders(t *testing.T, s *harness.Server, _ string) {
	expect(t, s, http.StatusRequestHeaderFieldsTooLarge,
		"GET /v1/hotspots/nearby HTTP/1.1\r\nHost: beacon\r\n"+strings.Repeat("X-Header: value\r\n", 10_000)+"\r\n")
}

// longURL asks with a query beyond any need, and with ten thousand parameters:
// what is asked would be answered if it were shorter.
func longURL(t *testing.T, s *harness.Server, key string) {
	for _, more := range []string{"&x=" + strings.Repeat("0", 8<<10), strings.Repeat("&x=1", 10_000), strings.Repeat("&", 8<<10)} {
		expect(t, s, http.StatusBadRequest, // 414 is not among the network's answers
			"GET /v1/hotspots/nearby?lat=40&lng=-74"+more+" HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer "+key+"\r\n\r\n",
			http.StatusRequestHeaderFieldsTooLarge)
	}
}

// oddBodies are small enough to be read, and hard on who reads without care.
func oddBodies(t *testing.T, s *harness.Server, key string) {
	const limit = 60 << 10
	for _, body := range []string{
		strings.Repeat("[", limit),
		strings.Repeat(`{"a":`, limit/5),
		`{"location":{"lat":` + strings.Repeat("9", limit) + `}}`,
		`{"name":"` + strings.Repeat(`\u0000`, limit/6) + `"}`,
		`{` + strings.Repeat(`"name":"x",`, limit/11) + `"name":"x"}`,
		"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + strings.Repeat("\x00", 1000), // gzip, as it says
	} {
		for _, encoding := range []string{"", "Content-Encoding: gzip\r\n"} {
			expect(t, s, http.StatusBadRequest, fmt.Sprintf("POST /v1/hotspots HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s",
				key, encoding, len(body), body), http.StatusUnsupportedMediaType)
		}
	}
}

// expect sends a request as it is given, and wants one of some answers.
func expect(t *testing.T, s *harness.Server, want int, request string, or ...int) {
	t.Helper()
	conn := dial(t, s)
	go func() { _, _ = io.WriteString(conn, request) }()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Errorf("%.60q: %v", request, err)
		return
	}
	response.Body.Close()
	if !slices.Contains(append(or, want), response.StatusCode) {
		t.Errorf("%.60q was answered %d; want %d", request, response.StatusCode, want)
	}
}

// garbage sends what is no HTTP; a connection is answered 400 or closed.
func garbage(t *testing.T, s *harness.Server, key string) {
	for _, text := range []string{
		"\x00\x01\x02\x03\r\n\r\n",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", // the beginning of TLS
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"GET\r\n\r\n",
		"GET / HTTP/9.9\r\n\r\n",
		"GET /v1/hotspots/nearby HTTP/1.1\r\n\r\n", // no Host
		"GET http://[::1 HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /v1/hotspots HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + key + "\r\nContent-Length: -5\r\n\r\n",
		"POST /v1/hotspots HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + key + "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"POST /v1/hotspots HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + key + "\r\nContent-Type: application/json\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		strings.Repeat("\n", 100_000),
	} {
		conn := dial(t, s)
		fmt.Fprint(conn, text)
		_ = conn.(*net.TCPConn).CloseWrite()
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil && (response.StatusCode < 400 || response.StatusCode > 505 || response.StatusCode == 500) {
			t.Errorf("%.60q was answered %d", text, response.StatusCode)
		}
	}
}

// keepAliveOfErrors makes one mistake after the other on one connection, and
// then asks something sensible.
func keepAliveOfErrors(t *testing.T, s *harness.Server, key string) {
	conn := dial(t, s)
	answers := bufio.NewReader(conn)
	ask := func(method, path, authorization, body string) (status int, closed bool) {
		fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: beacon\r\nAuthorization: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			method, path, authorization, len(body), body)
		response, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		defer response.Body.Close()
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, response.Close
	}
	for _, tc := range []struct {
		method, path, key, body string
		status                  int
	}{
		{"GET", "/v1/hotspots/nearby", "Bearer nonsense", "", 401},
		{"GET", "/v1/hotspots/nearby", "Bearer " + key, "", 400},
		{"GET", "/v1/nowhere", "Bearer " + key, "", 404},
		{"PUT", "/v1/hotspots", "Bearer " + key, "{}", 405},
		{"POST", "/v1/hotspots", "Bearer " + key, `{"name":`, 400},
		{"POST", "/v1/hotspots", "Bearer " + key, `{"name":"` + strings.Repeat("x", 60<<10) + `"}`, 400},
		{"POST", "/v1/keys", "Bearer " + key, `{}`, 403},
		{"PATCH", "/v1/hotspots/hs_00000000000000000000000000", "Bearer " + key, `{}`, 404},
		{"GET", "/v1/hotspots/nearby?lat=40&lng=-74", "Bearer " + key, "", 200},
	} {
		if status, closed := ask(tc.method, tc.path, tc.key, tc.body); status != tc.status || closed {
			t.Fatalf("%s %s answered %d, and closed the connection: %v; want %d", tc.method, tc.path, status, closed, tc.status)
		}
	}
}
