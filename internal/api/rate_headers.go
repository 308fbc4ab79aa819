package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
)

// ratePolicy describes a limit in the headers of draft-ietf-httpapi-ratelimit-headers
// (decision D108): RateLimit-Policy says what is allowed, RateLimit what is left. A bucket
// of 200 that gains 100 a second is a quota of 200 in a window of 2 s, the time in which
// an empty one fills. So both the burst and the rate are true.
type ratePolicy struct {
	name     string
	policies []string // RateLimit-Policy: this limit, and others that hold beside it
	left     [][2]leftHeader
}

// leftHeader is a value of RateLimit that was made before.
type leftHeader struct {
	seconds int
	value   []string
}

// keptLeft bounds the values that are made before. Most limits are below it.
const keptLeft = 512

// newRatePolicy describes a limit. beside has the other limits that the same requests are
// subject to.
func newRatePolicy(name string, l ratelimit.Limit, beside ...string) *ratePolicy {
	p := &ratePolicy{name: name}
	text := policyItem(name, l)
	for _, other := range beside {
		text += ", " + other
	}
	p.policies = []string{text}
	if l.Off() || l.Burst >= keptLeft {
		return p
	}
	// With so many left, between one and two steps of the bucket are spent.
	for remaining := range l.Burst + 1 {
		most := wholeSeconds(time.Duration(l.Burst-remaining) * l.Every)
		least := max(most-1, 0)
		p.left = append(p.left, [2]leftHeader{{most, p.format(remaining, most)}, {least, p.format(remaining, least)}})
	}
	return p
}

// policyItem returns an item of RateLimit-Policy.
func policyItem(name string, l ratelimit.Limit) string {
	window := max(1, wholeSeconds(time.Duration(l.Burst)*l.Every))
	return `"` + name + `";q=` + strconv.Itoa(l.Burst) + `;w=` + strconv.Itoa(window)
}

func (p *ratePolicy) format(remaining, seconds int) []string {
	return []string{`"` + p.name + `";r=` + strconv.Itoa(remaining) + `;t=` + strconv.Itoa(seconds)}
}

// show sets both headers.
func (p *ratePolicy) show(h http.Header, d ratelimit.Decision, seconds int) {
	h["RateLimit-Policy"] = p.policies
	if d.Remaining < len(p.left) {
		for i := range p.left[d.Remaining] {
			if known := &p.left[d.Remaining][i]; known.seconds == seconds {
				h["RateLimit"] = known.value
				return
			}
		}
	}
	h["RateLimit"] = p.format(d.Remaining, seconds)
}
