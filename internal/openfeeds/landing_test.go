package openfeeds_test

import (
	"encoding/xml"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"

// Browsers get a page, and all others the JSON that they always got.
func TestLanding_Form(t *testing.T) {
	n := town(t, true)
	plain := n.get("/open").Body.String()
	if !strings.HasPrefix(plain, `{"description":"The hotspots of a community Wi-Fi network that are in service and not in homes.","links":[{"href":"http://x/open","rel":"self"`) {
		t.Errorf("the index is %s", plain)
	}
	for accept, page := range map[string]bool{
		browser: true, "text/html": true, "TEXT/HTML ; Q=0.5": true, "application/json;q=0.8,text/html": true,
		"": false, "*/*": false, "application/json": false, "application/json, text/html;q=0.9": false, "text/html, application/json": false, "text/html;q=0": false,
		"application/geo+json, text/html;q=0.5": false, "application/vnd.oai.openapi+json;version=3.0": false, ";;;,": false,
	} {
		for _, path := range []string{"/open", "/open/"} {
			w := n.get(path, "Accept", accept)
			h := w.Header()
			if w.Code != http.StatusOK || h.Get("Vary") != "Accept, Accept-Encoding, Accept-Language" || h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%q: %d %v", accept, w.Code, h)
			}
			if is := h.Get("Content-Type") == "text/html; charset=utf-8"; is != page {
				t.Errorf("%q gets %s", accept, h.Get("Content-Type"))
			}
			if !page && w.Body.String() != plain {
				t.Errorf("%q gets another index", accept)
			}
			if again := n.get(path, "Accept", accept, "If-None-Match", h.Get("Etag")); again.Code != http.StatusNotModified {
				t.Errorf("%q again: %d", accept, again.Code)
			}
		}
	}
}

// The page names each feed in the reader's language, with an example that the feed serves,
// and whatever the network is called is text.
func TestLanding_Page(t *testing.T) {
	n := town(t, true)
	n.who = beacon.Identity{Name: `Free <b>"Wi-Fi"</b>`, Contact: "hello@example.org"}
	n.serve(n.limits, nil)
	for language, says := range map[string]string{"en": "All hotspots in one file", "es": "Todos los puntos en un archivo"} {
		w := n.get("/open", "Accept", browser, "Accept-Language", language)
		text := w.Body.String()
		page := xml.NewDecoder(strings.NewReader(text))
		page.Strict, page.Entity = false, xml.HTMLEntity
		var examples []string
		whole, within, tags := "", "", map[string]int{}
		for token, err := page.Token(); err != io.EOF; token, err = page.Token() {
			if err != nil {
				t.Fatal(err)
			}
			switch is := token.(type) {
			case xml.StartElement:
				within = is.Name.Local
				tags[within]++
			case xml.EndElement:
				within = ""
			case xml.CharData:
				whole += string(is)
				if within == "pre" {
					examples = append(examples, string(is))
				}
			}
		}
		if w.Header().Get("Content-Language") != language || !strings.Contains(whole, says) || !strings.Contains(whole, n.who.Name) || tags["b"]+tags["script"] > 0 {
			t.Errorf("%s: %s", language, text)
		}
		if !strings.Contains(text, `<link rel="icon" href="/logo" />`) || !strings.Contains(text, `href="/brand.css"`) {
			t.Errorf("%s: it has neither the logo nor the color of the network", language)
		}
		if !strings.Contains(text, `href="mailto:hello@example.org"`) || !strings.Contains(whole, ": 40 ·") || strings.Contains(text, "ZgotmplZ") {
			t.Errorf("%s: no contact, or no figures: %s", language, text)
		}
		if tags["article"] != 9 || len(examples) != 9 {
			t.Errorf("%s: %d feeds and %d examples", language, tags["article"], len(examples))
		}
		for _, example := range examples {
			address := strings.Split(example, "'")[1]
			if w := n.get(strings.TrimPrefix(address, "http://x")); w.Code != http.StatusOK {
				t.Errorf("%s: %d %s", example, w.Code, w.Body)
			}
		}
		if what := strings.Count(text, "<p></p>"); what > 0 {
			t.Errorf("%s: %d feeds are not explained", language, what)
		}
	}
}
