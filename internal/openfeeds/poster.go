package openfeeds

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"

	"github.com/beacon-wifi/beacon/internal/identity"
)

//go:embed poster.css
var posterStyle string

//go:embed poster.html
var posterText string

// posterCSS is embedded like pageCSS.
var posterCSS = template.CSS(posterStyle)

var posterTemplate = template.Must(template.New("poster").Parse(posterText))

var posterGuard = newGuard(posterStyle)

// poster serves a sheet of paper about a hotspot, to be printed and put up beside it: whose it
// is, what the network is called, and a QR code that leads to its page. Readers of other
// languages than its own have it in theirs, with lang.
func (p *Pages) poster(w http.ResponseWriter, r *http.Request) error {
	in := wordsFor(r.Header)
	for _, one := range spoken {
		if one.Lang == r.URL.Query().Get("lang") {
			in = one
		}
	}
	shown, err := p.find(r.PathValue("id"), in)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if shown == nil {
		status, shown = http.StatusNotFound, &shownPage{In: in}
	}
	shown.Style, shown.Brand = posterCSS, identity.NameOf(p.feeds.who())
	var body bytes.Buffer
	if err := posterTemplate.Execute(&body, shown); err != nil {
		return err
	}
	posterGuard.Set(w.Header())
	sendPage(w, r, status, in, body.Bytes())
	return nil
}
