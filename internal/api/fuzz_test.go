package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/api/fragments"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/node"
)

// Whatever a body holds, reading it ends in a value or in a fault of the
// client's, with each field named once.
func FuzzReadBodies(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"a":{"b":[1,{"c":null}]}}`, registration(1), readingRoom, `{"scopes":["admin",1,null,{}],"expires_at":"2027-01-01T00:00:00Z"}`,
		`{"name":1e999,"location":{"lat":-0,"lng":1E+2},"device":[{}]}`, `{"settings":{"operating_hours":{"weekly":[1,{"days":[[]]}],"exceptions":{}}}}`,
		`{"":{"":{"":{}}},"0":[0],"a.b":1,"a[0]":1}`, "{\"\\u0000\":\"\\ud83d\\ude00\"}", `{"a":1,"a":2}`, strings.Repeat(`{"a":`, 20), "{\"\xff\":1}",
		`{"settings":{"operating_hours":{"timezone":"UTC","weekly":[],"exceptions":[{"date":"2026-12-25","closed":false,"open":7}]}}}`,
		`{"bounds":{"north":1,"south":2,"east":180,"west":-180},"add":[{"lat":1,"lng":1,"radius_m":10},{"lat":null},7]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for i, err := range api.ReadBodies(body) {
			if err == nil {
				continue
			}
			e, ok := errors.AsType[*beacon.Error](err)
			if !ok || e.Message == "" || !slices.Contains([]beacon.Kind{beacon.InvalidRequest, beacon.MissingParameter, beacon.TooLarge}, e.Kind) {
				t.Fatalf("reader %d: %q gives %#v", i, body, err)
			}
			seen := map[string]bool{}
			for _, field := range e.Fields {
				if seen[field.Field] || field.Message == "" || !utf8.ValidString(field.Field) {
					t.Errorf("reader %d: %q names %q twice, without a message or badly: %v", i, body, field.Field, e.Fields)
				}
				seen[field.Field] = true
			}
		}
	})
}

// isDecimal is the grammar of numbers once more, by another road than the code's.
func isDecimal(text string) bool {
	digits := func() (n int) {
		for ; text != "" && text[0] >= '0' && text[0] <= '9'; n++ {
			text = text[1:]
		}
		return n
	}
	if text != "" && (text[0] == '+' || text[0] == '-') {
		text = text[1:]
	}
	n := digits()
	if strings.HasPrefix(text, ".") {
		text = text[1:]
		n += digits()
	}
	if n == 0 {
		return false
	}
	if text != "" && (text[0] == 'e' || text[0] == 'E') {
		text = text[1:]
		if text != "" && (text[0] == '+' || text[0] == '-') {
			text = text[1:]
		}
		if digits() == 0 {
			return false
		}
	}
	return text == ""
}

// A number in a query is a decimal one within its bounds, or a fault.
func FuzzParseNumber(f *testing.F) {
	for _, seed := range []string{
		"0", "-0", "90", "90.0000001", "-90", "1e400", "-1e-400", "NaN", "Inf", "0x10", "1_0", " 40", "４０", ".5", "5.", ".", "+1", "1e", "", "4.07e1", "00090", "9e1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const least, most = -90, 90
		got, faults := api.ParseNumber(text, least, most)
		if exponent := strings.IndexAny(text, "eE"); exponent >= 0 && len(text)-exponent > 5 {
			return // big.Float would take for ever
		}
		exact, _, err := big.ParseFloat(text, 10, 2000, big.ToNearestEven)
		want := 0.
		valid := isDecimal(text) && err == nil
		if valid {
			want, _ = exact.Float64()
			valid = want >= least && want <= most
		}
		if valid != (len(faults) == 0) || valid && got != want || len(faults) > 1 {
			t.Errorf("%q gives %v, %v; want %v, valid: %t", text, got, faults, want, valid)
		}
	})
}

// Only our own tags name a version, each one version.
func FuzzVersions(f *testing.F) {
	for _, seed := range []string{`"v1"`, `"v01"`, `W/"v1"`, `"v-1"`, `*`, `"v1","v2"`, ``, `,`, `"v9223372036854775808"`, `"v+1"`, ` "v7" `, `"a*"`, `"v1" *`} {
		f.Add(seed)
	}
	ours := regexp.MustCompile(`^"v(0|-?[1-9][0-9]*)"$`)
	f.Fuzz(func(t *testing.T, line string) {
		got := api.Versions(line)
		var want []int64
		for tag := range strings.SplitSeq(line, ",") {
			tag = strings.TrimSpace(tag)
			if tag == "*" {
				want = nil
				break
			}
			version := int64(-1)
			if m := ours.FindStringSubmatch(tag); m != nil {
				if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
					version = n
				}
			}
			want = append(want, version)
		}
		if !slices.Equal(got, want) {
			t.Errorf("If-Match: %q gives %v; want %v", line, got, want)
		}
		for _, version := range got {
			if again := api.Versions(api.TagOf(version)); len(again) != 1 || again[0] != version {
				t.Errorf("version %d reads back as %v", version, again)
			}
		}
	})
}

