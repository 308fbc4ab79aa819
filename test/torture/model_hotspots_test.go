//go:build linux

package torture_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

var kinds = []string{"home", "business", "public"}

// goodRegistration draws a body, and the hotspot that it asks for.
func (m *modelMachine) goodRegistration(t *rapid.T) (fields, *modelHotspot) {
	title := rapid.SampledFrom(titles).Draw(t, "name")
	place := rapid.SampledFrom(modelPlaces).Draw(t, "place")
	s := &modelHotspot{
		title: title[1], kind: rapid.SampledFrom(kinds).Draw(t, "type"), lat: place.lat, lng: place.lng,
		ssid: rapid.SampledFrom([]string{"x", "Café", strings.Repeat("é", 16), "a\"b\\c"}).Draw(t, "ssid"),
		mac:  spelledMAC(t, m.someMAC(t)),
	}
	location := fields{"lat": s.lat, "lng": s.lng}
	if rapid.Bool().Draw(t, "addressed") {
		s.address = rapid.SampledFrom([]string{" 1 Main St ", strings.Repeat("é", 200), "x"}).Draw(t, "address")
		location["address"] = s.address
	}
	body := fields{"name": title[0], "type": s.kind, "location": location, "device": fields{"ssid": s.ssid, "mac_address": s.mac}}
	s.settings = settings{max: map[string]int{"home": 16, "business": 64, "public": 128}[s.kind], mbps: map[string]float64{"home": 50, "business": 200, "public": 300}[s.kind]}
	if rapid.Bool().Draw(t, "settings") {
		asked := goodSettings(t)
		body["settings"] = asked
		s.settings.merge(asked)
	}
	return body, s
}

// someMAC draws an address: one that a deleted hotspot of this run had, where there is
// one, as often as any.
func (m *modelMachine) someMAC(t *rapid.T) string {
	var freed []string
	for _, s := range m.hotspots {
		if mac := octets(s.mac); s.deleted && mac[:len(mac)-2] == m.macOf(0)[:len(mac)-2] {
			freed = append(freed, mac)
		}
	}
	if len(freed) > 0 && rapid.Bool().Draw(t, "freed") {
		return rapid.SampledFrom(freed).Draw(t, "mac")
	}
	return m.macOf(rapid.IntRange(0, 9).Draw(t, "mac"))
}

// goodSettings draws some settings and leaves out others.
func goodSettings(t *rapid.T) fields {
	all := fields{}
	if rapid.Bool().Draw(t, "max?") {
		all["max_connections"] = rapid.SampledFrom([]int{1, 2, 10000}).Draw(t, "max")
	}
	if rapid.Bool().Draw(t, "mbps?") {
		all["bandwidth_limit_mbps"] = rapid.SampledFrom([]float64{0.1, 250.5, 100000}).Draw(t, "mbps")
	}
	if rapid.Bool().Draw(t, "radius?") {
		all["coverage_radius_m"] = rapid.SampledFrom([]any{10.0, 123.4, 500.0, nil}).Draw(t, "radius")
	}
	if rapid.Bool().Draw(t, "hours?") {
		all["operating_hours"] = rapid.SampledFrom(openings).Draw(t, "hours")
	}
	return all
}

// merge is what a change of settings does: what is absent stays.
func (c *settings) merge(change fields) {
	if v, is := change["max_connections"].(int); is {
		c.max = v
	}
	if v, is := change["bandwidth_limit_mbps"].(float64); is {
		c.mbps = v
	}
	if v, is := change["coverage_radius_m"]; is {
		c.radius = v // null restores the default
	}
	if v, is := change["operating_hours"]; is {
		before, _ := c.hours.(fields)
		merged := maps.Clone(before)
		if part, isObject := v.(fields); isObject && merged != nil {
			maps.Copy(merged, part)
			v = merged
		}
		c.hours = v
	}
}

func (m *modelMachine) doRegister(t *rapid.T) {
	k := m.someKey(t)
	body, s := m.goodRegistration(t)
	var bad *want
	if seldom(t, "bad", 3) {
		bad = spoil(t, body, registrationFaults, 1)
	}
	r := request{method: http.MethodPost, path: "/v1/hotspots", key: k, body: body, header: map[string]string{}}
	once := ""
	if seldom(t, "once", 4) {
		once = rapid.SampledFrom([]string{"a", "b c", strings.Repeat("~", 255)}).Draw(t, "idempotency key")
		run := fmt.Sprint(m.run, " ") // the admin's keys are remembered over all runs
		once = run + once[:min(len(once), 255-len(run))]
		r.header["Idempotency-Key"] = once
	}
	m.register(t, r, s, bad, once)
}

