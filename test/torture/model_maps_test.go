//go:build linux

package torture_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"

	"pgregory.net/rapid"
)

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func (s *modelHotspot) place() place { return place{s.lat, s.lng} }

var badNearby = [][2]string{
	{"lng=0", "missing_parameter"},
	{"", "missing_parameter"},
	{"lat=&lng=0", "missing_parameter"},
	{"lat=NaN&lng=0", "invalid_request"},
	{"lat=0&lng=Inf", "invalid_request"},
	{"lat=1e400&lng=0", "invalid_request"},
	{"lat=0x10&lng=0", "invalid_request"},
	{"lat=1_0&lng=0", "invalid_request"},
	{"lat=+40&lng=0", "invalid_request"},
	{"lat=90.0000001&lng=0", "invalid_request"},
	{"lat=0&lng=-180.1", "invalid_request"},
	{"lat=1&lat=2&lng=0", "invalid_request"},
	{"lat=1&lng=0&radius=0", "invalid_request"},
	{"lat=1&lng=0&radius=10000.1", "invalid_request"},
	{"lat=1&lng=0&radius=-5", "invalid_request"},
	{"lat=1&lng=0&limit=0", "invalid_request"},
	{"lat=1&lng=0&limit=101", "invalid_request"},
	{"lat=1&lng=0&limit=1.5", "invalid_request"},
	{"lat=1&lng=0&status=pending", "invalid_request"},
	{"lat=1&lng=0&status=ONLINE", "invalid_request"},
	{"lat=1&lng=0&status=", "invalid_request"},
	{"lat=%zz&lng=0", "invalid_request"},
	{"lat=1;lng=0", "invalid_request"},
	{"lat=１&lng=0", "invalid_request"},
	{"lat=x&limit=5", "invalid_request"},
}

// isRefused asks, now and then, with a bad query and the code of its refusal.
func (m *modelMachine) isRefused(t *rapid.T, r *request, e *want, path string, queries [][2]string) bool {
	if !seldom(t, "bad", 6) {
		return false
	}
	bad := rapid.SampledFrom(queries).Draw(t, "query")
	if e == nil {
		e = refused(400, bad[1])
	}
	r.path = path + bad[0]
	m.step(t, *r, e)
	return true
}

func (m *modelMachine) doNearby(t *rapid.T) {
	k := m.someKey(t)
	e := m.enter(k, "")
	r := request{method: http.MethodGet, key: k}
	if m.isRefused(t, &r, e, "/v1/hotspots/nearby?", badNearby) {
		return
	}
	q := nearbyQuery{from: rapid.SampledFrom(modelPlaces).Draw(t, "from"), radius: 1000, status: "online", limit: 20}
	radius := rapid.SampledFrom([]string{"", "0.5", "100", "111.5", "1e3", "10000"}).Draw(t, "radius")
	status := rapid.SampledFrom([]string{"", "online", "offline", "all", "all"}).Draw(t, "status")
	limit := rapid.SampledFrom([]string{"", "1", "2", "3", "100"}).Draw(t, "limit")
	if radius != "" {
		q.radius, _ = strconv.ParseFloat(radius, 64)
	}
	if status != "" {
		q.status = status
	}
	if limit != "" {
		q.limit, _ = strconv.Atoi(limit)
	}
	r.path = "/v1/hotspots/nearby" + query("lat", decimal(q.from.lat), "lng", decimal(q.from.lng), "radius", radius, "status", status, "limit", limit, "colour", "red")
	if e == nil {
		e = &want{status: 200, data: rule(func(w *world, at span, got any) string { return m.judgeNearby(w, at, q, got) }), loose: true, apart: true}
		if seldom(t, "geojson", 5) {
			r.header = map[string]string{"Accept": "application/geo+json"}
			e.data, e.whole = nil, func(w *world, at span, got any) string { return m.judgeNearby(w, at, q, summaries(got)) }
		}
	}
	m.step(t, r, e)
}

