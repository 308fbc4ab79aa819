package httpserver

import (
	"context"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"time"
)

// While more goroutines want to run than can, the level rises; then it falls.
func TestPressure(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var p Overload
	var all sync.WaitGroup
	all.Go(func() {
		if err := p.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	busy, rest := context.WithCancel(ctx)
	for range 20 * runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for busy.Err() == nil { // to run, then to wait in the queue with all the others
				for began := time.Now(); time.Since(began) < 5*time.Millisecond; {
				}
				runtime.Gosched()
			}
		})
	}
	until(t, func() bool { return p.Level() > 30 })
	rest()
	until(t, func() bool { return p.Level() == 0 })
	cancel()
	all.Wait()
}

// A request is turned away as often as the level says, and only after a while.
func TestPressure_Yields(t *testing.T) {
	var p Overload
	r := httptest.NewRequest("GET", "/", nil)
	if p.Sheds(r) {
		t.Error("without pressure, a request was turned away")
	}
	for range 21 { // the first alone says nothing
		p.adjust(time.Second)
	}
	if p.Level() != pressureMost {
		t.Fatalf("level = %d; want %d", p.Level(), pressureMost)
	}
	began := time.Now()
	turned := 0
	for range 20 {
		if p.Sheds(r) {
			turned++
		}
	}
	if turned < 10 || time.Since(began) < time.Duration(turned)*pressureHold {
		t.Errorf("%d of 20 turned away in %v", turned, time.Since(began))
	}
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come to that in 5 minutes")
		}
	}
}
