//go:build linux

package endtoend_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

// TestHostileSockets: clients that do not mean well, each on a connection of its
// own. The server lets them go, keeps its memory, and goes on for others.
func TestHostileSockets(t *testing.T) {
	db := filepath.Join(t.TempDir(), "beacon.db")
	s := rig.Start(t, db)
	key := rig.CreateKey(t, db, "hotspots:write").Key
	for name, attack := range map[string]func(*testing.T, *rig.Server, string){
		"slow headers":         slowHeaders,
		"huge body":            hugeBody,
		"huge chunked body":    hugeChunkedBody,
		"huge header":          hugeHeader,
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

func dial(t *testing.T, s *rig.Server) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// slowHeaders sends a byte now and then and never ends its headers.
func slowHeaders(t *testing.T, s *rig.Server, _ string) {
	began := time.Now()
	var all sync.WaitGroup
	for range 20 {
		conn := dial(t, s)
		all.Go(func() {
			fmt.Fprint(conn, "GET /v1/hotspots/nearby HTTP/1.1\r\nHost: beacon\r\nX-Slow: ")
			closed := make(chan struct{})
			go func() {
				_, _ = io.Copy(io.Discard, conn)
				close(closed)
			}()
			ticker := time.NewTicker(200 * time.Millisecond)
			defer ticker.Stop()
			for {
				select {
				case <-closed:
					if took := time.Since(began); took > 6*time.Second {
						t.Errorf("a slow client was let go after %v; want 6 s", took)
					}
					return
				case <-ticker.C:
					_, _ = conn.Write([]byte("x"))
				}
			}
		})
	}
	all.Wait()
}

// hugeBody announces 100 MB and sends as much as is taken.
func hugeBody(t *testing.T, s *rig.Server, key string) {
	const size = 100 << 20
	conn := dial(t, s)
	fmt.Fprintf(conn, "POST /v1/hotspots HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", key, size)
	refusedBody(t, s, conn, func(part []byte) error {
		_, err := conn.Write(part)
		return err
	})
}

// hugeChunkedBody does not say how much it will be.
func hugeChunkedBody(t *testing.T, s *rig.Server, key string) {
	conn := dial(t, s)
	fmt.Fprintf(conn, "POST /v1/hotspots HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", key)
	refusedBody(t, s, conn, func(part []byte) error {
		_, err := fmt.Fprintf(conn, "%x\r\n%s\r\n", len(part), part)
		return err
	})
}

// refusedBody sends up to 100 MB, and wants a 413 early on and flat memory.
func refusedBody(t *testing.T, s *rig.Server, conn net.Conn, send func([]byte) error) {
	t.Helper()
	sent := make(chan int, 1)
	go func() {
		part, total := bytes.Repeat([]byte("["), 1<<20), 0
		for total < 100<<20 && send(part) == nil {
			total += len(part)
		}
		sent <- total
	}()
	began := time.Now()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	switch took := time.Since(began); {
	case err != nil:
		t.Errorf("a body of 100 MB: %v", err)
	case response.StatusCode != http.StatusRequestEntityTooLarge || took > 2*time.Second:
		t.Errorf("a body of 100 MB was answered %d after %v; want 413 at once", response.StatusCode, took)
	}
	if total := <-sent; total >= 100<<20 {
		t.Errorf("the server took %d MB", total>>20)
	}
	if resident := residentMB(t, s); resident > 200 {
		t.Errorf("the server has %d MB of memory in use; want 200 at the most", resident)
	} else {
		t.Logf("the server has %d MB of memory in use", resident)
	}
}

func residentMB(t *testing.T, s *rig.Server) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
			kb, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			return kb >> 10
		}
	}
	t.Fatal("no VmRSS")
	return 0
}

// hugeHeader sends a header of 1 MB.
func hugeHeader(t *testing.T, s *rig.Server, _ string) {
	conn := dial(t, s)
	go func() {
		fmt.Fprintf(conn, "GET /v1/hotspots/nearby HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer %s\r\n\r\n", strings.Repeat("x", 1<<20))
	}()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("a header of 1 MB: %v", err)
	}
	if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a header of 1 MB was answered %d; want 431", response.StatusCode)
	}
}

// garbage sends what is no HTTP; a connection is answered 400 or closed.
func garbage(t *testing.T, s *rig.Server, key string) {
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
func keepAliveOfErrors(t *testing.T, s *rig.Server, key string) {
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
