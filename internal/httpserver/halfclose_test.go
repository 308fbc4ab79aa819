package httpserver

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// hasEnded reports whether net/http has read the end of a client's input. The fast path
// looks for it only in its reaper, which has its own tests.
func hasEnded(w http.ResponseWriter) bool {
	conn := w.(*recorder).conn
	if conn == nil {
		return true
	}
	conn.presence.mu.Lock()
	defer conn.presence.mu.Unlock()
	return conn.presence.ended
}

// A client that closes its sending side after its request still gets its response, from
// the fast path and from net/http: simple clients do so.
func TestServe_HalfClose(t *testing.T) {
	addrs := serveBoth(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		until(t, func() bool { return hasEnded(w) || r.Context().Err() != nil })
		if r.Context().Err() != nil {
			w.WriteHeader(499)
		}
		_, _ = w.Write(body)
	})
	for name, request := range map[string]string{
		"kept":    inLines("POST /a HTTP/1.1", "Host: x", "Content-Length: 4") + "done",
		"close":   inLines("POST /a HTTP/1.1", "Host: x", "Connection: close", "Content-Length: 4") + "done",
		"chunked": inLines("POST /a HTTP/1.1", "Host: x", "Transfer-Encoding: chunked") + "4\r\ndone\r\n0\r\n\r\n",
		"old":     inLines("POST /a HTTP/1.0", "Host: x", "Content-Length: 4") + "done",
		"empty":   inLines("PUT /a HTTP/1.1", "Host: x", "Connection: close"),
	} {
		for server, addr := range addrs {
			got := talk(t, addr, true, request)
			if !strings.Contains(got, " 200 OK\r\n") || strings.HasSuffix(got, "done") != (name != "empty") {
				t.Errorf("%s, %s: %q", server, name, got)
			}
		}
	}
}

// The context of a request ends when its connection breaks. With EndWithInput it also
// ends when the client has closed its sending side, before or after the call.
func TestServe_ContextEnds(t *testing.T) {
	contexts := make(chan context.Context)
	addrs := serveBoth(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/stream":
			EndWithInput(w)
		case "/late":
			until(t, func() bool { return hasEnded(w) })
			EndWithInput(w)
		}
		contexts <- r.Context()
		<-r.Context().Done()
	})
	reset := func(c *net.TCPConn) { _ = c.SetLinger(0); _ = c.Close() }
	end := func(c *net.TCPConn) { _ = c.CloseWrite() }
	for server, addr := range addrs {
		for path, leave := range map[string]func(*net.TCPConn){"/": reset, "/stream": end, "/late": end} {
			c := call(t, addr)
			c.Say(t, inLines("GET "+path+" HTTP/1.1", "Host: x"))
			if path == "/late" {
				leave(c.Conn.(*net.TCPConn))
			}
			ctx := <-contexts
			if path != "/late" {
				if ctx.Err() != nil {
					t.Errorf("%s, %s: the context ended before the client left", server, path)
				}
				leave(c.Conn.(*net.TCPConn))
			}
			<-ctx.Done()
		}
	}
}
