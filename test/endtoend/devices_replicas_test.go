//go:build linux

package endtoend_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestDevicesReplicas: three servers on one database. Devices beat at random
// ones, send some beats to two of them, and repeat others. Meanwhile the server
// that folds and orders events for all is killed, and then the one that took
// over. In the end all three show the same, and that is what the devices know.
// Listeners who go from server to server have heard every event once, in one
// order. The clock stands still until each device was heard in a minute.
func TestDevicesReplicas(t *testing.T) {
	t.Parallel() // it mostly waits
	w := newReplicated(t)
	load, stopLoad := context.WithCancel(t.Context())
	var beating, listening sync.WaitGroup
	for _, r := range w.roamers {
		beating.Go(func() { r.roam(load, t, w) })
	}
	beating.Go(func() { w.rename(load, t) })
	hearing, stopHearing := context.WithCancel(t.Context())
	for _, l := range w.listeners {
		listening.Go(func() { l.roam(hearing, t, w) })
	}
	for kills := range 2 {
		killed := w.killKeeper(t)
		if kills > 0 { // once is enough to wait until its lease has expired
			audit.FreeLease(t, w.db)
		}
		w.awaitKeeper(t) // of the two that are left
		w.revive(t, killed)
	}
	// Some fall silent, and are missed.
	for _, r := range w.roamers[:quiet] {
		r.quiet.Store(true)
	}
	w.pass(t, 10)
	w.awaitEvents(t, "hotspot.offline", quiet)
	stopLoad()
	beating.Wait()

	w.checkMetrics(t)
	w.checkEvents(t, func() { stopHearing(); listening.Wait() })
}

// roamers is how many devices there are, and quiet how many of them fall silent.
const roamers, quiet = 24, 6

// replicated is three servers and who uses them.
type replicated struct {
	db        string
	admin     *harness.Client
	clock     *harness.HeldClock
	seed      uint64
	servers   [3]atomic.Pointer[harness.Server]
	roamers   []*roamer
	listeners []*roamingListener
	repeated  atomic.Int64
	renamed   map[harness.Outcome]int
}

func newReplicated(t *testing.T) *replicated {
	t.Helper()
	db := storetest.Postgres(t)
	// All is within one hour: connections are the most at once in each, added up.
	w := &replicated{db: db, clock: harness.NewHeldClock(t, time.Date(2027, 5, 4, 10, 1, 0, 0, time.UTC)), seed: level.Seed(t)}
	w.renamed = map[harness.Outcome]int{}
	for i := range w.servers {
		w.revive(t, i)
	}
	apiKey := harness.CreateKey(t, db, "admin").Key
	w.admin = harness.NewClient(t, apiKey)
	for _, d := range harness.LinkDevices(t, w.admin, w.servers[0].Load(), 0, roamers) {
		w.roamers = append(w.roamers, &roamer{Device: d, random: w.random(len(w.roamers))})
	}
	for i := range 3 {
		w.listeners = append(w.listeners, &roamingListener{Listener: harness.NewListener(t, apiKey), random: w.random(roamers + i)})
	}
	return w
}

// revive starts a server in the place of one.
func (w *replicated) revive(t *testing.T, i int) {
	w.servers[i].Store(w.clock.Start(t, w.db))
}

// random gives the random choices of one of those who use the servers.
func (w *replicated) random(n int) *rand.Rand { return rand.New(rand.NewPCG(w.seed, uint64(n))) }

// any gives a server that runs, as far as is known.
func (w *replicated) any(random *rand.Rand) *harness.Server {
	for {
		if s := w.servers[random.IntN(len(w.servers))].Load(); s.Runs() {
			return s
		}
	}
}

// pass lets minutes pass, each once every device was heard in it, and not so fast
// that a server could take someone for silent of whose beats it has not read yet.
func (w *replicated) pass(t *testing.T, minutes int) {
	t.Helper()
	for i := range minutes {
		now := int64(harness.MinuteOf(w.clock.Now()))
		for _, r := range w.roamers {
			harness.Eventually(t, "a device is heard, or has fallen silent", func() bool {
				return r.silent.Load() || !r.quiet.Load() && r.heard.Load() >= now || t.Failed()
			})
		}
		if i%2 == 0 {
			w.awaitFollowed(t)
		}
		w.clock.Pass(time.Minute)
	}
}