// summaries reads GeoJSON as the plain answer.
func summaries(got any) any {
	var collection struct {
		Type     string
		Features []struct {
			ID       string
			Geometry struct {
				Type        string
				Coordinates []float64
			}
			Properties fields
		}
	}
	text, _ := got.([]byte)
	if json.Unmarshal(text, &collection) != nil || collection.Type != "FeatureCollection" {
		return nil
	}
	list := []any{}
	for _, f := range collection.Features {
		if len(f.Geometry.Coordinates) != 2 || f.ID != f.Properties["id"] || f.Geometry.Type != "Point" {
			return nil
		}
		f.Properties["location"] = fields{"lat": f.Geometry.Coordinates[1], "lng": f.Geometry.Coordinates[0], "address": f.Properties["address"]}
		delete(f.Properties, "address")
		list = append(list, f.Properties)
	}
	return list
}

type nearbyQuery struct {
	from   place
	radius float64
	status string
	limit  int
}

// blur is how far two ways to compute a distance may be apart, in metres.
const blur = 1e-6

// judgeNearby looks at every hotspot: who is within the radius and in the state
// must be there, the nearest first, and of those on the same spot the lower id.
func (m *modelMachine) judgeNearby(w *world, at span, q nearbyQuery, got any) string {
	list, isList := got.([]any)
	if !isList || len(list) > q.limit {
		return fmt.Sprintf("%v; want a list of at most %d", got, q.limit)
	}
	var shown []*modelHotspot
	for i, item := range list {
		id, _ := item.(fields)["id"].(string)
		n := slices.IndexFunc(m.live(), func(s *modelHotspot) bool { return w.bound[s.name] == id })
		if n < 0 {
			return fmt.Sprintf("[%d] is no hotspot that lives: %v", i, item)
		}
		s := m.live()[n]
		if problem := w.match(fmt.Sprintf("[%d]", i), s.summary(q), item, at); problem != "" {
			return problem
		}
		if i > 0 && !before(w, q.from, shown[i-1], s) {
			return fmt.Sprintf("[%d] %s stands before %s", i-1, shown[i-1].name, s.name)
		}
		shown = append(shown, s)
	}
	for _, s := range m.live() {
		may := s.statusAt(w, at)
		due := metres(q.from, s.place()) <= q.radius-blur && (q.status == "all" || slices.Equal(may, []string{q.status}))
		if !due || slices.Contains(shown, s) {
			continue
		}
		if len(shown) < q.limit || !before(w, q.from, shown[len(shown)-1], s) {
			return fmt.Sprintf("%s is missing, at %.1f m, %v", s.name, metres(q.from, s.place()), may)
		}
	}
	return ""
}

// before reports whether a may stand before b.
func before(w *world, from place, a, b *modelHotspot) bool {
	if a.place() == b.place() {
		return w.bound[a.name] < w.bound[b.name]
	}
	return metres(from, a.place()) < metres(from, b.place())+blur
}

func (s *modelHotspot) summary(q nearbyQuery) fields {
	address := s.address
	if address == nil {
		address = ""
	}
	return s.connection(fields{
		"id": named(s.name), "name": s.title, "type": s.kind, "location": fields{"lat": s.lat, "lng": s.lng, "address": address},
		"status": rule(func(w *world, at span, got any) string {
			if q.status != "all" && got != q.status {
				return fmt.Sprintf("%v; asked for %s", got, q.status)
			}
			return s.status(w, at, got)
		}),
		"distance_m": rule(func(_ *world, _ span, got any) string {
			value, _ := got.(float64)
			d := metres(q.from, s.place())
			if math.Abs(value-d) > 0.05+blur || math.Abs(value*10-math.Round(value*10)) > blur || d > q.radius+blur {
				return fmt.Sprintf("%v; want %.2f within %v", got, d, q.radius)
			}
			return ""
		}),
		"coverage_radius_m": s.radius(), "signal_quality": rule(s.quality), "performance_tier": rule(s.tier), "current_load": rule(s.load), "uptime_30d": rule(s.uptime),
	})
}

