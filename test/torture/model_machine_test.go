//go:build linux

package torture_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"pgregory.net/rapid"
)

// machine does the same to the model and to every world, and compares.
type modelMachine struct {
	*model
	worlds    []*world
	listeners []*listener
}

// step asks all worlds, and holds the answers to what the model expects and to
// each other.
func (m *modelMachine) step(t tester, r request, e *want) []answer {
	t.Helper()
	answers := make([]answer, len(m.worlds))
	var asking sync.WaitGroup
	for i, w := range m.worlds {
		asking.Go(func() { answers[i] = w.ask(r) })
	}
	asking.Wait()
	for i, w := range m.worlds {
		if problem := w.judge(answers[i], e); problem != "" {
			t.Logf("%s", problem) // with its ids and times; rapid shrinks only what fails with the same words
			t.Fatalf("%s, on %s: %s%s\nanswer: %d %.2000s", r, w.name, w.neutral([]byte(problem)), w.again(r, e), answers[i].status, w.neutral(answers[i].text))
		}
	}
	m.compare(t, r, e, answers)
	return answers
}

// again tells whether an answer that was wrong stays so: what is right a moment
// later was late.
func (w *world) again(r request, e *want) string {
	if r.method != http.MethodGet {
		return ""
	}
	if w.judge(w.ask(r), e) == "" {
		return "\nasked again, the answer is right"
	}
	return "\nasked again, the answer is wrong too"
}

// compare holds the worlds to each other: the same bytes, but for what each one
// chose itself.
func (m *modelMachine) compare(t tester, r request, e *want, answers []answer) {
	t.Helper()
	if e.apart {
		return
	}
	first := m.worlds[0].neutral(answers[0].text)
	for i, w := range m.worlds[1:] {
		other := w.neutral(answers[i+1].text)
		if e.loose {
			first, other = outline(first), outline(other)
		}
		if first != other {
			t.Fatalf("%s: the stores differ:\n%.3000s\n%.3000s", r, first, other)
		}
	}
}

// tell notes what the events of each world must say.
func (m *modelMachine) tell(kind string, s *modelHotspot) {
	for _, w := range m.worlds {
		*w.happened = append(*w.happened, happening{kind, w.bound[s.name]})
	}
}

// actions is all that can be done.
func (m *modelMachine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"register":       m.doRegister,
		"register2":      m.doRegister, // some things are done more often than others
		"register3":      m.doRegister,
		"registerAgain":  m.doRegisterAgain,
		"get":            m.doGet,
		"change":         m.doChange,
		"change2":        m.doChange,
		"delete":         m.doDelete,
		"restore":        m.doRestore,
		"list":           m.doList,
		"listAll":        m.doListAll,
		"verify":         m.doVerify,
		"linkCode":       m.doLinkCode,
		"link":           m.doLink,
		"link2":          m.doLink,
		"link3":          m.doLink,
		"bringUp":        m.doBringUp,
		"bringUp2":       m.doBringUp,
		"unlink":         m.doUnlink,
		"beat":           m.doBeat,
		"beat2":          m.doBeat,
		"checkIn":        m.doCheckIn,
		"history":        m.doHistory,
		"nearby":         m.doNearby,
		"nearby2":        m.doNearby,
		"coverage":       m.doCoverage,
		"whatIf":         m.doWhatIf,
		"tile":           m.doTile,
		"rewards":        m.doRewards,
		"rewardsByMonth": m.doRewardsByMonth,
		"statement":      m.doStatement,
		"explain":        m.doExplain,
		"createKey":      m.doCreateKey,
		"listKeys":       m.doListKeys,
		"revokeKey":      m.doRevokeKey,
		"selfKey":        m.doSelfKey,
		"events":         m.doEvents,
		"odd":            m.doOdd,
		"documents":      m.doDocuments,
	}
}

// oneIn draws one of n, each as often. (IntRange prefers small numbers.)
func oneIn(t *rapid.T, what string, n int) int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return rapid.SampledFrom(all).Draw(t, what)
}

// seldom draws whether something happens that does once in n times.
func seldom(t *rapid.T, what string, n int) bool { return oneIn(t, what, n) == n-1 }

