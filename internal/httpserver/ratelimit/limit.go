// Package ratelimit decides how often is too often. Limit is the arithmetic:
// pure, without a clock or memory. Limiter is the memory: one bucket for each of
// up to a fixed number of keys, in an amount of memory that no flood of keys can
// raise. It knows nothing of HTTP, nor of who the keys belong to.
//
// Its invariant: in any span of time t, a key is allowed at most Burst + t/Every
// requests, as long as the clock runs forwards and the Limiter is not made to
// forget by more busy keys at once than it has room for.
package ratelimit

import "time"

// Limit allows Burst requests at once and one more after each Every. The zero
// value allows everything.
//
// It is the generic cell rate algorithm: a bucket is no more than the time at
// which it will be full again. Each request puts that off by Every, and it may
// not be put off to later than Burst × Every from now.
type Limit struct {
	Every time.Duration
	Burst int
}

// Decision is the answer to one request.
type Decision struct {
	Allowed    bool
	Limit      int           // how many are allowed at once; 0 if there is no limit
	Remaining  int           // how many more would be allowed now
	Reset      time.Duration // until all of them are allowed again
	RetryAfter time.Duration // until what was asked for is allowed; 0 if that is now
	Full       time.Time     // the bucket to keep for the next decision
}

// Off reports whether the limit allows everything.
func (l Limit) Off() bool { return l.Every <= 0 || l.Burst <= 0 }

// Decide spends one request, if it is allowed, at now from the bucket that will
// be full at full. The zero time is a full bucket.
func (l Limit) Decide(now, full time.Time) Decision { return l.Spend(now, full, 1) }

// Spend is Decide for something that counts as several requests: all of them are
// spent or, if they are not all allowed, none. More than Burst never are.
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

// Peek tells what Decide would, and spends nothing. It is for what is counted
// only when it fails, such as authentication.
func (l Limit) Peek(now, full time.Time) Decision {
	if l.Off() {
		return Decision{Allowed: true}
	}
	full = l.within(now, full)
	return l.describe(now, full, full.Add(l.Every).Sub(now) <= l.depth())
}

// depth is how long an empty bucket takes to fill.
func (l Limit) depth() time.Duration { return time.Duration(l.Burst) * l.Every }

// within brings a bucket to what it can be at now: at most full, at least
// empty. One that is emptier than empty was kept before the clock was set back;
// if it stayed so, it would lock its owner out for as long as the clock went
// back, and if it were forgotten, whoever can move the clock could fill it.
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
