//go:build linux

package torture_test

import (
	"fmt"
	"math"
	"net/http"
	"time"

	"pgregory.net/rapid"
)

var stepOf = map[string]time.Duration{"": time.Hour, "1h": time.Hour, "6h": 6 * time.Hour, "1d": 24 * time.Hour}

func (m *modelMachine) doHistory(t *rapid.T) {
	s, path := m.someHotspot(t)
	k := m.someKey(t)
	step := rapid.SampledFrom([]string{"", "1h", "6h", "1d"}).Draw(t, "step")
	text := query("step", step)
	e := m.enter(k, "")
	if seldom(t, "bad", 5) {
		text = "?" + rapid.SampledFrom([]string{
			"step=1m", "step=", "from=yesterday", "from=2026-11-10", "to=2026-11-10T00:00:00", "from=2026-11-10T00:00:00Z&to=2026-11-09T00:00:00Z", "from=2024-01-01T00:00:00Z", "step=1h&step=1h",
			"from=2026-01-01T00:00:00Z&step=1h",
		}).Draw(t, "query")
		if e == nil {
			e = refused(400, "invalid_request")
		}
	}
	switch {
	case e != nil:
	case s == nil || s.deleted:
		e = &errNotFound
	default:
		e = &want{status: 200, loose: true, apart: len(s.beats) > 0, data: rule(func(w *world, at span, got any) string {
			return s.judgeHistory(w, at, stepOf[step], s.figuresFor(k), got)
		})}
	}
	m.step(t, request{method: http.MethodGet, path: path + "/history" + text, key: k}, e)
}

// figuresFor reports whether the holder of a key may see more than is for everyone.
func (s *modelHotspot) figuresFor(k *apiKey) bool {
	return s.owner == k.user || k.has("hotspots:verify")
}

// judgeHistory wants whole steps one after the other that reach to now, and in
// them everything that the device told, if that is for the reader.
func (s *modelHotspot) judgeHistory(w *world, at span, step time.Duration, figures bool, got any) string {
	all, _ := got.(fields)
	points, _ := all["points"].([]any)
	if all["hotspot_id"] != w.bound[s.name] || len(points) == 0 {
		return fmt.Sprintf("%v is not about %s", got, s.name)
	}
	var begins time.Time
	carried, most := 0.0, 0.0
	for _, point := range points {
		one := point.(fields)
		text, _ := one["at"].(string)
		next, err := time.Parse(time.RFC3339, text)
		if err != nil || !next.Equal(next.Truncate(step)) || !begins.IsZero() && !next.Equal(begins.Add(step)) {
			return fmt.Sprintf("a step that begins at %s follows %v", text, begins)
		}
		begins = next
		bytes, some := one["traffic_gb"].(float64)
		clients, too := one["clients"].(float64)
		if some != figures || too != figures {
			return fmt.Sprintf("%v; are its figures for the reader? %v", one, figures)
		}
		carried, most = carried+bytes, max(most, clients)
		if up, is := one["uptime"].(float64); is && (up < 0 || up > 1 || !s.inService) {
			return fmt.Sprintf("%v; in service: %v", one, s.inService)
		}
	}
	first, _ := points[0].(fields)["at"].(string)
	switch {
	case begins.After(at.to) || begins.Add(step).Before(at.from):
		return fmt.Sprintf("the last step begins at %v, and now is %v", begins, at)
	case first > at.to.Add(-24*time.Hour).Format(time.RFC3339):
		return "the first step is within the day: " + first
	case !figures:
	case math.Abs(carried*1e9-float64(s.carried())) > 0.5, int(most) != s.mostClients():
		return fmt.Sprintf("%v GB, %v clients; want %d bytes, %d", carried, most, s.carried(), s.mostClients())
	}
	return ""
}
