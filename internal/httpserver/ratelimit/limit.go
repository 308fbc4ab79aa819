// Package ratelimit limits the rate of requests. Limit is the arithmetic: pure, without a
// clock or state. Limiter is the state: one bucket for each of up to a fixed number of
// keys, in memory that no flood of keys can increase. It knows nothing of HTTP, nor of
// who the keys belong to.
//
//	limit := ratelimit.Limit{Every: time.Second, Burst: 10}
//	limiter := ratelimit.New[string](limit, 1000, time.Now())
//	if d := limiter.Decide("some key", time.Now()); !d.Allowed {
//		// refuse, and retry after d.RetryAfter
//	}
//
// Its invariant: in any time span t, a key is allowed at most Burst + t/Every requests,
// as long as the clock runs forwards and there are not more busy keys at once than the
// Limiter has room for.
package ratelimit

import "time"

// Limit allows Burst requests at once and one more after each Every. The zero value
// allows everything.
//
// It is the generic cell rate algorithm: a bucket is just the time at which it will be
// full again. Each request postpones that by Every, to at most Burst × Every from now.
type Limit struct {
	Every time.Duration
	Burst int
}

// Decision is the result for one request.
type Decision struct {
	Allowed    bool
	Limit      int           // how many are allowed at once; 0 if there is no limit
	Remaining  int           // how many more would be allowed now
	Reset      time.Duration // until all of them are allowed again
	RetryAfter time.Duration // until the refused requests, or another one, are allowed; 0 if another one is now
	Full       time.Time     // the bucket to keep for the next decision
}

// Off reports whether the limit allows everything.
func (l Limit) Off() bool { return l.Every <= 0 || l.Burst <= 0 }

// Spend spends requests at time now from the bucket that will be full at time full: all of
// them or, if they are not all allowed, none. The zero time is a full bucket. More than
// Burst are never allowed.
func (l Limit) Spend(now, full time.Time, requests int) Decision {
	if l.Off() {
		return Decision{Allowed: true}
	}
	full = l.within(now, full)
	next := full.Add(time.Duration(requests) * l.Every)
	over := next.Sub(now) - l.depth()
	if over <= 0 {
		return l.describe(now, next, true)
	}
	d := l.describe(now, full, false)
	d.RetryAfter = over
	return d
}

// Peek returns what Spend would for one request, and spends nothing. Use it for what counts
// only when it fails, such as authentication.
func (l Limit) Peek(now, full time.Time) Decision {
	if l.Off() {
		return Decision{Allowed: true}
	}
	full = l.within(now, full)
	return l.describe(now, full, full.Add(l.Every).Sub(now) <= l.depth())
}

// depth returns how long an empty bucket takes to fill.
func (l Limit) depth() time.Duration { return time.Duration(l.Burst) * l.Every }

// within limits a bucket to what it can be at now: at most full, at least empty. A bucket
// emptier than empty dates from before the clock was set back. If kept, it would lock
// its owner out for as long as the clock went back; if dropped, anyone who can move the
// clock could fill it.
func (l Limit) within(now, full time.Time) time.Time {
	if full.Before(now) {
		return now
	}
	if empty := now.Add(l.depth()); full.After(empty) {
		return empty
	}
	return full
}

func (l Limit) describe(now, full time.Time, allowed bool) Decision {
	reset := full.Sub(now)
	d := Decision{
		Allowed:   allowed,
		Limit:     l.Burst,
		Remaining: int((l.depth() - reset) / l.Every),
		Reset:     reset,
		Full:      full,
	}
	if d.Remaining == 0 {
		d.RetryAfter = reset + l.Every - l.depth()
	}
	return d
}
