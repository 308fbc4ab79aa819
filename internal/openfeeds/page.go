package openfeeds

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/httpserver/static"
	"github.com/beacon-wifi/beacon/internal/identity"
	"github.com/beacon-wifi/beacon/internal/qrsvg"
)

// PageBase is the prefix of the pages of hotspots.
const PageBase = "/h/"

const (
	// uptimeDays is how many days a page shows.
	uptimeDays = 30
	// uptimeTime is how long the database may take to tell of them.
	uptimeTime = 5 * time.Second
)

// Uptime returns the uptime of a hotspot on each UTC day from one up to another, between 0
// and 1; not a number where no service was expected. It returns NotFound when there is no
// live hotspot.
type Uptime func(ctx context.Context, id beacon.HotspotID, from, to time.Time) ([]float64, error)

// Pages serves a page about each hotspot that feeds show, for people: is it me or the
// hotspot? It has no script.
type Pages struct {
	feeds   *Feeds
	uptime  Uptime
	url     string // of the server
	now     func() time.Time
	site    *httpserver.Site
	cards   cards
	showsUp bool // the table of audiences makes uptime public
}

//go:embed page.css
var pageStyle string

//go:embed page.html
var pageText string

// pageCSS is embedded, so there is nothing in it to escape.
var pageCSS = template.CSS(pageStyle)

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// guard is for pages without a script, whose only style is their own.
var guard = newGuard(pageStyle)

func newGuard(style string) static.Guard {
	sum := sha256.Sum256([]byte(style))
	return static.NewGuard("geolocation=(), camera=(), microphone=(), payment=(), usb=()", "style-src 'self' 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'", "img-src 'self'")
}

// NewPages returns the pages of a network.
func NewPages(feeds *Feeds, cfg Config) *Pages {
	p := &Pages{feeds: feeds, uptime: cfg.Uptime, url: cfg.PublicURL, now: cfg.Now, showsUp: feeds.showsUp}
	p.site = httpserver.NewSite(map[string]http.Handler{
		"GET " + PageBase + "{id}":       feeds.guard(pageCost, p.page(false)),
		"GET " + PageBase + "{id}/embed": feeds.guard(pageCost, p.page(true)),
		"GET " + pagePoster:              feeds.guard(1, p.poster),
		"GET " + pageCard:                feeds.guard(cardCost, p.card),
	}, feeds.api.Refuse)
	return p
}

// Routes lists the routes of the pages.
func (p *Pages) Routes() []string {
	if p == nil { // known without a network
		return []string{"GET " + PageBase + "{id}", "GET " + PageBase + "{id}/embed", "GET " + pagePoster, "GET " + pageCard}
	}
	return p.site.Routes()
}

// ServeHTTP serves a request below PageBase.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.site.ServeHTTP(w, r) }

// pagePoster is the path of the posters.
const pagePoster = PageBase + "{id}/poster"

// pageCost is how many requests a page counts as: it reads the database.
const pageCost = 5

// page serves the page of a hotspot, or the small one that other pages may show in a frame.
func (p *Pages) page(small bool) endpoint {
	return func(w http.ResponseWriter, r *http.Request) error {
		in := wordsFor(r.Header)
		shown, err := p.show(r.Context(), r.PathValue("id"), in)
		if err != nil {
			return err
		}
		status := http.StatusOK
		if shown == nil {
			status, shown = http.StatusNotFound, &shownPage{Style: pageCSS, In: in}
		}
		self := p.feeds.who()
		shown.Brand, shown.HasLogo, shown.Picture = identity.NameOf(self), self.Logo.Data != "", shown.URL+"/card.png"
		shown.Small = small
		var body bytes.Buffer
		if err := pageTemplate.Execute(&body, shown); err != nil {
			return err
		}
		h := w.Header()
		guard.Set(h)
		if small {
			h["Content-Security-Policy"] = []string{strings.Replace(h.Get("Content-Security-Policy"), "frame-ancestors 'none'", "frame-ancestors *", 1)}
			delete(h, "X-Frame-Options")
			h["Cross-Origin-Resource-Policy"] = []string{"cross-origin"}
		}
		sendPage(w, r, status, in, body.Bytes())
		return nil
	}
}