// awaitFollowed waits until all servers know of all beats that were taken by now.
func (w *replicated) awaitFollowed(t *testing.T) {
	t.Helper()
	taken := map[string]uint64{}
	for _, r := range w.roamers {
		taken[r.SSID] = r.taken.Load()
	}
	for i := range w.servers {
		harness.Eventually(t, "a server knows of all beats", func() bool {
			for ssid, shown := range w.admin.Readings(t, w.servers[i].Load()) {
				if shown.Bytes < taken[ssid] {
					return t.Failed()
				}
			}
			return true
		})
	}
}

// keeper finds the server that took the lease last, or -1 when that one is gone.
func (w *replicated) keeper(t *testing.T) int {
	t.Helper()
	found, highest := -1, 0
	for i := range w.servers {
		s := w.servers[i].Load()
		for line := range strings.Lines(s.Log(t)) {
			_, text, ok := strings.Cut(line, `this server now holds the lease","lease":"keeper","token":`)
			var token int
			if n, _ := fmt.Sscanf(text, "%d", &token); ok && n == 1 && token > highest {
				if found, highest = i, token; !s.Runs() {
					found = -1
				}
			}
		}
	}
	return found
}

func (w *replicated) awaitKeeper(t *testing.T) (keeper int) {
	t.Helper()
	took := harness.Eventually(t, "a server holds the lease", func() bool {
		keeper = w.keeper(t)
		return keeper >= 0
	})
	t.Logf("server %d holds the lease after %v", keeper, took)
	return keeper
}

// killKeeper kills the server that holds the lease, once it has folded a few
// times.
func (w *replicated) killKeeper(t *testing.T) int {
	t.Helper()
	keeper := w.awaitKeeper(t)
	s := w.servers[keeper].Load()
	folds := func() int { return len(keeperFolds.FindAllString(s.Log(t), -1)) }
	for range 2 {
		before := folds()
		w.pass(t, 5)
		harness.Eventually(t, "the keeper has folded", func() bool { return folds() > before || t.Failed() })
	}
	s.Kill()
	return keeper
}

// roamer is a device that beats at random servers, until each beat is taken.
type roamer struct {
	*harness.Device
	random  *rand.Rand
	heard   atomic.Int64  // the minute of the last beat that was taken
	taken   atomic.Uint64 // what beats carried that were taken
	quiet   atomic.Bool   // it is to fall silent
	silent  atomic.Bool   // and it has
	clients int           // the most that it told
}

func (r *roamer) roam(ctx context.Context, t *testing.T, w *replicated) {
	rhythm := time.NewTicker(60 * time.Millisecond)
	defer rhythm.Stop()
	defer r.silent.Store(true)
	for ; ctx.Err() == nil && !r.quiet.Load(); <-rhythm.C {
		body := r.Next()
		r.clients = max(r.clients, int(body["clients"].(uint64)))
		var twice sync.WaitGroup
		if r.random.IntN(4) == 0 { // the same beat at two servers at the same time
			other := w.any(r.random)
			twice.Go(func() { r.Send(t.Context(), w.admin, other, body) })
		}
		for {
			a := r.Send(t.Context(), w.admin, w.any(r.random), body)
			if r.Hear(a, body); a.Outcome() == harness.Done {
				r.heard.Store(int64(harness.MinuteOf(a.At)))
				r.taken.Store(r.Totals().Acked)
				break
			}
			if t.Context().Err() != nil || a.Status != 0 && a.Status != http.StatusServiceUnavailable {
				t.Errorf("a beat was answered %d %s %v", a.Status, a.Code, a.Err)
				return
			}
		}
		twice.Wait()
		if r.random.IntN(4) == 0 { // and again, later
			if a := r.Send(t.Context(), w.admin, w.any(r.random), body); a.Status != http.StatusOK && a.Err == nil {
				t.Errorf("a repeated beat was answered %d %s", a.Status, a.Code)
			}
			w.repeated.Add(1)
		}
		if r.random.IntN(100) == 0 && r.Boot < 5 {
			r.Reboot()
		}
	}
}

// rename changes hotspots through random servers.
func (w *replicated) rename(ctx context.Context, t *testing.T) {
	random := w.random(roamers + len(w.listeners))
	rhythm := time.NewTicker(20 * time.Millisecond)
	defer rhythm.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		a := w.admin.Patch(t.Context(), w.any(random), w.roamers[random.IntN(roamers)].Hotspot, harness.Fields{"name": fmt.Sprintf("Name %d", n)})
		w.renamed[a.Outcome()]++
		<-rhythm.C
	}
}

