package browser_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// An operator's first page: how it is, what was earned, what to do, and the list.
func testHome(t *testing.T, b *browser, n *network) {
	waiting := n.newcomer(t, "Waiting Room", 40, 40.7, -73.9)
	doomed := n.newcomer(t, "Doomed", 41, 40.71, -73.91)
	p := b.open(t, n.url+"/#/hotspots", wide)
	p.signIn(n.operator)
	p.until(`/^\d+ of \d+ online · [\d,.<]+ credits this month$/.test(document.querySelector(".headline")?.innerText ?? "")`)
	p.until(`/(Waiting Room|hotspots): pending/.test(document.querySelector(".columns.home").innerText)`) // together with others, if they wait for the same
	p.sees("Staff have to verify its location. Link its device.")
	p.until(`document.querySelector(".chart canvas")`)
	p.shot("home-wide-light")
	p.accessible("home")

	// A chart is read with the keyboard and with the pointer.
	eval[bool](p, `(document.querySelector(".plot").focus(), true)`)
	p.do(chromedp.KeyEvent(kb.ArrowLeft)) // from nothing to the last day
	p.until(`document.querySelector(".reading").innerText.includes("credits")`)
	p.do(chromedp.KeyEvent(kb.Home))
	first := today().Format("Jan") + " 1"
	p.until(fmt.Sprintf(`document.querySelector('[role="slider"]').getAttribute("aria-valuetext").startsWith(%q)`, first))
	p.until(`document.querySelector('[role="slider"]').getAttribute("aria-valuenow") === "0"`)

	// The map marks one's own.
	p.visit("/map?at=40.75360,-73.98320,15.00")
	p.until(`/^Yours \(\d+\)$/.test(document.querySelector(".legend .own")?.innerText ?? "")`)
	p.calm()
	p.shot("home-map")
	// A year after the last visit, nothing proves where a hotspot stands.
	eval[bool](p, `(() => {
		const real = fetch;
		window.fetch = async (path, init) => {
			const answer = await real(path, init);
			if (!String(path).includes("/users/me/hotspots")) return answer;
			const body = await answer.json();
			body.data[0].location.proven_until = new Date(Date.now() + 20 * 86_400_000).toISOString();
			return new Response(JSON.stringify(body), {status: answer.status});
		};
		return true;
	})()`)
	p.visit("/hotspots")
	p.sees("Needs attention")
	p.until(`([...document.querySelectorAll("button")].find((e) => e.innerText.startsWith("Show all"))?.click(), document.body.innerText.includes(": proof ends soon"))`)
	p.sees("Ask the network's staff for another visit")
	p.shot("home-proof")

	// The list is searched, filtered, sorted, and changed together.
	p.set(`select[name="status"]`, "pending")
	p.until(`document.querySelectorAll("tbody tr").length >= 2`)
	p.until(`[...document.querySelectorAll("tbody .badge")].every((e) => e.innerText === "pending")`)
	p.set(`input[name="q"]`, "DOOM")
	p.until(`document.querySelectorAll("tbody tr").length === 1`)
	p.click(`input[aria-label="Select Doomed"]`)
	p.sees("1 hotspot selected")
	p.press("Set opening hours")
	p.click(`input[name="always"]`)
	p.set(`input[name="timezone"]`, "Europe/Vienna")
	p.press("Save the hours of 1 hotspot")
	p.until(`!document.querySelector(".inset")`) // it is done
	hours := fmt.Sprint(n.ask(t, n.operator, "GET", "/v1/hotspots/"+doomed, nil)["settings"].(map[string]any)["operating_hours"])
	if hours != "map[exceptions:[] timezone:Europe/Vienna weekly:[map[close:22:00 days:[mon tue wed thu fri] open:08:00]]]" {
		t.Errorf("the hours are %s", hours)
	}
	p.sees("Doomed was changed") // the activity, with names
	p.click(`input[aria-label="Select Doomed"]`)
	p.press("Delete")
	p.sees("None of your hotspots has “DOOM” in its name.")
	if asked := eval[[]string](p, `asked`); len(asked) != 1 {
		t.Errorf("before deleting, it asked %v", asked)
	}
	p.set(`input[name="q"]`, "")
	p.set(`select[name="status"]`, "")
	p.press("Earned this month")
	p.until(`document.querySelector('th[aria-sort="descending"]').innerText.startsWith("Earned")`)

	// The theme is chosen on this device.
	p.click(".theme")
	p.click(".theme")
	p.until(`document.documentElement.dataset.theme === "dark"`)
	p.do(chromedp.Reload())
	p.until(`document.documentElement.dataset.theme === "dark"`)
	p.until(`document.querySelector(".chart canvas")`)
	p.shot("home-wide-dark")
	p.accessible("home, dark")
	p.click(".theme")
	p.until(`document.documentElement.dataset.theme === "light"`) // what the system prefers
	n.ask(t, n.operator, "DELETE", "/v1/hotspots/"+waiting, nil)
}
