//go:build linux

package torture_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/postgres"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// year is a simulated network of honest hotspots.
type year struct {
	t        *testing.T
	random   *rand.Rand
	eventful float64 // how much more happens than in an ordinary network
	service  *yearService
	staff    string // a key
	users    []*yearUser
	hotspots []*yearHotspot
	macs     int
	agenda   map[harness.Minute][]func(harness.Minute)
	first    harness.Minute
	end      harness.Minute
	checks   yearChecks
}

type yearUser struct {
	key, id  string
	hotspots []*yearHotspot
}

// yearSize is how much a run simulates.
type yearSize struct {
	hotspots, users, days, rate int
	start                       time.Time
	eventful                    float64
}

// TestF26_Year lives through a year with honest hotspots, whose devices reboot, fall
// silent, repeat themselves and are replaced, whose people move them, change their
// hours and delete them, and whose service has outages and wrong clocks. In the end
// each has been paid what was due on each day, to the micro-credit.
func TestF26_Year(t *testing.T) {
	t.Parallel()
	if ranBroken(t) {
		return
	}
	size := []yearSize{
		{6, 3, 12, 240, time.Date(2026, 10, 24, 0, 0, 0, 0, time.UTC), 8},
		// More days find what docs/reliability.md says is not promised.
		{9, 3, 12, 240, time.Date(2026, 10, 24, 0, 0, 0, 0, time.UTC), 8},
		{200, 40, 369, 120, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), 2},
	}[level.Now()]
	seed := level.Seed(t)
	file := filepath.Join(t.TempDir(), "beacon.db")
	synctest.Test(t, func(t *testing.T) {
		runYear(t, size, seed, 1, func(ctx context.Context, now time.Time) (*store.DB, error) {
			return sqlite.Open(ctx, file, sqlite.Options{Now: now})
		})
	})
}

// TestF26_Replicas is a shorter time with two servers on PostgreSQL.
func TestF26_Replicas(t *testing.T) {
	level.Needs(t, level.Check)
	t.Parallel()
	if ranBroken(t) {
		return
	}
	size := []yearSize{
		{}, // make test has no time for it
		{6, 2, 7, 240, time.Date(2026, 10, 28, 0, 0, 0, 0, time.UTC), 8},
		{50, 10, 40, 120, time.Date(2026, 10, 24, 0, 0, 0, 0, time.UTC), 4},
	}[level.Now()]
	seed := level.Seed(t)
	database := harness.NewDatabase(t, "postgres")
	synctest.Test(t, func(t *testing.T) {
		runYear(t, size, seed, 2, func(ctx context.Context, now time.Time) (*store.DB, error) {
			return postgres.Open(ctx, database, postgres.Options{Now: now})
		})
	})
}

// ranBroken runs the test in another process if the product is broken on purpose: here
// it is part of the test's own binary.
func ranBroken(t *testing.T) bool {
	overlay := os.Getenv(harness.OverlayVariable)
	if overlay == "" {
		return false
	}
	binary := filepath.Join(t.TempDir(), "torture.test")
	build := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", binary, "./test/torture")
	build.Dir = harness.Root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	test := exec.CommandContext(t.Context(), binary, "-test.run", exactly(t.Name()))
	test.Env = append(os.Environ(), harness.OverlayVariable+"=")
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return true
}

func runYear(t *testing.T, size yearSize, seed uint64, servers int, open func(context.Context, time.Time) (*store.DB, error)) {
	y := &year{
		t: t, random: rand.New(rand.NewPCG(seed, 0)), eventful: size.eventful, agenda: map[harness.Minute][]func(harness.Minute){},
		first: harness.MinuteOf(size.start), service: &yearService{
			t: t, open: open, log: slog.New(slog.NewTextHandler(io.Discard, nil)), rate: size.rate, start: size.start, began: time.Now(),
		},
	}
	y.end = y.first + harness.Minute(size.days)*minutesADay
	for range servers {
		y.service.launch(y.first)
	}
	_, y.staff = y.person("admin")
	for range size.users {
		id, key := y.person("hotspots:write", "rewards:read")
		y.users = append(y.users, &yearUser{id: id, key: key})
	}
	for i := range size.hotspots {
		y.hotspotAt(y.first+1+harness.Minute(y.random.IntN(minutesADay)), y.users[i%size.users])
	}
	y.misfortunes(servers)
	for m := y.first + 1; m < y.end && !t.Failed(); m++ {
		y.minute(m)
	}
	y.conclude()
	for len(y.service.servers) > 0 {
		y.service.kill(y.end+1, y.service.servers[0])
	}
}

// minute does what is to be done in a minute: our own misfortunes at its beginning,
// then people, then devices.
func (y *year) minute(m harness.Minute) {
	if m%minutesADay == 0 {
		for _, h := range y.hotspots {
			h.plan(m)
		}
	}
	for _, do := range y.agenda[m] {
		do(m)
	}
	delete(y.agenda, m)
	y.beats(m)
	if m%minutesADay == 120 {
		y.check()
	}
}

// beats lets all devices send at once what they have to send.
func (y *year) beats(m harness.Minute) {
	type sending struct {
		h *yearHotspot
		r *heartbeatReport
	}
	var all []sending
	for _, h := range y.hotspots {
		for _, r := range h.device(m) {
			all = append(all, sending{h, r})
		}
	}
	if len(all) == 0 || len(y.service.servers) == 0 {
		return
	}
	y.service.until(m, 30)
	if y.service.right() {
		y.notice(m)
	}
	heard := make([]bool, len(all))
	var beating sync.WaitGroup
	for i, s := range all {
		server := y.service.servers[y.random.IntN(len(y.service.servers))]
		beating.Go(func() { heard[i] = s.h.beat(server, s.r) })
	}
	beating.Wait()
	for i, s := range all {
		if !heard[i] || s.r.heard {
			continue
		}
		s.r.heard = true
		if y.service.ahead.Load() == 0 {
			s.h.hear(m, s.r)
		} else { // its traffic counts when the clock is right
			s.h.waiting = append(s.h.waiting, s.r)
		}
	}
}

