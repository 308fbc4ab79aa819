package api_test

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

func (c client) nearby(t testing.TB, lat, lng float64, more string) []summary {
	t.Helper()
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return data[[]summary](t, c.get(t, "/v1/hotspots/nearby?lat="+number(lat)+"&lng="+number(lng)+more), http.StatusOK)
}

// Decision N4: every hostile spelling of a number is refused by name.
func TestNearby_Parameters(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.anyone(t)
		const place = "lat=40.7&lng=-74"
		for _, good := range []string{
			place, "lat=0&lng=0", "lat=-0&lng=-0.0", "lat=90&lng=180", "lat=-90&lng=-180", "lat=4.07e1&lng=-7.4E%2B1", "lat=%2B40.7&lng=.5", "lat=1.&lng=1",
			place + "&radius=10000", place + "&radius=0.001", place + "&radius=1e4", place + "&limit=1", place + "&limit=100", place + "&limit=007", place + "&limit=20.0", place + "&limit=2e1",
			place + "&status=online", place + "&status=offline", place + "&status=all", place + "&unknown=1&unknown=2&LAT=x",
			place + "&type=home", place + "&type=public&connectable=true&status=all", place + "&connectable=false",
			"lat=1e-400&lng=0", "lat=" + "0." + fmt.Sprintf("%0300d", 1) + "&lng=0",
		} {
			if a := c.get(t, "/v1/hotspots/nearby?"+good); a.StatusCode != http.StatusOK {
				t.Errorf("%s: %s", good, a)
			}
		}
		for query, fields := range map[string][]string{
			"": {"lat", "lng"}, "lat=40.7": {"lng"}, "lng=1": {"lat"}, "lat=&lng=": {"lat", "lng"}, "lat&lng=1": {"lat"}, "Lat=1&Lng=1": {"lat", "lng"},
		} {
			wantFault(t, c.get(t, "/v1/hotspots/nearby?"+query), http.StatusBadRequest, "missing_parameter", fields...)
		}
		for _, bad := range []string{
			"NaN", "nan", "Inf", "-Inf", "+Infinity", "infinity", "1e400", "-1e999", "0x10", "0x1p-2", "1_0", "1,5", " 40", "40 ", "４０", "٤٠",
			"90.0000001", "-90.0000001", "180", "abc", "--1", "1e", "e1", ".", "+", "-", "1e1.5", "40.7.1", "\x00", "1\n", "null", "40°",
		} {
			wantFault(t, c.get(t, "/v1/hotspots/nearby?lng=0&lat="+url.QueryEscape(bad)), http.StatusBadRequest, "invalid_request", "lat")
		}
		for query, fields := range map[string][]string{
			"lat=1&lat=1&lng=0": {"lat"}, "lat=1&lng=0&lng=": {"lng"}, "lat=1&lng=180.0000001": {"lng"}, "lat=91&lng=-181": {"lat", "lng"},
			place + "&radius=0": {"radius"}, place + "&radius=-0": {"radius"}, place + "&radius=-1": {"radius"}, place + "&radius=10000.001": {"radius"},
			place + "&radius=1e-400": {"radius"}, place + "&radius=": {"radius"}, place + "&radius=NaN": {"radius"}, place + "&radius=1&radius=1": {"radius"},
			place + "&limit=0": {"limit"}, place + "&limit=-1": {"limit"}, place + "&limit=101": {"limit"}, place + "&limit=5.5": {"limit"},
			place + "&limit=100.1": {"limit"}, place + "&limit=1e-1": {"limit"}, place + "&limit=1e999": {"limit"}, place + "&limit=NaN": {"limit"}, place + "&limit=": {"limit"}, place + "&limit=99999999999999999999": {"limit"}, place + "&limit=0x10": {"limit"},
			place + "&limit=5&limit=5": {"limit"}, place + "&limit=1_0": {"limit"}, place + "&limit=٥": {"limit"},
			place + "&status=ONLINE": {"status"}, place + "&status=pending": {"status"}, place + "&status=": {"status"}, place + "&status=all&status=all": {"status"},
			place + "&type=": {"type"}, place + "&type=Home": {"type"}, place + "&type=home&type=public": {"type"}, place + "&type=castle&connectable=1": {"type", "connectable"},
			place + "&connectable=": {"connectable"}, place + "&connectable=TRUE": {"connectable"}, place + "&connectable=true&connectable=true": {"connectable"},
			"lat=x&radius=0&limit=0&status=no": {"lat", "lng", "radius", "limit", "status"}, // decision N1: all at once; N2: not all are missing
		} {
			wantFault(t, c.get(t, "/v1/hotspots/nearby?"+query), http.StatusBadRequest, "invalid_request", fields...)
		}
		for _, broken := range []string{place + "&limit=%zz", place + ";limit=5", "lat=40.7;lng=1", "%"} {
			wantFault(t, c.get(t, "/v1/hotspots/nearby?"+broken), http.StatusBadRequest, "invalid_request")
		}
	})
}

