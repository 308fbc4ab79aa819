package browser_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestDocs reads the documentation as people do, in each way of looking.
func TestDocs(t *testing.T) {
	level.Needs(t, level.Check)
	b := launch(t)
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t}
	n.serve(t)
	for _, tc := range []struct{ name, path, heading string }{
		{"index", "/docs", ""},
		{"guide", "/docs/rewards", "Rewards"},
		{"preview", "/docs/api/preview", "Beacon preview API"},
		{"network", "/docs/api/network", "Beacon network API"},
		{"tag", "/docs/api/network/hotspots", "Hotspots"},
		{"schemas", "/docs/api/network/schemas", "Schemas and shared responses"},
		{"search", "/docs/search?q=nearby+radius", "Search"},
		{"missing", "/docs/nothing", "Page not found"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := b.open(t, n.url+tc.path, desk)
			p.expects("404") // the status of the missing page
			p.until(`document.querySelector("h1")`)
			if got := eval[string](p, `document.querySelector("h1").firstChild.textContent.trim()`); tc.heading != "" && got != tc.heading {
				t.Errorf("the heading is %q", got)
			}
			for _, as := range []struct {
				name string
				look
			}{{"desk", desk}, {"night", night}, {"phone", phone}} {
				p.do(chromedp.EmulateViewport(as.width, as.height))
				p.light(!as.dark)
				p.fits()
				p.shot("docs-" + tc.name + "-" + as.name)
				if tc.name != "network" && tc.name != "schemas" { // made of the same parts as others
					p.accessible(tc.name + ", " + as.name)
				}
			}
		})
	}
	t.Run("on the way", func(t *testing.T) { testDocsOnTheWay(b.open(t, n.url+"/docs", desk)) })
	t.Run("trial", func(t *testing.T) { testDocsTrial(b.open(t, n.url+"/docs", desk), n) })
	t.Run("theme", func(t *testing.T) { testDocsTheme(b.open(t, n.url+"/docs", desk)) })
	t.Run("phone", func(t *testing.T) { testDocsOnThePhone(b.open(t, n.url+"/docs", phone)) })
}

// One gets about by keyboard and by links, and an anchor is not hidden below the bar.
func testDocsOnTheWay(p *page) {
	p.do(chromedp.KeyEvent("\t"))
	p.until(`document.activeElement.innerText === "Skip to content"`)
	p.do(chromedp.KeyEvent("\r"))
	p.until(`document.activeElement.id === "page"`)
	p.press("Beacon network API")
	p.until(`location.pathname === "/docs/api/network" && document.readyState === "complete"`)
	for _, step := range []struct{ click, path, target string }{
		{`.operations a[href$="#op-registerHotspot"]`, "/docs/api/network/hotspots", "op-registerHotspot"},
		{`#op-registerHotspot a[href$="#schema-Registration"]`, "/docs/api/network/schemas", "schema-Registration"},
	} {
		eval[bool](p, fmt.Sprintf("(document.querySelector('%s').click(), true)", step.click))
		p.until(fmt.Sprintf(`location.pathname === "%s" && location.hash === "#%s" && document.readyState === "complete"`, step.path, step.target))
		p.until(fmt.Sprintf(`document.getElementById("%s").getBoundingClientRect().top >= document.querySelector(".bar").getBoundingClientRect().bottom`, step.target))
		p.until(fmt.Sprintf(`document.getElementById("%s").getBoundingClientRect().top < innerHeight / 2`, step.target))
		p.shot("docs-" + step.target)
	}
	testDocsSearch(p)
	// Everything that can be opened, opened.
	eval[bool](p, `(document.querySelectorAll("article details").forEach((d) => { d.open = true; }), true)`)
	p.accessible("all opened")
	p.fits()
	eval[bool](p, `(document.querySelector("#op-findNearbyHotspots .answers").scrollIntoView(), true)`)
	p.shot("docs-opened")
	p.press("Console")
	p.until(`location.pathname === "/" && document.body?.innerText.includes("This network shows its map to those who have a key.")`)
	p.press("Docs")
	p.until(`location.pathname === "/docs" && document.querySelector("article h1")`)
}

// The theme is chosen on this device, for the documentation and the console.
func testDocsTheme(p *page) {
	const drawn = `matchMedia("(prefers-color-scheme: light)").matches && getComputedStyle(document.body).backgroundColor === "%s"`
	const light, dark = "rgb(243, 245, 248)", "rgb(15, 21, 29)"
	p.until(fmt.Sprintf(drawn, light))
	p.click(`.theme[aria-label="Theme: system. Change to light."]`)
	p.until(`document.documentElement.dataset.theme === "light"`)
	p.click(`.theme[aria-label="Theme: light. Change to dark."]`)
	p.until(fmt.Sprintf(drawn, dark))
	p.accessible("chosen to be dark")
	p.press("Rewards")
	p.until(`location.pathname === "/docs/rewards" && document.readyState === "complete"`)
	p.until(fmt.Sprintf(drawn, dark))
	p.shot("docs-theme")
	p.press("Console")
	p.until(`location.pathname === "/" && document.documentElement.dataset.theme === "dark"`)
	p.press("Docs")
	p.until(`location.pathname === "/docs" && document.readyState === "complete"`)
	p.click(`.theme[aria-label="Theme: dark. Change to system."]`)
	p.until(fmt.Sprintf(drawn, light))
	p.until(`localStorage.getItem("beacon-theme") === null`)
}

