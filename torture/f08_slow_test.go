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
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

const (
	// answeredWithin is how long anyone may have to wait for the news that the
	// database is away: a request is given five seconds.
	answeredWithin = 7 * time.Second
	// latency is more than any statement may take.
	latency = 5 * time.Second
	// visits is how often each request is made at once: more often than there are
	// connections.
	visits = 12
)

// TestF08_Slow: while the database is slow, silent or gone, what is answered from
// memory is answered, and everything else says in time and in the documented shape
// that it cannot be. Afterwards everything is as before, without a restart, and
// nothing is left over.
func TestF08_Slow(t *testing.T) {
	t.Parallel() // it mostly waits
	slow := func(p *rig.Proxy) { p.Delay(latency) }
	silent := func(p *rig.Proxy) { p.Set(rig.Silent) }
	gone := func(p *rig.Proxy) { p.Set(rig.Cut) }
	for name, faults := range map[string][]func(*rig.Proxy){"silent": {slow, silent}, "gone": {gone}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.NewDatabase(t, "postgres")
			p, behind := rig.ThroughProxy(t, db)
			v := newVisitors(t, rig.Start(t, behind, "--admin-addr", "127.0.0.1:0"))
			v.awaitFollower(t) // it forgets a key that was just made, in case that was looked up too soon
			v.succeed(t)
			before := v.goroutines(t)

			stop := v.watchNearby(t)
			during := v.goroutinesWhile(t, func() {
				for _, hurt := range faults {
					hurt(p)
					for range rounds(1, 1, 4) {
						v.areRefused(t)
					}
				}
			})
			stop()
			p.Set(rig.Healed)
			p.Delay(0)

			rig.Eventually(t, "the database is in use again", func() bool {
				return v.requests["POST"](t.Context()).Status == http.StatusCreated
			})
			v.succeed(t)
			after := 0
			rig.Eventually(t, "the goroutines of those who waited are gone", func() bool {
				after = v.goroutines(t)
				return after <= before+10
			})
			t.Logf("goroutines: %d before, %d at the most in the middle of it, %d afterwards", before, during, after)
			if during > before+100 {
				t.Errorf("%d goroutines pile up, from %d", during, before)
			}
			v.Converges(t, v.server, rig.Truth(t, rig.OpenStore(t, db)), int(v.load.number.Load()))
			if lost := strings.Count(v.server.Log(t), "cannot follow the changes"); lost > 1 || lost == 0 && name == "gone" {
				t.Errorf("the log says %d times that the database is away; want once", lost)
			}
		})
	}
}

// visitors make every kind of request that needs the database.
type visitors struct {
	*user
	load     *load
	server   *rig.Server
	admin    string // where the process can be looked into
	requests map[string]func(context.Context) rig.Answer
}

func newVisitors(t *testing.T, s *rig.Server) *visitors {
	t.Helper()
	v := &visitors{load: newUsers(t, s), server: s}
	v.user = v.load.users[0]
	device := rig.LinkDevices(t, v.load.admin, s, 0, 1)[0]
	id := v.MustRegister(t, s, v.number())
	get := func(path string) func(context.Context) rig.Answer {
		return func(ctx context.Context) rig.Answer { return v.Do(ctx, http.MethodGet, s.URL+path, nil) }
	}
	v.requests = map[string]func(context.Context) rig.Answer{
		"POST": func(ctx context.Context) rig.Answer { return v.Register(ctx, s, v.number()) },
		"PATCH": func(ctx context.Context) rig.Answer {
			return v.Patch(ctx, s, id, rig.Fields{"name": fmt.Sprint("Name ", v.number())})
		},
		"GET":     get("/v1/hotspots/" + id),
		"list":    get("/v1/users/me/hotspots"),
		"rewards": get("/v1/users/me/rewards"),
		"readyz":  get("/readyz"),
		"beat": func(ctx context.Context) rig.Answer {
			return device.Send(ctx, v.load.admin, s, rig.Fields{"boot_id": "boot-0", "seq": v.number(), "clients": 1, "rx_bytes": 1, "tx_bytes": 1})
		},
	}
	told := regexp.MustCompile(`"msg":"admin interface","addr":"([^"]+)"`)
	rig.Eventually(t, "the log tells where the admin interface is", func() bool {
		found := told.FindStringSubmatch(s.Log(t))
		if found != nil {
			v.admin = "http://" + found[1]
		}
		return found != nil
	})
	return v
}

func (v *visitors) number() int { return int(v.load.number.Add(1)) - 1 }

// all makes each request many times at once.
func (v *visitors) all(ctx context.Context, judge func(name string, a rig.Answer)) {
	var group sync.WaitGroup
	for name, request := range v.requests {
		for range visits {
			group.Go(func() { judge(name, request(ctx)) })
		}
	}
	group.Wait()
}

// succeed: whoever asks is served.
func (v *visitors) succeed(t *testing.T) {
	t.Helper()
	v.all(t.Context(), func(name string, a rig.Answer) {
		if a.Status != http.StatusOK && a.Status != http.StatusCreated {
			t.Errorf("%s was answered %d %s %v", name, a.Status, a.Code, a.Err)
		}
	})
}

// areRefused: whoever asks is told in time that it cannot be done. Of a write it
// may be unknown whether it was.
func (v *visitors) areRefused(t *testing.T) {
	t.Helper()
	v.all(t.Context(), func(name string, a rig.Answer) {
		writes := name == "POST" || name == "PATCH"
		if a.Status != http.StatusServiceUnavailable && (a.Status != http.StatusInternalServerError || !writes) {
			t.Errorf("%s was answered %d %s %v; want 503, or 500 for a write", name, a.Status, a.Code, a.Err)
		}
		if a.Took > answeredWithin {
			t.Errorf("%s was answered after %v; want %v", name, a.Took, answeredWithin)
		}
		if a.Status == http.StatusServiceUnavailable && name != "readyz" && a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: a 503 without a word on when to come back", name)
		}
	})
}

// watchNearby asks for what is in memory until it is stopped: it must be there all
// the time.
func (v *visitors) watchNearby(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	answered, longest := 0, time.Duration(0)
	var asking sync.WaitGroup
	asking.Go(func() {
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for ; ctx.Err() == nil; <-ticker.C {
			a := v.Do(t.Context(), http.MethodGet, v.server.URL+placeOf(&spot{number: 0}), nil)
			if a.Status != http.StatusOK || len(hotspotIDs(a)) != 1 {
				t.Errorf("nearby answered %d %s %v, %s", a.Status, a.Code, a.Err, a.Data)
			}
			answered, longest = answered+1, max(longest, a.Took)
		}
	})
	return func() {
		cancel()
		asking.Wait()
		t.Logf("nearby was answered %d times, after %v at the most", answered, longest)
		if answered < 20 || longest > answeredWithin/2 {
			t.Error("nearby waits for the database")
		}
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
func (v *visitors) awaitFollower(t *testing.T) {
	t.Helper()
	began := time.Now()
	rig.Eventually(t, "the server follows the changes", func() bool {
		return v.measure(t, "/metrics", `(?m)^beacon_feed_age_seconds (\S+)`) < time.Since(began).Seconds()
	})
}

// measure finds a number in what the admin interface tells.
func (v *visitors) measure(t *testing.T, path, pattern string) (n float64) {
	t.Helper()
	response, err := http.Get(v.admin + path)
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