// connection adds what an app needs to connect (decision D103). Without hours a hotspot
// is always open; with hours, when it opens and closes is for other tests.
func (s *modelHotspot) connection(f fields) fields {
	f["ssid"] = s.ssid
	f["open_now"] = rule(func(_ *world, _ span, got any) string {
		if open, is := got.(bool); !is || !open && s.settings.hours == nil {
			return fmt.Sprintf("%v, with the hours %v", got, s.settings.hours)
		}
		return ""
	})
	changes := optional(func(_ *world, _ span, got any) string {
		if text, is := got.(string); got != nil && (s.settings.hours == nil || !is || !forms["at"].MatchString(text)) {
			return fmt.Sprintf("%v, with the hours %v", got, s.settings.hours)
		}
		return ""
	})
	f["open_until"], f["opens_at"] = changes, changes
	return f
}

var boxes = []box{
	{40.76, 40.74, -73.96, -73.99},
	{40.7502, 40.7498, -73.9798, -73.9802},
	{40.75, 40.749, -73.97, -73.98},
	{0.01, -0.01, -179.9, 179.9},
	{0.0001, 0, 180, 179},
	{90, 89.9, 180, -180},
	{90, 89.999, 10, 0},
	{90, -90, 180, -180},
	{-89, -90, -170, 170},
	{10, 0, 20, 10},
	{-33.8, -33.9, 151.3, 151.2},
}

var badBoxes = [][2]string{
	{"north=1&south=0&east=1", "missing_parameter"},
	{"north=0&south=1&east=1&west=0", "invalid_request"},
	{"north=1&south=1&east=1&west=0", "invalid_request"},
	{"north=1&south=0&east=1&west=1", "invalid_request"},
	{"north=91&south=0&east=1&west=0", "invalid_request"},
	{"north=NaN&south=0&east=1&west=0", "invalid_request"},
	{"north=1&south=0&east=1&west=0&zoom=23", "invalid_request"},
	{"north=1&south=0&east=1&west=0&zoom=-1", "invalid_request"},
	{"north=1&south=0&east=1&west=0&zoom=", "invalid_request"},
	{"north=1&north=2&south=0&east=1&west=0", "invalid_request"},
}

func (m *modelMachine) doCoverage(t *rapid.T) {
	k := m.someKey(t)
	e := m.enter(k, "")
	r := request{method: http.MethodGet, key: k}
	if m.isRefused(t, &r, e, "/v1/coverage?", badBoxes) {
		return
	}
	b := rapid.SampledFrom(boxes).Draw(t, "box")
	zoom := rapid.SampledFrom([]string{"", "14", "22", "13.9", "0", "13"}).Draw(t, "zoom")
	r.path = "/v1/coverage" + query("north", decimal(b.north), "south", decimal(b.south), "east", decimal(b.east), "west", decimal(b.west), "zoom", zoom)
	if e == nil {
		level, err := strconv.ParseFloat(zoom, 64)
		e = &want{status: 200, loose: true, apart: true, data: fields{
			"bounds": b.bounds(), "hotspot_count": len(m.inside(b)), "aggregated": err == nil && level < 14,
			"online_count":        rule(func(w *world, at span, got any) string { return m.judgeOnline(w, at, b, got) }),
			"coverage_area_km2":   rule(func(w *world, at span, got any) string { return m.judgeArea(w, at, b, nil, got, 1) }),
			"coverage_percentage": rule(func(w *world, at span, got any) string { return m.judgeArea(w, at, b, nil, got, b.km2()) }),
			"hotspots": rule(func(w *world, at span, got any) string {
				if err == nil && level < 14 {
					return m.judgeClusters(w, at, b, got)
				}
				return m.judgeMarks(w, at, b, got)
			}),
		}}
		if seldom(t, "geojson", 4) {
			plain := e.data
			r.header = map[string]string{"Accept": "application/geo+json"}
			e.data, e.whole = nil, func(w *world, at span, got any) string { return w.match("", plain, coveredIn(got), at) }
		}
	}
	m.step(t, r, e)
}

