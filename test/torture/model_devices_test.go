//go:build linux

package torture_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"
)

const metresPerDegree = 111195.08 // of latitude, on the sphere of decision N13

// measured is a body that says a hotspot was found some metres from its place.
func (s *modelHotspot) measured(metres, accuracy float64) fields {
	lat := s.lat + metres/metresPerDegree
	if s.lat > 0 {
		lat = s.lat - metres/metresPerDegree
	}
	return fields{"lat": lat, "lng": s.lng, "accuracy_m": accuracy, "method": "gps"}
}

var verificationFaults = []fault{
	{path: "lat", value: omitted},
	{path: "lat", value: 91},
	{path: "lng", value: nil},
	{path: "lng", value: omitted},
	{path: "accuracy_m", value: omitted},
	{path: "accuracy_m", value: -1},
	{path: "accuracy_m", value: 1000.5},
	{path: "method", value: omitted},
	{path: "method", value: ""},
	{path: "method", value: strings.Repeat("x", 51)},
	{path: "verified", value: true},
	{path: "moved", value: 1},
}

func (m *modelMachine) doVerify(t *rapid.T) {
	s, path := m.someHotspot(t)
	k := m.someKey(t)
	if rapid.Bool().Draw(t, "by staff") {
		k = m.keys[3]
	}
	place := s
	if s == nil {
		place = &modelHotspot{}
	}
	found := rapid.SampledFrom([][2]float64{{0, 0}, {99, 0}, {101, 0}, {150, 60}, {150, 10}, {199, 1000}, {201, 1000}}).Draw(t, "found")
	if place.verified && found[0] > 100+found[1] { // it would be pending again: TestVerification_FailedRevisit
		found = [2]float64{0, 0}
	}
	if place.verified && found[1] <= 30 { // it might prove the place: TestPlaceOn
		found = [2]float64{150, 60}
	}
	body := place.measured(found[0], found[1])
	var bad *want
	if seldom(t, "bad", 5) {
		bad = spoil(t, body, verificationFaults, 1)
	}
	m.verify(t, request{method: http.MethodPost, path: path + "/verification", key: k, body: body, header: m.seldomOnce(t)}, s, bad, found)
}

// verify says that a hotspot was found so many metres from its place, so exactly.
func (m *modelMachine) verify(t tester, r request, s *modelHotspot, bad *want, found [2]float64) {
	near := found[0] <= min(200, 100+found[1])
	if s != nil && s.verified && s.found[1] <= 30 { // an exact visit measured where it is
		near = near && math.Abs(found[0]-s.found[0]) <= max(30, found[1]+s.found[1])
	}
	e := m.enter(r.key, "hotspots:verify")
	switch {
	case e != nil:
	case bad != nil:
		e = bad
	case s == nil || s.deleted:
		e = &errNotFound
	case !near:
		e = &errConflict
	default:
		if !s.verified {
			s.verified, s.found = true, found
			s.version++
			s.inService = s.inService || s.linked
			m.tell("hotspot.verified", s)
		}
		e = &want{status: 200, data: s.full(), loose: len(s.beats) > 0}
		if len(s.beats) == 0 { // or the answer would depend on when it was given
			m.stepTwice(t, r, e, s.full())
			return
		}
	}
	m.step(t, r, e)
}

func (m *modelMachine) doLinkCode(t *rapid.T) {
	s, path := m.someHotspot(t)
	k := m.operatorOf(t, s)
	r := request{method: http.MethodPost, path: path + "/link-code", key: k, header: m.seldomOnce(t)}
	e := m.enter(k, "hotspots:write")
	if e == nil {
		e = own(k, s)
	}
	if e != nil {
		m.step(t, r, e)
		return
	}
	m.linkCode(t, r, s)
}

// mistyped is how people type codes (decision D39).
var mistyped = strings.NewReplacer("-", " ", "0", "o", "1", "l")

func (m *modelMachine) linkCode(t tester, r request, s *modelHotspot) {
	s.code, s.codeAt, s.wrong = fmt.Sprintf("code%d", m.next()), map[string]span{}, 0
	m.stepTwice(t, r, &want{status: 200, data: fields{"code": named(s.code), "expires_at": rule(func(w *world, at span, got any) string {
		s.codeAt[w.name] = at
		w.bound[s.code+":typed"] = mistyped.Replace(strings.ToLower(w.bound[s.code]))
		return within(got, span{at.from.Add(15 * time.Minute), at.to.Add(15 * time.Minute)})
	})}}, fields{"code": named(s.code), "expires_at": anything})
}

