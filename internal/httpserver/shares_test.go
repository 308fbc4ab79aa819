package httpserver

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"testing"
	"time"
)

// dialFrom opens a connection from an address of this machine, and reports
// whether a request on it is answered.
func dialFrom(t *testing.T, from, to string) (conn net.Conn, served bool) {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.Dial("tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_, _ = io.WriteString(conn, inLines("GET / HTTP/1.1", "Host: x")) // the server may have hung up
	if err := conn.SetReadDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	_, err = conn.Read(make([]byte, 1))
	return conn, err == nil
}

// An address that has its share of connections gets no more, until it closes one;
// others get theirs, and a proxy of ours as many as it likes.
func TestServe_OneAddressHasItsShare(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("127.0.0.2 is no address of this machine")
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxies, err := ParseProxies([]string{"127.0.0.9"})
	if err != nil {
		t.Fatal(err)
	}
	front := &Handler{
		Next:           http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
		Refuse:         func(http.ResponseWriter, *http.Request, int) {},
		Now:            time.Now,
		Log:            slog.New(slog.DiscardHandler),
		Observe:        func(*http.Request, RequestInfo) {},
		Proxies:        proxies,
		MaxConnections: 3,
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, ln, front) }()
	t.Cleanup(func() { cancel(); <-done })
	addr := ln.Addr().String()

	var first net.Conn
	for i := range 3 {
		conn, served := dialFrom(t, "127.0.0.1", addr)
		if !served {
			t.Fatalf("connection %d is refused", i+1)
		}
		first = conn
	}
	for range 2 {
		if _, served := dialFrom(t, "127.0.0.1", addr); served {
			t.Fatal("a fourth connection is served")
		}
	}
	if n := front.Refused(); n != 2 {
		t.Errorf("%d connections count as refused; want 2", n)
	}
	if _, served := dialFrom(t, "127.0.0.2", addr); !served {
		t.Error("another address is shut out")
	}
	for i := range 5 {
		if _, served := dialFrom(t, "127.0.0.9", addr); !served {
			t.Errorf("connection %d of a proxy is refused", i+1)
		}
	}
	first.Close()
	until(t, func() bool {
		_, served := dialFrom(t, "127.0.0.1", addr)
		return served
	})
}

// Who has no connection takes no memory, and a network of 64 bits is one.
func TestShares_ForgetsAndGroups(t *testing.T) {
	front := &Handler{}
	s := newShares(2, nil, &front.refused)
	addr := func(text string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(text), Port: 1} }
	var giveBack []func()
	for _, tc := range []struct {
		addr string
		ok   bool
	}{
		{"2001:db8::1", true},
		{"2001:db8::ffff:2", true},
		{"2001:db8::3", false},
		{"2001:db8:0:1::1", true},
		{"192.0.2.1", true},
		{"::ffff:192.0.2.1", true},
		{"192.0.2.1", false},
		{"192.0.2.2", true},
	} {
		free, ok := s.take(addr(tc.addr))
		if ok != tc.ok {
			t.Errorf("a connection of %s is let in: %t; want %t", tc.addr, ok, tc.ok)
		}
		if ok {
			giveBack = append(giveBack, free)
		}
	}
	if len(s.open) != 4 {
		t.Errorf("%d addresses are remembered; want 4", len(s.open))
	}
	for _, free := range giveBack {
		free()
	}
	if len(s.open) != 0 {
		t.Errorf("%d addresses are remembered; want none", len(s.open))
	}
	if _, ok := newShares(0, nil, &front.refused).take(addr("192.0.2.1")); !ok {
		t.Error("without a limit, a connection is refused")
	}
}
