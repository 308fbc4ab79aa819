//go:build linux

package torture_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"
)

var checkInFaults = []fault{
	{path: "install", value: omitted},
	{path: "install", value: strings.Repeat("i", 15)},
	{path: "install", value: strings.Repeat("i", 65)},
	{path: "install", value: "an install token"},
	{path: "install", value: nil},
	{path: "works", value: omitted},
	{path: "works", value: 1},
	{path: "rssi_dbm", value: 0.5},
	{path: "rssi_dbm", value: unreadable},
	{path: "speed", value: fields{"down_mbps": 1}, field: "speed.up_mbps", isGone: true},
	{path: "speed", value: fields{"down_mbps": 1, "up_mbps": 100001}, field: "speed.up_mbps"},
	{path: "speed", value: 5},
	{path: "evidence", value: true},
}

// doCheckIn checks an install in at one hotspot only, so that it never counts, and says
// why.
func (m *modelMachine) doCheckIn(t *rapid.T) {
	s, path := m.someHotspot(t)
	k := m.someKey(t)
	if rapid.Bool().Draw(t, "by an app") {
		k = m.keys[0]
	}
	works := rapid.Bool().Draw(t, "works")
	install := m.next()
	if s != nil {
		install = s.number
	}
	body := fields{"install": fmt.Sprintf("install-%d-%08d-%d", m.run, install, oneIn(t, "phone", 3)), "works": works}
	if rapid.Bool().Draw(t, "measured") {
		body["speed"], body["rssi_dbm"] = fields{"down_mbps": 0, "up_mbps": 99.5}, -60.5
	}
	var bad *want
	if seldom(t, "bad", 5) {
		bad = spoil(t, body, checkInFaults, 1)
	}
	r := request{method: http.MethodPost, path: path + "/checkins", key: k, body: body, header: m.seldomOnce(t)}
	e := m.enter(k, "checkins:write")
	switch {
	case e != nil:
	case bad != nil:
		e = bad
	case s == nil || s.deleted:
		e = &errNotFound
	default:
		data := fields{
			"hotspot_id": named(s.name), "works": works, "counts": false,
			"day": rule(func(_ *world, at span, got any) string {
				return oneOf(got, []string{at.from.UTC().Format(time.DateOnly), at.to.UTC().Format(time.DateOnly)})
			}),
			"reason": rule(func(w *world, at span, got any) string { return oneOf(got, s.whyNot(w, at, k)) }),
		}
		// The clock decides whether it is online, and a repeated answer is of another time.
		e = &want{status: 200, data: data, apart: len(s.beats) > 0}
		if len(s.beats) == 0 {
			m.stepTwice(t, r, e, data)
			return
		}
	}
	m.step(t, r, e)
}

// whyNot is why a check-in of an install that was nowhere else may not count.
func (s *modelHotspot) whyNot(w *world, at span, k *apiKey) (may []string) {
	if k.user == s.owner {
		return []string{"own_hotspot"}
	}
	status := s.statusAt(w, at)
	if slices.Contains(status, "online") {
		may = append(may, "new_install")
	}
	if slices.ContainsFunc(status, func(is string) bool { return is != "online" }) {
		may = append(may, "not_online")
	}
	return may
}
