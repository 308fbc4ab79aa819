package edge

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
)

// Limits are the rate limits (decision N21).
type Limits struct {
	PerKey    ratelimit.Limit // requests per API key
	Failures  ratelimit.Limit // wrong keys per address
	Devices   ratelimit.Limit // requests per device
	LinkTries ratelimit.Limit // attempts to link a device, per address
	Enrolling ratelimit.Limit // requests with the enrolment keys of a user
	SignUps   ratelimit.Limit // people who sign up, or want a link mailed, per address
	Doors     ratelimit.Limit // people who begin to sign in, per address
	Feeds     ratelimit.Limit // requests for open feeds, per address (decision D177)
}

// DefaultPerKey is the default of Limits.PerKey, as a flag has it.
const DefaultPerKey = "100/s:200"

// DefaultLimits returns the limits of decision N21.
func DefaultLimits() Limits {
	perKey, _ := ratelimit.Parse(DefaultPerKey) // it is valid
	return Limits{
		PerKey:    perKey,
		Failures:  ratelimit.Limit{Every: time.Second / 20, Burst: 100},
		Devices:   ratelimit.Limit{Every: time.Second, Burst: 10},
		LinkTries: ratelimit.Limit{Every: time.Minute / 10, Burst: 10},
		Enrolling: ratelimit.Limit{Every: time.Second / 20, Burst: 200},
		SignUps:   ratelimit.Limit{Every: time.Minute / 5, Burst: 10},
		Doors:     ratelimit.Limit{Every: time.Second, Burst: 60},
		Feeds:     ratelimit.Limit{Every: time.Second / 50, Burst: 500},
	}
}

// rememberedKeys bounds the memory of each limiter to about 4 MB. It suffices for more
// devices than that: a device that beats once a minute is remembered for one second.
const rememberedKeys = 100_000

type limiters struct {
	limits   Limits
	keys     *ratelimit.Limiter[beacon.KeyID]
	users    *ratelimit.Limiter[beacon.UserID]
	visitors *ratelimit.Limiter[beacon.UserID] // of a user's publishable keys: they must not use up the user's own requests
	failures *ratelimit.Limiter[netip.Prefix]
	devices  *ratelimit.Limiter[beacon.HotspotID]
	links    *ratelimit.Limiter[netip.Prefix]
	enrols   *ratelimit.Limiter[beacon.UserID] // a stolen enrolment key must not use up the user's other requests
	signUps  *ratelimit.Limiter[netip.Prefix]
	doors    *ratelimit.Limiter[netip.Prefix]
	signedIn *ratelimit.Limiter[beacon.PersonID] // who begin something: others at their address must not keep them from it
	feeds    *ratelimit.Limiter[netip.Prefix]

	keyPolicy, userPolicy, failurePolicy, linkPolicy, enrolPolicy, signUpPolicy, doorPolicy, feedPolicy *ratePolicy
}

func NewLimiters(l Limits) *limiters {
	start := time.Now() // monotonic clock: limits count real time
	return &limiters{
		limits:   l,
		keys:     ratelimit.New[beacon.KeyID](l.PerKey, rememberedKeys, start),
		users:    ratelimit.New[beacon.UserID](perUser(l.PerKey), rememberedKeys, start),
		visitors: ratelimit.New[beacon.UserID](perUser(l.PerKey), rememberedKeys, start),
		failures: ratelimit.New[netip.Prefix](l.Failures, rememberedKeys, start),
		devices:  ratelimit.New[beacon.HotspotID](l.Devices, rememberedKeys, start),
		links:    ratelimit.New[netip.Prefix](l.LinkTries, rememberedKeys, start),
		enrols:   ratelimit.New[beacon.UserID](l.Enrolling, rememberedKeys, start),
		signUps:  ratelimit.New[netip.Prefix](l.SignUps, rememberedKeys, start),
		doors:    ratelimit.New[netip.Prefix](l.Doors, rememberedKeys, start),
		signedIn: ratelimit.New[beacon.PersonID](l.Doors, rememberedKeys, start),
		feeds:    ratelimit.New[netip.Prefix](l.Feeds, rememberedKeys, start),

		keyPolicy:     NewRatePolicy("key", l.PerKey, policyItem("user", perUser(l.PerKey))),
		userPolicy:    NewRatePolicy("user", perUser(l.PerKey), policyItem("key", l.PerKey)),
		failurePolicy: NewRatePolicy("wrong-keys", l.Failures),
		linkPolicy:    NewRatePolicy("link-attempts", l.LinkTries),
		enrolPolicy:   NewRatePolicy("enrolments", l.Enrolling),
		signUpPolicy:  NewRatePolicy("sign-ups", l.SignUps),
		doorPolicy:    NewRatePolicy("doors", l.Doors),
		feedPolicy:    NewRatePolicy("open-feeds", l.Feeds),
	}
}

