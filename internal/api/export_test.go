package api

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

// None of these tests is about the deadline of a request, and a machine may be slow.
func init() { patience, quotaPatience = 5*time.Minute, 5*time.Minute }

// ReadBodies decodes a body in each of the ways that the interface knows, and
// gives what was wrong each time.
func ReadBodies(body string) []error {
	request := func() (http.ResponseWriter, *http.Request) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		return httptest.NewRecorder(), r
	}
	a := &API{now: func() time.Time { return time.Unix(0, 0) }}
	registration, err1 := decodeRegistration(request())
	if err1 == nil {
		_, err1 = registration.Form.Validate("hs_1", "usr_1", time.Time{})
	}
	change, err2 := fromBody(decodeChange)(request())
	if err2 == nil {
		err2 = change.Patch.Validate()
	}
	_, err3 := fromBody(a.decodeCreation)(request())
	verification, err4 := fromBody(decodeVerification)(request())
	if err4 == nil {
		_, err4 = verification.Form.Validate()
	}
	_, _, err5 := decodeLink(request())
	_, err6 := new(beatRoom).decode(request())
	_, err7 := fromBody(decodeWhatIf)(request())
	return []error{err1, err2, err3, err4, err5, err6, err7}
}

// ScanBeat reads a heartbeat the quick way, if it can.
func ScanBeat(body string) (beacon.Heartbeat, bool) {
	var form beacon.HeartbeatForm
	if !scanBeat([]byte(body), &form) {
		return beacon.Heartbeat{}, false
	}
	beat, err := form.Validate()
	return beat, err == nil
}

// ReadBeat reads a heartbeat as the server does.
func ReadBeat(body string, header http.Header) (beacon.Heartbeat, error) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header = header
	return new(beatRoom).read(httptest.NewRecorder(), r)
}

// ScanNumber reads a number the quick way, if it can and nothing follows.
func ScanNumber(text string) (float64, bool) {
	var to beacon.Opt[float64]
	s := scanner{rest: []byte(text)}
	ok := s.number(&to)
	return to.V, ok && len(s.rest) == 0
}

// BeatReader reads heartbeats one after the other in the same memory, each as if
// its body were to be so long.
func BeatReader() func(body string, length int) (beacon.Heartbeat, error) {
	room := new(beatRoom)
	return func(body string, length int) (beacon.Heartbeat, error) {
		r := httptest.NewRequest(http.MethodPost, "/", io.NopCloser(strings.NewReader(body)))
		r.Header.Set("Content-Type", "application/json")
		r.ContentLength = int64(length)
		return room.read(httptest.NewRecorder(), r)
	}
}

// ReportReader reads heartbeats one after the other in the same memory, and returns what
// each holds besides: whether it has a report, and how many of its fields are ignored.
func ReportReader() func(body string) (reports bool, ignored int) {
	room := new(beatRoom)
	return func(body string) (reports bool, ignored int) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		_, _ = room.read(httptest.NewRecorder(), r)
		return room.reports, room.ignored.count
	}
}

// DecodeBeat reads a heartbeat by the general reader.
func DecodeBeat(body string, header http.Header) (beacon.Heartbeat, error) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header = header
	return new(beatRoom).decode(httptest.NewRecorder(), r)
}

// SetNamesARequest changes how many names are as much work as a request.
func (a *API) SetNamesARequest(n int) { a.namesARequest = n }

// SetPatience changes how often a stream says that it is alive, and how long it
// waits for a reader.
func (a *API) SetPatience(pulse, reader time.Duration) { a.pulse, a.readerTime = pulse, reader }

// ShareOf writes a share as answers do.
func ShareOf(part, whole int) string { return Fraction(int(shareOf(part, whole))) }

// Listeners tells how many listen to events.
func (a *API) Listeners() int {
	a.listeners.mu.Lock()
	defer a.listeners.mu.Unlock()
	return a.listeners.all
}

// Crowd takes up places of listeners, or gives them back.
func (a *API) Crowd(n int) {
	a.listeners.mu.Lock()
	defer a.listeners.mu.Unlock()
	a.listeners.all += n
}

// AppendEvent writes an event as streams do.
var AppendEvent = appendEvent

// Fraction and Gigabytes write numbers as answers do.
func Fraction(tenThousand int) string { return string(appendTenThousandths(nil, tenThousand)) }

// Gigabytes writes a number of bytes.
func Gigabytes(bytes uint64) string {
	text, err := gigabytes(bytes).MarshalJSON()
	if err != nil {
		panic(err)
	}
	return string(text)
}

// AppendFacts writes facts as nearby answers do.
var AppendFacts = appendFacts

// MaxListeners and MaxPerKey are how many may listen.
const (
	MaxListeners = maxListeners
	MaxPerKey    = maxPerKey
)

// ParseNumber reads a query parameter between two bounds.
func ParseNumber(text string, least, most float64) (n float64, fields []beacon.FieldError) {
	q, err := newQuery(&http.Request{URL: &url.URL{RawQuery: url.Values{"n": {text}}.Encode()}})
	if err != nil {
		panic(err) // it was encoded just now
	}
	n = q.number("n", least, most, -1)
	if e, ok := q.faults.Err().(*beacon.Error); ok {
		return 0, e.Fields
	}
	return n, nil
}

// Versions reads If-Match headers.
func Versions(lines ...string) []int64 {
	return ifMatch(&http.Request{Header: http.Header{"If-Match": lines}})
}

// TagOf gives the entity tag of a version.
var TagOf = tagOf

// WantsCSV decides between JSON and a table by Accept headers.
func WantsCSV(accept ...string) bool {
	return wants(&http.Request{Header: http.Header{"Accept": accept}}, asCSV)
}

