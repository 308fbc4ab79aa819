package openfeeds

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/beacon-wifi/beacon/internal/api/maps"
	"github.com/beacon-wifi/beacon/internal/httpserver/static"
)

//go:embed landing.html
var landingText string

var landingTemplate = template.Must(template.New("landing").Parse(landingText))

// varyLanding is by what the landing page differs: programs get JSON, and people a page.
var varyLanding = []string{"Accept, Accept-Encoding, Accept-Language"}

// landing serves the landing page.
func (f *Feeds) landing(w http.ResponseWriter, r *http.Request) error {
	kind, body := jsonType, encode(f.index())
	if wantsPage(r.Header["Accept"]) {
		in := wordsFor(r.Header)
		var page bytes.Buffer
		if err := landingTemplate.Execute(&page, f.landingPage(in)); err != nil {
			return err
		}
		kind, body = []string{static.Page}, page.Bytes()
		guard.Set(w.Header())
		w.Header()["Content-Language"] = []string{in.Lang}
	}
	w.Header()["Vary"] = varyLanding
	maps.WriteTagged(w, r, kind, forAMinute, body, nil)
	return nil
}

// wantsPage reports whether a client prefers HTML to JSON, as browsers do. One that accepts
// anything gets JSON, as it always did.
func wantsPage(accept []string) bool {
	html, data := 0.0, 0.0
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		kind, parameters, _ := strings.Cut(part, ";")
		weight := 1.0
		for parameter := range strings.SplitSeq(parameters, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
			if n, err := strconv.ParseFloat(strings.TrimSpace(value), 64); strings.EqualFold(strings.TrimSpace(name), "q") && err == nil {
				weight = n
			}
		}
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "text/html", "application/xhtml+xml":
			html = max(html, weight)
		case "application/json", "application/geo+json":
			data = max(data, weight)
		}
	}
	return html > data
}

// landingPage is what the page shows.
type landingPage struct {
	Style                      template.CSS
	In                         *words
	Name, Contact, ContactLink string
	License, Attribution       string

	Hotspots, Online int
	Feeds            []shownFeed
}

// shownFeed is a feed, with an example that can be pasted into a shell.
type shownFeed struct {
	Path, URL, Name, What, Example string
}

// landingFeeds are the feeds in the order of the page, and how each is called there. An
// example is what follows the path.
var landingFeeds = []struct{ path, name, example string }{
	{"/hotspots.geojson", "GeoJSON", " -o hotspots.geojson"},
	{"/nearest", "GeoJSON", "?lat=LAT&lng=LNG&limit=5"},
	{"/network.json", "JSON", ""},
	{estimatePath, "JSON", "?lat=LAT&lng=LNG"},
	{"/tiles.json", "TileJSON 3.0, Mapbox Vector Tiles", ""},
	{"/collections/hotspots/items", "OGC API Features", "?limit=10"},
	{"/meshviewer.json", "Meshviewer", ""},
	{"/nodelist.json", "Freifunk", ""},
	{"/openstreetmap.geojson", "GeoJSON", " -o for-review.geojson"},
}

func (f *Feeds) landingPage(in *words) *landingPage {
	e := f.editions.current()
	p := &landingPage{Style: pageCSS, In: in, Hotspots: len(e.items), Online: e.online}
	if f.identity != nil {
		who := f.identity()
		p.Name, p.Contact, p.ContactLink = who.Name, who.Contact, who.ContactLink()
		p.License, p.Attribution = who.License, who.Attribution
	}
	// Of the nearest, the example is about the middle of the network.
	middle := degrees((e.box.South + e.box.North) / 2)
	across := degrees(e.box.West + e.box.Width()/2)
	place := strings.NewReplacer("LAT", middle, "LNG", across)
	for _, feed := range landingFeeds {
		if feed.path == estimatePath && f.noRewards() {
			continue
		}
		rest, options, _ := strings.Cut(feed.example, " ")
		at := f.root + feed.path + place.Replace(rest)
		example := "curl '" + at + "'"
		if options != "" {
			example += " " + options
		}
		p.Feeds = append(p.Feeds, shownFeed{feed.path, at, feed.name, in.feeds[feed.path], example})
	}
	return p
}

func degrees(n float64) string {
	if n > 180 {
		n -= 360
	}
	return strconv.FormatFloat(n, 'f', 4, 64)
}