// Only tiles that exist have a path, each one path.
func FuzzTilePath(f *testing.F) {
	for _, seed := range [][3]string{
		{"0", "0", "0.mvt"},
		{"22", "4194303", "4194303.mvt"},
		{"23", "0", "0.mvt"},
		{"1", "2", "0.mvt"},
		{"01", "0", "0.mvt"},
		{"1", "-0", "1.mvt"},
		{"", "", ""},
		{"9223372036854775808", "0", ".mvt"},
		{"1", "+1", "1.mvt"},
		{"64", "1", "1.mvt"},
		{"3", "１", "1.mvt"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	whole := regexp.MustCompile(`^(0|[1-9][0-9]{0,6})$`)
	f.Fuzz(func(t *testing.T, z, x, file string) {
		tile, ok := api.TileOf(z, x, file)
		y, named := strings.CutSuffix(file, ".mvt")
		want := named && whole.MatchString(z) && whole.MatchString(x) && whole.MatchString(y)
		if want {
			zoom, _ := strconv.Atoi(z)
			column, _ := strconv.Atoi(x)
			row, _ := strconv.Atoi(y)
			want = zoom <= 22 && float64(column) < math.Exp2(float64(zoom)) && float64(row) < math.Exp2(float64(zoom))
		}
		if ok != want || ok && fmt.Sprintf("%d/%d/%d.mvt", tile.Z, tile.X, tile.Y) != z+"/"+x+"/"+file {
			t.Errorf("%q/%q/%q is %v, %t; want %t", z, x, file, tile, ok, want)
		}
	})
}

// Whatever is asked about coverage, the answer is JSON that adds up, or a fault.
func FuzzCoverage(f *testing.F) {
	for _, seed := range []string{
		"north=41&south=40&east=-73&west=-75", world, world + "&zoom=3.5", "north=10&south=-10&west=179&east=-179&zoom=14", "north=5e-324&south=0&east=5e-324&west=0",
		"north=90&south=89.99999999999999&east=-180&west=179.99999999999997", "north=1&north=2", "north=NaN&south=%zz", "north=1&south=1&east=1&west=1&zoom=-0", ";&=",
		"north=40.70000000000001&south=40.7&east=-74&west=-74.00000000000001", "north=-89.9&south=-90&east=1e-310&west=0",
	} {
		f.Add(seed)
	}
	hotspots := fleet.New(fragments.Summarize)
	if err := hotspots.BuildMap(noon); err != nil {
		f.Fatal(err)
	}
	s := &server{Node: &node.Node{Fleet: hotspots}}
	s.time.Store(noon.UnixMicro())
	s.populate(f, 400, append(grid(90, 40.7, -74, 0.002), geo.Point{Lat: 90}, geo.Point{Lng: 180}, geo.Point{Lat: 0, Lng: 0}, geo.Point{Lat: -90}, geo.Point{Lat: 1})...)
	f.Fuzz(func(t *testing.T, query string) {
		plain, features, err := api.Coverage(hotspots, query, noon)
		if err != nil {
			if e, ok := errors.AsType[*beacon.Error](err); !ok || e.Kind != beacon.InvalidRequest && e.Kind != beacon.MissingParameter {
				t.Fatalf("%q: %v", query, err)
			}
			return
		}
		var answer envelope[covered]
		var collection featureCollection
		if err := errors.Join(json.Unmarshal(plain, &answer), json.Unmarshal(features, &collection)); err != nil {
			t.Fatalf("%q: %v\n%s\n%s", query, err, plain, features)
		}
		got := answer.Data
		count, _ := totals(t, got)
		share := number(t, got.Share)
		if count != *got.Count || !(share >= 0 && share <= 1) || !(number(t, got.AreaKm2) >= 0) || len(got.Hotspots) != len(collection.Features) || len(got.Hotspots) > 1000 {
			t.Errorf("%q: %s", query, plain)
		}
		b := geo.Box{North: got.Bounds.North, South: got.Bounds.South, East: got.Bounds.East, West: got.Bounds.West}
		if !b.Valid() {
			t.Errorf("%q: %+v is no box", query, b)
		}
	})
}
