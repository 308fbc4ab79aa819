//go:build linux

package torture_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

const (
	// latency is more than any statement may take.
	latency = 5 * time.Second
	// visits is how often each request is made at once: more often than there are
	// connections.
	visits = 12
)

// TestF08_Slow: while the database is slow, silent or gone, what is answered from
// memory is answered, and everything else says in the documented shape that it
// cannot be, without waiting for the database to come back. Afterwards everything is as before, without a restart, and
// nothing is left over.
func TestF08_Slow(t *testing.T) {
	t.Parallel() // it mostly waits
	slow := func(p *harness.Proxy) { p.Delay(latency) }
	silent := func(p *harness.Proxy) { p.Set(harness.Silent) }
	gone := func(p *harness.Proxy) { p.Set(harness.Cut) }
	for name, faults := range map[string][]func(*harness.Proxy){"silent": {slow, silent}, "gone": {gone}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := harness.NewDatabase(t, "postgres")
			p, behind := harness.ThroughProxy(t, db)
			v := newVisitors(t, harness.Start(t, behind, "--admin-addr", "127.0.0.1:0"))
			v.awaitFollower(t) // it forgets a key that was just made, in case that was looked up too soon
			v.succeed(t)
			before := v.goroutines(t)
			v.awaitFollower(t)
			earlier := v.outages(t) // a machine that stood still may have had some

			stop := v.watchNearby(t)
			during := v.goroutinesWhile(t, func() {
				for _, hurt := range faults {
					hurt(p)
					for range rounds(1, 1, 4) {
						v.areRefused(t)
					}
				}
				if name == "gone" { // a client that is refused notices the others
					harness.Eventually(t, "the server misses its database", func() bool { return v.outages(t) > earlier })
					// A key is trusted for a second before it is looked up again.
					away := time.Now()
					harness.Eventually(t, "keys were to be looked up meanwhile", func() bool { return time.Since(away) > 5*time.Second })
				}
			})
			stop()
			if lost := v.outages(t) - earlier; lost > 1 {
				t.Errorf("the log says %d times that the database is away; want once", lost)
			}
			p.Set(harness.Healed)
			p.Delay(0)

			v.succeed(t)
			after := 0
			harness.Eventually(t, "the goroutines of those who waited are gone", func() bool {
				after = v.goroutines(t)
				return after <= before+10
			})
			t.Logf("goroutines: %d before, %d at the most in the middle of it, %d afterwards", before, during, after)
			if during > before+100 {
				t.Errorf("%d goroutines pile up, from %d", during, before)
			}
			v.Converges(t, v.server, harness.Truth(t, harness.OpenStore(t, db)), int(v.load.number.Load()))
		})
	}
}

// visitors make every kind of request that needs the database.
type visitors struct {
	*user
	load   *load
	server *harness.Server
	admin
	requests map[string]func(context.Context) harness.Answer
}

func newVisitors(t *testing.T, s *harness.Server) *visitors {
	t.Helper()
	v := &visitors{load: newUsers(t, s), server: s, admin: adminOf(t, s)}
	v.user = v.load.users[0]
	v.HTTP.Timeout = harness.Patience // a request that waits for the database is found by waiting longer
	device := harness.LinkDevices(t, v.load.admin, s, 0, 1)[0]
	id := v.MustRegister(t, s, v.number())
	get := func(path string) func(context.Context) harness.Answer {
		return func(ctx context.Context) harness.Answer { return v.Do(ctx, http.MethodGet, s.URL+path, nil) }
	}
	v.requests = map[string]func(context.Context) harness.Answer{
		"POST": func(ctx context.Context) harness.Answer { return v.Register(ctx, s, v.number()) },
		"PATCH": func(ctx context.Context) harness.Answer {
			return v.Patch(ctx, s, id, harness.Fields{"name": fmt.Sprint("Name ", v.number())})
		},
		"GET":     get("/v1/hotspots/" + id),
		"list":    get("/v1/users/me/hotspots"),
		"rewards": get("/v1/users/me/rewards"),
		"readyz":  get("/readyz"),
		"beat": func(ctx context.Context) harness.Answer {
			return device.Send(ctx, v.load.admin, s, harness.Fields{"boot_id": "boot-0", "seq": v.number(), "clients": 1, "rx_bytes": 1, "tx_bytes": 1})
		},
	}
	return v
}

// admin is where a process can be looked into.
type admin string

var adminTold = regexp.MustCompile(`"msg":"admin interface","addr":"([^"]+)"`)

// adminOf finds the admin interface of a server that has one.
func adminOf(t *testing.T, s *harness.Server) (a admin) {
	t.Helper()
	harness.Eventually(t, "the log tells where the admin interface is", func() bool {
		found := adminTold.FindStringSubmatch(s.Log(t))
		if found != nil {
			a = admin("http://" + found[1])
		}
		return found != nil
	})
	return a
}

