//go:build linux

package rig

import (
	"testing"
	"time"
)

// Eventually waits until a condition holds, and answers how long that took.
func Eventually(t testing.TB, within time.Duration, what string, holds func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !holds() {
		if time.Since(began) > within {
			t.Fatalf("after %v, still not: %s", within, what)
		}
		time.Sleep(5 * time.Millisecond) // between two looks, up to a deadline
	}
	return time.Since(began)
}