// within holds a time to a span; times are cut to milliseconds.
func within(got any, s span) string {
	text, _ := got.(string)
	at, err := time.Parse("2006-01-02T15:04:05.000Z", text)
	if err != nil || at.Before(s.from.Add(-time.Millisecond)) || at.After(s.to) {
		return fmt.Sprintf("%v; want a time between %v and %v", got, s.from, s.to)
	}
	return ""
}

func (m *modelMachine) doLink(t *rapid.T) {
	s := m.someCoded(t)
	body := fields{"code": "{" + s.code + rapid.SampledFrom([]string{"", ":typed"}).Draw(t, "typed") + "}", "mac_address": spelledMAC(t, octets(s.mac))}
	switch oneIn(t, "way", 7) {
	case 0:
		s.wrong++
		body["mac_address"] = rapid.SampledFrom([]string{"02beacfffffe", "nonsense", ""}).Draw(t, "mac")
		m.step(t, request{method: http.MethodPost, path: "/v1/devices/link", body: body}, &errForbidden)
	case 1:
		body["code"] = rapid.SampledFrom([]string{"0000-0000", "x", "ZZZZ-ZZZZ", "💩"}).Draw(t, "code")
		m.step(t, request{method: http.MethodPost, path: "/v1/devices/link", body: body}, &errForbidden)
	case 2:
		bad := spoil(t, body, []fault{{path: "code", value: omitted}, {path: "mac_address", value: omitted}, {path: "mac_address", value: 5}}, 1)
		m.step(t, request{method: http.MethodPost, path: "/v1/devices/link", body: body}, bad)
	default:
		m.link(t, s, body, m.seldomOnce(t))
	}
}

// someCoded draws a hotspot with a code. Codes expire soon, by a clock that runs fast:
// where there is none, one is made.
func (m *modelMachine) someCoded(t *rapid.T) *modelHotspot {
	coded := slices.DeleteFunc(slices.Clone(m.hotspots[m.elders:]), func(s *modelHotspot) bool { return s.code == "" || !s.codeIsFresh(m.worlds) })
	if len(coded) > 0 {
		return rapid.SampledFrom(coded).Draw(t, "hotspot")
	}
	there := slices.DeleteFunc(slices.Clone(m.hotspots[m.elders:]), func(s *modelHotspot) bool { return s.deleted })
	if len(there) == 0 {
		t.Skip("nothing to link")
	}
	s := rapid.SampledFrom(there).Draw(t, "hotspot")
	m.linkCode(t, request{method: http.MethodPost, path: "/v1/hotspots/{" + s.name + "}/link-code", key: m.keys[0]}, s)
	if !s.codeIsFresh(m.worlds) {
		t.Skip("the code may expire just now")
	}
	return s
}

// codeIsFresh reports whether nobody can doubt that a code is still good.
func (s *modelHotspot) codeIsFresh(worlds []*world) bool {
	for _, w := range worlds {
		now := w.clock.between(time.Now(), time.Now())
		if now.to.Sub(s.codeAt[w.name].from) > 10*time.Minute {
			return false
		}
	}
	return true
}

// known are the fields of a heartbeat, with their versions.
var known = fields{
	"boot_id": 1, "seq": 1, "clients": 1, "rx_bytes": 1, "tx_bytes": 1, "counter_bits": 1, "counter_epoch": 1, "rssi_dbm": 1,
	"speedtest": 1, "agent": 1,
}

func (m *modelMachine) link(t tester, s *modelHotspot, body fields, once map[string]string) {
	r := request{method: http.MethodPost, path: "/v1/devices/link", body: body, header: once}
	if s.deleted || s.wrong >= 5 {
		m.step(t, r, &errForbidden)
		return
	}
	s.code, s.linked, s.links = "", true, s.links+1
	s.version++
	s.inService = s.inService || s.verified
	s.device = fmt.Sprintf("secret%d", m.next())
	data := fields{
		"hotspot_id": named(s.name), "device_key": named(s.device), "linked_at": named(fmt.Sprintf("at%d:linked%d", s.number, s.links)),
		"heartbeat_path": rule(func(w *world, _ span, got any) string {
			return oneOf(got, []string{w.fill("/v1/hotspots/{" + s.name + "}/heartbeats")})
		}), "next_in_s": 60,
		"accepts": known,
	}
	m.stepTwice(t, r, &want{status: 200, data: data}, data)
	m.keys = append(m.keys, &apiKey{secret: s.device, device: s})
	m.tell("hotspot.linked", s)
}

