package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Closing the last day of a month and settling the month, for a million hotspots
// of 100,000 operators, while requests are served. The targets are 60 s and 120 s.
// The server's clock runs five times as fast and begins some minutes before
// midnight; 2,000 beats a second are those of 24,000 hotspots then, each once a
// minute by that clock. The others have been silent since the evening.
func BenchmarkCloseAndSettle(b *testing.B) {
	w := newMonthWorld(b, monthHotspots())
	b.Run("sqlite", func(b *testing.B) { closeAndSettle(b, w, onSQLite(b, w.file)) })
	b.Run("postgres", func(b *testing.B) { closeAndSettle(b, w, onPostgres(b, w.file)) })
}

func closeAndSettle(b *testing.B, w monthWorld, on engine) {
	db := on.opened(b)
	key := newKey(b, db, monthEnds.Add(-time.Hour))
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	command := build(b)
	const rate = 5
	subject := serveBeacon(b, "--db", on.db, "--rate-limit", "off", "--log-level", "debug",
		"--clock-start", monthEnds.Add(-5*time.Minute).Format(time.RFC3339), "--clock-rate", fmt.Sprint(rate))
	o := &observer{b: b, subject: subject, on: on, log: newTail(b, subject.log)}
	stop := o.serve(w, key, rate)
	defer stop()

	began := time.Now()
	closed := o.awaitClosing()
	if closed.Hotspots != len(w.devices) {
		b.Errorf("closed the day of %d hotspots; want %d", closed.Hotspots, len(w.devices))
	}
	ended := time.Now()
	took := time.Duration(closed.Milliseconds) * time.Millisecond
	b.ReportMetric(0, "ns/op")
	o.report("before", began, ended.Add(-took))
	o.report("close", ended.Add(-took), ended)
	b.ReportMetric(float64(closed.Hotspots)/took.Seconds(), "close-rows/s")

	began = time.Now()
	state := o.settle(command, len(w.devices)/10)
	ended = time.Now()
	o.report("settle", began, ended)
	b.ReportMetric(float64(len(w.devices))/ended.Sub(began).Seconds(), "settle-rows/s")
	usage := state.SysUsage().(*syscall.Rusage)
	b.ReportMetric((state.UserTime() + state.SystemTime()).Seconds(), "settle-cpu-s-command")
	b.ReportMetric(float64(usage.Maxrss)/1024, "settle-MB-rss-command")
	stop()
	for _, table := range []string{"ledger", "hotspot_months", "hotspot_totals", "statements"} {
		size, rows := on.size(table)
		b.ReportMetric(size/rows, table+"-B/row")
	}
}

// serve asks for beats and for what is nearby until it is stopped.
func (o *observer) serve(w monthWorld, key string, clockRate int) (stop func()) {
	const beatsPerSecond, nearbyPerSecond = 2000, 200
	awake := beatsPerSecond * 60 / clockRate
	var some []device
	for i := 0; i < len(w.devices); i += max(1, len(w.devices)/awake) {
		some = append(some, w.devices[i])
	}
	places := cityPlaces()
	var next atomic.Int64
	o.loads = map[string]*steady{
		"beat": {addr: o.subject.addr, rate: beatsPerSecond, lines: beatsPerSecond, next: newBeats(some).request},
		"nearby": {addr: o.subject.addr, rate: nearbyPerSecond, lines: nearbyPerSecond, next: func(out []byte) []byte {
			at := places[int(next.Add(1))%len(places)]
			return append(out[:0], get(fmt.Sprintf("/v1/hotspots/nearby?lat=%.6f&lng=%.6f&status=all", at.Lat, at.Lng), "Authorization: Bearer "+key)...)
		}},
	}
	ctx, cancel := context.WithCancel(o.b.Context())
	var all sync.WaitGroup
	for _, load := range o.loads {
		all.Go(func() { load.run(ctx) })
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// awaitClosing waits for the last day of the month to be closed.
func (o *observer) awaitClosing() closedLine {
	o.b.Helper()
	for deadline := time.Now().Add(15 * time.Minute); time.Now().Before(deadline); o.wait() {
		if line, ok := o.log.closed(o.b); ok {
			return line
		}
	}
	o.b.Fatalf("the day was not closed in 15 minutes; see %s", o.subject.log)
	return closedLine{}
}

// settle runs the command to its end. What it says of its progress is shown.
func (o *observer) settle(command string, operators int) *os.ProcessState {
	o.b.Helper()
	var said bytes.Buffer
	cmd := exec.Command(command, "rewards", "settle", "--db", o.on.db, "--month", "2026-10", "--force",
		"--clock-start", monthEnds.Add(2*time.Hour).Format(time.RFC3339))
	cmd.Stdout, cmd.Stderr = &said, os.Stderr
	if err := cmd.Start(); err != nil {
		o.b.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if want := fmt.Sprintf("settled 2026-10: %d statements, ", operators); err != nil || !strings.HasPrefix(said.String(), want) {
				o.b.Fatalf("the command said %q, %v; want %s…", said.String(), err, want)
			}
			return cmd.ProcessState
		default:
			o.wait()
		}
	}
}
