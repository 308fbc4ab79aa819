package clock_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beacon-wifi/beacon/internal/clock"
)

// TestEvery: at once, at each tick and when called for; trouble is said once,
// and so is its end.
func TestEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var log bytes.Buffer
		due := make(chan struct{})
		var fails atomic.Pointer[error]
		var times atomic.Int64
		go clock.Every(ctx, time.Minute, due, slog.New(slog.NewTextHandler(&log, nil)), "wind the clock", func(context.Context) error {
			times.Add(1)
			if err := fails.Load(); err != nil {
				return *err
			}
			return nil
		})
		check := func(want int) {
			t.Helper()
			synctest.Wait()
			if got := times.Load(); got != int64(want) {
				t.Fatalf("done %d times; want %d", got, want)
			}
		}
		check(1)
		time.Sleep(3 * time.Minute)
		check(4)
		due <- struct{}{}
		check(5)
		broken := errors.New("it is broken")
		fails.Store(&broken)
		time.Sleep(2 * time.Minute)
		check(7)
		fails.Store(nil)
		time.Sleep(2 * time.Minute)
		check(9)
		cancel()
		time.Sleep(2 * time.Minute)
		check(9)
		for text, want := range map[string]int{"cannot wind the clock; trying again": 1, "it is broken": 1, "can wind the clock again": 1} {
			if got := strings.Count(log.String(), text); got != want {
				t.Errorf("%q is said %d times; want %d:\n%s", text, got, want, log.String())
			}
		}
	})
}
