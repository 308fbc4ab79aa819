package bench

import (
	"fmt"
	"testing"
	"time"
)

// hugeLimit keeps the limiter at work without ever refusing.
const hugeLimit = "1000000/s:1000000"

// Nearby at a million hotspots: the 20 nearest within a kilometre. The target
// is 1.4 × the bare handler. Start and memory are measured on the way, apart from
// the requests: what a server still does after its first start on a new database,
// such as reading the changes of all hotspots once, is over before either.
func BenchmarkNearby(b *testing.B) {
	const n = 1_000_000
	w := newWorld(b, n)
	build(b) // so that the next one is only linked
	args := []string{"--db", w.file, "--rate-limit", hugeLimit}
	first := serveBeacon(b, args...)
	first.settle(b)
	first.stop(b)

	began := time.Now()
	subject := serveBeacon(b, args...)
	b.ReportMetric(time.Since(began).Seconds(), "s-start")
	b.ReportMetric(subject.cpu(b), "s-cpu-start")
	subject.settle(b)
	b.ReportMetric(subject.memory(b)/n, "B-rss/hotspot")

	var requests []string
	for _, at := range w.places {
		request := get(fmt.Sprintf("/v1/hotspots/nearby?lat=%.6f&lng=%.6f&status=all", at.Lat, at.Lng), "Authorization: Bearer "+w.key)
		if answer := fetch(b, subject, request); len(answer.Body) > 6000 { // 20 hits: a city, not its outskirts
			requests = append(requests, request)
		}
	}
	if len(requests) < 100 {
		b.Fatalf("only %d places have 20 hotspots nearby", len(requests))
	}
	compare(b, subject, requests)
	b.ReportMetric(subject.memory(b)/n, "B-rss/hotspot-after")
}
