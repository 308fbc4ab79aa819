//go:build linux

package torture_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"
)

var badLists = []string{"status=asleep", "verified=yes", "order=up", "per_page=101", "page=0", "cursor=x", "q=", "q=%00", "status=all&status=all"}

// doListAll is what staff does: list all hotspots, or those that wait.
func (m *modelMachine) doListAll(t *rapid.T) {
	k := m.someKey(t)
	e := m.enter(k, "hotspots:verify")
	r := request{method: http.MethodGet, key: k}
	if seldom(t, "bad", 6) {
		if e == nil {
			e = refused(400, "invalid_request")
		}
		r.path = "/v1/hotspots?" + rapid.SampledFrom(badLists).Draw(t, "query")
		m.step(t, r, e)
		return
	}
	status := rapid.SampledFrom([]string{"", "all", "pending"}).Draw(t, "status")
	verified := rapid.SampledFrom([]string{"", "true", "false"}).Draw(t, "verified")
	order := rapid.SampledFrom([]string{"", "oldest", "newest"}).Draw(t, "order")
	search := rapid.SampledFrom([]string{"", "abc", "ABC", "zzz"}).Draw(t, "q")
	r.path = "/v1/hotspots" + query("status", status, "verified", verified, "order", order, "q", search, "per_page", "100")
	if e == nil {
		due := slices.DeleteFunc(slices.Clone(m.live()), func(s *modelHotspot) bool {
			return verified != "" && s.verified != (verified == "true") || status == "pending" && s.verified && s.linked ||
				!strings.Contains(strings.ToLower(s.title), strings.ToLower(search))
		})
		e = &want{status: 200, page: &pagination{1, 100, len(due)}, loose: true, apart: true, data: rule(func(w *world, at span, got any) string {
			return m.judgeList(w, at, got, due, order == "newest")
		})}
	}
	m.step(t, r, e)
}

// judgeList wants each hotspot that is due once, and no other, in the order of
// the times at which they were registered.
func (m *model) judgeList(w *world, at span, got any, due []*modelHotspot, newest bool) string {
	list, _ := got.([]any)
	missing := map[string]*modelHotspot{}
	for _, s := range due {
		missing[w.bound[s.name]] = s
	}
	last := ""
	for i, item := range list {
		id, _ := item.(fields)["id"].(string)
		s := missing[id]
		if s == nil {
			return fmt.Sprintf("[%d] is there twice, or should not be there: %s", i, m.account(w, id))
		}
		delete(missing, id)
		if problem := w.match(fmt.Sprintf("[%d]", i), s.listed(), item, at); problem != "" {
			return problem
		}
		millisecond := id[:len("hs_")+10] // an id begins with its time
		if last != "" && (millisecond < last) != newest && millisecond != last {
			return fmt.Sprintf("[%d] %s stands after one of %s", i, id, last)
		}
		last = millisecond
	}
	if len(missing) > 0 {
		problem := fmt.Sprintf("%d are missing", len(missing))
		for _, id := range slices.Sorted(maps.Keys(missing)) {
			problem += "\n" + m.account(w, id)
		}
		return problem
	}
	return ""
}

// account is what the model has of a hotspot, and what the server says of it now.
// It is the same in each run: what differs from run to run would keep rapid from
// shrinking what failed.
func (m *model) account(w *world, id string) string {
	text := id + " is not in the model"
	for _, s := range m.hotspots {
		if w.bound[s.name] == id {
			text = fmt.Sprintf("%s %s is in the model: version %d, named %q, verified %t, linked %t, deleted %t", s.name, id, s.version, s.title, s.verified, s.linked, s.deleted)
		}
	}
	a := w.ask(request{method: http.MethodGet, path: "/v1/hotspots/" + id, key: adminKey})
	var body struct {
		Data struct {
			Name             string
			Location, Device fields
		}
	}
	if a.err != nil || a.status != http.StatusOK || json.Unmarshal(a.text, &body) != nil {
		return fmt.Sprintf("%s; its own address answers %d %s %v", text, a.status, a.text, a.err)
	}
	h := body.Data
	return fmt.Sprintf("%s; its own address answers: version %s, named %q, verified %v, linked %v", text, a.header.Get("ETag"), h.Name, h.Location["verified"], h.Device["linked"])
}

// listed is what a list of all hotspots shows.
func (s *modelHotspot) listed() fields {
	f := s.summary(nearbyQuery{status: "all"})
	for _, name := range []string{"distance_m", "ssid", "open_now", "open_until", "opens_at"} {
		delete(f, name)
	}
	f["location"].(fields)["verified"] = s.verified
	f["device"] = fields{"linked": s.linked}
	f["created_at"] = rule(func(_ *world, _ span, got any) string {
		text, _ := got.(string)
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return err.Error()
		}
		return ""
	})
	return f
}
