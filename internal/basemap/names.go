package basemap

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/beacon-wifi/beacon/internal/basemap/pmtiles"
)

// Name is something that the file has a name for.
type Name struct {
	Name string  `json:"name"`
	Kind string  `json:"kind"` // place, street, park or water
	Lat  float64 `json:"lat"`
	Lng  float64 `json:"lng"`
	Zoom float64 `json:"zoom"`           // at which it fills a map
	Near string  `json:"near,omitempty"` // the nearest place, where one is known, of what is none itself
}

// Limits of the index: of the names that are kept, and of what is read to find them. A
// large city stays below; of a country, all places are found, and streets as far as they go.
const (
	maxNames     = 200_000
	maxNameBytes = 12 << 20
	maxTiles     = 20_000
	maxTile      = 8 << 20
)

// index finds names. Its text has all names, folded, each on a line of its own.
type index struct {
	names  []Name
	text   string
	starts []int // of the lines
	places []int // which names are of quarters, villages, towns and cities, as people there write them
	whole  bool  // no limit was met
}

// sources says which layers have names, and what they are names of.
var sources = map[Schema]map[string]string{
	Protomaps:    {"places": "place", "roads": "street", "pois": "park", "water": "water"},
	OpenMapTiles: {"place": "place", "transportation_name": "street", "park": "park", "water_name": "water"},
	Plain:        {"places": "place", "roads": "street"},
}

// placeZoom is where a map shows all places and few tiles.
const placeZoom = 10

// Index reads the names of the file, so that Search finds them. It takes seconds for a
// city. Search finds nothing before. whole is false if there were too many.
func (m *Map) Index(ctx context.Context) (count int, whole bool, err error) {
	c := collector{seen: map[string]bool{}, index: index{whole: true}, kinds: sources[m.Schema]}
	for _, zoom := range slices.Compact([]int{min(placeZoom, m.MaxZoom), m.MaxZoom}) {
		err := m.readNames(ctx, &c, zoom)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, false, err
		}
	}
	c.text = c.folded.String()
	m.index.Store(&c.index)
	return len(c.names), c.whole, nil
}

// readNames adds the names in the tiles of a zoom.
func (m *Map) readNames(ctx context.Context, c *collector, zoom int) error {
	tiles := 0
	for run, err := range m.archive.Tiles([]pmtiles.Range{{From: pmtiles.FirstOf(zoom), To: pmtiles.FirstOf(zoom + 1)}}) {
		if err != nil || ctx.Err() != nil {
			return err
		}
		if tiles++; tiles > maxTiles || c.full() {
			c.whole = false
			return nil
		}
		m.collect(c, run)
	}
	return nil
}

// collect adds the names of a tile. One that is damaged has none.
func (m *Map) collect(c *collector, tile pmtiles.Entry) {
	if tile.Length > maxTile {
		return
	}
	raw := make([]byte, tile.Length)
	if _, err := m.in.ReadAt(raw, tile.Offset); err != nil {
		return
	}
	body, err := pmtiles.Decompress(raw, m.archive.Header.Tiles, maxTile)
	if err != nil {
		return
	}
	z, x, y := pmtiles.Place(tile.ID)
	n := math.Exp2(float64(z))
	eachNamed(body, c.kinds, func(f feature) {
		lat := math.Atan(math.Sinh(math.Pi*(1-2*(float64(y)+f.y)/n))) * 180 / math.Pi
		c.add(f, lat, (float64(x)+f.x)/n*360-180)
	})
}

// far is how far away, in degrees, a street of the same name is another one.
const far = 0.1

// collector collects names, each once for its surroundings.
type collector struct {
	index
	kinds  map[string]string
	folded strings.Builder
	seen   map[string]bool
}

func (c *collector) full() bool { return len(c.names) >= maxNames || c.folded.Len() >= maxNameBytes }