// outages is how often the log says that the database is away.
func (v *visitors) outages(t *testing.T) int {
	return strings.Count(v.server.Log(t), "cannot follow the changes")
}

func (v *visitors) number() int { return int(v.load.number.Add(1)) - 1 }

// all makes each request many times at once.
func (v *visitors) all(ctx context.Context, judge func(name string, a harness.Answer)) {
	var group sync.WaitGroup
	for name, request := range v.requests {
		for range visits {
			group.Go(func() { judge(name, request(ctx)) })
		}
	}
	group.Wait()
}

// succeed: soon, every client is served.
func (v *visitors) succeed(t *testing.T) {
	t.Helper()
	for began := time.Now(); ; {
		var mu sync.Mutex
		var failed []string
		v.all(t.Context(), func(name string, a harness.Answer) {
			if a.Status != http.StatusOK && a.Status != http.StatusCreated {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, fmt.Sprintf("%s was answered %d %s %v", name, a.Status, a.Code, a.Err))
			}
		})
		if len(failed) == 0 {
			return
		}
		if time.Since(began) > harness.Patience {
			t.Fatalf("%v after the database is there: %s", harness.Patience, strings.Join(failed, "\n"))
		}
	}
}

// areRefused: every client is told that it cannot be done, while the database is
// still away. Of a write it may be unknown whether it was done.
func (v *visitors) areRefused(t *testing.T) {
	t.Helper()
	var mu sync.Mutex
	longest := time.Duration(0)
	v.all(t.Context(), func(name string, a harness.Answer) {
		writes := name == "POST" || name == "PATCH"
		if a.Status != http.StatusServiceUnavailable && (a.Status != http.StatusInternalServerError || !writes) {
			t.Errorf("%s was answered %d %s %v; want 503, or 500 for a write", name, a.Status, a.Code, a.Err)
		}
		if a.Status == http.StatusServiceUnavailable && name != "readyz" && a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: a 503 without a word on when to come back", name)
		}
		mu.Lock()
		defer mu.Unlock()
		longest = max(longest, a.Took)
	})
	t.Logf("everyone was refused after %v at the most", longest)
}

// watchNearby asks for what is in memory until it is stopped, and at least some
// times: it must be there all the time.
func (v *visitors) watchNearby(t *testing.T) (stop func()) {
	const enough = 20
	ctx, cancel := context.WithCancel(t.Context())
	var answered atomic.Int64
	longest := time.Duration(0)
	var asking sync.WaitGroup
	asking.Go(func() {
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for ; ctx.Err() == nil; <-ticker.C {
			a := v.Do(t.Context(), http.MethodGet, v.server.URL+placeOf(&hotspot{number: 0}), nil)
			if a.Status != http.StatusOK || len(hotspotIDs(a)) != 1 {
				t.Errorf("nearby answered %d %s %v, %s", a.Status, a.Code, a.Err, a.Data)
			}
			answered.Add(1)
			longest = max(longest, a.Took)
		}
	})
	return func() {
		harness.Eventually(t, "nearby is answered", func() bool { return answered.Load() >= enough })
		cancel()
		asking.Wait()
		t.Logf("nearby was answered %d times, after %v at the most", answered.Load(), longest)
	}
}

// goroutines is how many the process has.
func (v *visitors) goroutines(t *testing.T) int {
	t.Helper()
	return int(v.measure(t, "/debug/pprof/goroutine?debug=1", `goroutine profile: total (\d+)`))
}

// goroutinesWhile is the most that the process has while something is done.
func (v *visitors) goroutinesWhile(t *testing.T, do func()) (most int) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	for {
		most = max(most, v.goroutines(t))
		select {
		case <-done:
			return most
		case <-time.After(100 * time.Millisecond): // until the next look
		}
	}
}

// awaitFollower waits until the process has heard of everything that was written
// up to now.
func (a admin) awaitFollower(t *testing.T) {
	t.Helper()
	began := time.Now()
	harness.Eventually(t, "the server follows the changes", func() bool {
		passed := time.Since(began).Seconds() // before it looks at its own clock
		return a.measure(t, "/metrics", `(?m)^beacon_feed_age_seconds (\S+)`) < passed
	})
}

// measure finds a number in what the admin interface tells.
func (a admin) measure(t *testing.T, path, pattern string) (n float64) {
	t.Helper()
	response, err := http.Get(string(a) + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	found := regexp.MustCompile(pattern).FindSubmatch(text)
	if err != nil || found == nil {
		t.Fatalf("%s says %.100s, %v", path, text, err)
	}
	if _, err := fmt.Sscan(string(found[1]), &n); err != nil {
		t.Fatal(err)
	}
	return n
}
