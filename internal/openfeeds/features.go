package openfeeds

import (
	_ "embed"
	"net/http"
	"net/url"
	"strconv"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// OGC API Features, Part 1: Core (OGC 17-069r4).

// openapi is the API definition.
//
//go:embed openapi.json
var openapi []byte

// OpenAPI returns the API definition. Its paths are relative to Base.
func OpenAPI() []byte { return openapi }

type link struct {
	Href  string `json:"href"`
	Rel   string `json:"rel"`
	Type  string `json:"type,omitempty"`
	Title string `json:"title,omitempty"`
}

// index is the landing page for programs. It leads to all feeds.
func (f *Feeds) index() any {
	title := "Open data of the network"
	if name := f.who().Name; name != "" {
		title = "Open data of " + name
	}
	index := map[string]any{
		"title":       title,
		"description": "The hotspots of a community Wi-Fi network that are in service and not in homes.",
		"links": append([]link{
			{f.root, "self", "application/json", "this page"},
			{f.root + "/api", "service-desc", "application/vnd.oai.openapi+json;version=3.0", "the API definition"},
			{f.root + "/conformance", "conformance", "application/json", "conformance classes"},
			{f.root + "/collections", "data", "application/json", "collections"},
			{f.root + "/hotspots.geojson", "enclosure", "application/geo+json", "all hotspots"},
			{f.root + "/tiles.json", "related", "application/json", "TileJSON of the vector tiles"},
			{f.root + "/meshviewer.json", "related", "application/json", "for Meshviewer"},
			{f.root + "/nodelist.json", "related", "application/json", "for maps of many communities"},
			{f.root + "/openstreetmap.geojson", "related", "application/geo+json", "tags for OpenStreetMap, for review"},
		}, f.licenseLinks()...),
	}
	if attribution := f.who().Attribution; attribution != "" {
		index["attribution"] = attribution
	}
	return index
}

func conformance() []byte {
	const classes = "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/"
	return encode(map[string][]string{"conformsTo": {classes + "core", classes + "oas30", classes + "geojson"}})
}

func (f *Feeds) collections(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, r, map[string]any{
		"links":       []link{{f.root + "/collections", "self", "application/json", "this document"}},
		"collections": []any{f.describe()},
	})
}

func (f *Feeds) collection(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, r, f.describe())
}

// describe describes the only collection.
func (f *Feeds) describe() any {
	const wgs84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
	self := f.root + "/collections/hotspots"
	box := f.editions.current().box
	return map[string]any{
		"id":          "hotspots",
		"title":       "Hotspots",
		"description": "The hotspots of the network that are in service and not in homes.",
		"itemType":    "feature",
		"crs":         []string{wgs84},
		"extent": map[string]any{"spatial": map[string]any{
			"bbox": [][4]float64{{box.West, box.South, box.East, box.North}}, "crs": wgs84,
		}},
		"links": append([]link{
			{self, "self", "application/json", "this document"},
			{self + "/items", "items", "application/geo+json", "the hotspots"},
			{f.root + "/hotspots.geojson", "enclosure", "application/geo+json", "all hotspots in one file"},
		}, f.licenseLinks()...),
	}
}

// hotspotsSearched is how many hotspots that a box is searched in count as a request.
const hotspotsSearched = 200_000

// items serves a page of the hotspots in a box, in the order of their ids.
func (f *Feeds) items(w http.ResponseWriter, r *http.Request) error {
	q, err := decodeItems(r)
	if err != nil {
		return err
	}
	e := f.editions.current()
	if more := len(e.items) / hotspotsSearched; q.box != nil && more > 0 {
		if err := f.charge(w, r, more); err != nil {
			return err
		}
	}
	out := beginCollection(f, nil, e)
	var h hotspot
	count, last, more := 0, "", false
	i, there := e.find(q.after)
	if there {
		i++
	}
	for ; i < len(e.items); i++ {
		if q.box != nil && !q.box.Contains(e.items[i].Place) {
			continue
		}
		if more = count == q.limit; more {
			break
		}
		if count > 0 {
			out = append(out, ",\n"...)
		}
		f.editions.view.publish(&h, e, i)
		out = appendFeature(out, &h)
		count, last = count+1, h.id
	}
	out = append(out, `],"numberReturned":`...)
	out = strconv.AppendInt(out, int64(count), 10)
	if q.box == nil {
		out = strconv.AppendInt(append(out, `,"numberMatched":`...), int64(len(e.items)), 10)
	}
	out = appendTime(append(out, `,"timeStamp":`...), e.at)
	out = append(append(out, `,"links":`...), encode(f.pageLinks(r, q, last, more))...)
	write(w, r, geoJSONType, append(out, "}\n"...))
	return nil
}

// pageLinks returns the links of a page. The next page begins after the last hotspot, so
// that one which comes or goes does not shift the pages.
func (f *Feeds) pageLinks(r *http.Request, q itemsQuery, last string, more bool) []link {
	const kind = "application/geo+json"
	at := f.root + "/collections/hotspots"
	self := at + "/items"
	if r.URL.RawQuery != "" {
		self += "?" + q.values.Encode()
	}
	links := []link{{self, "self", kind, "this page"}, {at, "collection", "application/json", "the collection"}}
	if more {
		q.values.Set("after", last)
		links = append(links, link{at + "/items?" + q.values.Encode(), "next", kind, "the next page"})
	}
	return links
}

var errNoItem = &beacon.Error{Kind: beacon.NotFound, Message: "there is no such hotspot here"}

// item serves one hotspot.
func (f *Feeds) item(w http.ResponseWriter, r *http.Request) error {
	e, id := f.editions.current(), r.PathValue("id")
	i, found := e.find(id)
	if !found {
		return errNoItem
	}
	var h hotspot
	f.editions.view.publish(&h, e, i)
	out := appendFeature(nil, &h)
	at := f.root + "/collections/hotspots"
	links := encode([]link{
		{at + "/items/" + id, "self", "application/geo+json", "this document"},
		{at, "collection", "application/json", "the collection"},
	})
	out = append(append(out[:len(out)-1], `,"links":`...), links...)
	write(w, r, geoJSONType, append(out, "}\n"...))
	return nil
}

// itemsQuery asks for a page.
type itemsQuery struct {
	box    *geo.Box // nil: everywhere
	limit  int
	after  string // the id of the last hotspot of the page before
	values url.Values
}

const (
	defaultLimit = 100
	maxLimit     = 1000
)
