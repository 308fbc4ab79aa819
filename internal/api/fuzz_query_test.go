package api_test

import (
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Whatever a query says, each way to read it ends in a value within its bounds
// or in a fault of the client's. Places and numbers of events are what another
// reading of the query finds, too.
func FuzzQueries(f *testing.F) {
	for _, seed := range []string{
		"lat=40.7&lng=-74&radius=500&status=all&limit=5", "lat=90&lng=-180", "lat=1&lng=180.0001", "lat=-91&lng=1", "lat=1&lng=1&radius=10000.5", "lat=1&lng=1&limit=101", "lat=&lng=0", "lat=1&lat=1&lng=2", "lat=1;lng=2", "lat=%34&lng=%zz", "lat=NaN&lng=1e999", "&&lat=0&&lng=-0&",
		"after=0", "after=9223372036854775807", "after=9223372036854775808", "after=-1", "after=%2B5", "after=007", "after=1_0", "page=1&per_page=100", "page=0", "page=99999999999999999999&per_page=x",
		"from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00.5%2B01:00&step=6h", "from=2025-10-12T00:00:00Z&step=1d", "from=0001-01-01T00:00:00Z", "to=9999-12-31T23:59:59Z&step=1m", "step=1h&step=1h",
		"period=last", "period=", "start_date=2026-02-29&end_date=2024-02-29", "start_date=2026-05-01&end_date=2026-04-30", "date=2026-11-15", "user_id=usr_01kb3gzk00a1b2c3d4e5f6g7h8&page=2",
		"limit=1e2&lat=1&lng=1", "radius=0&lat=1&lng=1", "status=ONLINE&lat=1&lng=1", "%6cat=1&lng=1", "lat=1+&lng=1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		nearby, after, history, errs := api.ReadQueries(raw, noon)
		for way, err := range errs {
			if err == nil {
				continue
			}
			if e, ok := errors.AsType[*beacon.Error](err); !ok || e.Message == "" || e.Kind != beacon.InvalidRequest && e.Kind != beacon.MissingParameter {
				t.Fatalf("%s: %q gives %#v", way, raw, err)
			}
		}
		values, err := url.ParseQuery(raw)
		once := func(name string) (string, bool) { return values.Get(name), err == nil && len(values[name]) == 1 }
		if lat, ok := once("lat"); errs["nearby"] == nil {
			lng, ok2 := once("lng")
			if !ok || !ok2 || !isDecimal(lat) || !isDecimal(lng) || nearby.Center.Lat != numberOf(lat) || nearby.Center.Lng != numberOf(lng) ||
				!nearby.Center.Valid() || !(nearby.RadiusM > 0 && nearby.RadiusM <= 10_000) || nearby.Limit < 1 || nearby.Limit > 100 {
				t.Errorf("%q is read as %+v", raw, nearby)
			}
		}
		text, given := once("after")
		number, inRange := strconv.ParseInt(text, 10, 64)
		if good := err == nil && (len(values["after"]) == 0 || given && wholeNumber.MatchString(text) && inRange == nil); good != (errs["events"] == nil) || good && given && after != number {
			t.Errorf("%q: the event is %d, %v; another reading: %d, %t", raw, after, errs["events"], number, good)
		}
		if errs["history"] == nil && (!history.From.Before(history.To) || !history.From.Truncate(history.Step).Equal(history.From) ||
			!history.To.Truncate(history.Step).Equal(history.To) || history.To.Sub(history.From) > 1000*history.Step || history.From.Before(noon.Add(-401*24*time.Hour))) {
			t.Errorf("%q is read as %+v", raw, history)
		}
	})
}

var wholeNumber = regexp.MustCompile(`^[0-9]+$`)

func numberOf(text string) float64 {
	n, _ := strconv.ParseFloat(text, 64)
	return n + 0 // of -0, 0
}
