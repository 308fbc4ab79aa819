package openfeeds

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// decodeItems reads the parameters of a page.
func decodeItems(r *http.Request) (q itemsQuery, err error) {
	q.limit = defaultLimit
	q.values, err = decode(r, map[string]func(text string) (fault string){
		"bbox": q.setBox, "datetime": checkTime, "limit": q.setLimit, "after": q.setAfter,
	})
	return q, err
}

// decode reads the parameters of a query with the functions of a table, which return what is
// wrong, and collects all faults. Unlike the network interface, the standard wants unknown
// parameters refused.
func decode(r *http.Request, table map[string]func(text string) (fault string)) (url.Values, error) {
	all, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, &beacon.Error{Kind: beacon.InvalidRequest, Message: "the query is not encoded correctly: check every % and ;"}
	}
	var faults beacon.Faults
	for _, name := range slices.Sorted(maps.Keys(all)) {
		set, known := table[name]
		switch {
		case !known:
			faults.Add(httpserver.Shorten(name, 40), "is not a parameter of this path")
		case len(all[name]) > 1:
			faults.Add(name, "must be given once")
		default:
			if fault := set(all[name][0]); fault != "" {
				faults.Add(name, fault)
			}
		}
	}
	return all, faults.Err()
}

// plain serves a path of the standard that has no parameters.
func plain(run endpoint) endpoint {
	return func(w http.ResponseWriter, r *http.Request) error {
		if _, err := decode(r, nil); err != nil {
			return err
		}
		return run(w, r)
	}
}

var digits = regexp.MustCompile(`^[0-9]+$`)

// setLimit reads the size of a page. The standard wants one that is too high lowered.
func (q *itemsQuery) setLimit(text string) string {
	n, err := strconv.Atoi(text)
	if !digits.MatchString(text) || err == nil && n < 1 {
		return "must be a whole number of at least 1"
	}
	if q.limit = maxLimit; err == nil { // otherwise it has too many digits
		q.limit = min(n, maxLimit)
	}
	return ""
}

var hotspotID = regexp.MustCompile(`^` + beacon.HotspotPrefix + `[0-9a-z]{1,64}$`)

func (q *itemsQuery) setAfter(text string) string {
	if !hotspotID.MatchString(text) {
		return "must be the id of a hotspot, as in the link to the next page"
	}
	q.after = text
	return ""
}

var decimal = regexp.MustCompile(`^[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?$`)

// setBox reads west, south, east and north, or six numbers with heights, which hotspots do
// not have.
func (q *itemsQuery) setBox(text string) string {
	const fault = "must be west,south,east,north in degrees, on Earth and with south at most north"
	parts := strings.Split(text, ",")
	if len(parts) != 4 && len(parts) != 6 {
		return fault
	}
	numbers := make([]float64, len(parts))
	for i, part := range parts {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil || !decimal.MatchString(part) {
			return fault
		}
		numbers[i] = n
	}
	half := len(numbers) / 2
	box := geo.Box{West: numbers[0], South: numbers[1], East: numbers[half], North: numbers[half+1]}
	if !(geo.Point{Lat: box.South, Lng: box.West}).Valid() || !(geo.Point{Lat: box.North, Lng: box.East}).Valid() || box.South > box.North {
		return fault
	}
	q.box = &box
	return ""
}

// checkTime checks a time or an interval. Hotspots have no time of their own, so each matches
// any: that is what the standard says.
func checkTime(text string) string {
	const fault = "must be a time such as 2026-11-16T12:00:00Z, or an interval such as 2026-11-16T00:00:00Z/.."
	from, to, interval := strings.Cut(text, "/")
	ends := []string{from}
	if interval {
		ends = append(ends, to)
	}
	var times []time.Time
	for _, end := range ends {
		if interval && (end == "" || end == "..") {
			continue
		}
		at, err := time.Parse(time.RFC3339, end)
		if err != nil {
			return fault
		}
		times = append(times, at)
	}
	if len(times) == 2 && times[1].Before(times[0]) {
		return fault
	}
	return ""
}
