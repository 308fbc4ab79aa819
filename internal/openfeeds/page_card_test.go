package openfeeds_test

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/openfeeds"
)

// A page says whose hotspot it shows, and names a picture of it, for those who share its link.
// A home has neither.
func TestPage_Identity(t *testing.T) {
	n := newNetwork(edge.Limits{}, "http://x")
	shop := n.add(t, beacon.Public, 1, geo.Point{Lat: 52.5, Lng: 13.4})
	home := n.add(t, beacon.Home, 2, geo.Point{Lat: 52.5, Lng: 13.5})
	n.beat(shop)
	who := beacon.Identity{Name: `</title>"<b>`, Color: "#dc0067"}
	openfeeds.SetIdentity(n.feeds, func() beacon.Identity { return who })
	p := pagesOf(n, mostlyUp)
	page := readPage(p, "GET", "/h/"+string(shop.ID))
	for _, want := range []string{
		"· &lt;/title&gt;&#34;&lt;b&gt;</title>", `property="og:image" content="http://x/h/` + string(shop.ID) + `/card.png"`, `<link rel="stylesheet" href="/brand.css" />`,
		`<p class="brand"><a href="/">&lt;/title&gt;&#34;&lt;b&gt;</a></p>`,
	} {
		if !strings.Contains(page.Body.String(), want) {
			t.Errorf("the page has no %s: %s", want, page.Body)
		}
	}
	if title := n.get("/open").Body.String(); !strings.Contains(title, `Open data of \u003c/title\u003e`) && !strings.Contains(title, `Open data of </title>\"<b>`) {
		t.Errorf("the feeds are called %s", title)
	}
	first := readPage(p, "GET", "/h/"+string(shop.ID)+"/card.png")
	if m, err := png.Decode(bytes.NewReader(first.Body.Bytes())); err != nil || m.Bounds().Dx() != 1200 || first.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the picture: %d %v %v", first.Code, err, first.Header())
	}
	who.Name = "Another"
	if again := readPage(p, "GET", "/h/"+string(shop.ID)+"/card.png"); bytes.Equal(again.Body.Bytes(), first.Body.Bytes()) {
		t.Error("the picture does not follow the name of the network")
	}
	for _, id := range []string{string(home.ID), "hs_none"} {
		if w := readPage(p, "GET", "/h/"+id+"/card.png"); w.Code != 404 {
			t.Errorf("%s has a picture: %d", id, w.Code)
		}
		if w := readPage(p, "GET", "/h/"+id); strings.Contains(w.Body.String(), "og:") {
			t.Errorf("%s has a page: %s", id, w.Body)
		}
	}
}
