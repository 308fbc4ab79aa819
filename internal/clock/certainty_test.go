package clock

import (
	"testing"
	"time"
)

// What is certain goes on by the slower clock, and never goes back by itself.
func TestCertainty(t *testing.T) {
	var c certainty
	now, machine := evening, time.Now()
	if got := c.At(now, machine, 1); !got.IsZero() {
		t.Fatalf("nothing is known, and %s is certain", got)
	}
	c.Know(now)
	pass := func(byClock, truly time.Duration, want time.Duration, when string) {
		t.Helper()
		now, machine = now.Add(byClock), machine.Add(truly)
		if got := c.At(now, machine, 1).Sub(evening); got != want {
			t.Errorf("%s: %s after the start is certain; want %s", when, got, want)
		}
	}
	const year = 365 * 24 * time.Hour
	pass(time.Minute, time.Minute, time.Minute, "after a minute")
	pass(year, time.Minute, 2*time.Minute, "set ahead by a year")
	pass(time.Hour, time.Hour, time.Hour+2*time.Minute, "an hour later")
	pass(-year, time.Minute, time.Hour+time.Minute+time.Minute, "set right")
	pass(0, time.Hour, time.Hour+2*time.Minute, "standing still")
	c.Know(evening)
	pass(0, 0, time.Hour+2*time.Minute, "told of an earlier moment")
	c.Set(evening)
	pass(0, 0, 0, "corrected")
	now = evening
	pass(time.Minute, time.Hour, time.Minute, "of a clock that runs slower")
	pass(time.Hour, -time.Second, time.Minute, "for a caller that was overtaken")
}

func TestWait(t *testing.T) {
	for _, test := range []struct {
		ahead, want time.Duration
		enough      bool
	}{
		{-time.Hour, 10 * time.Minute, true},
		{15 * time.Minute, 10 * time.Minute, true},
		{12 * time.Hour, time.Hour, true},         // a night
		{64 * time.Hour, 8 * time.Hour, true},     // a weekend
		{4 * 24 * time.Hour, 8 * time.Hour, true}, // a long one
		{4*24*time.Hour + 1, 0, false},            // a holiday: staff
		{365 * 24 * time.Hour, 0, false},          //
	} {
		if got, enough := waitFor(test.ahead); got != test.want || enough != test.enough {
			t.Errorf("%s ahead: %s, %v; want %s, %v", test.ahead, got, enough, test.want, test.enough)
		}
	}
}

func TestOutvoted(t *testing.T) {
	says := func(hours ...int) (all []Witness) {
		for i, h := range hours {
			all = append(all, Witness{Name: string(rune('a' + i)), Says: evening.Add(time.Duration(h) * time.Hour)})
		}
		return all
	}
	for _, test := range []struct {
		all   []Witness
		wrong string
		told  bool
	}{
		{says(0), "", true},
		{says(0, 0, 0), "", true},
		{says(72, 0), "", false},
		{says(72, 0, 0), "a", true},
		{says(0, 72, 0), "b", true},
		{says(0, 0, -72, 0), "c", true},
		{says(0, 0, 72, 72), "", false},
		{says(0, 72, -72), "", false},
	} {
		wrong, told := outvoted(test.all, 2*time.Minute)
		names := ""
		for _, w := range wrong {
			names += w.Name
		}
		if told != test.told || told && names != test.wrong {
			t.Errorf("%v: %q, %v; want %q, %v", test.all, names, told, test.wrong, test.told)
		}
	}
	if got := earliest(says(3, -72, 5)).Says; !got.Equal(evening.Add(-72 * time.Hour)) {
		t.Errorf("the earliest is %s", got)
	}
}
