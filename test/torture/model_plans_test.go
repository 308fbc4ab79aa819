//go:build linux

package torture_test

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"

	"pgregory.net/rapid"
)

var planFaults = []fault{
	{path: "bounds", value: omitted, field: "bounds.north bounds.south bounds.east bounds.west"},
	{path: "bounds", value: nil},
	{path: "bounds.north", value: 91},
	{path: "bounds.west", value: omitted},
	{path: "add", value: omitted},
	{path: "add", value: 5},
	{path: "add", value: []any{fields{"lat": 0, "lng": 0, "radius_m": 9}}, field: "add[0].radius_m"},
	{path: "add", value: []any{fields{"lat": 0, "lng": 0, "radius_m": 10}, fields{"lat": 0, "radius_m": 10}}, field: "add[1].lng", isGone: true},
	{path: "add", value: slices.Repeat([]any{fields{"lat": 0, "lng": 0, "radius_m": 10}}, 101)},
	{path: "keep", value: true},
}

func (m *modelMachine) doWhatIf(t *rapid.T) {
	k := m.someKey(t)
	b := rapid.SampledFrom(boxes).Draw(t, "box")
	var more []disc
	add := []any{}
	for range rapid.IntRange(0, 3).Draw(t, "more") {
		d := disc{rapid.SampledFrom(modelPlaces).Draw(t, "place"), rapid.SampledFrom([]float64{10, 77.7, 500}).Draw(t, "radius")}
		more = append(more, d)
		add = append(add, fields{"lat": d.lat, "lng": d.lng, "radius_m": d.radius})
	}
	body := fields{"bounds": b.bounds(), "add": add}
	var bad *want
	if seldom(t, "bad", 4) {
		bad = spoil(t, body, planFaults, 1)
	}
	e := m.enter(k, "")
	if e == nil {
		e = bad
	}
	if e == nil {
		e = &want{status: 200, loose: true, data: rule(func(w *world, at span, got any) string { return m.judgePlan(w, at, b, more, got) })}
	}
	m.step(t, request{method: http.MethodPost, path: "/v1/coverage/simulate", key: k, body: body}, e)
}

func (m *modelMachine) judgePlan(w *world, at span, b box, more []disc, got any) string {
	areas := map[string]float64{}
	keep := func(name string, judge rule) rule {
		return func(w *world, at span, got any) string {
			areas[name], _ = got.(float64)
			return judge(w, at, got)
		}
	}
	if problem := w.match("", fields{
		"bounds":     b.bounds(),
		"before_km2": keep("before", func(w *world, at span, got any) string { return m.judgeArea(w, at, b, nil, got, 1) }),
		"after_km2":  keep("after", func(w *world, at span, got any) string { return m.judgeArea(w, at, b, more, got, 1) }),
		"added_km2":  keep("added", func(*world, span, any) string { return "" }),
	}, got, at); problem != "" {
		return problem
	}
	if areas["added"] < 0 || math.Abs(areas["before"]+areas["added"]-areas["after"]) > 1e-12*max(1, areas["after"]) {
		return fmt.Sprintf("they do not add up: %v", areas)
	}
	return ""
}

var hotspotID = regexp.MustCompile(`hs_[0-7][0-9a-hjkmnp-tv-z]{25}`)

func (m *modelMachine) doTile(t *rapid.T) {
	k := m.someKey(t)
	e := m.enter(k, "")
	r := request{method: http.MethodGet, key: k}
	if seldom(t, "bad", 5) {
		r.path = "/v1/coverage/tiles/" + rapid.SampledFrom([]string{
			"23/0/0.mvt", "0/1/0.mvt", "0/0/1.mvt", "-1/0/0.mvt", "01/0/0.mvt", "1/0/0", "1/0/0.png", "x/0/0.mvt", "1/0/+1.mvt", "1/0/1.0.mvt", "99999999999999999999/0/0.mvt",
		}).Draw(t, "tile")
		if e == nil {
			e = &errNotFound
		}
		m.step(t, r, e)
		return
	}
	z := rapid.SampledFrom([]int{0, 5, 13, 14, 17, 22}).Draw(t, "zoom")
	x, y, there := tileAt(rapid.SampledFrom(modelPlaces).Draw(t, "place"), z)
	if !there {
		t.Skip("no tile there")
	}
	r.path = fmt.Sprintf("/v1/coverage/tiles/%d/%d/%d.mvt", z, x, y)
	if e != nil {
		m.step(t, r, e)
		return
	}
	m.tile(t, r, z, x, y)
}

func (m *modelMachine) tile(t *rapid.T, r request, z, x, y int) {
	in := slices.DeleteFunc(m.live(), func(s *modelHotspot) bool {
		sx, sy, there := tileAt(s.place(), z)
		return !there || sx != x || sy != y
	})
	first := m.step(t, r, &want{status: 200, apart: true, whole: func(w *world, _ span, got any) string {
		var expected, found []string
		for _, s := range in {
			expected = append(expected, w.bound[s.name])
		}
		text, _ := got.([]byte)
		for _, id := range hotspotID.FindAll(text, -1) {
			found = append(found, string(id))
		}
		slices.Sort(expected)
		slices.Sort(found)
		switch {
		case z >= 14 && !slices.Equal(expected, found):
			return fmt.Sprintf("%v; want %v", found, expected)
		case z < 14 && (len(found) > 0 || (len(in) > 0) != bytes.Contains(text, []byte("cl_"))):
			return fmt.Sprintf("%d hotspots; clusters: %.200q", len(in), text)
		case len(in) == 0 && len(text) > 0:
			return "bytes, and nothing stands there"
		}
		return ""
	}})
	for i, w := range m.worlds {
		asked := r
		asked.header = map[string]string{"If-None-Match": `"x", ` + first[i].header.Get("ETag")}
		again := w.ask(asked)
		same := again.header.Get("ETag") == first[i].header.Get("ETag")
		if again.status != 304 && same || again.status == 304 && (!same || len(again.text) > 0) || again.status != 304 && again.status != 200 {
			t.Fatalf("%s: the tile was %s; asked again with that: %d %s", r, first[i].header.Get("ETag"), again.status, again.header.Get("ETag"))
		}
	}
}
