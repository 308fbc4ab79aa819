package httpserver

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"
)

// What a heartbeat costs that does nothing, on the fast path and by net/http: one
// connection, one request after the other. Client and server share the process,
// so the allocations are those of both; the client makes none.
func BenchmarkServe(b *testing.B) {
	const text = `{"boot_id":"0123456789abcdef","seq":100000000,"clients":12,"rx_bytes":100000000000,"tx_bytes":100000000000,"rssi_dbm":-61}`
	request := inLines("POST /v1/hotspots/hs_01m7fnpnz4e82rq80k3dn3718h/heartbeats HTTP/1.1", "Host: beacon",
		"Authorization: Bearer bd_01m7fnpnz4e82rq80k3dn3718h_0123456789abcdef", "Content-Type: application/json", "Content-Length: 122") + text
	var room [1024]byte
	length := []string{"122"}
	front := &Handler{
		Next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, _ := io.ReadFull(r.Body, room[:r.ContentLength])
			w.Header()["Content-Length"] = length
			WriteBody(w, http.StatusOK, room[:n])
		}),
		Now: time.Now, Log: slog.New(slog.DiscardHandler), Observe: func(*http.Request, RequestInfo) {},
	}
	for name, off := range map[string]bool{"fast-path": false, "net-http": true} {
		b.Run(name, func(b *testing.B) {
			front.NoFastPath = off
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			front.draining.Store(false)
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan error, 1)
			go func() { done <- Serve(ctx, ln, front) }()
			defer func() { cancel(); <-done }()
			conn, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			out, in := []byte(request), make([]byte, 4096)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := conn.Write(out); err != nil {
					b.Fatal(err)
				}
				if _, err := conn.Read(in); err != nil { // loopback gives it in one piece
					b.Fatal(err)
				}
			}
		})
	}
}