// WantsGeoJSON decides between JSON and GeoJSON.
func WantsGeoJSON(accept ...string) bool {
	return wants(&http.Request{Header: http.Header{"Accept": accept}}, asGeoJSON)
}

// TileOf reads the path of a tile.
func TileOf(z, x, file string) (tile fleet.Tile, ok bool) { return tileOf(z, x, file) }

// Coverage answers a query about a fleet, in both forms.
func Coverage(f *fleet.Fleet, rawQuery string, now time.Time) (plain, features []byte, err error) {
	in, err := decodeCoverage(&http.Request{URL: &url.URL{RawQuery: rawQuery}})
	if err != nil {
		return nil, nil, err
	}
	s := f.Survey(in.box, in.zoom, now)
	return appendCoverage(nil, in.box, s, meta{}), appendCoverageFeatures(nil, in.box, s, meta{}), nil
}

// Km2 writes an area, and what is left of it without another.
func Km2(area, without float64) (whole, rest string) {
	return string(appendKm2(nil, km2Of(area))), string(appendKm2(nil, km2Of(area).minus(km2Of(without))))
}

// Degrees writes an angle of a cluster.
func Degrees(degrees float64) string { return string(appendDegrees(nil, degrees)) }

// Cell writes a text as it stands in a table.
var Cell = quotedCell

// Score writes how much of some minutes was served.
func Score(served, expected int64) string { return scoreOf(served, expected).String() }

// SetReaderTime changes how long readers of a statement may take for a piece.
func (a *API) SetReaderTime(patience time.Duration) { a.readerTime = patience }

// SetGrace changes how long a statement may go on when the server stops.
func (a *API) SetGrace(grace time.Duration) { a.grace = grace }

// StatementReaders tells how many read a statement.
func (a *API) StatementReaders() int {
	a.statements.mu.Lock()
	defer a.statements.mu.Unlock()
	return a.statements.all
}

// MaxStatements and MaxStatementsAKey are how many may read a statement.
const (
	MaxStatements     = maxStatements
	MaxStatementsAKey = maxStatementsAKey
)

// ReadQueries decodes a query in each of the ways that the interface knows: what
// was asked of nearby, of events and of a history, and what was wrong each time.
func ReadQueries(raw string, now time.Time) (nearby fleet.NearbyQuery, after int64, steps telemetry.HistoryQuery, errs map[string]error) {
	a := &API{now: func() time.Time { return now }}
	r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/", RawQuery: raw}, Header: http.Header{}}
	errs = map[string]error{}
	nearby, errs["nearby"] = decodeNearby(r)
	after, errs["events"] = fromQuery(decodeAfter)(nil, r)
	steps, errs["history"] = fromQuery(a.decodeHistory)(nil, r)
	_, errs["owned"] = fromQuery(decodeOwned)(nil, r)
	_, errs["keys"] = fromQuery(decodeListing)(nil, r)
	_, errs["summary"] = fromQuery(decodeSummary)(nil, r)
	_, errs["months"] = fromQuery(a.decodeMonths)(nil, r)
	_, errs["explain"] = fromQuery(decodeExplain)(nil, r)
	return nearby, after, steps, errs
}

func metaAt(now time.Time) meta { return meta{RequestID: "req_1", Timestamp: stamp(now)} }

// NearbyBody encodes a nearby response.
func NearbyBody(out []byte, hits []fleet.Hit, now time.Time) []byte {
	return appendNearby(out, hits, metaAt(now))
}

// NearbyFeatures is NearbyBody as GeoJSON.
func NearbyFeatures(out []byte, hits []fleet.Hit, now time.Time) []byte {
	return appendNearbyFeatures(out, hits, metaAt(now))
}

// ListBody encodes a list of one hotspot.
func ListBody(s *fleet.Hotspot, now time.Time) []byte {
	page := beacon.Listed[*fleet.Hotspot]{Items: []*fleet.Hotspot{s}, Total: 1, Page: beacon.Page{Number: 1, Size: 1}}
	return appendList(nil, page, metaAt(now))
}

// MapItem encodes a hotspot that is pending as coverage responses do.
func MapItem(s *fleet.Hotspot, now time.Time) []byte {
	return appendMark(nil, fleet.MapItem{Hotspot: s, Status: beacon.Pending}, now)
}

// MapFeature is MapItem as GeoJSON.
func MapFeature(s *fleet.Hotspot, now time.Time) []byte {
	survey := fleet.Survey{Items: fleet.Items{Marks: []fleet.MapItem{{Hotspot: s, Status: beacon.Pending}}}}
	body := appendCoverageFeatures(nil, geo.Box{}, survey, meta{Timestamp: stamp(now)})
	_, features, _ := bytes.Cut(body, []byte(`"features":[`))
	feature, _, _ := bytes.Cut(features, []byte(`],"meta"`))
	return feature
}

// NewRatePolicy returns what formats the header RateLimit.
func NewRatePolicy(name string, l ratelimit.Limit) func(d ratelimit.Decision, seconds int) string {
	p := newRatePolicy(name, l)
	return func(d ratelimit.Decision, seconds int) string {
		h := http.Header{}
		p.show(h, d, seconds)
		sent := "RateLimit" // as it is spelled in the draft, which is not how Go would
		return h[sent][0]
	}
}

// NewSpend returns what counts a request of a key.
func NewSpend(l ratelimit.Limit) func(http.Header, beacon.Principal) {
	limits := newLimiters(Limits{PerKey: l})
	return func(h http.Header, p beacon.Principal) { _ = limits.spend(h, p, time.Now()) }
}
