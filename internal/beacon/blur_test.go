package beacon_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/id"
)

var blurred = beacon.Blur{Homes: beacon.HomesBlurred, Secret: [32]byte{1, 2, 3}}

// home returns a home at a place, the n-th of all.
func home(n int, p geo.Point) beacon.Hotspot {
	at := time.Date(2026, 11, 15, 12, 34, 56, 0, time.UTC)
	return beacon.Hotspot{
		ID: beacon.HotspotID(id.Format(beacon.HotspotPrefix, at, uint64(n), uint64(n))), Operator: "usr_1", Name: "Home", Type: beacon.Home,
		Location: beacon.Location{Point: p, Address: "1 Main Street", VerifiedAt: at},
		Device:   beacon.Device{SSID: "net", MAC: "02:00:5e:10:00:01", LinkedAt: at},
		Visits:   []beacon.Visit{{Point: p}},
	}
}

func TestBlur_Hides(t *testing.T) {
	for _, kind := range []beacon.Type{beacon.Home, beacon.Business, beacon.Public} {
		if got := blurred.Hides(kind); got != (kind == beacon.Home) {
			t.Errorf("a blur hides %s: %v", kind, got)
		}
		for _, b := range []beacon.Blur{{}, {Homes: beacon.HomesOpen, Secret: blurred.Secret}} {
			if b.Hides(kind) {
				t.Errorf("%q hides %s", b.Homes, kind)
			}
		}
	}
}

// Strangers see nothing of a home that names its house or its people.
func TestBlur_Public(t *testing.T) {
	truth := home(1, geo.Point{Lat: 40.7, Lng: -74})
	shown := blurred.Public(truth)
	day := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	if shown.Location.Point == truth.Location.Point || shown.Location.Address != "" || shown.Device.SSID != "" || shown.Device.MAC != beacon.MaskedMAC ||
		!shown.Location.VerifiedAt.Equal(day) || !shown.Device.LinkedAt.Equal(day) || shown.Visits != nil {
		t.Errorf("a stranger sees %+v", shown)
	}
	if shown.Operator == truth.Operator || !id.Valid(beacon.UserPrefix, string(shown.Operator)) {
		t.Errorf("the operator is shown as %s", shown.Operator)
	}
	if other := blurred.Public(home(2, truth.Location.Point)); other.Operator == shown.Operator || other.Location.Point == shown.Location.Point {
		t.Errorf("two homes of one operator are shown as %s at %v and %s at %v", shown.Operator, shown.Location.Point, other.Operator, other.Location.Point)
	}
	if _, err := beacon.ParseMAC(string(beacon.MaskedMAC)); err == nil {
		t.Error("a device can have the address that stands for a masked one")
	}
	if again := blurred.Public(truth); again.Location != shown.Location || again.Operator != shown.Operator {
		t.Errorf("the home is shown as %v, then as %v", shown.Location, again.Location)
	}
	elsewhere := beacon.Blur{Homes: beacon.HomesBlurred, Secret: [32]byte{4}}
	if stranger := elsewhere.Public(truth); stranger.Location.Point == shown.Location.Point || stranger.Operator == shown.Operator {
		t.Error("the place or the operator does not depend on the secret")
	}
	if pending := blurred.Public(beacon.Hotspot{ID: truth.ID}); !pending.Location.VerifiedAt.IsZero() || !pending.Device.LinkedAt.IsZero() {
		t.Errorf("a pending home was verified at %v and linked at %v", pending.Location.VerifiedAt, pending.Device.LinkedAt)
	}
}

// A home is never shown farther away than stated, anywhere on Earth, and at a valid place.
func TestBlur_Within(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 1))
	farthest := 0.0
	for n := range 20_000 {
		p := geo.Point{Lat: random.Float64()*180 - 90, Lng: random.Float64()*360 - 180}
		limit := 427.0
		switch n % 4 {
		case 1:
			p.Lat, limit = 90-math.Abs(random.NormFloat64())*0.005, beacon.BlurWithinM
		case 2:
			p.Lat, limit = -90+math.Abs(random.NormFloat64())*0.005, beacon.BlurWithinM
		case 3:
			p.Lng = math.Copysign(180-random.Float64()*0.001, random.NormFloat64())
		}
		if math.Abs(p.Lat) > 85 {
			limit = beacon.BlurWithinM
		}
		shown := blurred.Public(home(n, p)).Location.Point
		away := geo.Distance(p, shown)
		if !shown.Valid() || away > limit {
			t.Fatalf("%v is shown at %v, %.1f m away; want at most %.0f m", p, shown, away, limit)
		}
		farthest = max(farthest, away)
	}
	if farthest < 350 {
		t.Errorf("no home is shown farther away than %.0f m", farthest)
	}
	for _, p := range []geo.Point{{Lat: 90, Lng: 180}, {Lat: -90, Lng: -180}, {Lat: 0, Lng: 180}, {Lat: 0, Lng: -180}} {
		if shown := blurred.Public(home(1, p)).Location.Point; !shown.Valid() || geo.Distance(p, shown) > beacon.BlurWithinM {
			t.Errorf("%v is shown at %v", p, shown)
		}
	}
}

// A home that is moved a little shows nothing. However often it is moved, the public
// places are as many as the cells that it was in: one for some 250 m of the way.
func TestBlur_Moved(t *testing.T) {
	at := geo.Point{Lat: 40.70001, Lng: -74.00001}
	seen := map[geo.Point]bool{}
	for range 2000 { // 2 km to the north, by the metre
		seen[blurred.Public(home(1, at)).Location.Point] = true
		at = at.Toward(0, 1)
	}
	if len(seen) < 8 || len(seen) > 9 {
		t.Errorf("2 km by the metre show %d places; want 8 or 9", len(seen))
	}
}

// Given the public place, the true one is where chance alone would put it: the part of the
// homes that are shown within a part of the disc is the part of the area, and no direction
// is more likely than another.
func TestBlur_Uniform(t *testing.T) {
	const homes = 20_000
	random := rand.New(rand.NewPCG(21, 2))
	var inner [4]int  // shown within 1/2, 1/√2, √3/2 and all of the radius
	var toward [8]int // by direction
	// The middle of a cell: public places are at most the radius away from it.
	middle := geo.Point{Lat: 40.7, Lng: -74}
	for range 4 { // find the middle by the mean of many homes at one place
		var lat, lng float64
		for n := range 4000 {
			p := blurred.Public(home(n, middle)).Location.Point
			lat, lng = lat+p.Lat/4000, lng+p.Lng/4000
		}
		middle = geo.Point{Lat: lat, Lng: lng}
	}
	for n := range homes {
		p := blurred.Public(home(100_000+n, middle.Toward(random.Float64()*360, random.Float64()*50))).Location.Point
		away := geo.Distance(middle, p)
		for i, limit := range []float64{125, 176.8, 216.5, 260} {
			if away <= limit {
				inner[i]++
			}
		}
		angle := math.Atan2((p.Lng-middle.Lng)*math.Cos(middle.Lat*math.Pi/180), p.Lat-middle.Lat)
		toward[int(angle/(2*math.Pi)*8+8)%8]++
	}
	for i, want := range []float64{0.25, 0.5, 0.75, 1} {
		if got := float64(inner[i]) / homes; math.Abs(got-want) > 0.03 {
			t.Errorf("part %d of the disc has %.3f of the places; want %.2f", i, got, want)
		}
	}
	for i, n := range toward {
		if got := float64(n) / homes; math.Abs(got-1./8) > 0.02 {
			t.Errorf("direction %d has %.3f of the places; want about 1/8", i, got)
		}
	}
}