// sendPage sends a page in the language of its words.
func sendPage(w http.ResponseWriter, r *http.Request, status int, in *words, body []byte) {
	h := w.Header()
	h["Content-Type"] = []string{static.Page}
	h["Cache-Control"] = forAMinute
	h["Content-Language"] = []string{in.Lang}
	h["Vary"] = []string{"Accept-Language"}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may have left; that is not our fault
	}
}

// shownPage is what a page shows.
type shownPage struct {
	Style                             template.CSS
	In                                *words
	Small                             bool
	Brand, Picture                    string // the name of the network, and the URL of a picture for links
	HasLogo                           bool
	ID, Name, Address, SSID, Map, URL string
	Online                            bool
	Seen, Hours                       string
	Week                              []shownHours
	Zone                              string
	Days                              []shownDay
	Mean                              string
	Code                              qrsvg.Code
}

// shownDay is a bar. Its height is a percentage.
type shownDay struct {
	X, Top, Height int
	Kind, Text     string
}

// show returns what the page of a hotspot shows, or nil if it has none: it does not exist,
// is a home, or is not in service. Nobody can tell which.
func (p *Pages) show(ctx context.Context, id string, in *words) (*shownPage, error) {
	s, err := p.find(id, in)
	if s == nil || err != nil || !p.showsUp {
		return s, err
	}
	ctx, cancel := context.WithTimeout(ctx, uptimeTime)
	defer cancel()
	today := p.now().UTC().Truncate(24 * time.Hour)
	from := today.AddDate(0, 0, 1-uptimeDays)
	days, err := p.uptime(ctx, beacon.HotspotID(s.ID), from, today.AddDate(0, 0, 1))
	switch {
	case beacon.KindOf(err) == beacon.NotFound: // deleted since the edition was made
		return nil, nil
	case err != nil:
		return nil, err
	}
	s.Days, s.Mean = bars(days, from, in)
	return s, nil
}

// find returns what memory knows of a hotspot that has a page, or nil if it has none.
func (p *Pages) find(id string, in *words) (*shownPage, error) {
	e := p.feeds.editions.current()
	i, found := e.find(id)
	if !found {
		return nil, nil
	}
	var h hotspot
	p.feeds.editions.view.publish(&h, e, i)
	s := &shownPage{
		Style: pageCSS, In: in, ID: h.id, Name: text(h.name), Address: text(h.address), SSID: text(h.ssid),
		Online: h.status == beacon.Online, URL: p.url + PageBase + h.id, Hours: in.hours(&h, e.at),
		Map: fmt.Sprintf("/#/map/%s?at=%.5f,%.5f,17.00", h.id, h.place.Lat, h.place.Lng),
	}
	if s.Name == "" {
		s.Name = h.id
	}
	if h.hours != nil && h.hours.Zone() != nil {
		s.Week, s.Zone = in.week(h.hours, e.at), strings.ReplaceAll(h.hours.Zone().String(), "_", " ")
	}
	if !h.seenAt.IsZero() {
		s.Seen = in.moment(h.seenAt)
	}
	var err error
	s.Code, err = qrsvg.Draw(s.URL)
	return s, err
}

// text returns the text in a JSON string, or nothing.
func text(encoded string) string {
	var plain string
	_ = json.Unmarshal([]byte(encoded), &plain) // null leaves it empty
	return plain
}

// bars returns a bar for each day, and the mean of those days on which service was expected.
func bars(days []float64, from time.Time, in *words) (all []shownDay, mean string) {
	sum, count := 0.0, 0
	for i, up := range days {
		day := shownDay{X: i * 10, Top: 97, Height: 3, Kind: "none", Text: in.day(from.AddDate(0, 0, i)) + ": " + in.notInService}
		if !math.IsNaN(up) {
			sum, count = sum+up, count+1
			day.Height = 3 + int(math.Round(97*up))
			day.Top, day.Kind = 100-day.Height, kindOf(up)
			day.Text = in.day(from.AddDate(0, 0, i)) + ": " + in.percent(up)
		}
		all = append(all, day)
	}
	if count > 0 {
		mean = in.percent(sum / float64(count))
	}
	return all, mean
}

func kindOf(up float64) string {
	switch {
	case up >= 0.98:
		return "good"
	case up >= 0.8:
		return "fair"
	}
	return "poor"
}
