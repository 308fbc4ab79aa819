package browser_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// What the map shows stands in the address: to load it again, to come back to it, to pass it on.
func testAddress(t *testing.T, b *browser, n *network) {
	const park = "40.75360,-73.98320,15.00"
	ends := func(text string) string { return fmt.Sprintf(`location.hash.endsWith(%q)`, text) }
	p := b.open(t, n.url+"/#/map?at="+park, desk)
	p.signIn(n.operator)
	p.until(figure("Hotspots") + ` >= "4"`)
	p.calm()
	entries := eval[float64](p, `history.length`)
	p.click(".maplibregl-ctrl-zoom-in")
	p.until(ends("40.75360,-73.98320,16.00"))
	if now := eval[float64](p, `history.length`); now != entries {
		t.Errorf("moving the map made %v entries to go back through", now-entries)
	}
	p.do(chromedp.Reload())
	p.until(figure("Hotspots") + ` >= "4"`)
	p.click(".maplibregl-ctrl-zoom-out")
	p.until(ends(park))

	// A hotspot that is looked for is brought into sight, and going back brings the map back too.
	far := n.hotspots[4]
	p.search(far.id)
	p.until(fmt.Sprintf(`location.hash.startsWith("#/map/%s?at=40.66")`, far.id))
	sees := `((e) => e && document.elementsFromPoint(...(({left, top, width, height}) => [left + width / 2, top + height / 2])(e.getBoundingClientRect())).includes(document.querySelector(".map canvas")))(document.querySelector(".map-ring"))`
	p.until(sees)
	eval[bool](p, `(history.back(), true)`)
	p.until(ends(park))
	p.until(figure("Hotspots") + ` >= "4"`)
	eval[bool](p, `(history.forward(), true)`)
	p.until(sees)

	// Who is sent a view together with a hotspot sees that view.
	p.visit("/map/" + far.id + "?at=" + park)
	p.do(chromedp.Reload())
	p.until(fmt.Sprintf(`document.querySelector(".card h2")?.innerText === %q`, far.name))
	p.until(`document.querySelector(".map-ring")`)
	p.calm()
	if !eval[bool](p, ends(park)) || eval[bool](p, sees) {
		t.Errorf("it shows %s", eval[string](p, `location.hash`))
	}
}