// register expects what the model says of a registration.
func (m *modelMachine) register(t tester, r request, s *modelHotspot, bad *want, once string) {
	if e := m.enter(r.key, "hotspots:write"); e != nil {
		m.step(t, r, e)
		return
	}
	if bad != nil {
		m.step(t, r, bad)
		return
	}
	remembered := r.key.user + "/" + once
	if first := m.once[remembered]; first != nil && once != "" {
		if first.body != encoded(r.body) {
			m.step(t, r, &errConflict)
			return
		}
		m.step(t, r, &want{status: 201, data: first.data, header: map[string]string{
			"Idempotency-Replayed": "true", "Location": "/v1/hotspots/{" + first.hotspot.name + "}",
		}})
		return
	}
	if m.taken(s.mac, r.key.user) {
		m.step(t, r, &errConflict)
		return
	}
	s.number, s.owner, s.version = m.next(), r.key.user, 1
	s.name = fmt.Sprintf("hs%d", s.number)
	m.hotspots = append(m.hotspots, s)
	e := &want{status: 201, data: s.full(), header: map[string]string{"Idempotency-Replayed": "", "ETag": s.etag()}}
	for i, a := range m.step(t, r, e) {
		if got, want := a.header.Get("Location"), m.worlds[i].fill("/v1/hotspots/{"+s.name+"}"); got != want {
			t.Fatalf("Location: %q; want %q", got, want)
		}
	}
	m.tell("hotspot.registered", s)
	if once != "" {
		m.once[remembered] = &firstAnswer{encoded(r.body), s.frozen(), s}
	}
}

// frozen is the hotspot as it is just after its registration, for ever.
func (s *modelHotspot) frozen() fields {
	then := *s
	return then.full()
}

// doRegisterAgain repeats a registration that had an Idempotency-Key, or tries
// the key with another body, or a key that is none.
func (m *modelMachine) doRegisterAgain(t *rapid.T) {
	k := m.keys[1]
	switch oneIn(t, "way", 3) {
	case 0:
		body, _ := m.goodRegistration(t)
		bad := rapid.SampledFrom([]string{strings.Repeat("x", 256), "caf\xc3\xa9", "tab\there"}).Draw(t, "no key")
		e := refused(400, "invalid_request")
		if k.revoked {
			e = &errUnauthorized
		}
		m.step(t, request{method: http.MethodPost, path: "/v1/hotspots", key: k, body: body, header: map[string]string{"Idempotency-Key": bad}}, e)
	default:
		used := slices.Sorted(maps.Keys(m.once))
		used = slices.DeleteFunc(used, func(name string) bool { return !strings.HasPrefix(name, k.user+"/") })
		if len(used) == 0 {
			t.Skip("nothing to repeat")
		}
		name := rapid.SampledFrom(used).Draw(t, "idempotency key")
		_, once, _ := strings.Cut(name, "/")
		var body fields
		if err := json.Unmarshal([]byte(m.once[name].body), &body); err != nil {
			t.Fatalf("%v", err)
		}
		r := request{method: http.MethodPost, path: "/v1/hotspots", key: k, body: m.once[name].body, header: map[string]string{"Idempotency-Key": once}}
		if rapid.Bool().Draw(t, "another body") {
			body["name"] = "Another name"
			r.body = body
		}
		m.replay(t, r, m.once[name])
	}
}

func (m *modelMachine) replay(t *rapid.T, r request, first *firstAnswer) {
	e := m.enter(r.key, "hotspots:write")
	if text, same := r.body.(string); e == nil && same && text == first.body {
		e = &want{status: 201, data: first.data, header: map[string]string{"Idempotency-Replayed": "true", "Location": "/v1/hotspots/{" + first.hotspot.name + "}"}}
	} else if e == nil {
		e = &errConflict
	}
	m.step(t, r, e)
}

func (m *modelMachine) doGet(t *rapid.T) {
	s, path := m.someHotspot(t)
	if seldom(t, "elder", 10) {
		s = m.hotspots[rapid.IntRange(0, m.elders-1).Draw(t, "which")]
		path = "/v1/hotspots/{" + s.name + "}"
	}
	r := request{method: http.MethodGet, path: path, key: m.someKey(t)}
	e := m.enter(r.key, "")
	switch {
	case e != nil:
	case s == nil || s.deleted:
		e = &errNotFound
	default:
		shown := s.full()
		if s.owner != r.key.user && !r.key.has("hotspots:verify") {
			delete(shown["metrics"].(fields), "last_uncounted")
		}
		e = &want{status: 200, data: shown, header: map[string]string{"ETag": s.etag()}, loose: len(s.beats) > 0}
	}
	m.step(t, r, e)
}

