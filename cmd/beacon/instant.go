package main

import (
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// instant is a time as the API writes it: in UTC, with three digits of milliseconds.
type instant time.Time

func (i instant) String() string { return beacon.FormatTime(time.Time(i)) }

// MarshalText returns the same text as String.
func (i instant) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// instantOf returns nil for the zero time.
func instantOf(t time.Time) *instant {
	if t.IsZero() {
		return nil
	}
	i := instant(t)
	return &i
}
