package clock

import (
	"log/slog"
	"strings"
	"testing"
	"time"
)

// A reading says how far the clock can be trusted, and counts how often it was set and
// went back. It is logged once that it was set.
func TestRead(t *testing.T) {
	var log strings.Builder
	now, machine := evening, time.Now()
	c := New(Config{
		Now: func() time.Time { return now }, Machine: func() time.Time { return machine }, Rate: 1,
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	c.Read()
	for _, step := range []struct {
		name            string
		byClock, really time.Duration
		want            Reading
	}{
		{"nine minutes", 9 * time.Minute, 9 * time.Minute, Reading{Steady: 9 * time.Minute}},
		{"ten", time.Minute, time.Minute, Reading{Steady: SteadyFor, Trusted: true, UpTo: evening.Add(SteadyFor)}},
		{"set ahead", time.Hour, 0, Reading{UpTo: evening.Add(SteadyFor), Sets: 1}},
		{"set back", -time.Hour, 0, Reading{UpTo: evening.Add(SteadyFor), Sets: 2, Backs: 1, BackTo: evening.Add(SteadyFor)}},
		{"and trusted again", SteadyFor, SteadyFor, Reading{
			Steady: SteadyFor, Trusted: true, UpTo: evening.Add(2 * SteadyFor), Sets: 2, Backs: 1, BackTo: evening.Add(SteadyFor),
		}},
	} {
		now, machine = now.Add(step.byClock), machine.Add(step.really)
		step.want.Now, step.want.Certain, step.want.Latest, step.want.machine = now, now, now, machine
		if got := c.Read(); got != step.want {
			t.Errorf("%s: %+v; want %+v", step.name, got, step.want)
		}
	}
	if n := strings.Count(log.String(), "the clock was set"); n != 1 {
		t.Errorf("%d warnings: %s", n, log.String())
	}
}