// keysAUser is how many keys a user can use to the limit of a key. More keys do not
// allow more requests.
const keysAUser = 3

// perUser returns the limit for all keys of a user together.
func perUser(perKey ratelimit.Limit) ratelimit.Limit {
	return ratelimit.Limit{Every: perKey.Every / keysAUser, Burst: perKey.Burst * keysAUser}
}

// Spend counts one request of a key, and of its user. The headers show what is left to
// the key, unless the user has nothing left.
func (l *limiters) Spend(h http.Header, p beacon.Principal, now time.Time) error {
	return l.charge(h, p, 1, now, "this key sends too many requests", "the keys of this user send too many requests")
}

// SpendMore charges more units to a request that was already counted, because of the
// work it causes. No request costs more than a key's burst: it could never succeed.
func (l *limiters) SpendMore(h http.Header, p beacon.Principal, more int, now time.Time) error {
	if more = min(more, l.limits.PerKey.Burst-1); more <= 0 {
		return nil
	}
	return l.charge(h, p, more, now,
		"this counts as many requests, and the key sends too many", "this counts as many requests, and the keys of this user send too many")
}

// Charging returns a function that charges a request for its work: one unit more for each
// amount of it that a request may do for the price of one.
func (e *Edge) Charging(w http.ResponseWriter, p beacon.Principal, aRequest int) func(work int) error {
	return func(work int) error { return e.Limits.SpendMore(w.Header(), p, work/aRequest, time.Now()) }
}

// charge spends requests of a key and of its user, or returns a refusal.
func (l *limiters) charge(h http.Header, p beacon.Principal, requests int, now time.Time, keyRefused, userRefused string) error {
	if p.Enrols() {
		return verdict(h, l.enrolPolicy, l.enrols.Spend(p.User, now, requests), "too many devices enrol at once with keys of this user: try again later")
	}
	key, user := p.Sender()
	if err := verdict(h, l.keyPolicy, l.keys.Spend(key, now, requests), keyRefused); err != nil {
		return err
	}
	users := l.users
	if p.Publishable() {
		users = l.visitors
	}
	if d := users.Spend(user, now, requests); !d.Allowed {
		return verdict(h, l.userPolicy, d, userRefused)
	}
	return nil
}

// SpendDevice counts one request of a device.
func (l *limiters) SpendDevice(h http.Header, hotspot beacon.HotspotID, now time.Time) error {
	return verdict(h, nil, l.devices.Decide(hotspot, now), "this device sends too many heartbeats")
}

// SpendLinkTry counts one attempt to link a device.
func (l *limiters) SpendLinkTry(h http.Header, r *http.Request, now time.Time) error {
	return verdict(h, l.linkPolicy, l.links.Decide(Address(r), now), "too many attempts to link a device from this address")
}

// SpendDoor counts what is begun and has to be finished later: by someone who is signed in, or
// else by an address.
func (l *limiters) SpendDoor(h http.Header, r *http.Request, person beacon.PersonID, now time.Time) error {
	if person != "" {
		return verdict(h, l.doorPolicy, l.signedIn.Decide(person, now), "you begin this too often: try again in a minute")
	}
	return verdict(h, l.doorPolicy, l.doors.Decide(Address(r), now), "too many people begin to sign in from this address: try again in a minute")
}

// SpendSignUp counts one person who signs up, or wants a link mailed.
func (l *limiters) SpendSignUp(h http.Header, r *http.Request, now time.Time) error {
	return verdict(h, l.signUpPolicy, l.signUps.Decide(Address(r), now), "too many people sign up from this address, or want links: try again in some minutes")
}

