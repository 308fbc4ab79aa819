package openfeeds

import (
	"cmp"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/beacon-wifi/beacon/internal/basemap"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

const (
	usualNearest = 20
	mostNearest  = 100
	// hotspotsCompared is how many hotspots whose distance or name is compared count as a
	// request.
	hotspotsCompared = 50_000
	// maxIndexed is how much text of an edition is searched. A million hotspots have less,
	// unless their addresses are very long; then the last registered are not found by name.
	maxIndexed = 64 << 20
)

// nearestQuery asks for the hotspots that are nearest to a place.
type nearestQuery struct {
	place  geo.Point
	words  []string // each of which is in the name or the address, as basemap.Fold has it
	limit  int
	values url.Values
}

func decodeNearest(r *http.Request) (q nearestQuery, err error) {
	q.limit = usualNearest
	q.place, q.values, err = decodePlace(r, map[string]func(text string) (fault string){"q": q.setText, "limit": q.setLimit})
	return q, err
}

// decodePlace reads a place, and the other parameters in a table.
func decodePlace(r *http.Request, others map[string]func(text string) (fault string)) (place geo.Point, values url.Values, err error) {
	const missing = "is required"
	lat, lng := missing, missing
	table := map[string]func(text string) (fault string){
		"lat": func(text string) string { lat = ""; return setDegrees(&place.Lat, text, 90) },
		"lng": func(text string) string { lng = ""; return setDegrees(&place.Lng, text, 180) },
	}
	maps.Copy(table, others)
	if values, err = decode(r, table); err != nil {
		return place, values, err
	}
	var faults beacon.Faults
	if lat != "" {
		faults.Add("lat", lat)
	}
	if lng != "" {
		faults.Add("lng", lng)
	}
	return place, values, faults.Err()
}

func setDegrees(to *float64, text string, most float64) string {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !decimal.MatchString(text) || math.Abs(n) > most {
		return "must be a number of degrees between -" + strconv.Itoa(int(most)) + " and " + strconv.Itoa(int(most))
	}
	*to = n
	return ""
}

func (q *nearestQuery) setText(text string) string {
	if _, err := beacon.CleanSearch(text); err != nil {
		return err.Error()
	}
	if q.words = strings.Fields(basemap.Fold(text)); len(q.words) == 0 {
		return "must contain a letter or another visible character"
	}
	return ""
}

func (q *nearestQuery) setLimit(text string) string {
	page := itemsQuery{}
	fault := page.setLimit(text)
	q.limit = min(page.limit, mostNearest)
	return fault
}

// nearest serves the hotspots that are nearest to a place, the nearest first: all, or
// those with some words in their names or addresses.
func (f *Feeds) nearest(w http.ResponseWriter, r *http.Request) error {
	q, err := decodeNearest(r)
	if err != nil {
		return err
	}
	e := f.editions.current()
	if more := len(e.items) / hotspotsCompared; more > 0 {
		if err := f.charge(w, r, more); err != nil {
			return err
		}
	}
	found := e.closest(q.place, q.limit)
	if len(q.words) > 0 {
		e.texts(&f.editions.view).search(q.words, found.add)
	} else {
		for i := range e.items {
			found.add(i)
		}
	}
	out := beginCollection(f, nil, e)
	var h hotspot
	for n, hit := range found.hits {
		if n > 0 {
			out = append(out, ",\n"...)
		}
		f.editions.view.publish(&h, e, hit.item)
		out = appendFeature(out, &h)
		out = append(out[:len(out)-len("}}")], `,"distance_m":`...)
		out = append(strconv.AppendInt(out, int64(math.Round(found.metres(hit))), 10), "}}"...)
	}
	out = strconv.AppendInt(append(out, `],"numberReturned":`...), int64(len(found.hits)), 10)
	out = appendTime(append(out, `,"timeStamp":`...), e.at)
	self := link{f.root + "/nearest?" + q.values.Encode(), "self", "application/geo+json", "this document"}
	out = append(append(out, `,"links":`...), encode([]link{self})...)
	write(w, r, geoJSONType, append(out, "}\n"...))
	return nil
}

// closest collects the items of an edition that are nearest to a place, the nearest first.
type closest struct {
	to   geo.Vec
	most int
	all  []geo.Vec // where the items are
	hits []near
}

type near struct {
	item  int
	chord float64 // squared: comparing chords takes a tenth of the time of comparing metres
}

func (c *closest) metres(hit near) float64 { return c.to.Meters(c.all[hit.item]) }

func (e *edition) closest(to geo.Point, most int) *closest {
	return &closest{to: to.Vec(), most: most, all: e.vectors()}
}

func (c *closest) add(i int) {
	hit := near{i, c.to.ChordSquared(c.all[i])}
	full := len(c.hits) == c.most
	if full && hit.chord >= c.hits[c.most-1].chord {
		return // as nearly all of a large network; of equal ones, the first is kept
	}
	if full {
		c.hits = c.hits[:c.most-1]
	}
	at, _ := slices.BinarySearchFunc(c.hits, hit, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.chord, b.chord), cmp.Compare(a.item, b.item))
	})
	c.hits = slices.Insert(c.hits, at, hit)
}

// vectors returns where the items are. The first question for the nearest makes them.
func (e *edition) vectors() []geo.Vec {
	e.placing.Do(func() {
		e.placed = make([]geo.Vec, len(e.items))
		for i := range e.items {
			e.placed[i] = e.items[i].Place.Vec()
		}
	})
	return e.placed
}

// texts are the names and addresses of an edition, folded, each hotspot on a line.
type texts struct {
	text   string
	starts []int
}

// texts returns what an edition is searched by. The first search makes it.
func (e *edition) texts(v *view) *texts {
	e.folding.Do(func() {
		var all strings.Builder
		var h hotspot
		for i := range e.items {
			if all.Len() > maxIndexed {
				break
			}
			e.folded.starts = append(e.folded.starts, all.Len())
			v.publish(&h, e, i)
			all.WriteString(basemap.Fold(text(h.name)) + "\t" + basemap.Fold(text(h.address)) + "\n")
		}
		e.folded.text = all.String()
	})
	return &e.folded
}

// search calls found for each hotspot with all of the words, in the order of their ids.
func (t *texts) search(words []string, found func(item int)) {
	longest := slices.MaxFunc(words, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	for from := 0; from < len(t.text); {
		at := strings.Index(t.text[from:], longest)
		if at < 0 {
			return
		}
		item, exact := slices.BinarySearch(t.starts, from+at)
		if !exact {
			item--
		}
		end := len(t.text)
		if item+1 < len(t.starts) {
			end = t.starts[item+1]
		}
		line := t.text[t.starts[item]:end]
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			found(item)
		}
		from = end
	}
}
