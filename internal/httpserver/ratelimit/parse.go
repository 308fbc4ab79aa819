package ratelimit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// off is how no limit is written.
const off = "off"

// What a limit may be at most. More requests than maxRate could not be told
// apart in whole nanoseconds to a part in a thousand; a bucket that takes more
// than maxDepth to fill is taken for a typing error, and is far from overflow.
const (
	maxRate  = 1_000_000 // a second
	maxDepth = 366 * 24 * time.Hour
)

var units = []struct {
	name string
	span time.Duration
}{
	{"s", time.Second},
	{"min", time.Minute},
	{"h", time.Hour},
}

// Parse reads a limit as the command line has it (decisions C1, N21): "100/s:200"
// is 100 a second and 200 at once, "10/min" is 10 a minute and as many at once,
// "off" is none. The units are s, min and h.
func Parse(text string) (Limit, error) {
	if text == off {
		return Limit{}, nil
	}
	limit, err := parse(text)
	if err != nil {
		return Limit{}, fmt.Errorf("rate limit %q: %w; write it as 100/s:200 (rate, burst), 10/min, 5/h or off", text, err)
	}
	return limit, nil
}

func parse(text string) (Limit, error) {
	rate, burstText, hasBurst := strings.Cut(text, ":")
	countText, unit, hasUnit := strings.Cut(rate, "/")
	if !hasUnit {
		return Limit{}, fmt.Errorf("there is no unit of time")
	}
	span, err := parseUnit(unit)
	if err != nil {
		return Limit{}, err
	}
	count, err := parseCount("rate", countText)
	if err != nil {
		return Limit{}, err
	}
	if time.Duration(count) > maxRate*(span/time.Second) {
		return Limit{}, fmt.Errorf("the rate is over %d a second", maxRate)
	}
	burst := count
	if hasBurst {
		if burst, err = parseCount("burst", burstText); err != nil {
			return Limit{}, err
		}
	}
	limit := Limit{Every: every(count, span), Burst: burst}
	if time.Duration(burst) > maxDepth/limit.Every {
		return Limit{}, fmt.Errorf("a burst of %d would take over a year to be allowed again", burst)
	}
	return limit, nil
}

// every rounds up, so that no more than the rate is ever allowed.
func every(count int, span time.Duration) time.Duration {
	n := time.Duration(count)
	return (span + n - 1) / n
}

func parseUnit(name string) (time.Duration, error) {
	for _, unit := range units {
		if unit.name == name {
			return unit.span, nil
		}
	}
	return 0, fmt.Errorf("the unit %q is none of s, min, h", name)
}

// parseCount takes plain digits only: Atoi would let "+5" pass.
func parseCount(what, text string) (int, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, fmt.Errorf("the %s %q is not a whole number", what, text)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("the %s %s is too large", what, text)
	}
	if n == 0 {
		return 0, fmt.Errorf("the %s is 0", what)
	}
	return n, nil
}

// String writes the limit as Parse reads it.
func (l Limit) String() string {
	if l.Off() {
		return off
	}
	for _, unit := range units {
		// Of the counts that Parse turns into this Every, if any, the least.
		count := int((unit.span + l.Every - 1) / l.Every)
		if every(count, unit.span) == l.Every {
			return fmt.Sprintf("%d/%s:%d", count, unit.name, l.Burst)
		}
	}
	return fmt.Sprintf("1/%v:%d", l.Every, l.Burst)
}

// UnmarshalText makes a Limit a flag.
func (l *Limit) UnmarshalText(text []byte) error {
	limit, err := Parse(string(text))
	if err == nil {
		*l = limit
	}
	return err
}
