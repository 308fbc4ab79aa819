package ratelimit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The maximum values of a limit. Whole nanoseconds cannot express rates above maxRate to
// a part in a thousand. A bucket that takes longer than maxDepth to fill is considered a
// typing error, and is far from overflow.
const (
	maxRate  = 1_000_000 // per second
	maxDepth = 366 * 24 * time.Hour
)

var units = map[string]time.Duration{"s": time.Second, "min": time.Minute, "h": time.Hour}

// Parse parses a limit from the command line (decisions C1, N21): "100/s:200" is 100 a
// second and 200 at once, "10/min" is 10 a minute and as many at once, "off" is no
// limit. The units are s, min and h.
func Parse(text string) (Limit, error) {
	if text == "off" {
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
		return Limit{}, fmt.Errorf("the unit of time is missing")
	}
	span, ok := units[unit]
	if !ok {
		return Limit{}, fmt.Errorf("the unit %q is not s, min or h", unit)
	}
	count, err := parseCount("rate", countText)
	if err != nil {
		return Limit{}, err
	}
	if time.Duration(count) > maxRate*(span/time.Second) {
		return Limit{}, fmt.Errorf("the rate is more than %d per second", maxRate)
	}
	burst := count
	if hasBurst {
		if burst, err = parseCount("burst", burstText); err != nil {
			return Limit{}, err
		}
	}
	n := time.Duration(count)
	every := (span + n - 1) / n // rounded up, so that the rate is never exceeded
	if time.Duration(burst) > maxDepth/every {
		return Limit{}, fmt.Errorf("a burst of %d would take over a year to be allowed again", burst)
	}
	return Limit{Every: every, Burst: burst}, nil
}

// parseCount accepts only digits: Atoi would accept "+5".
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

// UnmarshalText lets a Limit be used as a flag.
func (l *Limit) UnmarshalText(text []byte) error {
	limit, err := Parse(string(text))
	if err == nil {
		*l = limit
	}
	return err
}
