package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// pausedDemo is a demo whose history waits for the test at its beginning and after each
// day.
type pausedDemo struct {
	demonstration
	out     heardBuffer
	reached chan int // days
	goOn    chan struct{}
	ended   chan error
}

// heardBuffer closes heard once a text was written to it.
type heardBuffer struct {
	lockedBuffer
	text  string
	heard chan struct{}
	once  sync.Once
}

func (b *heardBuffer) Write(p []byte) (int, error) {
	n, err := b.lockedBuffer.Write(p)
	if strings.Contains(b.String(), b.text) {
		b.once.Do(func() { close(b.heard) })
	}
	return n, err
}

func startPaused(ctx context.Context, t *testing.T, file string) *pausedDemo {
	t.Helper()
	d := &pausedDemo{out: heardBuffer{text: "ready in", heard: make(chan struct{})}, reached: make(chan int), goOn: make(chan struct{}), ended: make(chan error, 1)}
	start, err := time.Parse(time.RFC3339, demoTime)
	if err != nil {
		t.Fatal(err)
	}
	c := demoCmd{Seed: 1, Hotspots: 45, AdminAddr: "off", RateLimit: ratelimit.Limit{}, clockFlags: clockFlags{ClockStart: start, ClockRate: 0.01}} // however slow the machine is, nobody falls silent
	out := &console{ctx: ctx, stdout: &d.out, stderr: &d.log}
	now, err := c.now()
	if err != nil {
		t.Fatal(err)
	}
	ln, err := listen(ctx, "--addr", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stage, past, err := c.stage(out, file, now)
	if err != nil {
		t.Fatal(err)
	}
	d.url, d.operator, d.staff = "http://"+ln.Addr().String(), stage.OperatorKey, stage.StaffKey
	write := past.write
	past.write = func(ctx context.Context, wrote func(), recorded func(context.Context) error) error {
		pause := func(days int) {
			d.reached <- days
			<-d.goOn
		}
		pause(0)
		days := 0
		return write(ctx, func() {
			wrote()
			days++
			pause(days)
		}, recorded)
	}
	go func() { d.ended <- unlessStopped(out, c.show(out, file, stage, past, ln, now, time.Now())) }()
	return d
}

// history returns what the console is told of the history.
func (d *pausedDemo) history(t *testing.T) string {
	t.Helper()
	_, body := fetch(t, d.url+"/history.json")
	return strings.TrimSpace(body)
}

// The map is shown before the history is written, and the demo is ready after. Meanwhile
// all pages say the same.
func TestDemo_MapFirst(t *testing.T) {
	level.Repeats(t)
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d := startPaused(ctx, t, filepath.Join(t.TempDir(), "demo.db"))
	months := 0
	for days := range demoDays + 2 { // today is one
		select {
		case got := <-d.reached:
			if got != days {
				t.Fatalf("%d days are written; want %d", got, days)
			}
		case err := <-d.ended:
			t.Fatalf("it ended after %d days: %v", days, err)
		}
		if days == 0 {
			d.testMap(t)
		}
		if days%15 == 0 || days == demoDays+1 {
			if want := fmt.Sprintf(`{"days":%d,"of":%d}`, min(days, demoDays-1), demoDays); d.history(t) != want {
				t.Errorf("the console is told %s; want %s", d.history(t), want)
			}
			months += d.testAgree(t)
		}
		if said := d.out.String(); !strings.Contains(said, "the map is on "+d.url) || strings.Contains(said, "ready") {
			t.Errorf("after %d days it says %q", days, said)
		}
		d.goOn <- struct{}{}
	}
	if months < 8 {
		t.Errorf("only %d months had earnings", months)
	}
	select {
	case <-d.out.heard:
	case err := <-d.ended:
		t.Fatalf("it ended before it was ready: %v", err)
	}
	if got := d.history(t); got != `{"days":90,"of":90}` {
		t.Errorf("in the end the console is told %s", got)
	}
	d.testHotspots(t)
	d.testRewards(t)
	d.testAgree(t)
	cancel()
	if err := <-d.ended; err != nil {
		t.Error(err)
	}
}

// Anyone sees all hotspots.
func (d *pausedDemo) testMap(t *testing.T) {
	t.Helper()
	var own []demoHotspot
	d.get(t, d.operator, "/users/me/hotspots?per_page=100", &own)
	_, feed := fetch(t, d.url+"/open/hotspots.geojson")
	if n := strings.Count(feed, `"Feature"`); len(own) != 30 || n < 35 {
		t.Errorf("the operator sees %d hotspots, and others %d: %.200s", len(own), n, feed)
	}
}

// testAgree compares the pages about what was earned, and returns how many months have
// something.
func (d *pausedDemo) testAgree(t *testing.T) (months int) {
	t.Helper()
	var history []struct {
		Period string
		Earned float64 `json:"total_earned"`
	}
	d.get(t, d.operator, "/users/me/rewards/history", &history)
	all := 0.0
	for _, m := range history {
		all += m.Earned
		var days struct {
			Days []struct {
				Earned float64 `json:"total_earned"`
			}
		}
		d.get(t, d.operator, "/users/me/rewards/days?month="+m.Period, &days)
		sum := 0.0
		for _, day := range days.Days {
			sum += day.Earned
		}
		if math.Abs(sum-m.Earned) > 1e-5 {
			t.Errorf("the days of %s add up to %f; the month says %f", m.Period, sum, m.Earned)
		}
		if m.Earned > 0 {
			months++
		}
	}
	var s demoSummary
	d.get(t, d.operator, "/users/me/rewards?period=all", &s)
	sum, total := 0.0, s.Breakdown.Availability+s.Breakdown.Performance+s.Breakdown.Utilization
	for _, h := range s.Hotspots {
		sum += h.Earned
	}
	if math.Abs(sum-total) > 1e-5 || math.Abs(all-total) > 1e-5 {
		t.Errorf("all earned %f, the hotspots together %f, the months %f", total, sum, all)
	}
	return months
}

// Stopped while the history is written, it leaves nothing behind.
func TestDemo_StoppedInHistory(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	file := filepath.Join(t.TempDir(), "demo.db")
	d := startPaused(ctx, t, file)
	for range 20 {
		<-d.reached
		d.goOn <- struct{}{}
	}
	<-d.reached
	cancel()
	d.goOn <- struct{}{}
	for running := true; running; {
		select {
		case <-d.reached: // of a day that was on its way
			d.goOn <- struct{}{}
		case err := <-d.ended:
			if err != nil {
				t.Error(err)
			}
			running = false
		}
	}
	if left, _ := filepath.Glob(file + "*"); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}