// seldomOnce draws a header for a request that is sent twice, or none.
func (m *modelMachine) seldomOnce(t *rapid.T) map[string]string {
	if !seldom(t, "once", 5) {
		return nil
	}
	return map[string]string{"Idempotency-Key": fmt.Sprint(m.run, " of ", m.next())}
}

// stepTwice sends a request that succeeds, and once more if it has an Idempotency-Key:
// then the answer is the first one.
func (m *modelMachine) stepTwice(t tester, r request, e *want, again fields) {
	m.step(t, r, e)
	if r.header["Idempotency-Key"] != "" {
		m.step(t, r, &want{status: e.status, data: again, header: map[string]string{"Idempotency-Replayed": "true"}})
	}
}

// doBringUp does what it takes for a hotspot to be online: each step alone would
// seldom come to that.
func (m *modelMachine) doBringUp(t *rapid.T) {
	s, path := m.someHotspot(t)
	k := m.keys[0] // may do everything
	if s == nil || s.deleted || s.linked {
		t.Skip("nothing to bring up")
	}
	m.bringUp(t, s, path, k)
}

func (m *modelMachine) bringUp(t tester, s *modelHotspot, path string, k *apiKey) {
	if !s.verified {
		m.verify(t, request{method: http.MethodPost, path: path + "/verification", key: k, body: s.measured(0, 0)}, s, nil, [2]float64{})
	}
	m.linkCode(t, request{method: http.MethodPost, path: path + "/link-code", key: k}, s)
	m.link(t, s, fields{"code": "{" + s.code + "}", "mac_address": s.mac}, nil)
	m.beat(t, s, modelBeat{boot: fmt.Sprintf("boot-%d", m.next()), seq: 1, clients: 1, rx: 1000, tx: 1})
}

func (m *modelMachine) doUnlink(t *rapid.T) {
	s, path := m.someHotspot(t)
	k := m.operatorOf(t, s)
	e := m.enter(k, "hotspots:write")
	if e == nil {
		e = own(k, s)
	}
	if e == nil {
		if s.linked {
			s.linked, s.device = false, ""
			s.version++
			m.tell("hotspot.unlinked", s)
		}
		e = &want{status: 204}
	}
	m.step(t, request{method: http.MethodDelete, path: path + "/device", key: k}, e)
}

var beatFaults = []fault{
	{path: "boot_id", value: omitted},
	{path: "boot_id", value: ""},
	{path: "boot_id", value: strings.Repeat("b", 65)},
	{path: "boot_id", value: "a b"},
	{path: "boot_id", value: 5},
	{path: "seq", value: omitted},
	{path: "seq", value: -1},
	{path: "seq", value: 1.5},
	{path: "seq", value: "1"},
	{path: "seq", value: 9007199254740994},
	{path: "clients", value: omitted},
	{path: "clients", value: 10001},
	{path: "clients", value: nil},
	{path: "rx_bytes", value: omitted},
	{path: "rx_bytes", value: -1},
	{path: "tx_bytes", value: unreadable},
	{path: "tx_bytes", value: true},
	{path: "rssi_dbm", value: 0.5},
	{path: "rssi_dbm", value: -121},
	{path: "speedtest", value: fields{"down_mbps": 1, "up_mbps": 1, "latency_ms": 0}, field: "speedtest.latency_ms"},
	{path: "speedtest", value: fields{"down_mbps": 1, "latency_ms": 1}, field: "speedtest.up_mbps", isGone: true},
	{path: "speedtest", value: 5},
}

func (m *modelMachine) doBeat(t *rapid.T) {
	linked := slices.DeleteFunc(slices.Clone(m.hotspots[m.elders:]), func(s *modelHotspot) bool { return s.links == 0 })
	if len(linked) == 0 {
		t.Skip("nothing is linked")
	}
	s := rapid.SampledFrom(linked).Draw(t, "hotspot")
	b, known := m.someBeat(t, s)
	r := request{method: http.MethodPost, path: "/v1/hotspots/{" + s.name + "}/heartbeats", body: b.body()}
	switch oneIn(t, "way", 8) {
	case 0: // someone else
		r.key = m.someKey(t)
		if r.key != nil && r.key.device == s {
			t.Skip("it is the device itself")
		}
		e := m.enter(r.key, "")
		if e == nil {
			e = &errForbidden
		}
		m.step(t, r, e)
		return
	case 1:
		body := b.body()
		bad := spoil(t, body, beatFaults, 1)
		r.body, r.key = body, m.deviceKey(s)
		if !s.linked || s.deleted {
			bad = &errUnauthorized
		}
		m.step(t, r, bad)
		return
	}
	if r.key = m.deviceKey(s); !s.linked || s.deleted {
		m.step(t, r, &errUnauthorized)
		return
	}
	if known {
		m.repeat(t, r, s)
		return
	}
	m.beat(t, s, b)
}

