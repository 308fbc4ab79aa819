package main

import (
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/simulate"
)

// rates returns a function that describes what happened since its last call.
func rates(meter *simulate.Meter) func() string {
	before, at := meter.Read(), time.Now()
	return func() string {
		now, reading := time.Now(), meter.Read()
		line := summary(reading.Since(before), now.Sub(at))
		before, at = reading, now
		return line
	}
}

// summary describes the heartbeats sent in some time.
func summary(r simulate.Reading, took time.Duration) string {
	line := fmt.Sprintf("%d heartbeats in %s, %.0f/s, p50 %s, p99 %s", r.Taken, took.Round(time.Millisecond),
		float64(r.Taken)/max(took.Seconds(), 0.001), r.Quantile(0.5), r.Quantile(0.99))
	if r.Repeated > 0 {
		line += fmt.Sprintf(", %d told to retry later", r.Repeated)
	}
	if r.Failed > 0 {
		line += fmt.Sprintf(", %d failed", r.Failed)
	}
	return line
}
