package api

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/accounts"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/api/fragments"
	"github.com/beacon-wifi/beacon/internal/api/hotspots"
	"github.com/beacon-wifi/beacon/internal/api/maps"
	"github.com/beacon-wifi/beacon/internal/api/network"
	"github.com/beacon-wifi/beacon/internal/api/payments"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

// SetDeadlines gives requests time: no test but those of a fault is about their deadline,
// and a machine may be slow.
func (a *API) SetDeadlines(d time.Duration) { a.Patience, a.QuotaPatience = d, d }

// ReadBodies decodes a body in each of the ways that the interface knows, and
// gives what was wrong each time.
func ReadBodies(body string) []error {
	request := func() (http.ResponseWriter, *http.Request) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		return httptest.NewRecorder(), r
	}
	shared := &edge.Edge{Now: func() time.Time { return time.Unix(0, 0) }}
	registration, err1 := edge.FromBody(hotspots.DecodeRegistration)(request())
	if err1 == nil {
		_, err1 = registration.Validate("hs_1", "usr_1", time.Time{})
	}
	change, err2 := edge.FromBody(hotspots.DecodeChange)(request())
	if err2 == nil {
		err2 = change.Patch.Validate()
	}
	_, err3 := edge.FromBody((&accounts.API{Edge: shared}).DecodeCreation)(request())
	verification, err4 := edge.FromBody(hotspots.DecodeVerification)(request())
	if err4 == nil {
		_, err4 = verification.Form.Validate()
	}
	_, _, err5 := hotspots.DecodeLink(request())
	_, err6 := new(hotspots.BeatBuffer).Decode(request())
	_, err7 := edge.FromBody(maps.DecodeWhatIf)(request())
	return []error{err1, err2, err3, err4, err5, err6, err7}
}

// ScanBeat reads a heartbeat the quick way, if it can.
func ScanBeat(body string) (beacon.Heartbeat, bool) {
	var form beacon.HeartbeatForm
	if !hotspots.ScanBeat([]byte(body), &form) {
		return beacon.Heartbeat{}, false
	}
	beat, err := form.Validate()
	return beat, err == nil
}

// ReadBeat reads a heartbeat as the server does.
func ReadBeat(body string, header http.Header) (beacon.Heartbeat, error) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header = header
	return new(hotspots.BeatBuffer).Read(httptest.NewRecorder(), r)
}

// ScanNumber reads a number the quick way, if it can and nothing follows.
func ScanNumber(text string) (float64, bool) {
	var to beacon.Opt[float64]
	s := hotspots.Scanner{Rest: []byte(text)}
	ok := s.Number(&to)
	return to.V, ok && len(s.Rest) == 0
}

// BeatReader reads heartbeats one after the other in the same memory, each as if
// its body were to be so long.
func BeatReader() func(body string, length int) (beacon.Heartbeat, error) {
	buffer := new(hotspots.BeatBuffer)
	return func(body string, length int) (beacon.Heartbeat, error) {
		r := httptest.NewRequest(http.MethodPost, "/", io.NopCloser(strings.NewReader(body)))
		r.Header.Set("Content-Type", "application/json")
		r.ContentLength = int64(length)
		return buffer.Read(httptest.NewRecorder(), r)
	}
}

// ReportReader reads heartbeats one after the other in the same memory, and returns what
// each holds besides: whether it has a report, and how many of its fields are ignored.
func ReportReader() func(body string) (reports bool, ignored int) {
	buffer := new(hotspots.BeatBuffer)
	return func(body string) (reports bool, ignored int) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		_, _ = buffer.Read(httptest.NewRecorder(), r)
		return buffer.Reports(), buffer.Ignored.Count
	}
}

// DecodeBeat reads a heartbeat by the general reader.
func DecodeBeat(body string, header http.Header) (beacon.Heartbeat, error) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header = header
	return new(hotspots.BeatBuffer).Decode(httptest.NewRecorder(), r)
}

// SetNamesARequest changes how many names are as much work as a request.
func (a *API) SetNamesARequest(n int) { a.Hotspots.NamesARequest = n }

// SetPatience changes how often a stream says that it is alive, and how long it
// waits for a reader.
func (a *API) SetPatience(pulse, reader time.Duration) { a.Network.Pulse, a.ReaderTime = pulse, reader }

// ShareOf writes a share as answers do.
func ShareOf(part, whole int) string { return Fraction(int(edge.ShareOf(part, whole))) }