// SpendFeed counts a request for an open feed, which needs no key, as many requests
// according to the work it causes. What is counted after the request itself is less than a
// burst, like that of spendMore.
func (e *Edge) SpendFeed(h http.Header, r *http.Request, requests int, now time.Time) error {
	l := e.Limits
	requests = max(1, min(requests, l.limits.Feeds.Burst-1))
	return verdict(h, l.feedPolicy, l.feeds.Spend(Address(r), now, requests), "this address asks for open feeds too often")
}

// CheckFailures refuses an address that sent too many wrong keys. It sets no headers
// for others: their response shows what is left of their key's limit.
func (l *limiters) CheckFailures(h http.Header, r *http.Request, now time.Time) error {
	decision := l.failures.Peek(Address(r), now)
	if decision.Allowed {
		return nil
	}
	return verdict(h, l.failurePolicy, decision, tooManyFailures)
}

// SpendFailure counts one wrong key.
func (l *limiters) SpendFailure(h http.Header, r *http.Request, now time.Time) error {
	return verdict(h, l.failurePolicy, l.failures.Decide(Address(r), now), tooManyFailures)
}

// ShowFailures sets headers that say how many wrong keys an address may still send.
func (l *limiters) ShowFailures(h http.Header, r *http.Request, now time.Time) {
	_ = verdict(h, l.failurePolicy, l.failures.Peek(Address(r), now), "")
}

const tooManyFailures = "too many wrong keys from this address"

// Address returns the client address that limits count against. Requests from no known
// address share the zero Prefix.
func Address(r *http.Request) netip.Prefix { return ratelimit.AddrKey(httpserver.Client(r)) }

// verdict writes a decision into the headers and returns an error for a refusal. Without a
// policy, only the three headers of decision N21 are set: devices do not read more.
func verdict(h http.Header, p *ratePolicy, d ratelimit.Decision, message string) error {
	if d.Limit == 0 {
		return nil // no limit, so nothing to report
	}
	h["RateLimit-Limit"] = Decimal(d.Limit)
	h["RateLimit-Remaining"] = Decimal(d.Remaining)
	reset := wholeSeconds(d.Reset)
	h["RateLimit-Reset"] = Decimal(reset)
	if p != nil {
		p.Show(h, d, reset)
	}
	if d.Allowed {
		return nil
	}
	return &beacon.Error{Kind: beacon.RateLimited, Message: message, RetryAfter: d.RetryAfter}
}

func wholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// decimals are the most frequent numbers as header values: limits, and the length of the
// response to a heartbeat. Responses share them and only read them.
var decimals = func() (all [512][]string) {
	for n := range all {
		all[n] = []string{strconv.Itoa(n)}
	}
	return all
}()

// Decimal returns a number as a header value.
func Decimal(n int) []string {
	if n >= 0 && n < len(decimals) {
		return decimals[n]
	}
	return []string{strconv.Itoa(n)}
}

// ratePolicy describes a limit in the headers of draft-ietf-httpapi-ratelimit-headers
// (decision D108): RateLimit-Policy says what is allowed, RateLimit what is left. A bucket
// of 200 that gains 100 a second is a quota of 200 in a window of 2 s, the time in which
// an empty one fills. So both the burst and the rate are true.
type ratePolicy struct {
	name     string
	policies []string        // RateLimit-Policy: this limit, and others that hold beside it
	left     [][2]leftHeader // by what remains; see newRatePolicy
}

// leftHeader is a value of RateLimit that is made in advance.
type leftHeader struct {
	seconds int
	value   []string
}

// keptLeft bounds the values that are made in advance. Most limits are below it.
const keptLeft = 512

// NewRatePolicy describes a limit. beside has the other limits that the same requests are
// subject to.
func NewRatePolicy(name string, l ratelimit.Limit, beside ...string) *ratePolicy {
	all := append([]string{policyItem(name, l)}, beside...)
	p := &ratePolicy{name: name, policies: []string{strings.Join(all, ", ")}}
	if l.Off() || l.Burst >= keptLeft {
		return p
	}
	// With so many remaining, the bucket is full again after at most as many steps as were
	// spent, and after more than one step less: in seconds, mostly one of two numbers.
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

// Show sets both headers.
func (p *ratePolicy) Show(h http.Header, d ratelimit.Decision, seconds int) {
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