// someKey draws who asks: mostly an operator, or else anyone, also someone whose
// key is no longer good, or nobody.
func (m *modelMachine) someKey(t *rapid.T) *apiKey {
	switch n := oneIn(t, "who", 10); {
	case n < 6:
		return m.keys[1+n%2]
	case n == 9:
		return nil
	}
	return m.keys[oneIn(t, "key", len(m.keys))]
}

// operatorOf draws who asks about a hotspot: mostly its operator.
func (m *modelMachine) operatorOf(t *rapid.T, s *modelHotspot) *apiKey {
	if s != nil && !seldom(t, "stranger", 4) {
		for _, k := range m.keys {
			if k.user == s.owner && k.has("hotspots:write") && !k.revoked {
				return k
			}
		}
	}
	return m.someKey(t)
}

// someSpot draws a hotspot of this run, and its path. Nil stands for one that
// is not there.
func (m *modelMachine) someHotspot(t *rapid.T) (*modelHotspot, string) {
	if all := m.hotspots[m.elders:]; len(all) > 0 && !seldom(t, "unknown", 8) {
		s := all[oneIn(t, "hotspot", len(all))]
		return s, "/v1/hotspots/{" + s.name + "}"
	}
	return nil, "/v1/hotspots/" + rapid.SampledFrom([]string{
		"hs_00000000000000000000000000", "hs_", "HS_01kb3gzk00e9x8q6s5t4v3w2y1", "1", "%00", "..%2f..", "hs_8zzzzzzzzzzzzzzzzzzzzzzzzz", "%F0%9F%92%A9", "hs_01kb3gzk00e9x8q6s5t4v3w2y1x",
	}).Draw(t, "id")
}

// full is a hotspot as its document describes it.
func (s *modelHotspot) full() fields {
	location := fields{"lat": s.lat, "lng": s.lng, "verified": s.verified}
	if s.address != nil {
		location["address"] = s.address
	}
	if s.verified {
		location["verified_at"] = named(fmt.Sprintf("at%d:1", s.number))
		location["proven_until"] = optional(func(_ *world, _ span, got any) string { // for some, and after some visits: TestHotspot_ProvenUntil
			if text, is := got.(string); !is || !forms["at"].MatchString(text) {
				return fmt.Sprintf("%v; want a time", got)
			}
			return ""
		})
	}
	device := fields{"ssid": s.ssid, "mac_address": s.mac, "linked": s.linked}
	if s.linked {
		device["linked_at"] = named(fmt.Sprintf("at%d:linked%d", s.number, s.links))
	}
	full := s.connection(fields{
		"id": named(s.name), "name": s.title, "type": s.kind, "status": rule(s.status), "location": location, "device": device,
		"settings": s.settings.full(), "coverage_radius_m": s.radius(), "metrics": s.metrics(),
		"operator_id": named(s.owner), "created_at": named(fmt.Sprintf("at%d:created", s.number)),
		"updated_at": named(fmt.Sprintf("updated%d:%d", s.number, s.version)),
	})
	delete(full, "ssid") // it is in device
	return full
}

func (c settings) full() fields {
	all := fields{"max_connections": c.max, "bandwidth_limit_mbps": c.mbps, "operating_hours": c.hours}
	if c.radius != nil {
		all["coverage_radius_m"] = c.radius
	}
	return all
}

func (s *modelHotspot) metrics() fields {
	all := fields{
		"uptime_30d": rule(s.uptime), "connections_24h": rule(s.connections), "bandwidth_used_24h_gb": rule(s.gigabytes),
		"performance_tier": rule(s.tier), "signal_quality": rule(s.quality), "current_load": rule(s.load), "last_seen_at": rule(s.lastSeen),
	}
	if s.repeated {
		all["last_uncounted"] = fields{"at": rule(s.lastRepeated), "reason": "repeated"}
	}
	return all
}

func (s *modelHotspot) etag() string { return fmt.Sprintf("{etag%d:%d}", s.number, s.version) }

// encoded is a body as it is sent.
func encoded(body any) string {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // the model's own values
	}
	return string(text)
}

// query writes parameters as they are given, in their order.
func query(pairs ...string) string {
	var parts []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			parts = append(parts, pairs[i]+"="+pairs[i+1])
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "?" + strings.Join(parts, "&")
}