// deviceKey is the last key that a hotspot's device got, whether or not it is
// good.
func (m *modelMachine) deviceKey(s *modelHotspot) (last *apiKey) {
	for _, k := range m.keys {
		if k.device == s {
			last = k
		}
	}
	return last
}

// someBeat draws what a device may send next: a new beat, one of a new boot, one
// that was late, or one that is known, with other contents but for its counters.
func (m *modelMachine) someBeat(t *rapid.T, s *modelHotspot) (b modelBeat, known bool) {
	b = modelBeat{boot: fmt.Sprintf("boot-%d", m.next()), seq: rapid.IntRange(0, 3).Draw(t, "first")}
	sent := slices.DeleteFunc(slices.Clone(s.beats), func(one modelBeat) bool { return one.links != s.links || one.boot != s.beats[len(s.beats)-1].boot })
	if len(sent) > 0 && !seldom(t, "boot", 5) {
		newest := slices.MaxFunc(sent, func(a, b modelBeat) int { return a.seq - b.seq })
		b.boot, b.seq = newest.boot, newest.seq+rapid.IntRange(1, 3).Draw(t, "gap")
		if seldom(t, "again", 4) {
			b.seq = rapid.IntRange(sent[0].seq, newest.seq).Draw(t, "number")
		}
	}
	b.rx, b.tx = b.seq*rapid.SampledFrom([]int{1_000_000}).Draw(t, "rx"), b.seq*3
	for _, one := range sent {
		if one.boot == b.boot && one.seq == b.seq { // with more bytes it would count (decision D95)
			known, b.rx, b.tx = true, one.rx, one.tx
		}
	}
	b.clients = rapid.IntRange(0, 3).Draw(t, "clients")
	if rapid.Bool().Draw(t, "rssi?") {
		b.rssi = rapid.SampledFrom([]float64{-50, -55, -56, -67, -68, -75, -76, -120, 0}).Draw(t, "rssi")
	}
	if rapid.Bool().Draw(t, "speed?") {
		b.speed = rapid.SampledFrom([][]float64{{100, 10, 49}, {50, 5, 74}, {200, 20, 20}, {100, 10, 50}, {10, 1, 100}}).Draw(t, "speed")
	}
	return b, known
}

func (b modelBeat) body() fields {
	body := fields{"boot_id": b.boot, "seq": b.seq, "clients": b.clients, "rx_bytes": b.rx, "tx_bytes": b.tx}
	if b.rssi != nil {
		body["rssi_dbm"] = b.rssi
	}
	if b.speed != nil {
		body["speedtest"] = fields{"down_mbps": b.speed[0], "up_mbps": b.speed[1], "latency_ms": b.speed[2]}
	}
	return body
}

// beat sends one that is new.
func (m *modelMachine) beat(t tester, s *modelHotspot, b modelBeat) {
	b.links = s.links
	s.beats = append(s.beats, b)
	e := s.beatTaken()
	status := e.data.(fields)["status"].(rule)
	e.data.(fields)["status"] = rule(func(w *world, at span, got any) string {
		w.beats[s.name] = append(slices.Clone(w.beats[s.name]), at)
		return status(w, at, got)
	})
	m.step(t, request{method: http.MethodPost, path: "/v1/hotspots/{" + s.name + "}/heartbeats", body: b.body(), key: m.deviceKey(s)}, e)
}

// repeat sends one that is known: it changes nothing, and its operator is told.
func (m *modelMachine) repeat(t tester, r request, s *modelHotspot) {
	s.repeated = true
	e := s.beatTaken()
	e.data.(fields)["counted"] = false
	e.data.(fields)["reason"] = rule(func(w *world, at span, got any) string {
		w.repeats[s.name] = at
		return w.match("", "repeated", got, at)
	})
	m.step(t, r, e)
}

func (s *modelHotspot) beatTaken() *want {
	return &want{status: 200, data: fields{"status": rule(s.status), "next_in_s": 60, "accepts": known}, loose: true}
}
