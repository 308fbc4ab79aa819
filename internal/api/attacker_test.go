package api_test

import (
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/openfeeds"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// An attacker asks two networks the same questions. They differ in all that a hidden home
// hides: where in its cell it stands, its address, its network name, its MAC address,
// whether two homes have one operator, how many clients it has and how much it carries.
// Every answer must be the same. Then the next question of any strategy is the same too,
// and no number of questions tells one network from the other: what is known of a home is
// what its public place tells, and TestBlur_Uniform says what that is.
func TestHomePrivacy_Attacker(t *testing.T) {
	level.Repeats(t)
	t.Parallel()
	random := rand.New(rand.NewPCG(level.Seed(t), 21))
	worlds := [2]*network{newWorld(t, 0), newWorld(t, 1)}
	for phase, change := range []func(*network){
		func(w *network) { w.serve(t) },
		func(w *network) { w.move(t); w.serve(t) },
		func(w *network) { // the second home goes offline
			for range 3 {
				w.serve(t, 0)
			}
		},
		func(w *network) { w.advance(26 * time.Hour); w.serve(t) },
	} {
		for _, w := range worlds {
			change(w)
			w.settle(t)
		}
		for kind, question := range questions {
			for n := range level.Rounds(100, 300, 25_000) { // 100,000 of each kind in four phases
				method, path, body, accept := question(random, worlds[0].public[n%2])
				first, second := worlds[0].ask(t, method, path, body, accept), worlds[1].ask(t, method, path, body, accept)
				if first != second {
					t.Fatalf("phase %d, %s: %s %s %s tells the worlds apart:\n%s\n%s", phase, kind, method, path, body, first, second)
				}
			}
		}
	}
	first, second := worlds[0].told(t), worlds[1].told(t)
	if !slices.Equal(first, second) || len(first) != 3 {
		t.Errorf("the events tell the worlds apart:\n%q\n%q", first, second)
	}
	// The test would notice: with homes open, the worlds differ in every kind of answer
	// that has places or figures.
	for _, w := range worlds {
		w.Fleet.SetBlur(beacon.Blur{Homes: beacon.HomesOpen})
		if err := w.Fleet.Reshow(w.stored(t)...); err != nil {
			t.Fatal(err)
		}
		w.settle(t)
	}
	for kind, question := range questions {
		differ := 0
		for n := range 200 {
			method, path, body, accept := question(random, worlds[0].public[n%2])
			if worlds[0].ask(t, method, path, body, accept) != worlds[1].ask(t, method, path, body, accept) {
				differ++
			}
		}
		if differ == 0 && kind != "refused" && kind != "history" && kind != "feeds" { // a history has no clients and no traffic for strangers, and feeds never show homes
			t.Errorf("%s: 200 questions do not tell the worlds apart while homes are open", kind)
		}
	}
}

// network is one of the two networks.
type network struct {
	*server
	which     int
	stranger  client
	operators [2]client
	homes     [2]machine
	public    [2]home
	seq       int
	feeds     *openfeeds.Feeds
	pages     *openfeeds.Pages
}

// home is what the attacker knows from the start.
type home struct {
	id       string
	place    geo.Point
	operator string // as strangers see it
}

func newWorld(t *testing.T, which int) *network {
	opts := alive
	opts.policies = policy.BuiltIn() // places are paid, so ground counts
	w := &network{server: onSQLite(t, opts), which: which}
	w.stranger = w.anyone(t, "hotspots:write", "rewards:read", "checkins:write", "keys:manage")
	w.feeds = openfeeds.New(openfeeds.Config{
		API: w.API, Fleet: w.Fleet, PublicURL: "http://x", Now: w.now, Traffic: w.db.Ledger.Carried, Plan: w.Plan,
		Identity: func() beacon.Identity { return beacon.Identity{ShowClients: true} },
	})
	w.pages = openfeeds.NewPages(w.feeds, openfeeds.Config{PublicURL: "http://x", Now: w.now})
	w.operators[0] = w.operator(t)
	w.operators[1] = w.operators[0]
	if which == 1 {
		w.operators[1] = w.operator(t)
	}
	blur := beacon.Blur{Homes: beacon.HomesBlurred, Secret: [32]byte{2, 1}}
	w.Fleet.SetBlur(blur)
	for n, middle := range []geo.Point{{Lat: 40.7, Lng: -74}, {Lat: 40.7031, Lng: -74.0052}} {
		h := beacon.Hotspot{
			ID: beacon.HotspotID(id.Format(beacon.HotspotPrefix, noon, uint64(n), uint64(n))), Operator: w.operators[n].user, Name: "A home", Type: beacon.Home,
			Settings: beacon.DefaultSettings(beacon.Home), CreatedAt: noon.Add(-48 * time.Hour), UpdatedAt: noon, Version: 1,
		}
		h.Location = beacon.Location{Point: inCell(&blur, h.ID, middle, which), Address: []string{"1 Main Street", ""}[which], VerifiedAt: noon.Add(time.Duration(which) * -time.Hour)}
		h.Device = beacon.Device{SSID: []string{"Smith", "Jones"}[which], MAC: beacon.MAC(mac(which*10 + n + 1)), LinkedAt: noon}
		var plain string
		plain, h.Device.KeyHash = access.MintDevice(h.ID)
		w.homes[n] = machine{client{server: w.server, plain: plain}, "/v1/hotspots/" + string(h.ID)}
		public := blur.Public(h)
		w.public[n] = home{string(h.ID), public.Location.Point, string(public.Operator)}
		if err := w.db.Hotspots.InsertHotspot(t.Context(), h, beacon.Actor{Request: "cli"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	harness.Eventually(t, "the homes", func() bool {
		_, first := w.Fleet.Find(beacon.HotspotID(w.public[0].id))
		_, second := w.Fleet.Find(beacon.HotspotID(w.public[1].id))
		return first && second
	})
	return w
}

// inCell returns one of two places that are shown as one, at least 100 m apart.
func inCell(blur *beacon.Blur, hotspot beacon.HotspotID, near geo.Point, which int) geo.Point {
	shown := func(p geo.Point) geo.Point {
		return blur.Public(beacon.Hotspot{ID: hotspot, Location: beacon.Location{Point: p}}).Location.Point
	}
	if which == 0 {
		return near
	}
	for bearing := 0.0; ; bearing += 5 {
		if p := near.Toward(bearing, 100+bearing/100); shown(p) == shown(near) {
			return p
		}
	}
}

// serve lets the homes beat for two minutes, in one network with clients and traffic.
func (w *network) serve(t *testing.T, homes ...int) {
	t.Helper()
	if homes == nil {
		homes = []int{0, 1}
	}
	for range 2 {
		w.seq++
		for _, n := range homes {
			harness.Eventually(t, "a beat, which a busy machine may turn away", func() bool {
				a := w.homes[n].beat(t, at(`{"boot_id":"b","seq":%d,"clients":%d,"rx_bytes":%d,"tx_bytes":0,"rssi_dbm":-60}`, w.seq, w.which*5, w.which*w.seq*1_000_000_000))
				return a.StatusCode == http.StatusOK
			})
		}
		w.advance(time.Minute)
	}
}

// move moves the first home by some metres within its cell, and verifies it there.
func (w *network) move(t *testing.T) {
	t.Helper()
	h, err := w.db.Hotspots.Hotspot(t.Context(), beacon.HotspotID(w.public[0].id))
	if err != nil {
		t.Fatal(err)
	}
	to := h.Location.Point.Toward([]float64{45, 225}[w.which], 7)
	if w.Fleet.Blur().Public(beacon.Hotspot{ID: h.ID, Location: beacon.Location{Point: to}}).Location.Point != w.public[0].place {
		t.Fatalf("%v is not in the cell of %v", to, h.Location.Point)
	}
	w.operators[0].patch(t, w.homes[0].hotspot, at(`{"location":{"lat":%v,"lng":%v}}`, to.Lat, to.Lng)).want(t, http.StatusOK)
	w.verify(t, w.homes[0].hotspot)
}

// settle updates what is shown by the clock.
func (w *network) settle(t *testing.T) {
	t.Helper()
	w.Fleet.Refresh(w.now())
	if err := w.Fleet.Redraw(w.now()); err != nil {
		t.Fatal(err)
	}
}

func (w *network) stored(t *testing.T) []beacon.Hotspot {
	t.Helper()
	all, err := w.db.Hotspots.HotspotsByID(t.Context(), []beacon.HotspotID{beacon.HotspotID(w.public[0].id), beacon.HotspotID(w.public[1].id)})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var requestID = regexp.MustCompile(`req_[0-9a-z]{26}`)

// ask returns the answer to a question of the stranger, without the id of the request.
func (w *network) ask(t *testing.T, method, path, body, accept string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, w.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+w.stranger.plain)
	request.Header.Set("Accept", accept)
	request.Header.Set("Accept-Encoding", "identity")
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	var open http.Handler = w.feeds
	if strings.HasPrefix(path, openfeeds.PageBase) {
		open = w.pages
	}
	if !strings.HasPrefix(path, "/v1") {
		answer := httptest.NewRecorder()
		open.ServeHTTP(patient{answer}, request)
		return at("%d %v %s", answer.Code, answer.Header(), answer.Body)
	}
	response, err := w.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= http.StatusInternalServerError {
		t.Fatalf("%s %s: %s, %v", method, path, response.Status, err)
	}
	h := response.Header
	return response.Status + h.Get("ETag") + h.Get("Content-Type") + h.Get("Content-Length") + requestID.ReplaceAllString(string(said), "req")
}

// told returns what a stranger hears of changes of the homes. When it is announced that one
// is online or offline depends on when the server looks.
func (w *network) told(t *testing.T) (all []string) {
	t.Helper()
	l := w.stranger.listen(t, "?after=0")
	defer l.close()
	for {
		e := l.next()
		if e.Type != "hotspot.online" && e.Type != "hotspot.offline" {
			all = append(all, e.Type+" "+e.Hotspot+" "+e.At)
		}
		if e.Type == "hotspot.updated" {
			slices.Sort(all)
			return all
		}
	}
}

// patient is a recorder with deadlines, which it ignores.
type patient struct{ *httptest.ResponseRecorder }

func (patient) SetWriteDeadline(time.Time) error { return nil }

// near returns a place around a home as an attacker would choose it: at the public place,
// around the disc that the home may be in, or at the edge of its coverage.
func near(random *rand.Rand, h home) geo.Point {
	away := []float64{0, 50, 250, 427, 1000}[random.IntN(5)]
	return h.place.Toward(random.Float64()*360, away*(0.9+0.2*random.Float64()))
}

// questions are what an attacker may ask, by the kind of answer.
var questions = map[string]func(*rand.Rand, home) (method, path, body, accept string){
	"nearby": func(random *rand.Rand, h home) (method, path, body, accept string) {
		from := near(random, h)
		radius := geo.Distance(from, h.place) + []float64{-0.05, 0, 0.05, 50, 427}[random.IntN(5)]
		return "GET", at("/v1/hotspots/nearby?lat=%v&lng=%v&radius=%v&limit=%d&status=%s", from.Lat, from.Lng, math.Max(radius, 0.01), 1+random.IntN(3),
			[]string{"online", "offline", "all"}[random.IntN(3)]), "", []string{"application/json", "application/geo+json"}[random.IntN(2)]
	},
	"coverage": func(random *rand.Rand, h home) (method, path, body, accept string) {
		from, to := near(random, h), near(random, h)
		path = "/v1/coverage?" + box(max(from.Lat, to.Lat)+1e-7, min(from.Lat, to.Lat)-1e-7, max(from.Lng, to.Lng)+1e-7, min(from.Lng, to.Lng)-1e-7)
		if random.IntN(2) == 0 {
			path += at("&zoom=%d", random.IntN(23))
		}
		return "GET", path, "", []string{"application/json", "application/geo+json"}[random.IntN(2)]
	},
	"tile": func(random *rand.Rand, h home) (method, path, body, accept string) {
		p, z := near(random, h), 8+random.IntN(15)
		x, y := onTheMap(z, 0, 0, p.Lat, p.Lng)
		return "GET", at("/v1/coverage/tiles/%d/%d/%d.mvt", z, int(x)/4096, int(y)/4096), "", "*/*"
	},
	"what-if": func(random *rand.Rand, h home) (method, path, body, accept string) {
		from, to, add := near(random, h), near(random, h), near(random, h)
		return "POST", "/v1/coverage/simulate", at(`{"bounds":{"north":%v,"south":%v,"east":%v,"west":%v},"add":[{"lat":%v,"lng":%v,"radius_m":%v}]}`,
			max(from.Lat, to.Lat)+1e-7, min(from.Lat, to.Lat)-1e-7, max(from.Lng, to.Lng)+1e-7, min(from.Lng, to.Lng)-1e-7, add.Lat, add.Lng, 10+random.Float64()*490), "application/json"
	},
	"estimate": func(random *rand.Rand, h home) (method, path, body, accept string) {
		first, second := near(random, h), near(random, h)
		return "POST", "/v1/rewards/estimate", at(`{"places":[{"lat":%v,"lng":%v},{"lat":%v,"lng":%v}]}`, first.Lat, first.Lng, second.Lat, second.Lng), "application/json"
	},
	"hotspot": func(_ *rand.Rand, h home) (method, path, body, accept string) {
		return "GET", "/v1/hotspots/" + h.id, "", "application/json"
	},
	"history": func(random *rand.Rand, h home) (method, path, body, accept string) {
		from := noon.Add(-time.Duration(random.IntN(72*60)) * time.Minute)
		return "GET", at("/v1/hotspots/%s/history?step=%s&from=%s&to=%s", h.id, []string{"1h", "6h", "1d"}[random.IntN(3)],
			from.Format(time.RFC3339), from.Add(time.Duration(1+random.IntN(100))*time.Hour).Format(time.RFC3339)), "", "application/json"
	},
	"refused": func(random *rand.Rand, h home) (method, path, body, accept string) {
		p := near(random, h)
		q := [][4]string{
			{"GET", at("/v1/hotspots/%s/rewards/explain?date=2026-11-15", h.id), "", "application/json"},
			{"PATCH", "/v1/hotspots/" + h.id, at(`{"location":{"lat":%v,"lng":%v}}`, p.Lat, p.Lng), "application/json"},
			{"POST", "/v1/hotspots/" + h.id + "/verification", at(`{"lat":%v,"lng":%v,"accuracy_m":5,"method":"gps"}`, p.Lat, p.Lng), "application/json"},
			{"PATCH", "/v1/hotspots/" + h.id, at(`{"device":{"mac_address":"%s"}}`, mac(1+random.IntN(12))), "application/json"},
			{"POST", "/v1/hotspots/" + h.id + "/link-code", "", "application/json"},
			{"DELETE", "/v1/hotspots/" + h.id, "", "application/json"},
			{"GET", "/v1/hotspots?q=home", "", "application/json"},
			{"GET", "/v1/hotspots?operator_id=" + h.operator, "", "application/json"},
			{"GET", "/v1/hotspots/inventory", "", "application/json"},
			{"POST", "/v1/hotspots/" + h.id + "/checkins", at(`{"install":%q,"works":true}`, token(random.IntN(300))), "application/json"},
			{"GET", "/v1/users/" + h.operator + "/export", "", "application/zip"},
			{"GET", "/v1/users/" + h.operator + "/hotspots", "", "application/json"},
			{"GET", "/v1/users/" + h.operator + "/rewards", "", "text/csv"},
			{"GET", "/v1/users/" + h.operator + "/quota", "", "application/json"},
			{"POST", "/v1/users/" + h.operator + "/erasure", "", "application/json"},
			{"GET", "/v1/users/" + h.operator + "/holds", "", "application/json"},
			{"GET", "/v1/review", "", "application/json"},
			{"GET", "/v1/overview", "", "application/json"},
			{"GET", "/v1/hotspots/" + h.id + "/neighbours", "", "application/json"},
			{"DELETE", "/v1/hotspots/" + h.id + "/device", "", "application/json"},
			{"GET", "/v1/users/" + h.operator + "/rewards/days", "", "application/json"},
			{"GET", "/v1/users/" + h.operator + "/rewards/statements/2026-10", "", "application/json"},
			{"GET", "/v1/users/" + h.operator + "/erasure", "", "application/json"},
			{"GET", "/v1/audit", "", "application/json"},
			{"GET", "/v1/operators", "", "application/json"},
			{"GET", "/v1/rewards/months", "", "application/json"},
			{"POST", "/v1/rewards/replays", `{"from":"2026-11-15","to":"2026-11-15"}`, "application/json"},
			{"POST", "/v1/holds", at(`{"operator_id":%q,"reason":"r","evidence":"e","until":"2026-11-30T00:00:00Z"}`, h.operator), "application/json"},
			{"POST", "/v1/macs/releases", at(`{"mac_address":%q,"reason":"sold"}`, mac(1+random.IntN(12))), "application/json"},
		}
		one := q[random.IntN(len(q))]
		return one[0], one[1], one[2], one[3]
	},
	"feeds": func(random *rand.Rand, h home) (method, path, body, accept string) {
		from, to, z := near(random, h), near(random, h), random.IntN(16)
		x, y := onTheMap(z, 0, 0, from.Lat, from.Lng)
		paths := []string{
			"/open", "/open/collections/hotspots", "/open/hotspots.geojson", "/open/meshviewer.json", "/open/nodelist.json", "/open/openstreetmap.geojson", "/open/tiles.json",
			at("/open/tiles/%d/%d/%d.mvt", z, int(x)/4096, int(y)/4096), "/open/collections/hotspots/items/" + h.id,
			openfeeds.PageBase + h.id, openfeeds.PageBase + h.id + "/embed", "/open/network.json",
			at("/open/nearest?limit=%d&lat=%v&lng=%v&q=home", 1+random.IntN(9), from.Lat, from.Lng), at("/open/estimate?lat=%v&lng=%v", from.Lat, from.Lng),
			at("/open/collections/hotspots/items?limit=%d&bbox=%v,%v,%v,%v", 1+random.IntN(9), min(from.Lng, to.Lng), min(from.Lat, to.Lat), max(from.Lng, to.Lng), max(from.Lat, to.Lat)),
		}
		return "GET", paths[random.IntN(len(paths))], "", "*/*"
	},
}