// checkMetrics waits until all servers show what the devices know.
func (w *replicated) checkMetrics(t *testing.T) {
	t.Helper()
	type facts struct {
		Bytes       uint64
		Connections int
		Tier        string
	}
	want := map[string]facts{}
	for _, r := range w.roamers {
		want[r.SSID] = facts{r.Totals().Sent, r.clients, "standard"} // all was taken, within one hour
	}
	if now := w.clock.Now(); now.Hour() != 10 {
		t.Fatalf("it is %v: another hour has begun, of which the devices do not know", now)
	}
	for i := range w.servers {
		var shown map[string]harness.Reading
		diff := ""
		defer func() {
			if diff != "" {
				t.Errorf("server %d differs (-devices +server): %s", i, diff)
			}
		}()
		harness.Eventually(t, "a server shows what the devices know", func() bool {
			shown = w.admin.Readings(t, w.servers[i].Load())
			got := map[string]facts{}
			for ssid, r := range shown {
				got[ssid] = facts{r.Bytes, r.Connections, r.Tier}
			}
			diff = cmp.Diff(want, got)
			return diff == ""
		})
		for _, r := range w.roamers[quiet:] {
			// Who beats all the time serves every minute, but perhaps for the first.
			if got := shown[r.SSID].Uptime; got < 0.9 {
				t.Errorf("server %d: %s was always there, and has an uptime of %v", i, r.SSID, got)
			}
		}
		for _, r := range w.roamers[:quiet] {
			if got := shown[r.SSID].Status; got != "offline" {
				t.Errorf("server %d: %s fell silent and is %s", i, r.SSID, got)
			}
		}
	}
	t.Logf("%d beats were repeated", w.repeated.Load())
}

// roamingListener goes from server to server.
type roamingListener struct {
	*harness.Listener
	random  *rand.Rand
	streams int
}

func (l *roamingListener) roam(ctx context.Context, t *testing.T, w *replicated) {
	for ctx.Err() == nil {
		stay, leave := context.WithTimeout(ctx, time.Duration(50+l.random.IntN(1000))*time.Millisecond)
		_ = l.Listen(stay, w.any(l.random)) // it leaves by itself, or its server is killed
		leave()
		l.streams++
	}
}

// awaitEvents waits until everyone has heard so many events of a type.
func (w *replicated) awaitEvents(t *testing.T, kind string, count int) {
	t.Helper()
	for _, l := range w.listeners {
		harness.Eventually(t, fmt.Sprintf("%d events %s", count, kind), func() bool { return l.Count(kind) >= count })
	}
}

// checkEvents compares what listeners heard, with each other and with what
// happened.
func (w *replicated) checkEvents(t *testing.T, stopHearing func()) {
	t.Helper()
	want := map[string][]string{}
	for i, r := range w.roamers {
		want[r.Hotspot] = []string{"hotspot.registered", "hotspot.verified", "hotspot.linked", "hotspot.online"}
		if i < quiet {
			want[r.Hotspot] = append(want[r.Hotspot], "hotspot.offline")
		}
	}
	w.awaitEvents(t, "hotspot.online", roamers)
	w.awaitEvents(t, "hotspot.updated", w.renamed[harness.Done])
	// All that must be heard was. If more comes, it does so soon.
	settled, most := time.Now(), int64(0)
	harness.Eventually(t, "no more events for a second", func() bool {
		for _, l := range w.listeners {
			if last := l.Last(); last > most {
				most, settled = last, time.Now()
			}
		}
		return time.Since(settled) > time.Second
	})
	for _, l := range w.listeners {
		harness.Eventually(t, "all have heard the same", func() bool { return l.Last() >= most })
	}
	stopHearing()
	first := w.listeners[0].Heard()
	harness.CheckOrder(t, first)
	got, renamed := map[string][]string{}, 0
	for _, e := range first {
		switch {
		case e.Type == "hotspot.updated":
			renamed++
		case e.HotspotID != "":
			got[e.HotspotID] = append(got[e.HotspotID], e.Type)
		}
	}
	if surely := w.renamed[harness.Done]; surely == 0 || renamed < surely || renamed > surely+w.renamed[harness.Unknown] {
		t.Errorf("%d hotspots were renamed; %d were acknowledged, and of %d it is unknown", renamed, surely, w.renamed[harness.Unknown])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what happened to each hotspot (-want +heard): %s", diff)
	}
	for _, l := range w.listeners {
		heard := l.Heard()
		harness.CheckOrder(t, heard)
		if n := min(len(heard), len(first)); !cmp.Equal(heard[:n], first[:n]) {
			t.Error("two listeners heard different things")
		}
		t.Logf("a listener heard %d events over %d streams", len(heard), l.streams)
	}
}