// Listeners tells how many listen to events.
func (a *API) Listeners() int {
	a.Network.Listeners.Mu.Lock()
	defer a.Network.Listeners.Mu.Unlock()
	return a.Network.Listeners.All
}

// Crowd takes up places of listeners, or gives them back.
func (a *API) Crowd(n int) {
	a.Network.Listeners.Mu.Lock()
	defer a.Network.Listeners.Mu.Unlock()
	a.Network.Listeners.All += n
}

// AppendEvent writes an event as streams do.
var AppendEvent = network.AppendEvent

// Fraction and Gigabytes write numbers as answers do.
func Fraction(tenThousand int) string { return string(edge.AppendTenThousandths(nil, tenThousand)) }

// Gigabytes writes a number of bytes.
func Gigabytes(bytes uint64) string { return client.Gigabytes(bytes).String() }

// AppendFacts writes facts as nearby answers do.
var AppendFacts = fragments.AppendFacts

// MaxListeners and MaxPerKey are how many may listen.
const (
	MaxListeners = network.MaxListeners
	MaxPerKey    = network.MaxPerKey
)

// ParseNumber reads a query parameter between two bounds.
func ParseNumber(text string, least, most float64) (n float64, fields []beacon.FieldError) {
	q, err := edge.NewQuery(&http.Request{URL: &url.URL{RawQuery: url.Values{"n": {text}}.Encode()}})
	if err != nil {
		panic(err) // it was encoded just now
	}
	n = q.Number("n", least, most, -1)
	if e, ok := q.Faults.Err().(*beacon.Error); ok {
		return 0, e.Fields
	}
	return n, nil
}

// Versions reads If-Match headers.
func Versions(lines ...string) []int64 {
	return hotspots.IfMatch(&http.Request{Header: http.Header{"If-Match": lines}})
}

// TagOf gives the entity tag of a version.
var TagOf = hotspots.TagOf

// WantsCSV decides between JSON and a table by Accept headers.
func WantsCSV(accept ...string) bool {
	return edge.Wants(&http.Request{Header: http.Header{"Accept": accept}}, edge.AsCSV)
}

// WantsGeoJSON decides between JSON and GeoJSON.
func WantsGeoJSON(accept ...string) bool {
	return edge.Wants(&http.Request{Header: http.Header{"Accept": accept}}, edge.AsGeoJSON)
}

// TileOf reads the path of a tile.
func TileOf(z, x, file string) (tile fleet.Tile, ok bool) { return maps.TileOf(z, x, file) }

// Coverage answers a query about a fleet, in both forms.
func Coverage(f *fleet.Fleet, rawQuery string, now time.Time) (plain, features []byte, err error) {
	in, err := maps.DecodeCoverage(&http.Request{URL: &url.URL{RawQuery: rawQuery}})
	if err != nil {
		return nil, nil, err
	}
	s := f.Survey(in.Box, in.Zoom, now)
	return maps.AppendCoverage(nil, in.Box, s, client.Meta{}), maps.AppendCoverageFeatures(nil, in.Box, s, client.Meta{}), nil
}

// Km2 writes an area, and what is left of it without another.
func Km2(area, without float64) (whole, rest string) {
	return string(edge.AppendKm2(nil, edge.Km2Of(area))), string(edge.AppendKm2(nil, edge.Km2Of(area).Minus(edge.Km2Of(without))))
}

// Degrees writes an angle of a cluster.
func Degrees(degrees float64) string { return string(maps.AppendDegrees(nil, degrees)) }

// Cell writes a text as it stands in a table.
var Cell = edge.QuotedCell

// Score writes how much of some minutes was served.
func Score(served, expected int64) string { return edge.ScoreOf(served, expected).String() }

// SetReaderTime changes how long readers of a statement may take for a piece.
func (a *API) SetReaderTime(patience time.Duration) { a.ReaderTime = patience }

// SetGrace changes how long a statement may go on when the server stops.
func (a *API) SetGrace(grace time.Duration) { a.Grace = grace }

// StatementReaders tells how many read a statement.
func (a *API) StatementReaders() int {
	a.Payments.Statements.Mu.Lock()
	defer a.Payments.Statements.Mu.Unlock()
	return a.Payments.Statements.All
}

// MaxStatements and MaxStatementsAKey are how many may read a statement.
const (
	MaxStatements     = payments.MaxStatements
	MaxStatementsAKey = payments.MaxStatementsAKey
)

