package ratelimit_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
)

var epoch = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// Three at once, one more each second.
var three = ratelimit.Limit{Every: time.Second, Burst: 3}

func TestDecide(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	steps := []struct {
		name       string
		at         time.Duration
		allowed    bool
		remaining  int
		reset      time.Duration
		retryAfter time.Duration
	}{
		{"the first", 0, true, 2, 1 * s, 0},
		{"the second", 0, true, 1, 2 * s, 0},
		{"the third", 0, true, 0, 3 * s, 1 * s},
		{"one too many", 0, false, 0, 3 * s, 1 * s},
		{"still", 400 * ms, false, 0, 2600 * ms, 600 * ms},
		{"to the very moment", s - 1, false, 0, 2*s + 1, 1},
		{"one came back", 1 * s, true, 0, 3 * s, 1 * s},
		{"one and a half came back", 2500 * ms, true, 0, 2500 * ms, 500 * ms},
		{"all came back", 60 * s, true, 2, 1 * s, 0},
		{"the clock went back an hour: empty", -3600 * s, false, 0, 3 * s, 1 * s},
		{"but not for long", -3599 * s, true, 0, 3 * s, 1 * s},
		{"the clock went forward a year", 366 * 24 * 3600 * s, true, 2, 1 * s, 0},
	}
	var full time.Time
	for _, step := range steps {
		d := three.Spend(epoch.Add(step.at), full, 1)
		want := ratelimit.Decision{
			Allowed: step.allowed, Limit: 3, Remaining: step.remaining,
			Reset: step.reset, RetryAfter: step.retryAfter, Full: d.Full,
		}
		if d != want {
			t.Errorf("%s: got %+v; want %+v", step.name, d, want)
		}
		full = d.Full
	}
}

// Several are spent together, or none of them.
func TestSpend(t *testing.T) {
	const s = time.Second
	var full time.Time
	for _, step := range []struct {
		at, requests int
		allowed      bool
		remaining    int
		retryAfter   time.Duration
	}{
		{0, 2, true, 1, 0},
		{0, 2, false, 1, 1 * s},
		{0, 3, false, 1, 2 * s},
		{0, 1, true, 0, 1 * s},
		{1, 2, false, 1, 1 * s},
		{2, 2, true, 0, 1 * s},
		{60, 3, true, 0, 1 * s},
		{120, 4, false, 3, 1 * s}, // which never are
	} {
		now := epoch.Add(time.Duration(step.at) * s)
		d := three.Spend(now, full, step.requests)
		if d.Allowed != step.allowed || d.Remaining != step.remaining || d.RetryAfter != step.retryAfter {
			t.Errorf("%+v: got %+v", step, d)
		}
		full = d.Full
	}
}

func TestDecide_Off(t *testing.T) {
	for _, limit := range []ratelimit.Limit{{}, {Every: time.Second}, {Burst: 3}, {Every: -1, Burst: 1}} {
		want := ratelimit.Decision{Allowed: true}
		if d := limit.Spend(epoch, epoch.Add(time.Hour), 1); d != want {
			t.Errorf("%+v decides %+v; want %+v", limit, d, want)
		}
		if d := limit.Peek(epoch, epoch.Add(time.Hour)); d != want {
			t.Errorf("%+v peeks %+v; want %+v", limit, d, want)
		}
	}
}

// The oracle keeps the times of all allowed requests and counts them: in no
// window may there be more than the burst and what came back within it.
func TestDecide_NeverMoreThanAllowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := ratelimit.Limit{
			Every: time.Duration(rapid.IntRange(1, 1000).Draw(t, "every")),
			Burst: rapid.IntRange(1, 20).Draw(t, "burst"),
		}
		var now time.Duration
		var full time.Time
		var allowed []time.Duration
		for _, wait := range rapid.SliceOfN(rapid.IntRange(0, 3000), 1, 200).Draw(t, "waits") {
			now += time.Duration(wait * (wait % 3)) // two thirds of them wait
			d := limit.Spend(epoch.Add(now), full, 1)
			full = d.Full
			if d.Allowed {
				allowed = append(allowed, now)
			}
			mayHave := limit.Burst
			for i, from := range allowed {
				inWindow := len(allowed) - i
				if most := limit.Burst + int((now-from)/limit.Every); inWindow > most {
					t.Fatalf("%d allowed within %v; want at most %d", inWindow, now-from, most)
				} else {
					mayHave = min(mayHave, most-inWindow)
				}
			}
			if d.Remaining != mayHave || (!d.Allowed && mayHave > 0) {
				t.Fatalf("at %v: %+v; want %d remaining", now, d, mayHave)
			}
		}
	})
}

// What a decision foretells comes true, to the nanosecond.
func TestDecide_Truthful(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := ratelimit.Limit{
			Every: time.Duration(rapid.IntRange(2, 1000).Draw(t, "every")),
			Burst: rapid.IntRange(1, 20).Draw(t, "burst"),
		}
		now := epoch
		full := now.Add(time.Duration(rapid.IntRange(-5000, 30_000).Draw(t, "full")))
		d := limit.Spend(now, full, 1)
		spent := d.Full
		for i := range d.Remaining {
			next := limit.Spend(now, spent, 1)
			if !next.Allowed {
				t.Fatalf("%+v, but number %d is refused", d, i+1)
			}
			if next.Remaining != d.Remaining-1-i {
				t.Fatalf("%+v, and %d remain after %d more", d, next.Remaining, i+1)
			}
			spent = next.Full
		}
		empty := limit.Peek(now, spent)
		if empty.Allowed || empty.Remaining != 0 || empty.RetryAfter <= 0 {
			t.Fatalf("%+v was spent, but %+v", d, empty)
		}
		if early := limit.Spend(now.Add(empty.RetryAfter-1), empty.Full, 1); early.Allowed {
			t.Fatalf("%+v: allowed before RetryAfter", empty)
		}
		if onTime := limit.Spend(now.Add(empty.RetryAfter), empty.Full, 1); !onTime.Allowed {
			t.Fatalf("%+v: refused after RetryAfter", empty)
		}
		if reset := limit.Peek(now.Add(empty.Reset), empty.Full); reset.Remaining != limit.Burst || reset.Reset != 0 {
			t.Fatalf("%+v: %+v after Reset", empty, reset)
		}
		if early := limit.Peek(now.Add(empty.Reset-1), empty.Full); early.Remaining == limit.Burst {
			t.Fatalf("%+v: all allowed before Reset", empty)
		}
	})
}

func TestPeek_SpendsNothing(t *testing.T) {
	d := three.Spend(epoch, time.Time{}, 1)
	for range 5 {
		peek := three.Peek(epoch, d.Full)
		if !peek.Allowed || peek.Remaining != 2 || peek.Full != d.Full {
			t.Fatalf("peek %+v after %+v", peek, d)
		}
	}
}