// What apps connect to is online and open, and no hidden home: not even one that shows its
// SSID, since nobody finds it where it is shown.
func TestNearby_Connectable(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		operator, app := s.operator(t), s.anyone(t)
		const closed = `{"operating_hours":{"timezone":"UTC","weekly":[{"days":["mon"],"open":"08:00","close":"09:00"}]}}` // it is Sunday
		ids := map[string]string{}
		add := func(n int, name, kind, settings string, online bool) {
			t.Helper()
			m := operator.install(t, n, "type", at("%q", kind), "settings", settings)
			s.verify(t, m.hotspot)
			if online {
				m.beat(t, `{"boot_id":"b","seq":1,"clients":1,"rx_bytes":0,"tx_bytes":0}`).want(t, http.StatusOK)
			}
			ids[strings.TrimPrefix(m.hotspot, "/v1/hotspots/")] = name
		}
		add(1, "home", "home", `{}`, true)
		add(2, "home with SSID", "home", `{"show_ssid":true}`, true)
		add(3, "cafe", "business", `{}`, true)
		add(4, "closed cafe", "business", closed, true)
		add(5, "silent library", "public", `{}`, false)
		add(6, "library", "public", `{}`, true)
		wants := func(query string, want ...string) {
			t.Helper()
			found := []string{}
			for _, h := range app.nearby(t, 40.7, -74, query) {
				found = append(found, ids[h.ID])
			}
			slices.Sort(found)
			if !slices.Equal(found, want) {
				t.Errorf("%s finds %q; want %q", query, found, want)
			}
		}
		wants("", "cafe", "closed cafe", "home", "home with SSID", "library")
		wants("&connectable=false", "cafe", "closed cafe", "home", "home with SSID", "library")
		wants("&connectable=true", "cafe", "home", "home with SSID", "library") // homes are not hidden yet
		s.blur(t, "blur")
		wants("&connectable=true", "cafe", "library")
		wants("&connectable=true&status=all", "cafe", "library")
		wants("&connectable=true&status=offline")
		wants("&type=home", "home", "home with SSID")
		wants("&type=public&status=all", "library", "silent library")
		wants("&type=public&connectable=true", "library")
		wants("&type=home&connectable=true")
	})
}

// haversine is the oracle: another formula than the code's, which measures
// chords.
func haversine(lat1, lng1, lat2, lng2 float64) float64 {
	rad := func(deg float64) float64 { return deg * math.Pi / 180 }
	sinLat, sinLng := math.Sin(rad(lat2-lat1)/2), math.Sin(rad(lng2-lng1)/2)
	h := sinLat*sinLat + math.Cos(rad(lat1))*math.Cos(rad(lat2))*sinLng*sinLng
	return 2 * 6_371_008.8 * math.Asin(math.Sqrt(min(h, 1)))
}

// Wherever one asks, the answer is what a walk over all hotspots gives: at the
// poles, across ±180°, in a dense place.
func TestNearby_Oracle(t *testing.T) {
	level.Repeats(t)
	eachStore(t, func(t *testing.T, s *server) {
		c := s.anyone(t, "hotspots:write", "hotspots:verify") // whom no quota limits
		var all []hotspot
		add := func(lat, lng float64) {
			n := len(all)
			all = append(all, c.register(t, n, "location.lat", fmt.Sprint(lat), "location.lng", fmt.Sprint(lng)))
		}
		centers := [][2]float64{{0, 179.9999}, {0, -179.9999}, {0, 180}, {0, -180}, {90, 0}, {90, 123}, {-90, -45}, {89.999, 10}, {40.7, -74}, {0, 0}, {-33.9, 151.2}}
		for i, at := range centers {
			add(at[0], at[1])
			for j := range 8 { // a spiral around each
				step := 0.0008 * math.Pow(1.7, float64(j)) * (1 + 0.013*float64(i)) // no two alike
				lat := at[0] + step*math.Sin(float64(i+j))
				lng := at[1] + step*math.Cos(float64(i+j))/max(0.01, math.Cos(at[0]*math.Pi/180))
				add(math.Max(-90, math.Min(90, lat)), math.Mod(lng+540, 360)-180)
			}
		}
		add(0, 0) // a second one at the very same place
		asked, found := 0, 0
		for _, at := range centers {
			for _, radius := range []float64{50, 1000, 10000} {
				for _, limit := range []int{3, 100} {
					got := c.nearby(t, at[0], at[1], fmt.Sprintf("&radius=%g&limit=%d&status=all", radius, limit))
					want := expected(all, at[0], at[1], radius, limit)
					asked, found = asked+1, found+len(want)
					if !slices.Equal(identities(got), want) {
						t.Errorf("at %v within %g m, %d at most:\n got %v\nwant %v", at, radius, limit, identities(got), want)
					}
				}
			}
		}
		if asked != 66 || found < 300 {
			t.Errorf("%d questions found %d; the test is empty", asked, found)
		}
	})
}

// identities spells what matters of an answer: who, and how far to 0.1 m.
func identities(list []summary) []string {
	out := []string{}
	for _, h := range list {
		out = append(out, h.ID+" "+h.Distance.String())
	}
	return out
}

