package browser_test

import (
	"fmt"
	"strings"
	"testing"
)

// What staff do: verify places, and hand out keys.
func testStaff(t *testing.T, b *browser, n *network) {
	id := n.newcomer(t, hostile, 3, 40.7061, -73.9969)
	for i := range byte(25) {
		n.newcomer(t, fmt.Sprintf("Kiosk %02d", i), 0x10+i, 40.6+float64(i)/1000, -74.1)
	}
	p := b.open(t, n.url+"/#/staff", night)
	p.signIn(n.staff)
	p.overview()
	p.waiting()
	p.fill(`input[name="q"]`, "ONERROR")
	p.until(rows + `.length === 1`)
	p.sees(hostile)
	p.on(fmt.Sprintf(`%s.find((e) => e.innerText.includes(%q))`, rows, "40.70610"), `e.click();`)
	p.expects("400")
	p.press("Verify")
	p.until(`[...document.querySelectorAll(".inset .fault")].map((e) => e.innerText).join() === "is required,is required,is required"`)
	p.expects("409")
	p.fill(`.inset input[name="lat"]`, "40.7161")
	p.fill(`.inset input[name="lng"]`, "-73.9969")
	p.fill(`.inset input[name="accuracy"]`, "5")
	p.press("Verify")
	p.until(`document.querySelector(".inset .note.bad")`) // a kilometre off
	p.shot("staff-dark")
	p.accessible("staff")
	p.fill(`.inset input[name="lat"]`, "40.7062")
	p.press("Verify")
	p.until(`!document.querySelector(".inset")`)
	p.sees("No hotspots with “ONERROR” in the name to verify.")
	if data := n.ask(t, n.staff, "GET", "/v1/hotspots/"+id, nil); data["location"].(map[string]any)["verified"] != true {
		t.Error("the hotspot is not verified")
	}

	p.press("Keys")
	p.press("Create")
	p.sees("The key is shown only once.") // it has no name
	p.fill(`input[name="key-name"]`, "made in the console")
	p.click(`input[value="rewards:read"]`)
	p.press("Create")
	p.sees("“made in the console” is shown only once.")
	key := eval[string](p, `document.querySelector(".secret").innerText`)
	if self := n.ask(t, key, "GET", "/v1/keys/self", nil); self["name"] != "made in the console" {
		t.Errorf("the key is %v", self)
	}
	p.press("Revoke made in the console")
	p.until(`[...document.querySelectorAll("tr")].some((r) => r.innerText.includes("made in the console") && r.innerText.includes("revoked "))`)
	if status, _ := n.send(t, key, "GET", "/v1/keys/self", nil); status != 401 {
		t.Errorf("after it was revoked, the key is answered %d", status)
	}

	// Another page begins at its top, however far down the last one was.
	p.visit("/staff/hotspots")
	p.until(`((main) => { main.scrollTo(0, 300); return main.scrollTop === 300; })(document.querySelector("main"))`)
	p.press("Months")
	p.sees("Release a MAC address")
	p.until(`document.querySelector("main").scrollTop === 0`)
}

// overview looks at the first page of staff, and goes from it to what waits for a visit.
func (p *page) overview() {
	p.t.Helper()
	p.until(`document.querySelectorAll(".desk-tiles li").length === 10`)
	p.until(`[...document.querySelectorAll(".desk-tiles li")].some((e) => /Agents to update\s+0\s+none is older than/.test(e.innerText))`)
	p.until(`/^\d+ of \d+ in service$/.test(document.querySelector(".desk-tiles li span:last-child").innerText)`)
	p.sees("Offline for longest")
	p.fits()
	p.shot("overview-dark")
	p.accessible("overview")
	p.press("To visit")
	p.until(`location.hash === "#/staff/verifications"`)
}

// rows are the hotspots that wait.
const rows = `[...document.querySelectorAll(".list .row")]`

