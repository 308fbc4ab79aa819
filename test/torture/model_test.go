//go:build linux

package torture_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/beacon-wifi/beacon/test/harness"
)

// clockRate lets devices fall silent within a run: 240 s are 0.8 s.
const clockRate = 300

// adminKey is who runs the network: made on the command line, the same in all
// runs.
var adminKey = &apiKey{name: "keyadmin", secret: "secretadmin", user: "usradmin", scopes: []string{"admin"}}

// TestF22_Model does random things to a server on each store and to a model of
// what the documents say, and compares every answer: with the model, and of the
// stores with each other. What fails is shrunk to the shortest sequence that
// still does, and printed with its seed. It goes on until everything was done.
func TestF22_Model(t *testing.T) {
	t.Parallel()
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	set := func(name string, value any) {
		if given["rapid."+name] {
			return
		}
		if err := flag.Set("rapid."+name, fmt.Sprint(value)); err != nil {
			t.Fatal(err)
		}
	}
	set("checks", rounds(40, 150, 1000))
	set("steps", 50)
	set("nofailfile", true)
	if set("shrinktime", "20s"); os.Getenv(harness.OverlayVariable) != "" {
		set("shrinktime", "1s") // a mutant: that it fails is enough
	}
	base := newMachine(t)
	steps := map[string]int{}
	property := func(t *rapid.T) {
		m := base.fresh(t)
		defer m.leave(t)
		actions := m.actions()
		for name, act := range actions {
			actions[name] = func(t *rapid.T) {
				act(t)
				steps[name]++
			}
		}
		t.Repeat(actions)
	}
	rapid.Check(t, property)
	missing := func() (list []string) {
		for name := range base.actions() {
			if steps[name] == 0 {
				list = append(list, name)
			}
		}
		return list
	}
	for seed := 2; seed < 100 && !t.Failed() && len(missing()) > 0; seed++ {
		set("checks", 5)
		set("seed", seed)
		rapid.Check(t, property)
	}
	if t.Failed() {
		return
	}
	for i, w := range base.worlds {
		checkEvents(t, w, base.listeners[i])
	}
	if never := missing(); len(never) > 0 {
		t.Errorf("%v were never done", never)
	}
	t.Logf("steps: %v", steps)
}

// newMachine starts a server on each store, with hotspots that stay for the
// whole test: pending ones, and ones whose devices fell silent.
func newMachine(t *testing.T) *modelMachine {
	m := &modelMachine{model: &model{keys: []*apiKey{adminKey}, once: map[string]*firstAnswer{}}}
	m.worlds = startWorlds(t, clockRate)
	for _, w := range m.worlds {
		m.listeners = append(m.listeners, listen(t, w, w.bound[adminKey.secret]))
	}
	for i, p := range []place{modelPlaces[0], modelPlaces[2], modelPlaces[7], modelPlaces[11]} {
		for _, up := range []bool{false, true} {
			m.settle(t, 2*i, p, up)
		}
	}
	m.elders = len(m.hotspots)
	harness.Eventually(t, "the devices are silent", func() bool {
		now := time.Now()
		return !slices.ContainsFunc(m.worlds, func(w *world) bool {
			return slices.ContainsFunc(m.hotspots, func(s *modelHotspot) bool { return slices.Contains(s.statusAt(w, w.clock.between(now, now)), "online") })
		})
	})
	return m
}

// startWorlds starts a server on each store, by a clock that runs at a rate.
func startWorlds(t *testing.T, rate int) (worlds []*world) {
	t.Helper()
	for _, kind := range []string{"sqlite", "postgres"} {
		db := harness.NewDatabase(t, kind)
		s := harness.Start(t, db, "--clock-start", "2026-11-10T04:00:00Z", "--clock-rate", fmt.Sprint(rate))
		transport := &http.Transport{MaxIdleConnsPerHost: 16}
		t.Cleanup(transport.CloseIdleConnections)
		admin := harness.CreateKey(t, db, "admin")
		worlds = append(worlds, &world{
			name: kind, url: s.URL, http: &http.Client{Transport: transport, Timeout: harness.Patience}, clock: newServerClock(float64(rate)),
			bound: map[string]string{"secretadmin": admin.Key, "keyadmin": admin.ID, "usradmin": admin.UserID}, names: map[string]string{admin.ID: "keyadmin", admin.UserID: "usradmin"},
			beats: map[string][]span{}, repeats: map[string]span{}, happened: new([]happening),
		})
	}
	return worlds
}

// settle registers a hotspot that stays.
func (m *modelMachine) settle(t *testing.T, n int, p place, up bool) {
	if up {
		n++
	}
	s := &modelHotspot{title: fmt.Sprintf("Elder %d", n), kind: "public", lat: p.lat, lng: p.lng, ssid: "elder", mac: fmt.Sprintf("02:be:ac:ff:ff:%02x", n), settings: settings{max: 128, mbps: 300}}
	body := fields{"name": s.title, "type": s.kind, "location": fields{"lat": p.lat, "lng": p.lng}, "device": fields{"ssid": s.ssid, "mac_address": s.mac}}
	m.register(t, request{method: http.MethodPost, path: "/v1/hotspots", key: adminKey, body: body}, s, nil, "")
	if up {
		m.bringUp(t, s, "/v1/hotspots/{"+s.name+"}", adminKey)
	}
}

var runs int

// fresh is a machine for one run, with users of its own: two operators, of whom
// the second also manages keys and verifies, staff, and a reader.
func (m *modelMachine) fresh(t tester) *modelMachine {
	runs++
	next := &modelMachine{model: &model{run: runs, count: m.count, keys: []*apiKey{adminKey}, hotspots: slices.Clone(m.hotspots), elders: m.elders, once: map[string]*firstAnswer{}}, listeners: m.listeners}
	for _, w := range m.worlds {
		next.worlds = append(next.worlds, w.fresh())
	}
	for _, scopes := range [][]string{{"hotspots:write", "rewards:read"}, {"hotspots:write", "hotspots:verify", "keys:manage", "rewards:read"}, {"hotspots:verify"}, {}} {
		r := request{method: http.MethodPost, path: "/v1/keys", key: adminKey, body: fields{"user_id": "new", "scopes": scopes}}
		next.createKey(t, r, &apiKey{user: "new", scopes: scopes}, nil)
	}
	return next
}

// leave deletes what the run registered, whatever became of it.
func (m *modelMachine) leave(t *rapid.T) {
	for _, w := range m.worlds {
		for _, s := range m.hotspots[m.elders:] {
			id, made := w.bound[s.name]
			if !made {
				continue
			}
			a := w.ask(request{method: http.MethodDelete, path: "/v1/hotspots/" + id, key: adminKey})
			if a.status == 204 && !s.deleted {
				*w.happened = append(*w.happened, happening{"hotspot.deleted", id})
			}
		}
	}
}