// at has someone do something, as soon as the service is up and its clock right.
func (y *year) at(m harness.Minute, do func(harness.Minute)) { y.when(y.service.right, m, do) }

// atAnyTime has someone do something as soon as the service is up, whatever its clock says.
func (y *year) atAnyTime(m harness.Minute, do func(harness.Minute)) { y.when(y.service.isUp, m, do) }

func (y *year) when(can func() bool, m harness.Minute, do func(harness.Minute)) {
	y.agenda[m] = append(y.agenda[m], func(m harness.Minute) {
		if !can() {
			y.when(can, m+30, do)
			return
		}
		y.service.until(m, 10)
		do(m)
	})
}

// hotspotAt registers a new hotspot.
func (y *year) hotspotAt(m harness.Minute, user *yearUser) {
	n := len(y.hotspots)
	random := rand.New(rand.NewPCG(y.random.Uint64(), uint64(n)))
	h := &yearHotspot{
		deeds: deeds{days: map[int64]*dayDeeds{}, boots: map[string]bootDeeds{}}, notes: map[int64][]string{},
		year: y, random: random, number: n, user: user, name: fmt.Sprintf("Hotspot %d", n), lat: float64(n%80) / 2,
		habit:  habit(n) % habits,
		hourly: 1_000_000 + random.Uint64N(3_000_000_000), quality: random.IntN(3), phase: harness.Minute(random.IntN(2) * 2), sleeps: random.IntN(4) == 0,
	}
	if h.habit == wraps {
		h.hourly = 10_000_000 // so that it is clear how often they wrapped, even after an outage of days
	}
	y.hotspots, user.hotspots = append(y.hotspots, h), append(user.hotspots, h)
	y.at(m, h.register)
}

// plan decides what happens to a hotspot on a day.
func (h *yearHotspot) plan(m harness.Minute) {
	some := func() harness.Minute { return m + harness.Minute(h.random.IntN(minutesADay)) }
	h.testsAt = h.testsAt[:0]
	for range h.random.IntN(4) {
		h.testsAt = append(h.testsAt, m+harness.Minute(len(h.testsAt)*400+h.random.IntN(400)))
	}
	if h.chance(0.1) {
		h.quality = h.random.IntN(3)
	}
	if h.chance(0.1) {
		from := some()
		h.year.agenda[from] = append(h.year.agenda[from], func(m harness.Minute) {
			h.silentUntil = m + 5 + harness.Minute(h.random.IntN(600))
			h.note(m, "silent for %d minutes", h.silentUntil-m)
		})
	}
	for range h.random.IntN(3) {
		if from := some(); h.chance(0.1) {
			h.year.agenda[from] = append(h.year.agenda[from], func(m harness.Minute) { h.reboot(m) })
		}
	}
	for range 3 {
		if from := some(); h.chance(0.05) {
			h.year.agenda[from] = append(h.year.agenda[from], h.odd)
		}
	}
	for _, act := range []struct {
		chance float64
		do     func(harness.Minute)
	}{
		{0.02, h.change}, {0.02, h.except}, {0.01, h.move}, {0.01, h.relink}, {0.005, h.unlink}, {0.007, h.replace}, {0.004, h.remove},
	} {
		if from := some(); h.chance(act.chance) && h.id != "" {
			h.year.at(from, func(m harness.Minute) {
				if m < h.notBefore {
					h.year.at(h.notBefore, act.do)
					return
				}
				act.do(m)
			})
		}
	}
}

// person makes a user with a key.
func (y *year) person(scopes ...string) (id, key string) {
	made, err := y.service.servers[0].node.Keys.Create(y.t.Context(),
		beacon.Principal{Scopes: []beacon.Scope{beacon.Admin}, Request: "cli"},
		access.Creation{User: beacon.Some(string(access.NewUser)), Scopes: beacon.Some(scopes)})
	if err != nil {
		y.t.Fatal(err)
	}
	return string(made.Key.User), made.Plain
}

// ask makes a request that must succeed.
func (y *year) ask(key, method, path string, body any) harness.Fields {
	var fields struct{ Data harness.Fields }
	if status, text := y.call(key, method, path, body); status < 200 || status > 299 {
		y.t.Fatalf("%s %s got %d %s", method, path, status, text)
	} else if status != http.StatusNoContent {
		if err := json.Unmarshal(text, &fields); err != nil {
			y.t.Fatalf("%s %s got %s: %v", method, path, text, err)
		}
	}
	return fields.Data
}

// call makes a request to the first server.
func (y *year) call(key, method, path string, body any) (status int, text []byte) {
	var content io.Reader = http.NoBody
	if body != nil {
		sent, err := json.Marshal(body)
		if err != nil {
			y.t.Fatal(err)
		}
		content = bytes.NewReader(sent)
	}
	r, err := http.NewRequestWithContext(y.t.Context(), method, path, content)
	if err != nil {
		y.t.Fatal(err)
	}
	r.RemoteAddr = "192.0.2.2:1"
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	w := yearResponse{header: http.Header{}}
	y.service.servers[0].handler.ServeHTTP(&w, r)
	return w.status, w.body.Bytes()
}