func (c *collector) add(f feature, lat, lng float64) {
	class := f.properties["kind"] + f.properties["class"]
	if f.layer == "pois" && class != "park" && class != "garden" && class != "cemetery" {
		return
	}
	if f.layer == "places" && class == "park" {
		f.kind = "park" // plain files have all names in one layer
	}
	zoom := map[string]float64{"street": 16, "park": 15, "water": 14}[f.kind]
	if f.kind == "place" {
		zoom = placeZooms[cmp.Or(f.properties["kind_detail"], class)]
		zoom = cmp.Or(zoom, 13)
	}
	for _, key := range slices.Sorted(maps.Keys(f.properties)) {
		text := f.properties[key]
		if key != "name" && !strings.HasPrefix(key, "name:") || text == "" || len(text) > 200 || c.full() {
			continue
		}
		folded := Fold(text)
		near := fmt.Sprintf("%s\n%s %.0f %.0f", folded, f.kind, math.Floor(lng/far), math.Floor(lat/far))
		if c.seen[near] {
			continue
		}
		c.seen[near] = true
		if key == "name" && f.kind == "place" && zoom >= cityZoom {
			c.places = append(c.places, len(c.names))
		}
		c.names = append(c.names, Name{Name: text, Kind: f.kind, Lat: round(lat), Lng: round(lng), Zoom: zoom})
		c.starts = append(c.starts, c.folded.Len())
		c.folded.WriteString(folded + "\n")
	}
}

// cityZoom is that of a city. What is larger says little about where a street is.
const cityZoom = 11

// placeZooms is by the kinds of all schemas; others are quarters.
var placeZooms = map[string]float64{"country": 5, "continent": 3, "region": 7, "state": 7, "province": 7, "city": cityZoom, "town": 13, "village": 14, "hamlet": 15}

func round(degrees float64) float64 { return math.Round(degrees*1e6) / 1e6 }

// Fold makes names comparable: in lower case, without accents.
func Fold(text string) string {
	var out strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(text)) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.IsSpace(r):
			out.WriteByte(' ')
		default:
			out.WriteRune(r)
		}
	}
	return strings.ReplaceAll(out.String(), "ß", "ss")
}

const (
	minQuery = 2
	maxQuery = 100
	maxFound = 8
	maxRank  = 2_000 // how many of those that match are compared
)

// Search finds names that contain a text: those that begin with it first, then those with
// a word that does, and places before streets. Of equal ones, the nearest to a place is first.
func (m *Map) Search(text string, lat, lng float64) []Name {
	in, wanted := m.index.Load(), Fold(strings.TrimSpace(text))
	if in == nil || len(wanted) < minQuery || len(wanted) > maxQuery {
		return []Name{}
	}
	type hit struct {
		at, rank int
		away     float64
	}
	var hits []hit
	for from := 0; len(hits) < maxRank; {
		at := strings.Index(in.text[from:], wanted)
		if at < 0 {
			break
		}
		at += from
		line, exact := slices.BinarySearch(in.starts, at)
		if !exact {
			line--
		}
		n := &in.names[line]
		rank := 2
		if exact {
			rank = 0
		} else if in.text[at-1] == ' ' || in.text[at-1] == '-' {
			rank = 1
		}
		if n.Kind != "place" {
			rank += 3
		}
		hits = append(hits, hit{line, rank, math.Hypot(n.Lat-lat, (n.Lng-lng)*math.Cos(lat*math.Pi/180))})
		from = len(in.text)
		if line+1 < len(in.starts) {
			from = in.starts[line+1]
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.away, b.away), cmp.Compare(a.at, b.at))
	})
	found := make([]Name, 0, maxFound)
	for _, h := range hits {
		n := in.names[h.at]
		goesOn := func(o Name) bool { // a street does
			return o.Name == n.Name && o.Kind == n.Kind && math.Abs(o.Lat-n.Lat) < far && math.Abs(o.Lng-n.Lng) < far
		}
		if slices.ContainsFunc(found, goesOn) {
			continue
		}
		n.Near = in.near(n)
		looksAlike := func(o Name) bool { return o.Name == n.Name && o.Kind == n.Kind && o.Near == n.Near }
		if slices.ContainsFunc(found, looksAlike) {
			continue
		}
		if found = append(found, n); len(found) == maxFound {
			break
		}
	}
	return found
}

// surroundings is how far away, in degrees of latitude, a place may be for something to be near it.
const surroundings = 0.3

// near returns the name of the place that is nearest to something that is none itself.
func (in *index) near(n Name) (name string) {
	if n.Kind == "place" {
		return ""
	}
	least, narrow := surroundings, math.Cos(n.Lat*math.Pi/180)
	for _, at := range in.places {
		p := &in.names[at]
		if away := math.Hypot(p.Lat-n.Lat, (p.Lng-n.Lng)*narrow); away < least {
			least, name = away, p.Name
		}
	}
	return name
}