// ReadQueries decodes a query in each of the ways that the interface knows: what
// was asked of nearby, of events and of a history, and what was wrong each time.
func ReadQueries(raw string, now time.Time) (nearby fleet.NearbyQuery, after int64, steps telemetry.HistoryQuery, errs map[string]error) {
	shared := &edge.Edge{Now: func() time.Time { return now }}
	r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/", RawQuery: raw}, Header: http.Header{}}
	errs = map[string]error{}
	nearby, errs["nearby"] = hotspots.DecodeNearby(r)
	after, errs["events"] = edge.FromQuery(network.DecodeAfter)(nil, r)
	steps, errs["history"] = edge.FromQuery((&hotspots.API{Edge: shared}).DecodeHistory)(nil, r)
	_, errs["owned"] = edge.FromQuery(hotspots.DecodeOwned)(nil, r)
	_, errs["keys"] = edge.FromQuery(accounts.DecodeListing)(nil, r)
	_, errs["summary"] = edge.FromQuery(payments.DecodeSummary)(nil, r)
	_, errs["months"] = edge.FromQuery((&payments.API{Edge: shared}).DecodeMonths)(nil, r)
	_, errs["explain"] = edge.FromQuery(payments.DecodeExplain)(nil, r)
	return nearby, after, steps, errs
}

func metaAt(now time.Time) client.Meta { return client.Meta{RequestID: "req_1", Timestamp: now} }

// NearbyBody encodes a nearby response.
func NearbyBody(out []byte, hits []fleet.Hit, now time.Time) []byte {
	return hotspots.AppendNearby(out, hits, metaAt(now))
}

// NearbyFeatures is NearbyBody as GeoJSON.
func NearbyFeatures(out []byte, hits []fleet.Hit, now time.Time) []byte {
	return hotspots.AppendNearbyFeatures(out, hits, metaAt(now))
}

// ListBody encodes a list of one hotspot.
func ListBody(s *fleet.Hotspot, now time.Time) []byte {
	page := beacon.Listed[*fleet.Hotspot]{Items: []*fleet.Hotspot{s}, Total: 1, Page: beacon.Page{Number: 1, Size: 1}}
	return hotspots.AppendList(nil, page, metaAt(now), true)
}

// BeatBodies encodes responses to heartbeats: to one that counts, and to one with all there
// is to say.
func BeatBodies(now time.Time) [][]byte {
	odd := beacon.Taken{Status: beacon.Online, Why: beacon.Repeated, Fell: true}
	return [][]byte{
		hotspots.AppendBeat(nil, beacon.Taken{Status: beacon.Online}, nil, metaAt(now)),
		hotspots.AppendBeat(nil, odd, []string{"a", "b"}, metaAt(now)),
	}
}

// MapItem encodes a hotspot that is pending as coverage responses do.
func MapItem(s *fleet.Hotspot, now time.Time) []byte {
	return maps.AppendMark(nil, fleet.MapItem{Hotspot: s, Status: beacon.Pending}, now)
}

// MapFeature is MapItem as GeoJSON.
func MapFeature(s *fleet.Hotspot, now time.Time) []byte {
	survey := fleet.Survey{Items: fleet.Items{Marks: []fleet.MapItem{{Hotspot: s, Status: beacon.Pending}}}}
	body := maps.AppendCoverageFeatures(nil, geo.Box{}, survey, client.Meta{Timestamp: now})
	_, features, _ := bytes.Cut(body, []byte(`"features":[`))
	feature, _, _ := bytes.Cut(features, []byte(`],"meta"`))
	return feature
}

// NewRatePolicy returns what formats the header RateLimit.
func NewRatePolicy(name string, l ratelimit.Limit) func(d ratelimit.Decision, seconds int) string {
	p := edge.NewRatePolicy(name, l)
	return func(d ratelimit.Decision, seconds int) string {
		h := http.Header{}
		p.Show(h, d, seconds)
		sent := "RateLimit" // as it is spelled in the draft, which is not how Go would
		return h[sent][0]
	}
}

// NewSpend returns what counts a request of a key.
func NewSpend(l ratelimit.Limit) func(http.Header, beacon.Principal) {
	limits := edge.NewLimiters(edge.Limits{PerKey: l})
	return func(h http.Header, p beacon.Principal) { _ = limits.Spend(h, p, time.Now()) }
}
