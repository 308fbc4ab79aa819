package browser_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestPublic looks at a public network without a key: the live map, a hotspot that someone
// passed on, and its page. Homes have neither.
func TestPublic(t *testing.T) {
	level.Needs(t, level.Check)
	b := launch(t)
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t}
	n.operator = n.command(t, "keys", "create", "--user", "new", "--scopes", "hotspots:write")
	n.staff = n.command(t, "keys", "create", "--user", "new", "--scopes", "admin")
	n.serve(t, "--public")
	for i := range 3 { // the third is a home
		n.hotspots = append(n.hotspots, n.bringUp(t, i, names[i]))
	}
	n.ask(t, n.operator, "PATCH", "/v1/hotspots/"+n.hotspots[0].id, map[string]any{"settings": map[string]any{"operating_hours": map[string]any{
		"timezone": "America/Argentina/Buenos_Aires", "weekly": []any{map[string]any{"days": []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, "open": "08:00", "close": "24:00"}},
	}}})
	n.beat(t, n.hotspots...)
	n.ask(t, n.staff, "PATCH", "/v1/settings", map[string]any{"name": "Freifunk Lumeford", "description": "Free Wi-Fi by neighbours for neighbours"})
	for name, l := range map[string]look{"1400": wide, "390-dark": {width: 390, height: 844, dark: true}} {
		t.Run(name, func(t *testing.T) {
			p := b.open(t, n.url, l)
			p.sees("Choose a hotspot to see whether it works.")
			p.until(`document.querySelector("h1").checkVisibility() && document.querySelector("h1").innerText === "Freifunk Lumeford"`) // also where the bar has no room for it
			p.sees("Free Wi-Fi by neighbours for neighbours")
			p.until(`document.querySelectorAll(".found").length === 2`) // those that are nearest to the middle of the map
			p.calm()
			p.fits()
			p.accessible("the public map")
			p.shot("public-map-" + name)
			p.findsByKeyboard(n.hotspots[1].name)
			p.press("My window")
			p.press("Place it at the centre")
			p.sees("at most") // there are too few neighbours to say more
			p.fits()
			p.accessible("the planner without a key")
			p.shot("public-window-" + name)
			p.press("Wi-Fi nearby")
			p.visit("/sign-in")
			p.sees("Without a key you see the public map.")
			p.visit("/map/" + n.hotspots[0].id) // a link that was passed on
			p.sees(n.hotspots[0].name)
			p.sees("Beacon Guest")
			p.sees("Open now, until 24:00 GMT-3") // by its own clock, in the words of its page
			p.fits()
			p.shot("public-hotspot-" + name)
			p.expects("404")
			p.visit("/map/" + n.hotspots[2].id)
			p.sees("This hotspot is not public, or is gone.")
			p.visit("/map/" + n.hotspots[0].id)
			p.press("Status page")
			p.sees("Is it me or the hotspot?")
			p.until(`document.querySelectorAll(".bars rect").length === 30 && getComputedStyle(document.querySelector(".bars")).height === "80px"`) // its style was let in
			p.sees("Open now, until 24:00")                                                                                                         // it is nine there
			p.until(`document.querySelectorAll("tr").length === 7 && document.querySelector("tr.today").innerText.includes("08:00–24:00")`)
			p.fits()
			p.accessible("the page of a hotspot")
			p.shot("public-page-" + name)
			p.press("A poster to print")
			p.sees("There is Wi-Fi here")
			p.until(`document.querySelector(".code").getBoundingClientRect().width >= 250 && getComputedStyle(document.querySelector(".ssid")).borderTopWidth === "3px"`)
			p.fits()
			p.accessible("a poster")
			p.shot("public-poster-" + name)
			p.do(chromedp.Navigate(n.url + "/h/" + n.hotspots[0].id + "/embed"))
			p.sees("Online now")
			p.accessible("the page in a frame")
			p.do(chromedp.Navigate(n.url + "/h/" + n.hotspots[2].id))
			p.sees("No such hotspot")
		})
	}
}

// findsByKeyboard looks for a hotspot by a part of its name, goes back to the list, and there
// to the same one, without a pointer.
func (p *page) findsByKeyboard(name string) {
	p.t.Helper()
	shown := fmt.Sprintf(`document.querySelector(".card h2")?.innerText === %q`, name)
	p.fill(`input[name="search"]`, strings.ToUpper(strings.Fields(name)[0]))
	p.until(fmt.Sprintf(`document.querySelector(".results button")?.innerText.includes(%q)`, name))
	p.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent("\r"))
	p.until(shown)
	p.press("Back")
	p.until(fmt.Sprintf(`document.activeElement.matches(".found button") && document.activeElement.innerText.includes(%q)`, name))
	p.do(chromedp.KeyEvent("\t"))
	p.until(fmt.Sprintf(`document.activeElement.getAttribute("aria-label") === %q`, "Directions to "+name))
	p.do(chromedp.KeyEvent("\t", chromedp.KeyModifiers(chromedp.ModifierShift)), chromedp.KeyEvent("\r"))
	p.until(shown)
	p.press("Back")
}
