//go:build linux

package harness

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// HeldClock is a clock that stands still until the test moves it, for any number
// of servers. However slow the machine is, no time passes between two moves.
type HeldClock struct {
	Program // with which servers run by this clock
	nanos   *atomic.Int64
}

// held is a server whose clock is a number in a file that it shares with the test.
// Like a simulation, it tells the server that nobody knows how fast the clock runs:
// there is no rate to hold it to.
var held = &Variant{Name: "held", Files: map[string]string{"cmd/beacon/clock.go": heldClock}}

const heldVariable = "BEACON_TEST_HELD_CLOCK"

const heldClock = `package main

import (
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

type clockFlags struct {
	ClockStart time.Time
	ClockRate  float64
}

func (clockFlags) simulated() bool { return true }

func (c clockFlags) now() (func() time.Time, error) {
	file, err := os.Open(os.Getenv("` + heldVariable + `"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	shared, err := syscall.Mmap(int(file.Fd()), 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	nanos := (*atomic.Int64)(unsafe.Pointer(&shared[0]))
	return func() time.Time { return time.Unix(0, nanos.Load()).UTC() }, nil
}
`

// NewHeldClock makes a clock that says a time until it is moved.
func NewHeldClock(t *testing.T, at time.Time) *HeldClock {
	t.Helper()
	name := filepath.Join(t.TempDir(), "clock")
	if err := os.WriteFile(name, make([]byte, 8), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	shared, err := syscall.Mmap(int(file.Fd()), 0, 8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	// It stays mapped: a goroutine may still look at it when the test has failed.
	c := &HeldClock{
		Program: Program{Binary: held.Build(t), Environment: []string{heldVariable + "=" + name}},
		nanos:   (*atomic.Int64)(unsafe.Pointer(&shared[0])),
	}
	c.Set(at)
	return c
}

// Now returns what it says.
func (c *HeldClock) Now() time.Time { return time.Unix(0, c.nanos.Load()).UTC() }

// Set sets it.
func (c *HeldClock) Set(at time.Time) { c.nanos.Store(at.UnixNano()) }

// Pass moves it on.
func (c *HeldClock) Pass(d time.Duration) { c.nanos.Add(int64(d)) }