// ifMatch draws a condition, and whether it holds.
func (m *modelMachine) ifMatch(t *rapid.T, s *modelHotspot) (header map[string]string, holds bool) {
	if s == nil {
		return map[string]string{"If-Match": `"v1"`}, true
	}
	if m.worlds[0].bound[strings.Trim(s.etag(), "{}")] == "" {
		return nil, true // nobody has seen it
	}
	switch oneIn(t, "If-Match", 6) {
	case 0:
		return map[string]string{"If-Match": s.etag()}, true
	case 1:
		return map[string]string{"If-Match": `"v999999", ` + s.etag()}, true
	case 2:
		return map[string]string{"If-Match": `"v999999"`}, false
	case 3:
		if m.worlds[0].bound[fmt.Sprintf("etag%d:%d", s.number, s.version-1)] != "" {
			return map[string]string{"If-Match": fmt.Sprintf("{etag%d:%d}", s.number, s.version-1)}, false
		}
	}
	return nil, true
}

func (m *modelMachine) doChange(t *rapid.T) {
	s, path := m.someHotspot(t)
	k := m.operatorOf(t, s)
	body := fields{}
	title := rapid.SampledFrom(titles).Draw(t, "name")
	if rapid.Bool().Draw(t, "name?") {
		body["name"] = title[0]
	}
	kind := rapid.SampledFrom(kinds).Draw(t, "type")
	if seldom(t, "type?", 3) {
		body["type"] = kind
	}
	var change fields
	if !seldom(t, "settings?", 4) {
		change = goodSettings(t)
		if s != nil && s.settings.hours != nil && seldom(t, "part of the hours", 3) {
			change["operating_hours"] = rapid.SampledFrom([]fields{
				{}, {"timezone": "UTC"}, {"exceptions": []any{}}, {"weekly": []any{fields{"days": []any{"fri"}, "open": "09:00", "close": "09:00"}}},
			}).Draw(t, "part")
		}
		body["settings"] = change
	}
	var bad *want
	if seldom(t, "bad", 4) {
		more := []fault{{path: "type", value: "house"}, {path: "location", value: fields{"lat": 91, "lng": 2}, field: "location.lat"}, {path: "status", value: "online"}, {path: "settings", value: nil}, {path: "device", value: fields{"linked": true}, field: "device.linked"}}
		bad = spoil(t, body, slices.Concat(changeFaults, more), 1)
	}
	header, holds := m.ifMatch(t, s)
	r := request{method: http.MethodPatch, path: path, key: k, body: body, header: header}
	e := m.enter(k, "hotspots:write")
	if e == nil {
		e = bad
	}
	if e == nil {
		e = own(k, s)
	}
	if e == nil && !holds {
		e = &errConflict
	}
	if e != nil {
		m.step(t, r, e)
		return
	}
	before := encoded([]any{s.title, s.kind, s.settings.full()})
	if _, renamed := body["name"]; renamed {
		s.title = title[1]
	}
	if _, retyped := body["type"]; retyped {
		s.kind = kind
	}
	s.settings.merge(change)
	changed := before != encoded([]any{s.title, s.kind, s.settings.full()})
	if changed {
		s.version++
	}
	m.step(t, r, s.changed())
	if changed {
		m.tell("hotspot.updated", s)
	}
}

// changed is the answer to a change.
func (s *modelHotspot) changed() *want {
	return &want{status: 200, header: map[string]string{"ETag": s.etag()}, data: fields{
		"id": named(s.name), "name": s.title, "settings": s.settings.full(), "updated_at": named(fmt.Sprintf("updated%d:%d", s.number, s.version)),
	}}
}

func (m *modelMachine) doDelete(t *rapid.T) {
	s, path := m.someHotspot(t)
	k := m.operatorOf(t, s)
	header, holds := m.ifMatch(t, s)
	e := m.enter(k, "hotspots:write")
	if e == nil {
		e = own(k, s)
	}
	if e == nil && !holds {
		e = &errConflict
	}
	r := request{method: http.MethodDelete, path: path, key: k, header: header}
	if e != nil {
		m.step(t, r, e)
		return
	}
	m.delete(t, r, s)
}

