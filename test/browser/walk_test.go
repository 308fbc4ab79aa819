package browser_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestWalk goes once through the main pages, with one browser and one page: what
// every contributor runs. TestConsole and TestDocs, of make check, look closer.
func TestWalk(t *testing.T) {
	b := launch(t)
	n := start(t)
	n.stayAwake(t)
	p := b.open(t, n.url+"/preview", desk)

	// The preview, without a key.
	p.sees("78 fixed records")
	p.accessible("preview")

	// The map of the live network, and who is near.
	p.press("Sign in")
	p.signIn(n.operator)
	p.until(`document.querySelector(".legend")?.innerText.includes("Yours (")`)
	p.visit("/map?at=40.75360,-73.98320,15.00")
	p.until(`document.querySelector(".live").innerText === "Live"`)
	p.until(figure("Hotspots") + ` === "4"`)
	p.search(n.hotspots[2].id)
	p.until(fmt.Sprintf(`document.querySelector(".card h2")?.innerText === %q`, hostile))
	p.press("Back")
	p.clickMap(0.8, 0.8)
	p.sees("4 hotspots, the nearest first")
	n.newcomer(t, "Newcomer", 1, 40.7533, -73.9828)
	p.sees("Just now: hotspot registered")

	// What an operator has, and earned.
	p.visit("/hotspots")
	p.sees(n.hotspots[0].name)
	p.visit("/hotspots/" + n.hotspots[0].id)
	p.sees("Rewards by day")
	p.until(`document.querySelectorAll(".plot canvas").length === 3`)
	p.fill(`input[name="name"]`, "Renamed")
	p.press("Save")
	p.sees("Saved.")
	p.visit("/rewards")
	p.press("Last month")
	p.sees("This period is settled")
	p.accessible("rewards")

	// The documentation, and back without a key.
	p.do(chromedp.Navigate(n.url + "/docs/rewards"))
	p.until(`document.querySelector("h1")?.firstChild.textContent.trim() === "Rewards"`)
	p.fits()
	p.do(chromedp.Navigate(n.url))
	p.press("Sign out")
	p.sees("This network shows its map to those who have a key.")
}
