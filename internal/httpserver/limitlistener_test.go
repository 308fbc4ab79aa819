package httpserver

import (
	"net"
	"testing"
)

// A connection beyond the limit is accepted once another one is closed, not
// before.
func TestLimitListener(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := limitListener(inner, 2)
	defer ln.Close()
	accepted := make(chan net.Conn)
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- conn
		}
	}()
	for range 3 {
		conn, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	first, second := <-accepted, <-accepted
	defer second.Close()
	if n := len(ln.slots); n != 2 {
		t.Errorf("%d slots are taken; want 2", n)
	}
	select {
	case <-accepted:
		t.Error("a third connection was accepted")
	default:
	}
	first.Close()
	first.Close() // closing twice frees one slot
	third := <-accepted
	if n := len(ln.slots); n != 2 {
		t.Errorf("%d slots are taken after one was freed and taken; want 2", n)
	}
	third.Close()
}

// Close ends an Accept that waits for a slot.
func TestLimitListener_CloseWhileFull(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := limitListener(inner, 0)
	failed := make(chan error)
	go func() { _, err := ln.Accept(); failed <- err }()
	ln.Close()
	if err := <-failed; err == nil {
		t.Error("Accept gave a connection after Close")
	}
}