// waiting looks through those that wait to be verified: 25 kiosks, and some others.
func (p *page) waiting() {
	p.t.Helper()
	first := func(name string) string { return fmt.Sprintf(`%s[0]?.innerText.startsWith(%q)`, rows, name) }
	p.sees("to verify.")
	p.until(rows + `.length === 20`)
	p.shot("staff-waiting-dark")
	p.press("Next")
	p.until(first("Kiosk") + ` && ` + rows + `.length < 20`)
	p.fill(`input[name="q"]`, "kiosk") // and to the first page
	p.sees("25 with “kiosk” in the name to verify.")
	p.until(first("Kiosk 00"))
	p.press("Next")
	p.until(first("Kiosk 20") + ` && ` + rows + `.length === 5`)
	p.set(`select[name="order"]`, "newest") // and to the first page
	p.until(first("Kiosk 24") + ` && ` + rows + `.length === 20`)
	p.press("Next")
	p.until(rows + `.at(-1).innerText.startsWith("Kiosk 00")`)
	p.fill(`input[name="q"]`, "kiosk 0")
	p.sees("10 with “kiosk 0” in the name to verify.")
	p.until(`!document.querySelector("section.card .list + .pager")`)
	p.fill(`input[name="q"]`, "no such kiosk")
	p.sees("No hotspots with “no such kiosk” in the name to verify.")
}

// Everything fits on a phone.
func testPhone(t *testing.T, b *browser, n *network) {
	p := b.open(t, n.url+"/#/staff", phone)
	p.signIn(n.staff)
	p.visit("/map?at=40.75000,-73.98320,14.00")
	p.until(figure("Hotspots") + ` !== "–"`)
	p.calm()
	p.fits()
	p.shot("phone-map")
	p.accessible("map on a phone")
	p.press("Around the centre")
	p.until(`document.querySelectorAll(".list .row").length >= 3`)
	p.until(inSight(`[...document.querySelectorAll(".list .row")][2]`, ".panel-body"))
	p.shot("phone-nearby")
	p.press("Hide panel")
	p.until(`!document.querySelector(".figures").checkVisibility()`)
	p.shot("phone-map-folded")
	for _, page := range [][2]string{
		{"/hotspots", "no hotspots"},
		{"/hotspots/" + n.hotspots[0].id, "Rewards by day"},
		{"/rewards", "By month"},
		{"/staff", "Offline for longest"},
		{"/staff/settings", "Home privacy"},
		{"/staff/keys", "this key"},
		{"/register", "Register a hotspot"},
	} {
		path, text := page[0], page[1]
		p.visit(path)
		p.sees(text)
		p.fits()
		p.shot("phone" + strings.ReplaceAll(path[:min(len(path), 10)], "/", "-"))
	}
	p.press("Place it at the centre") // of what the panel leaves
	p.until(`document.querySelector(".map-pin")`)
	if pin, panel := p.middle(".map-pin")[1], eval[float64](p, `document.querySelector(".panel").getBoundingClientRect().top`); pin > panel-100 {
		t.Errorf("the pin is at %v, and the panel begins at %v", pin, panel)
	}
	p.expects("400")
	p.press("Register") // from the bottom of the form to what is missing
	p.until(`document.activeElement.name === "name"`)
	p.until(inSight(`document.querySelector(".faulty")`, ".panel-body"))
	p.visit("/hotspots/" + n.hotspots[0].id)
	p.until(`document.querySelectorAll(".plot canvas").length === 3`)
	p.shot("phone-hotspot")
	p.visit("/hotspots/" + n.hotspots[0].id + "/days")
	p.until(`![...document.querySelectorAll(".scroll td")].some((e) => e.innerText === "…")`)
	p.until(`((e) => e.scrollWidth <= e.clientWidth)(document.querySelector('[aria-label="Rewards by day"]'))`)
	p.fits()
	p.shot("phone-days")
	p.click(`[aria-label="Rewards by day"] button`)
	p.until(`document.querySelector(".explained tfoot")`)
	p.until(`[".explained .scroll", '[aria-label="Rewards by day"]'].map((e) => document.querySelector(e)).every((e) => e.scrollWidth <= e.clientWidth)`)
	p.until(`[...document.querySelectorAll(".explained th, .explained td")].every((e) => e.scrollWidth <= e.clientWidth)`)
	p.fits()
	p.shot("phone-explained")
	p = b.open(t, n.url+"/#/rewards", phone)
	p.signIn(n.operator)
	p.sees("% available, standard")
	p.until(`((e) => e.scrollWidth <= e.clientWidth)(document.querySelector('[aria-label="Rewards by hotspot"]'))`)
	p.fits()
	p.shot("phone-rewards-by-hotspot")
}