func expected(all []hotspot, lat, lng, radius float64, limit int) []string {
	type hit struct {
		id     string
		meters float64
	}
	var hits []hit
	for _, h := range all {
		if d := haversine(lat, lng, h.Location.Lat, h.Location.Lng); d <= radius {
			hits = append(hits, hit{h.ID, d})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		if math.Abs(a.meters-b.meters) > 2e-6 { // less is rounding: the same distance
			return cmp.Compare(a.meters, b.meters)
		}
		return cmp.Compare(a.id, b.id)
	})
	out := []string{}
	for _, h := range hits[:min(len(hits), limit)] {
		out = append(out, h.id+" "+strconv.FormatFloat(math.Round(h.meters*10)/10, 'f', -1, 64))
	}
	return out
}

// Torture 4.4.
func TestNearby_AcrossTheAntimeridian(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		east := c.register(t, 1, "location.lat", "0", "location.lng", "-179.9999")
		for _, lng := range []float64{179.9999, -179.9999} {
			want := map[float64]string{179.9999: "22.2", -179.9999: "0"}[lng]
			if got := c.nearby(t, 0, lng, "&status=all"); len(got) != 1 || got[0].ID != east.ID || got[0].Distance.String() != want {
				t.Errorf("from %g: %+v; want %s m", lng, got, want)
			}
		}
		a, b := c.nearby(t, 0, 180, "&status=all"), c.nearby(t, 0, -180, "&status=all")
		if !slices.Equal(identities(a), identities(b)) || len(a) != 1 {
			t.Errorf("180° gives %v, -180° gives %v", a, b)
		}
		pole := c.register(t, 2, "location.lat", "90", "location.lng", "17")
		for _, lng := range []float64{-180, -17, 0, 90, 163} {
			if got := c.nearby(t, 90, lng, "&status=all&radius=0.001"); len(got) != 1 || got[0].ID != pole.ID || got[0].Distance.String() != "0" {
				t.Errorf("at the pole, %g°: %+v", lng, got)
			}
		}
	})
}

// The border counts: a radius to the last digit of the distance finds it, one
// a hair shorter does not.
func TestNearby_Border(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		made := c.register(t, 1, "location.lat", "0", "location.lng", "0.01")
		exact := haversine(0, 0, 0, 0.01)
		for radius, want := range map[float64]int{exact + 1e-5: 1, exact - 1e-5: 0, 1112: 1, 1111: 0} {
			got := c.nearby(t, 0, 0, "&status=all&radius="+strconv.FormatFloat(radius, 'f', -1, 64))
			if len(got) != want {
				t.Errorf("within %.7f m (it is %.7f m away): %d; want %d", radius, exact, len(got), want)
			}
		}
		// Without a radius it is 1000 m; and a change shows at once.
		if got := c.nearby(t, 0, 0.0012, "&status=all"); len(got) != 1 || got[0].Name != made.Name || got[0].CoverageRadiusM != 50 {
			t.Errorf("by default: %+v", got)
		}
		if got := c.nearby(t, 0, 0.0009, "&status=all"); len(got) != 0 {
			t.Errorf("by default, 1012 m away: %+v", got)
		}
		c.patch(t, "/v1/hotspots/"+made.ID, `{"name":"x\",\"distance_m\":0,\"y","settings":{"coverage_radius_m":77}}`).want(t, http.StatusOK)
		got := c.nearby(t, 0, 0.011, "&status=all")
		if len(got) != 1 || got[0].Name != `x","distance_m":0,"y` || got[0].Distance != "111.2" || got[0].CoverageRadiusM != 77 {
			t.Errorf("after a change: %+v", got)
		}
	})
}

// Decision N13: online by default; all includes pending.
func TestNearby_StatusAndLimit(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		at := geo.Point{Lat: 10, Lng: 20}
		offline := s.plant(t, c, 1, at, noon, noon)
		pending := s.plant(t, c, 2, at, noon, time.Time{})
		for query, want := range map[string][]string{
			"": {}, "&status=online": {}, "&status=offline": {offline + " offline"},
			"&status=all": {offline + " offline", pending + " pending"},
		} {
			got := []string{}
			for _, h := range c.nearby(t, 10, 20, query) {
				got = append(got, h.ID+" "+h.Status)
			}
			slices.Sort(got)
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Errorf("%q: %v; want %v", query, got, want)
			}
		}
		if a := c.get(t, "/v1/hotspots/nearby?lat=0&lng=0"); string(a.body[:11]) != `{"data":[],` {
			t.Errorf("nothing is near, and %s", a)
		}
		for n := range 21 {
			c.register(t, 10+n, "location.lat", "10", "location.lng", "20")
		}
		for query, want := range map[string]int{"": 20, "&limit=1": 1, "&limit=22": 22, "&limit=23": 23, "&limit=100": 23} {
			got := c.nearby(t, 10, 20, "&status=all"+query)
			if len(got) != want {
				t.Errorf("%q: %d; want %d", query, len(got), want)
			}
			if ids := identities(got); !slices.IsSorted(ids) {
				t.Errorf("at the same distance, not by id: %v", ids)
			}
		}
	})
}