// coveredIn reads GeoJSON as the plain answer.
func coveredIn(got any) any {
	text, _ := got.([]byte)
	var all fields
	if json.Unmarshal(text, &all) != nil || all["type"] != "FeatureCollection" {
		return nil
	}
	sides, _ := all["bbox"].([]any)
	if len(sides) != 4 {
		return nil
	}
	all["bounds"] = fields{"west": sides[0], "south": sides[1], "east": sides[2], "north": sides[3]}
	list := []any{}
	for _, feature := range all["features"].([]any) {
		properties, _ := feature.(fields)["properties"].(fields)
		at, _ := feature.(fields)["geometry"].(fields)["coordinates"].([]any)
		if len(at) != 2 || feature.(fields)["id"] != properties["id"] {
			return nil
		}
		properties["lng"], properties["lat"] = at[0], at[1]
		list = append(list, properties)
	}
	all["hotspots"] = list
	for _, name := range []string{"type", "bbox", "features", "meta"} {
		delete(all, name)
	}
	return all
}

func (b box) bounds() fields {
	return fields{"north": b.north, "south": b.south, "east": b.east, "west": b.west}
}

func (m *modelMachine) inside(b box) []*modelHotspot {
	return slices.DeleteFunc(m.live(), func(s *modelHotspot) bool { return !b.has(s.place()) })
}

// judgeMarks wants each hotspot in the box once.
func (m *modelMachine) judgeMarks(w *world, at span, b box, got any) string {
	list, _ := got.([]any)
	for _, s := range m.inside(b) {
		n := slices.IndexFunc(list, func(item any) bool { return item.(fields)["id"] == w.bound[s.name] })
		if n < 0 {
			return s.name + " is missing"
		}
		expected := s.connection(fields{"id": named(s.name), "lat": s.lat, "lng": s.lng, "radius_m": s.radius(), "status": rule(s.status)})
		if problem := w.match(fmt.Sprintf("[%d]", n), expected, list[n], at); problem != "" {
			return problem
		}
	}
	if len(list) != len(m.inside(b)) {
		return fmt.Sprintf("%d are shown; want %d", len(list), len(m.inside(b)))
	}
	return ""
}

// judgeClusters wants clusters that add up.
func (m *modelMachine) judgeClusters(w *world, at span, b box, got any) string {
	list, _ := got.([]any)
	count, online, seen := 0.0, 0.0, map[any]bool{}
	for _, item := range list {
		c, _ := item.(fields)
		one, _ := c["count"].(float64)
		up, _ := c["online_count"].(float64)
		if seen[c["id"]] || one < 1 || up > one || (c["status"] == "online") != (up > 0) {
			return fmt.Sprintf("a cluster that cannot be: %v", item)
		}
		seen[c["id"]] = true
		count, online = count+one, online+up
	}
	if int(count) != len(m.inside(b)) {
		return fmt.Sprintf("clusters of %v; want %d", count, len(m.inside(b)))
	}
	return m.judgeOnline(w, at, b, online)
}

// judgeOnline wants as many as are online in the box.
func (m *modelMachine) judgeOnline(w *world, at span, b box, got any) string {
	least, most := 0, 0
	for _, s := range m.inside(b) {
		may := s.statusAt(w, at)
		if slices.Contains(may, "online") {
			most++
			if len(may) == 1 {
				least++
			}
		}
	}
	if online, is := got.(float64); !is || int(online) < least || int(online) > most {
		return fmt.Sprintf("%v online; want %d to %d", got, least, most)
	}
	return ""
}

// judgeArea compares an area, or a share of one, with the sum over strips; one
// that is not certain, because someone falls silent just now, is not judged.
func (m *modelMachine) judgeArea(w *world, at span, b box, more []disc, got any, of float64) string {
	discs := slices.Clone(more)
	for _, s := range m.live() {
		may := s.statusAt(w, at)
		if len(may) > 1 {
			return ""
		}
		if may[0] == "online" {
			discs = append(discs, disc{s.place(), s.radius()})
		}
	}
	expected := coveredKm2(discs, b) / of
	if value, is := got.(float64); !is || math.Abs(value-expected) > 2e-3*expected+1e-9/of {
		return fmt.Sprintf("%v; want %v", got, expected)
	}
	return ""
}
