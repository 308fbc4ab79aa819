package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	shapes "github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/id"
)

// Texts that a careless encoder would cut in the wrong place.
var awkwardTexts = []string{
	"", `"`, `\`, `\"`, "\x00\x1f\u007f", "é日本語🛜", "<&>\u2028\u2029", `,"location":{`, `,"address":`, `},"distance_m":`, "hs_01m7fnpnz4e82rq80k3dn3718h",
	strings.Repeat("\x01", 200), strings.Repeat("ß", 10_000),
}

// Hours that are open at noon, and hours that are closed.
var (
	allWeek    = []beacon.Weekday{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	shopHours  = &beacon.OperatingHours{Timezone: "UTC", Weekly: []beacon.WeeklySpan{{Days: allWeek, Open: 9 * 60, Close: 17 * 60}}}
	nightHours = &beacon.OperatingHours{Timezone: "Europe/Berlin", Weekly: []beacon.WeeklySpan{{Days: allWeek, Open: 22 * 60, Close: 4 * 60}}}
)

// Whatever a hotspot is called and wherever it is, the responses about it are the
// bytes that a plain encoder of one hotspot writes.
func TestSummary_AsPlainEncoder(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	texts := rapid.OneOf(rapid.SampledFrom(awkwardTexts), rapid.String())
	angles := func(most float64) *rapid.Generator[float64] {
		return rapid.OneOf(rapid.SampledFrom([]float64{0, math.Copysign(0, -1), most, -most, 1e-7, 5e-324, -math.SmallestNonzeroFloat64, 40.712345678901234}), rapid.Float64Range(-most, most))
	}
	var version int64
	rapid.Check(t, func(t *rapid.T) {
		version++
		h := beacon.Hotspot{
			ID: beacon.HotspotID(id.New(beacon.HotspotPrefix, noon)), Version: version, CreatedAt: noon,
			Name: texts.Draw(t, "name"), Type: rapid.SampledFrom([]beacon.Type{beacon.Home, beacon.Business, beacon.Public}).Draw(t, "type"),
			Settings: beacon.Settings{MaxConnections: 10, CoverageRadiusM: 50},
		}
		h.Location.Address = texts.Draw(t, "address")
		h.Device.SSID = texts.Draw(t, "ssid")
		h.Settings.OperatingHours = rapid.SampledFrom([]*beacon.OperatingHours{nil, shopHours, nightHours, {Timezone: "UTC"}}).Draw(t, "hours")
		h.Location.Point = geo.Point{Lat: angles(90).Draw(t, "lat"), Lng: angles(180).Draw(t, "lng")}
		if rapid.Bool().Draw(t, "verified") {
			h.Location.VerifiedAt = noon.Add(-time.Hour)
		}
		if err := s.Fleet.Apply(h); err != nil {
			t.Fatal(err)
		}
		hotspot, ok := s.Fleet.Find(h.ID)
		if !ok || hotspot.ID() != string(h.ID) {
			t.Fatalf("the fleet has no %s", h.ID)
		}
		compareWithPlain(t, h, hotspot)
	})
}

func compareWithPlain(t *rapid.T, h beacon.Hotspot, hotspot *fleet.Hotspot) {
	quote := func(text string) string {
		out, err := jsontext.AppendQuote(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	degrees := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	name, address, lat, lng := quote(h.Name), quote(h.Location.Address), degrees(h.Location.Point.Lat), degrees(h.Location.Point.Lng)
	connection := `,"ssid":` + quote(h.Device.SSID) + map[*beacon.OperatingHours]string{
		nil:        `,"open_now":true,"open_until":null`,
		shopHours:  `,"open_now":true,"open_until":"2026-11-15T17:00:00.000Z"`,
		nightHours: `,"open_now":false,"opens_at":"2026-11-15T21:00:00.000Z"`,
	}[h.Settings.OperatingHours]
	if o := h.Settings.OperatingHours; o != nil && o.Weekly == nil {
		connection += `,"open_now":false,"opens_at":null`
	}
	facts := string(api.AppendFacts(nil, hotspot.Condition(noon)))
	const meta = `"meta":{"request_id":"req_1","timestamp":"2026-11-15T12:00:00.000Z"}}` + "\n"
	hits := []fleet.Hit{{Item: hotspot, Meters: 12.34}, {Item: hotspot, Meters: 5}}
	inNearby := func(meters string) string {
		return fmt.Sprintf(`{"id":"%s","name":%s,"type":"%s","location":{"lat":%s,"lng":%s,"address":%s},"distance_m":%s%s%s`, h.ID, name, h.Type, lat, lng, address, meters, connection, facts)
	}
	feature := func(meters string) string {
		return fmt.Sprintf(`{"type":"Feature","id":"%s","geometry":{"type":"Point","coordinates":[%s,%s]},"properties":{"id":"%s","name":%s,"type":"%s","address":%s,"distance_m":%s%s%s}`,
			h.ID, lng, lat, h.ID, name, h.Type, address, meters, connection, facts)
	}
	created, _ := id.Parse(beacon.HotspotPrefix, string(h.ID))
	listed := fmt.Sprintf(`{"id":"%s","name":%s,"type":"%s","location":{"lat":%s,"lng":%s,"address":%s,"verified":%t},"device":{"linked":false},"created_at":"%s"%s`,
		h.ID, name, h.Type, lat, lng, address, !h.Location.VerifiedAt.IsZero(), created.Time().UTC().Format("2006-01-02T15:04:05.000Z"), facts)
	for _, tc := range []struct{ name, got, want string }{
		{"nearby", string(api.NearbyBody(nil, hits, noon)), `{"data":[` + inNearby("12.3") + "," + inNearby("5") + "]," + meta},
		{"GeoJSON", string(api.NearbyFeatures(nil, hits, noon)), `{"type":"FeatureCollection","features":[` + feature("12.3") + "," + feature("5") + "]," + meta},
		{"list", string(api.ListBody(hotspot, noon)), `{"data":[` + listed + `],"pagination":{"page":1,"per_page":1,"total":1,"total_pages":1,"next":null},` + meta},
		{"map", string(api.MapItem(hotspot, noon)), fmt.Sprintf(`"id":"%s","lat":%s,"lng":%s,"radius_m":50,"status":"pending"%s`, h.ID, lat, lng, connection)},
		{
			"map feature", string(api.MapFeature(hotspot, noon)),
			fmt.Sprintf(`{"type":"Feature","id":"%s","geometry":{"type":"Point","coordinates":[%s,%s]},"properties":{"id":"%s","radius_m":50,"status":"pending"%s}}`, h.ID, lng, lat, h.ID, connection),
		},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	sameShape[shapes.Envelope[[]shapes.HotspotSummary]](t, api.NearbyBody(nil, hits, noon))
	sameShape[shapes.Envelope[[]shapes.HotspotListed]](t, api.ListBody(hotspot, noon))
	sameShape[shapes.CoverageItem](t, slices.Concat([]byte("{"), api.MapItem(hotspot, noon), []byte("}")))
}

// sameShape checks that JSON which is written by hand has the members of a type of package
// client, and no others.
func sameShape[T any](t interface{ Fatalf(string, ...any) }, text []byte) {
	var shape T
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&shape); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	encoded, err := edge.EncodeJSON(shape)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var want, got any
	if err := errors.Join(json.Unmarshal(encoded, &want), json.Unmarshal(text, &got)); err != nil {
		t.Fatalf("%v", err)
	}
	if diff := cmp.Diff(withoutNulls(want), withoutNulls(got)); diff != "" {
		t.Fatalf("a %T (-encoded from the type +written by hand):\n%s", shape, diff)
	}
}

// withoutNulls drops members that are null: a client does not tell them from absent ones.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, member any) bool { return withoutNulls(member) == nil })
	case []any:
		for _, element := range v {
			withoutNulls(element)
		}
	}
	return v
}

// The responses to devices and the events are written by hand, too.
func TestHandWritten_HaveTheShapesOfTheClient(t *testing.T) {
	for _, body := range api.BeatBodies(noon) {
		sameShape[shapes.Envelope[shapes.HeartbeatTaken]](t, body)
	}
	for _, e := range []beacon.Event{
		{Seq: 123, Kind: "hotspot.online", Target: "hs_1", User: "usr_1", At: noon},
		{Seq: 124, Kind: "rewards.settled", Target: "2026-10", User: "usr_1", At: noon},
	} {
		_, data, _ := bytes.Cut(api.AppendEvent(nil, e), []byte("data: "))
		sameShape[shapes.Event](t, data)
	}
}
