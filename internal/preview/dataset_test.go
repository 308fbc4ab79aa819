package preview_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The composition that the document promises. Every count is derived from what
// the server sends.
func TestDataset_Composition(t *testing.T) {
	records := start(t).all(t)
	outlines := readOutlines(t)
	count := map[string]map[string]int{"risk": {}, "network": {}, "security": {}, "region": {}}
	for _, h := range records {
		count["risk"][h.Risk]++
		count["network"][h.Network]++
		count["security"][h.Security]++
		count["region"][outlines.boroughOf(h.Lat, h.Lng)]++
	}
	want := map[string]map[string]int{
		"risk":     {"Low": 54, "Medium": 19, "High": 5},
		"network":  {"WiFi 5": 42, "WiFi 6": 29, "WiFi 6E": 7},
		"security": {"WPA2": 39, "WPA3": 31, "Open": 5, "WPA3-Enterprise": 3},
		"region":   {"Manhattan": 42, "Brooklyn": 20, "Queens": 10, "Bronx": 6},
	}
	for field := range want {
		if !maps.Equal(count[field], want[field]) {
			t.Errorf("%s: %v; want %v", field, count[field], want[field])
		}
	}
}

// Each record stands at a place of the city's own list, in the borough that the
// list gives, and no two at the same one.
func TestDataset_RealPlaces(t *testing.T) {
	file, err := os.Open("testdata/places.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	boroughAt := map[[2]float64]string{}
	for _, row := range rows[1:] {
		lat, _ := strconv.ParseFloat(row[5], 64)
		lng, _ := strconv.ParseFloat(row[6], 64)
		boroughAt[[2]float64{lat, lng}] = row[1]
	}
	outlines := readOutlines(t)
	taken := map[[2]float64]int{}
	for _, h := range start(t).all(t) {
		at := [2]float64{h.Lat, h.Lng}
		if boroughAt[at] == "" {
			t.Errorf("record %d stands at %v, where the city lists nothing", h.ID, at)
		}
		if got := outlines.boroughOf(h.Lat, h.Lng); got != boroughAt[at] {
			t.Errorf("record %d lies in %q by the outlines, in %q by the city's list", h.ID, got, boroughAt[at])
		}
		if other := taken[at]; other != 0 {
			t.Errorf("records %d and %d stand at the same place", other, h.ID)
		}
		taken[at] = h.ID
	}
}

// What an app developer may rely on: values fit each other.
func TestDataset_Consistent(t *testing.T) {
	speeds := map[string][2]float64{"WiFi 5": {20, 433}, "WiFi 6": {180, 1200}, "WiFi 6E": {900, 2400}}
	signals := map[string]bool{"Weak": true, "Moderate": true, "Good": true, "Strong": true, "Very Strong": true, "Excellent": true}
	seenSignals, names, notes := map[string]bool{}, map[string]int{}, map[string]int{}
	for _, h := range start(t).all(t) {
		complain := func(format string, args ...any) {
			t.Errorf("record %d (%s): %s", h.ID, h.Name, fmt.Sprintf(format, args...))
		}
		uptime, rating := number(t, h.Uptime, "%"), number(t, h.Rating, "/5")
		if h.Security == "Open" && h.Risk == "Low" {
			complain("open and of low risk")
		}
		if h.Network == "WiFi 6E" && !strings.HasPrefix(h.Security, "WPA3") {
			complain("6 GHz demands WPA3, it has %s", h.Security)
		}
		if fit := speeds[h.Network]; h.Mbps < fit[0] || h.Mbps > fit[1] {
			complain("%v Mbit/s does not fit %s", h.Mbps, h.Network)
		}
		if h.Risk == "High" && (uptime >= 94 || rating > 3.4) || h.Risk == "Low" && (uptime < 97 || rating < 4) {
			complain("risk %s with uptime %v and rating %v", h.Risk, uptime, rating)
		}
		if !signals[h.Signal] {
			complain("signal %q", h.Signal)
		}
		if len(h.Note) < 40 || len(h.Name) < 8 {
			complain("a name or note not worth reading")
		}
		seenSignals[h.Signal] = true
		names[h.Name]++
		notes[h.Note]++
	}
	if len(seenSignals) != len(signals) || len(names) != 78 || len(notes) != 78 {
		t.Errorf("%d signals, %d names and %d notes; want 6, 78 and 78 different ones", len(seenSignals), len(names), len(notes))
	}
}

// Optional fields appear on most records and are missing on some.
func TestDataset_OptionalFields(t *testing.T) {
	var avatars, lastUsed, images int
	relative := regexp.MustCompile(`^(1 (minute|hour|day|week) ago|([2-9]|\d\d) (minutes|hours|days|weeks) ago)$`)
	for _, h := range start(t).all(t) {
		if h.Avatar != "" {
			avatars++
		}
		if h.LastUsed != "" {
			lastUsed++
			if !relative.MatchString(h.LastUsed) {
				t.Errorf("record %d was last used %q", h.ID, h.LastUsed)
			}
		}
		if h.LocationImage != "" {
			images++
		}
	}
	for name, n := range map[string]int{"avatar": avatars, "lastUsed": lastUsed, "locationImage": images} {
		if n < 40 || n == 78 {
			t.Errorf("%s stands on %d of 78 records; want most, not all", name, n)
		}
	}
}

func number(t *testing.T, text, unit string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, unit), 64)
	if err != nil || !strings.HasSuffix(text, unit) {
		t.Fatalf("%q is not a number and %q", text, unit)
	}
	return n
}

// outlines decides by the sum of angles under which a point sees the edges of a
// polygon.
type outlines map[string][][][][2]float64

func readOutlines(t *testing.T) outlines {
	t.Helper()
	raw, err := os.ReadFile("testdata/boroughs.geojson")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Features []struct {
			Properties struct{ Name string }
			Geometry   struct{ Coordinates [][][][2]float64 }
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	all := outlines{}
	for _, f := range file.Features {
		all[f.Properties.Name] = f.Geometry.Coordinates
	}
	if len(all) != 5 {
		t.Fatalf("there are outlines of %d boroughs; want 5", len(all))
	}
	return all
}

func (o outlines) boroughOf(lat, lng float64) string {
	for name, polygons := range o {
		for _, polygon := range polygons {
			if turns(polygon[0], lat, lng) != 0 {
				return name
			}
		}
	}
	return ""
}

// turns counts how often a ring goes around a point.
func turns(ring [][2]float64, lat, lng float64) int {
	var sum float64
	for i := 1; i < len(ring); i++ {
		a := math.Atan2(ring[i-1][1]-lat, ring[i-1][0]-lng)
		b := math.Atan2(ring[i][1]-lat, ring[i][0]-lng)
		sum += math.Remainder(b-a, 2*math.Pi)
	}
	return int(math.Round(sum / (2 * math.Pi)))
}
