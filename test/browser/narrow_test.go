package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Every page at the width of a phone: no button, field, link or column is cut off. Tables
// of explanations and of history, which are wide by nature, may be scrolled.
func testNarrow(t *testing.T, b *browser, n *network) {
	p := b.open(t, n.url+"/#/hotspots", small)
	p.signIn(n.operator)
	for _, page := range [][2]string{
		{"/hotspots", "Needs attention"},
		{"/hotspots/" + n.hotspots[0].id, "Rewards by day"},
		{"/rewards", "By month"},
		{"/keys", "Keys"},
		{"/register", "Register a hotspot"},
		{"/import", "Template"},
		{"/map", "Hotspots"},
	} {
		p.narrow(page[0], page[1])
	}

	// The form warns before it is left, and search is walked by arrow keys.
	p.visit("/hotspots/" + n.hotspots[1].id)
	p.sees("Opening hours")
	p.fill(`input[name="name"]`, "Not to be kept")
	p.sees("Not saved yet.")
	eval[bool](p, `(window.confirm = (text) => { asked.push(text); return false; }, true)`)
	p.visit("/rewards")
	p.until(`asked.length === 1 && location.hash.startsWith("#/hotspots/hs_")`)
	p.sees("Not saved yet.")
	eval[bool](p, `(window.confirm = () => true, true)`)
	p.visit("/map?at=40.75360,-73.98320,15.00")
	p.fill(`input[name="search"]`, "Bryant Park")
	p.until(`document.querySelector(".results button")`)
	p.do(chromedp.KeyEvent(kb.ArrowDown))
	p.until(`document.activeElement.closest(".results")`)
	p.do(chromedp.KeyEvent(kb.ArrowUp))
	p.until(`document.activeElement.name === "search"`)

	// A long user name does not get a line of its own.
	p = b.open(t, n.url+"/#/hotspots", small)
	p.signIn(n.command(t, "keys", "create", "--user", "new", "--scopes", "hotspots:write", "--name", "Friends of Wi-Fi in Lower Manhattan"))
	p.sees("no hotspots")
	p.fits()
	p.until(`((who, brand) => who.top < brand.bottom && who.right <= innerWidth)(...[".who", ".brand"].map((e) => document.querySelector(e).getBoundingClientRect()))`)
	p.shot("narrow-long-name")

	p = b.open(t, n.url+"/#/staff", small)
	p.signIn(n.staff)
	for _, page := range [][2]string{
		{"/staff", "Offline for longest"}, {"/staff/verifications", "erif"}, {"/staff/review", "Review"}, {"/staff/hotspots", "otspots"}, {"/staff/holds", "Holds"}, {"/staff/inventory", "nventory"}, {"/staff/keys", "Keys"},
	} {
		p.narrow(page[0], page[1])
	}
}

// narrow visits a page and looks for what is cut off.
func (p *page) narrow(path, text string) {
	p.t.Helper()
	p.visit(path)
	p.sees(text)
	p.until(`!document.querySelector(".waiting")?.checkVisibility()`)
	p.fits()
	cut := eval[[]string](p, `[...document.querySelectorAll("main button, main a, main input, main select, main td, main th, .bar button, .bar a.button")]
		.filter((e) => e.checkVisibility() && !e.closest(".map, .explained, details, .sr-only, .bar nav") && e.getBoundingClientRect().width > 1)
		.filter((e) => ((r) => r.right > innerWidth + 1 || r.left < -1)(e.getBoundingClientRect()))
		.map((e) => e.tagName + " " + (e.textContent || e.name || e.className).slice(0, 40) + " reaches " + Math.round(e.getBoundingClientRect().right))`)
	// Of lists with texts of ours, each can be read; what devices report may be of any length.
	cut = append(cut, eval[[]string](p, `((pen) => [...document.querySelectorAll("main select:not([name=model], [name=firmware], [name=agent])")].filter((e) => e.checkVisibility()).flatMap((e) => {
		const style = getComputedStyle(e);
		pen.font = style.font;
		const room = e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
		return [...e.options].filter(({text}) => pen.measureText(text).width > room).map(({text}) => "choice " + text);
	}))(document.createElement("canvas").getContext("2d"))`)...)
	if len(cut) > 0 {
		p.t.Errorf("%s at %v pixels cuts off %q", path, eval[float64](p, `innerWidth`), cut)
	}
	p.shot("narrow" + strings.ReplaceAll(path[:min(len(path), 14)], "/", "-"))
}
