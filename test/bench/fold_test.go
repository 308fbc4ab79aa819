package bench

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"
)

// The fold of all hotspots while they beat: a million, 16,700 beats a second. By
// a clock that runs three times as fast, there is a fold every 100 s. The target
// is 60 s.
func BenchmarkFold(b *testing.B) {
	const rate, seconds = 16_700, 280
	w := newLiveWorld(b, 1_000_000)
	subject := serveBeacon(b, "--db", w.file, "--rate-limit", "off", "--log-level", "debug", "--clock-rate", "3")
	all := newBeats(w.devices)
	began, cpu := time.Now(), subject.cpu(b)
	took := all.drum(b, subject, rate*seconds, crowd*time.Second/rate)
	elapsed := time.Since(began).Seconds()
	slices.Sort(took)
	largest := largestFold(b, subject.log)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(len(took))/elapsed, "beats/s")
	b.ReportMetric(took[len(took)/2]/1e3, "ms-p50")
	b.ReportMetric(took[len(took)*99/100]/1e3, "ms-p99")
	b.ReportMetric((subject.cpu(b)-cpu)/elapsed, "cores")
	b.ReportMetric(largest.Hotspots, "hotspots/fold")
	b.ReportMetric(largest.Milliseconds/1e3, "s/fold")
	b.ReportMetric(subject.memory(b)/1_000_000, "B-rss/hotspot")
}

type foldLine struct {
	Message      string  `json:"msg"`
	Hotspots     float64 `json:"hotspots"`
	Milliseconds float64 `json:"took_ms"`
}

// largestFold finds in the log the fold that wrote most.
func largestFold(b *testing.B, name string) (largest foldLine) {
	b.Helper()
	file, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var line foldLine
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Message == "heartbeats folded" && line.Hotspots >= largest.Hotspots {
			largest = line
		}
	}
	return largest
}
