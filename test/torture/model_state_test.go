//go:build linux

package torture_test

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// model is what the documents say that a network is: it shares nothing with the
// product but them. It is small because it forgets nothing, looks through
// everything, and has one user at a time.
type model struct {
	run      int // numbers the runs of a test: hardware addresses are unique over all
	count    int // of names given
	keys     []*apiKey
	hotspots []*modelHotspot // deleted ones too
	elders   int             // how many of them were there before the run, and are not touched
	once     map[string]*firstAnswer
}

// apiKey is a key of a user, or of a hotspot's device.
type apiKey struct {
	name, secret, user string
	label              string
	scopes             []string
	expires            any
	revoked            bool
	device             *modelHotspot
}

// firstAnswer is what an Idempotency-Key was used for.
type firstAnswer struct {
	body    string
	data    map[string]any
	hotspot *modelHotspot
}

type modelHotspot struct {
	number            int
	name              string // as the model calls it
	owner             string
	title, kind       string
	lat, lng          float64
	address           any // nil for none
	ssid, mac         string
	settings          settings
	verified, deleted bool
	found             [2]float64 // at the first visit: metres from its place, and accuracy
	reserved          bool       // its hardware address is its owner's still
	restorable        bool       // its owner deleted it
	links             int        // how often a device was linked
	linked            bool
	device            string // the name of its device's key
	code              string // the link code that is good, if any
	codeAt            map[string]span
	wrong             int // tries with the code and another address
	version           int
	beats             []modelBeat
	repeated          bool // one of them was
	inService         bool // was at some time
}

type settings struct {
	max    int
	mbps   float64
	radius any // nil, or metres
	hours  any
}

type modelBeat struct {
	boot    string
	seq     int
	clients int
	rx, tx  int
	rssi    any
	speed   []float64 // down, up, latency
	links   int       // of the hotspot, when it was sent
}

func (m *model) next() int { m.count++; return m.count }

func (k *apiKey) has(scope string) bool {
	return scope == "" || slices.Contains(k.scopes, "admin") || slices.Contains(k.scopes, scope)
}

// enter is what stands before every route (decision N3): nil if it opens.
func (m *model) enter(k *apiKey, scope string) *want {
	switch {
	case k == nil, k.revoked, k.device != nil && (k.device.device != k.secret || k.device.deleted):
		return &errUnauthorized
	case k.device != nil, !k.has(scope):
		return &errForbidden
	}
	return nil
}

// own is what stands before a hotspot's operator's business.
func own(k *apiKey, s *modelHotspot) *want {
	switch {
	case s == nil || s.deleted:
		return &errNotFound
	case s.owner != k.user && !k.has("admin"):
		return &errForbidden
	}
	return nil
}

func (m *model) live() []*modelHotspot {
	return slices.DeleteFunc(slices.Clone(m.hotspots), func(s *modelHotspot) bool { return s.deleted })
}

// taken reports whether a live hotspot has a hardware address, or another user had it in
// service last and has deleted that hotspot.
func (m *model) taken(mac, user string) bool {
	return slices.ContainsFunc(m.hotspots, func(s *modelHotspot) bool {
		return octets(s.mac) == octets(mac) && (!s.deleted || s.reserved && s.owner != user)
	})
}

// free decides whose the address of a hotspot is that someone deletes (decision D92): its
// owner's, who gave it up in service; nobody's, if staff took it away. Else it is whose it
// was before.
func (m *model) free(last *modelHotspot, by string) {
	if by == last.owner && !(last.verified && last.linked) {
		return
	}
	for _, s := range m.hotspots {
		if octets(s.mac) == octets(last.mac) {
			s.reserved = s == last && by == last.owner
		}
	}
}

// radius is how far a hotspot reaches (decision N14).
func (s *modelHotspot) radius() float64 {
	if r, measured := s.settings.radius.(float64); measured {
		return r
	}
	return map[string]float64{"home": 50, "business": 75, "public": 100}[s.kind]
}

// offlineAfter is decision N15.
const offlineAfter = 240 * time.Second

// statusAt is every status that the hotspot may have had in a span of time: more
// than one when the clock of the server was about to tell, or nothing tells yet.
func (s *modelHotspot) statusAt(w *world, at span) []string {
	if !s.verified || !s.linked {
		return []string{"pending"}
	}
	if len(w.beats[s.name]) == 0 {
		return []string{"offline"}
	}
	heard := w.beats[s.name][len(w.beats[s.name])-1]
	var may []string
	if at.from.Sub(heard.to) <= offlineAfter {
		may = append(may, "online")
	}
	if at.to.Sub(heard.from) > offlineAfter {
		may = append(may, "offline")
	}
	return may
}

func (s *modelHotspot) status(w *world, at span, got any) string {
	return oneOf(got, s.statusAt(w, at))
}

func oneOf(got any, may []string) string {
	if text, _ := got.(string); slices.Contains(may, text) {
		return ""
	}
	return fmt.Sprintf("%v; want one of %v", got, may)
}

