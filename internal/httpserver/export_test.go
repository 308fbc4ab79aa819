package httpserver

import (
	"testing"
	"time"
)

// A slow machine may need longer for a drain than a supervisor waits.
func init() { finishIn = 5 * time.Minute }

// HoldNotice lets the notice of a drain last until it is released.
func HoldNotice(t *testing.T) (release func()) {
	t.Helper()
	usual, released := noticeEnds, make(chan time.Time)
	noticeEnds = func() <-chan time.Time { return released }
	t.Cleanup(func() { noticeEnds = usual })
	return func() { close(released) }
}
