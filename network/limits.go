package network

import (
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/beacon"
	"github.com/beacon-wifi/beacon/ratelimit"
)

// Limits says how often is too often (decision N21).
type Limits struct {
	PerKey   ratelimit.Limit // requests of one key
	Failures ratelimit.Limit // wrong keys from one address
}

// DefaultLimits are those of decision N21.
func DefaultLimits() Limits {
	return Limits{
		PerKey:   ratelimit.Limit{Every: time.Second / 100, Burst: 200},
		Failures: ratelimit.Limit{Every: time.Second / 20, Burst: 100},
	}
}

// rememberedKeys bounds the memory for limits: about 4 MB each.
const rememberedKeys = 100_000

type limiters struct {
	keys     *ratelimit.Limiter[beacon.KeyID]
	failures *ratelimit.Limiter[netip.Prefix]
}

func newLimiters(l Limits) *limiters {
	start := time.Now() // of the monotonic clock: limits count real time
	return &limiters{
		keys:     ratelimit.New[beacon.KeyID](l.PerKey, rememberedKeys, start),
		failures: ratelimit.New[netip.Prefix](l.Failures, rememberedKeys, start),
	}
}

// spend counts a request of a key.
func (l *limiters) spend(h http.Header, key beacon.KeyID, now time.Time) error {
	return verdict(h, l.keys.Decide(key, now), "this key is used too often")
}

// checkFailures refuses an address that sent too many wrong keys. To others it
// says nothing: the answer will tell what is left of their key's limit.
func (l *limiters) checkFailures(h http.Header, r *http.Request, now time.Time) error {
	decision := l.failures.Peek(address(r), now)
	if decision.Allowed {
		return nil
	}
	return verdict(h, decision, tooManyFailures)
}

// spendFailure counts a wrong key.
func (l *limiters) spendFailure(h http.Header, r *http.Request, now time.Time) error {
	return verdict(h, l.failures.Decide(address(r), now), tooManyFailures)
}

// showFailures tells an address how many wrong keys it may still send.
func (l *limiters) showFailures(h http.Header, r *http.Request, now time.Time) {
	_ = verdict(h, l.failures.Peek(address(r), now), "")
}

const tooManyFailures = "too many wrong keys came from this address"

// address is whom to hold responsible for a request. It is the peer of the
// connection: a header that names another could be made up.
func address(r *http.Request) netip.Prefix {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{} // no address that net/http gave us; all such share a bucket
	}
	return ratelimit.AddrKey(peer.Addr())
}

// verdict writes a decision into the header, and gives the error of a refusal.
func verdict(h http.Header, d ratelimit.Decision, message string) error {
	if d.Limit == 0 {
		return nil // there is no limit, so there is nothing to tell
	}
	values := []string{strconv.Itoa(d.Limit), strconv.Itoa(d.Remaining), strconv.Itoa(wholeSeconds(d.Reset))}
	h["RateLimit-Limit"] = values[0:1:1]
	h["RateLimit-Remaining"] = values[1:2:2]
	h["RateLimit-Reset"] = values[2:3:3]
	if d.Allowed {
		return nil
	}
	return &beacon.Error{Kind: beacon.RateLimited, Message: message, RetryAfter: d.RetryAfter}
}

func wholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
