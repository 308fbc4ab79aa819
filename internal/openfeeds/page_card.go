package openfeeds

import (
	"net/http"
	"sync"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver/static"
	"github.com/beacon-wifi/beacon/internal/identity"
)

const (
	pageCard = PageBase + "{id}/card.png"
	// cardCost is how many requests a picture counts as: drawing one takes some 50 ms.
	cardCost = 20
	// maxCards is how many pictures are kept, of some 20 kB each.
	maxCards = 64
)

// cardOf is what a picture shows.
type cardOf struct {
	network     beacon.Identity
	title, line string
}

// cards keeps the pictures that were drawn last.
type cards struct {
	turn sync.Mutex // taken with nothing else held: one is drawn at a time
	kept map[cardOf]*static.File
}

func (c *cards) get(of cardOf) *static.File {
	c.turn.Lock()
	defer c.turn.Unlock()
	if f := c.kept[of]; f != nil {
		return f
	}
	if c.kept == nil || len(c.kept) >= maxCards {
		c.kept = map[cardOf]*static.File{}
	}
	f := static.New("GET "+pageCard, beacon.PNG, identity.Draw(of.network, of.title, of.line, nil), forAMinute)
	c.kept[of] = f
	return f
}

// card serves the picture that sites show beside a link to the page of a hotspot: its name and
// address, and the network's name.
func (p *Pages) card(w http.ResponseWriter, r *http.Request) error {
	e := p.feeds.editions.current()
	i, found := e.find(r.PathValue("id"))
	if !found {
		return errNoItem
	}
	var h hotspot
	p.feeds.editions.view.publish(&h, e, i)
	self := p.feeds.who()
	line := identity.NameOf(self)
	if address := text(h.address); address != "" {
		line = address + " · " + line
	}
	guard.Set(w.Header())
	w.Header()["Cross-Origin-Resource-Policy"] = []string{"cross-origin"} // other sites show it beside links
	p.cards.get(cardOf{self, text(h.name), line}).Write(w, r)
	return nil
}