// A search leads to the place, where what is to be copied can be.
func testDocsSearch(p *page) {
	p.fill(".search input", "hotspots nearby\r")
	p.until(`location.pathname === "/docs/search" && document.querySelector(".hits")`)
	for _, name := range []string{"clipboard-write", "clipboard-read"} {
		p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			_, err := chromedp.CallBrowser(ctx, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
				Permission: &cdpbrowser.PermissionDescriptor{Name: name}, Setting: cdpbrowser.PermissionSettingGranted, BrowserContextID: chromedp.FromContext(ctx).BrowserContextID,
			})
			return err
		}))
	}
	eval[bool](p, `(document.querySelector('.hits a[href$="#op-findNearbyHotspots"]').click(), true)`)
	p.until(`location.hash === "#op-findNearbyHotspots" && document.querySelector("#op-findNearbyHotspots .curl + button")`)
	eval[bool](p, `(document.querySelector("#op-findNearbyHotspots .curl + button").click(), true)`)
	p.until(`document.querySelector("#op-findNearbyHotspots .curl + button").innerText === "Copied"`)
	copied, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`navigator.clipboard.readText()`, chromedp.EvalAwaitPromise))
	if err != nil || !strings.HasPrefix(copied, "curl ") || strings.Contains(copied, "Copied") {
		p.fail("what was copied is %q, %v", copied, err)
	}
}

// What is typed is looked for at once, typos and all, and an example is sent as it stands
// there, with the reader's key.
func testDocsTrial(p *page, n *network) {
	key := n.command(p.t, "keys", "create", "--user", "new", "--scopes", "hotspots:write")
	p.fill(".search input", "coverge simulat")
	p.until(`document.querySelector(".found:not([hidden]) strong")?.innerText.startsWith("coverage ")`)
	p.accessible("found while typing")
	p.shot("docs-typing")
	p.do(chromedp.KeyEvent("\u001b")) // Escape
	p.fill(".search input", "whoami keys")
	p.fill(".search input", "get coverage")
	p.until(`document.querySelector(".found:not([hidden]) a[href$='#op-getCoverage']")`)
	eval[bool](p, `(document.querySelector(".found a[href$='#op-getCoverage']").click(), true)`)
	p.until(`location.hash === "#op-getCoverage" && document.querySelector("#op-getCoverage .send")`)
	eval[bool](p, `(document.querySelector("#op-getCoverage .send").click(), true)`)
	p.fill(`#op-getCoverage .trial input[type="password"]`, key)
	p.shot("docs-trial")
	eval[bool](p, `(document.querySelector("#op-getCoverage .trial .send").click(), true)`)
	p.until(`document.querySelector("#op-getCoverage .trial [role='status']").innerText.startsWith("200")`)
	p.until(`document.querySelector("#op-getCoverage .trial .output").innerText.includes('"hotspot_count": 0')`)
	p.accessible("an example that was tried")
	p.fits()
	// The key stays in this tab, and nothing goes elsewhere or out half filled in.
	p.until(fmt.Sprintf(`sessionStorage.getItem("beacon-docs-key") === %q && localStorage.length === 0`, key))
	eval[bool](p, `(document.querySelector("#op-simulateCoverage .send").click(), true)`)
	p.until(`document.querySelector("#op-simulateCoverage .trial").innerText.includes("This is no rehearsal")`)
	p.set(`#op-simulateCoverage .trial input`, "https://elsewhere.example/")
	eval[bool](p, `(document.querySelector("#op-simulateCoverage .trial .send").click(), true)`)
	p.until(`document.querySelector("#op-simulateCoverage .trial [role='status']").innerText === "Requests go to this server only."`)
	p.set(`#op-simulateCoverage .trial input`, "/v1/hotspots/{id}")
	eval[bool](p, `(document.querySelector("#op-simulateCoverage .trial .send").click(), true)`)
	p.until(`document.querySelector("#op-simulateCoverage .trial [role='status']").innerText.includes("{id}")`)
}

// On a phone, the pages are in a menu.
func testDocsOnThePhone(p *page) {
	p.press("All pages")
	p.until(`document.querySelector(".menu").open`)
	p.shot("docs-phone-menu")
	p.accessible("menu")
	p.press("Rewards")
	p.until(`location.pathname === "/docs/rewards" && document.readyState === "complete"`)
	p.press("On this page")
	p.shot("docs-phone-contents")
	p.press("Check a statement")
	p.until(`location.hash === "#check-a-statement"`)
}