// load is the clients of the latest beat by the most that there may be.
func (s *modelHotspot) load(w *world, at span, got any) string {
	busy := 0.0
	if len(s.beats) > 0 {
		busy = math.Min(1, float64(s.beats[len(s.beats)-1].clients)/float64(s.settings.max))
	}
	may := s.statusAt(w, at)
	value, _ := got.(float64)
	if slices.Contains(may, "online") && math.Abs(value-busy) <= 0.00005001 || !slices.Equal(may, []string{"online"}) && value == 0 {
		return ""
	}
	return fmt.Sprintf("%v; want %v when online, and it is %v", got, busy, may)
}

// tier is decision N14; tests of speed are far from the limits or just on them.
// Which of several that came in one minute are among the latest six is not
// decided: a device tests its speed far less often.
func (s *modelHotspot) tier(w *world, _ span, got any) string {
	var tests [][]float64
	var came []span
	for i, b := range s.beats {
		if b.speed != nil {
			tests, came = append(tests, b.speed), append(came, w.beats[s.name][i])
		}
	}
	if past := len(tests) - 6; past > 0 {
		if came[past-1].to.Truncate(time.Minute).Equal(came[past].from.Truncate(time.Minute)) || came[past-1].to.After(came[past].from) {
			return oneOf(got, []string{"standard", "enhanced", "premium"})
		}
		tests = tests[past:]
	}
	return oneOf(got, []string{tierOf(tests)})
}

func tierOf(tests [][]float64) string {
	if len(tests) < 2 {
		return "standard"
	}
	var mean [3]float64
	for _, one := range tests {
		for i := range mean {
			mean[i] += one[i] / float64(len(tests))
		}
	}
	reaches := func(down, up, latency float64) bool {
		return mean[0] >= down-1e-9 && mean[1] >= up-1e-9 && mean[2] < latency-1e-9
	}
	switch {
	case reaches(100, 10, 50):
		return "premium"
	case reaches(50, 5, 75):
		return "enhanced"
	}
	return "standard"
}

// quality is decision N14, by the median of what was measured.
func (s *modelHotspot) quality(_ *world, _ span, got any) string {
	var measured []float64
	for _, b := range s.beats {
		if dbm, is := b.rssi.(float64); is {
			measured = append(measured, dbm)
		}
	}
	if len(measured) == 0 {
		return oneOf(got, []string{"unknown"})
	}
	slices.Sort(measured)
	middle := len(measured) / 2
	return oneOf(got, []string{quality(measured[middle]), quality(measured[(len(measured)-1)/2])})
}

func quality(dbm float64) string {
	switch {
	case dbm >= -55:
		return "excellent"
	case dbm >= -67:
		return "good"
	case dbm >= -75:
		return "fair"
	}
	return "poor"
}

// carried is the bytes of all boots: counters only grow, so the last says all.
func (s *modelHotspot) carried() (bytes int) {
	highest := map[string]int{}
	for _, b := range s.beats {
		highest[b.boot] = max(highest[b.boot], b.rx+b.tx)
	}
	for _, n := range highest {
		bytes += n
	}
	return bytes
}

// mostClients is the most that were connected at once.
func (s *modelHotspot) mostClients() (most int) {
	for _, b := range s.beats {
		most = max(most, b.clients)
	}
	return most
}

// uptime is decision N16; the minutes are the clock's.
func (s *modelHotspot) uptime(_ *world, _ span, got any) string {
	share, is := got.(float64)
	if !is || share < 0 || share > 1 || share > 0 && !s.inService {
		return fmt.Sprintf("%v; in service: %v", got, s.inService)
	}
	return ""
}

// connections is decision D101: of each hour, the most clients at once. Where the
// clock does not tell the hour of a beat, it is between the most and the sum.
func (s *modelHotspot) connections(w *world, _ span, got any) string {
	hours, all, certain := map[int64]int{}, 0, true
	for i, b := range s.beats {
		at := w.beats[s.name][i]
		hour := at.from.Unix() / 3600
		certain = certain && hour == at.to.Unix()/3600
		hours[hour] = max(hours[hour], b.clients)
		all += b.clients
	}
	sum := 0
	for _, most := range hours {
		sum += most
	}
	value, _ := got.(float64)
	if certain && int(value) == sum || !certain && int(value) >= s.mostClients() && int(value) <= all {
		return ""
	}
	return fmt.Sprintf("%v; want %d", got, sum)
}

func (s *modelHotspot) gigabytes(_ *world, _ span, got any) string {
	if value, is := got.(float64); !is || math.Round(value*1e9) != float64(s.carried()) {
		return fmt.Sprintf("%v; want %d bytes", got, s.carried())
	}
	return ""
}

// lastRepeated is when the last beat that was repeated came, to the minute.
func (s *modelHotspot) lastRepeated(w *world, _ span, got any) string {
	at := w.repeats[s.name]
	return within(got, span{at.from.Truncate(time.Minute), at.to})
}

func (s *modelHotspot) lastSeen(w *world, _ span, got any) string {
	if len(s.beats) == 0 {
		if got != nil {
			return fmt.Sprintf("%v; want null", got)
		}
		return ""
	}
	return within(got, w.beats[s.name][len(s.beats)-1])
}