func (m *modelMachine) delete(t *rapid.T, r request, s *modelHotspot) {
	s.deleted, s.restorable, s.code = true, r.key.user == s.owner, ""
	m.free(s, r.key.user)
	m.step(t, r, &want{status: 204})
	m.tell("hotspot.deleted", s)
}

// doRestore brings back what was deleted, mostly just before: by its operator or by staff.
func (m *modelMachine) doRestore(t *rapid.T) {
	s, path := m.someHotspot(t)
	if s != nil && !s.deleted && !seldom(t, "not deleted", 4) {
		k := adminKey
		if owner := m.operatorOf(t, s); own(owner, s) == nil && m.enter(owner, "hotspots:write") == nil && !seldom(t, "by staff", 3) {
			k = owner
		}
		m.delete(t, request{method: http.MethodDelete, path: path, key: k}, s)
	}
	k := m.operatorOf(t, s)
	r := request{method: http.MethodPost, path: path + "/restoration", key: k}
	e := m.enter(k, "hotspots:write")
	switch {
	case e != nil:
	case s == nil || s.deleted && s.owner != k.user && !k.has("admin"): // who may not know of it
		e = &errNotFound
	case !s.deleted:
		if e = own(k, s); e == nil {
			e = s.changed()
		}
	case !s.restorable || m.taken(s.mac, s.owner):
		e = &errConflict
	default:
		s.deleted, s.restorable = false, false
		s.version++
		if s.linked { // as if it were linked again
			s.links++
		}
		m.step(t, r, s.changed())
		m.tell("hotspot.restored", s)
		return
	}
	m.step(t, r, e)
}

// pageOf draws parameters of a page: good ones mostly. Lists of the contract ignore a
// parameter that they do not know; the others refuse it.
func pageOf(t *rapid.T, ofContract bool) (text string, page, perPage int, bad *want) {
	if seldom(t, "bad", 5) {
		samples := []string{
			"page=0", "page=-1", "per_page=0", "per_page=101", "page=1.5", "page=", "per_page=x", "page=1&page=1", "page=99999999999999999999", "per_page=0x10", "page=%zz", "cursor=x",
		}
		if !ofContract {
			samples = append(samples, "unknown=x", "page=1&Page=1")
		}
		text = rapid.SampledFrom(samples).Draw(t, "page")
		return "?" + text, 0, 0, refused(400, "invalid_request")
	}
	page, perPage = 1, 20
	pages, sizes := "", ""
	if rapid.Bool().Draw(t, "page?") {
		page = rapid.SampledFrom([]int{1, 2, 3, 4611686018427387}).Draw(t, "page")
		pages = fmt.Sprint(page)
	}
	if rapid.Bool().Draw(t, "per_page?") {
		perPage = rapid.SampledFrom([]int{1, 2, 100}).Draw(t, "per_page")
		sizes = fmt.Sprint(perPage)
	}
	unknown := ""
	if ofContract {
		unknown = "x"
	}
	return query("page", pages, "per_page", sizes, "unknown", unknown), page, perPage, nil
}

// cut is one page of a list.
func cut[T any](all []T, page, perPage int) []T {
	from := min(len(all), (page-1)*perPage)
	return all[from:min(len(all), from+perPage)]
}

func (m *modelMachine) doList(t *rapid.T) {
	k := m.someKey(t)
	whose := rapid.SampledFrom([]string{"me", "{" + m.keys[1].user + "}", "{" + m.keys[2].user + "}", "usr_00000000000000000000000000", "ME"}).Draw(t, "user")
	text, page, perPage, bad := pageOf(t, false)
	r := request{method: http.MethodGet, path: "/v1/users/" + whose + "/hotspots" + text, key: k}
	e := m.enter(k, "")
	user := strings.Trim(whose, "{}")
	switch {
	case e != nil:
	case bad != nil:
		e = bad
	case whose == "me":
		user = k.user
	case user != k.user && !k.has("admin"):
		e = &errForbidden
	}
	if e == nil { // whoever may ask about anyone finds that nobody has nothing
		var all []any
		loose := false
		for _, s := range m.live() {
			if s.owner == user {
				all = append(all, s.full())
				loose = loose || len(s.beats) > 0
			}
		}
		e = &want{status: 200, data: append([]any{}, cut(all, page, perPage)...), page: &pagination{page, perPage, len(all)}, loose: loose}
	}
	m.step(t, r, e)
}
