package browser_test

import (
	"fmt"
	"strings"
	"testing"
)

// wideRadius is the hotspot that the review flags, for its radius.
const wideRadius = 9

// What staff do about hotspots that are hard to explain: look at them, hold back what
// they earn, and let the operator answer.
func testDesk(t *testing.T, b *browser, n *network) {
	second := n.command(t, "keys", "create", "--user", "new", "--scopes", "hotspots:verify", "--name", "Second")
	hotspot := n.hotspots[wideRadius]
	p := b.open(t, n.url+"/#/staff", wide)
	p.signIn(n.staff)
	p.press("Review")
	p.until(fmt.Sprintf(`%s.some((e) => e.innerText.includes(%q) && e.innerText.includes("Large radius"))`, cards, hotspot.name))
	p.shot("review")
	p.accessible("review")

	p.expects("400")
	p.within(hotspot.name, "Hold")
	p.press("Place the hold")
	p.until(`[...document.querySelectorAll(".inset .fault")].map((e) => e.innerText).join() === "must be 1 to 2000 characters,must be 1 to 2000 characters"`)
	p.fill(`.cards .inset input[name="reason"]`, hostile)
	p.fill(`.cards .inset input[name="evidence"]`, "photo 3")
	p.shot("review-hold")
	p.accessible("form of a hold")
	p.press("Place the hold")
	p.sees("The hold is placed.")

	p.press("Holds")
	p.until(fmt.Sprintf(`%s.some((e) => e.innerText.includes(%q) && e.innerText.includes("active"))`, cards, hotspot.name))
	if eval[bool](p, `!!document.querySelector("img")`) {
		t.Error("a reason became an element")
	}
	p.expects("409")
	p.press("Extend")
	p.fill(`.cards .inset input[name="reason"]`, "not seen yet")
	p.press("Extend the hold")
	p.sees("An extension needs a second person: the end was set by you")
	p.shot("holds")
	p.accessible("holds")

	// The operator sees why, and answers.
	o := b.open(t, n.url+"/#/hotspots/"+hotspot.id, small)
	o.signIn(n.operator)
	o.sees("Held: this hotspot")
	o.sees("photo 3")
	o.fill(`input[name="text"]`, "It is on the roof.")
	o.press("Answer")
	o.sees("Sent.")
	o.fits()
	o.shot("phone-held-hotspot")
	o.visit("/rewards")
	o.sees("Held: " + hotspot.name)
	o.sees("It is on the roof.")
	o.fits()
	o.accessible("rewards with a hold, on a phone")
	o.shot("phone-held-rewards")

	// A second person, at night and on a phone, says that a visit failed; the first confirms it.
	q := b.open(t, n.url+"/#/staff/holds", look{width: small.width, height: small.height, dark: true})
	q.signIn(second)
	q.sees("It is on the roof.")
	q.expects("400")
	q.press("A visit failed")
	q.fill(`.cards .inset input[name="reason"]`, "no roof")
	q.fits()
	q.accessible("holds on a phone")
	q.shot("phone-holds-dark")
	q.press("Record the failed visit")
	q.sees("The failed visit is recorded.")
	q.press("Confirm the failed visit")
	q.expects("409")
	q.fill(`.cards .inset input[name="reason"]`, "I say so again")
	q.press("Confirm it")
	q.sees("A second person must confirm the visit")
	p.visit("/staff")
	p.visit("/staff/holds")
	p.press("Confirm the failed visit")
	p.fill(`.cards .inset input[name="reason"]`, "seen myself")
	p.press("Confirm it")
	p.sees("What was held is not paid.")
	p.sees("void: it is not paid")
	o.visit("/hotspots/" + hotspot.id)
	o.sees("Not paid: this hotspot")

	// One that is explained leaves the queue.
	p.visit("/staff/review")
	p.within(hotspot.name, "Dismiss")
	p.press("Dismiss it")
	p.until(`document.querySelector(".inset .fault")`)
	p.fill(`.cards .inset input[name="reason"]`, "a large square")
	p.press("Dismiss it")
	p.sees("Dismissed.")
	p.until(fmt.Sprintf(`!%s.some((e) => e.innerText.includes(%q))`, cards, hotspot.name))
	q.visit("/staff/review")
	// All devices of the test send from one address: where they did so for long enough, that is left to look at.
	q.until(`/\d flags?\.|Nothing to look at\./.test(document.body.innerText)`)
	q.until(fmt.Sprintf(`!%s.some((e) => e.innerText.includes(%q))`, cards, hotspot.name))
	q.fits()
	if notes := n.command(t, "audit", "--json"); !strings.Contains(notes, "radius_grown: a large square") {
		t.Error("the audit does not say why it was dismissed")
	}
}

// cards are flags, or holds.
const cards = `[...document.querySelectorAll(".cards .card")]`

// within presses a button of the card that has a text.
func (p *page) within(text, button string) {
	p.t.Helper()
	find := fmt.Sprintf(`[...(%s.find((e) => e.innerText.includes(%q))?.querySelectorAll("button, a") ?? [])].find((e) => e.innerText === %q)`, cards, text, button)
	p.on(find, `e.scrollIntoView({block: "center"}); e.click();`)
}

// On site, with a phone: the nearest hotspot that waits, the way there, and what was found.
func testVisits(t *testing.T, b *browser, n *network) {
	near, far := n.newcomer(t, "Visit near", 0x50, 40.7001, -74.0101), n.newcomer(t, "Visit far", 0x51, 40.7301, -74.0101)
	p := b.open(t, n.url+"/#/visits", small)
	p.signIn(n.staff)
	p.sees("to visit, the oldest first")
	p.until(`document.querySelectorAll(".map-point").length >= 2`)
	p.stand(40.7002, -74.0101, 4.2)
	p.press("Measure where I am")
	p.sees("the nearest first")
	p.until(`document.querySelector(".list .row").innerText.startsWith("Visit near") && document.querySelector(".list .row").innerText.includes("11 m south")`)
	p.calm()
	p.fits()
	p.accessible("visits on a phone")
	p.shot("phone-visits")
	p.on(`document.querySelector('.map-point[aria-label="Visit far"]')`, `e.click();`)
	p.until(`document.querySelector("h1").innerText === "Visit far"`)
	p.sees("3.3 km north")
	p.until(`document.querySelector('a[href="geo:40.7301,-74.0101?q=40.7301,-74.0101"]')`)
	p.press("Measure here")
	p.expects("409")
	p.press("Verify")
	p.sees("You found it 3.3 km from where it is registered.")
	p.until(`document.querySelector('a[href="#/move/` + far + `?to=40.70020,-74.01010"]')`)
	p.fits()
	p.accessible("found elsewhere")
	p.shot("phone-elsewhere")
	p.press("Ask its operator to move it here")
	p.sees("Its operator reads where you found it, and can move it there.")
	if reason := n.ask(t, n.operator, "GET", "/v1/hotspots/"+far, nil)["location"].(map[string]any)["unverified_reason"]; reason != "a visit found it 3.3 km from where it is registered, at 40.70020, -74.01010" {
		t.Errorf("its operator reads %q", reason)
	}
	p.expects("400")
	p.press("Reject")
	p.until(`document.querySelector(".inset .fault")`)
	p.fill(`input[name="reason"]`, "no radio was found")
	p.press("Reject")
	p.sees("Its operator reads the reason.")
	p.visit("/visits/" + near)
	p.sees("Visit near")
	p.press("Measure here")
	p.sees("This is 11 m from the registered location.")
	p.fits()
	p.accessible("a visit on a phone")
	p.shot("phone-visit")
	p.press("Verify")
	p.sees("Verified.")
	p.sees("Withdraw the verification")
	p.until(`/^(Next: .+|No other hotspot waits for a visit\.)$/m.test(document.querySelector(".panel").innerText)`)
	p.visit("/visits")
	p.until(`document.querySelector("h1").innerText === "Visits" && !document.body.innerText.includes("Visit ")`)

	// Without knowing where one is.
	eval[bool](p, `(navigator.geolocation.getCurrentPosition = (ok, failed) => failed(new Error()), true)`)
	p.press("Measure where I am again")
	p.sees("The browser does not say where you are.")

	o := b.open(t, n.url+"/#/hotspots/"+far, desk)
	o.signIn(n.operator)
	o.sees("Its location is not verified: no radio was found.")

	w := b.open(t, n.url+"/#/staff/verifications", look{width: wide.width, height: wide.height, dark: true})
	w.signIn(n.staff)
	w.set(`select[name="rejected"]`, "true")
	w.until(rows + `.length === 1 && ` + rows + `[0].innerText.startsWith("Visit far")`)
	w.press("Hotspots")
	w.sees("All hotspots")
	w.set(`select[name="status"]`, "online")
	w.set(`select[name="type"]`, "public")
	w.until(listedHotspots + `.length > 0 && ` + listedHotspots + `.every((e) => e.innerText.includes("online") && e.innerText.includes("public"))`)
	w.shot("hotspots-dark")
	w.accessible("all hotspots")
	w.set(`select[name="status"]`, "")
	w.set(`select[name="type"]`, "")
	w.fill(`input[name="q"]`, "visit far")
	w.until(listedHotspots + `.length === 1`)
	w.press("Visit Visit far")
	w.until(`document.querySelector("h1").innerText === "Visit far"`)
	w.calm()
	w.shot("visit-dark")
	p.visit("/staff/hotspots")
	p.until(listedHotspots + `.length > 5`)
	p.fits()
	p.accessible("all hotspots on a phone")
	p.shot("phone-hotspots")
}

const listedHotspots = `[...document.querySelectorAll('[aria-label="All hotspots"] tbody tr')]`

// stand makes the browser say that it is somewhere.
func (p *page) stand(lat, lng, accuracy float64) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(navigator.geolocation.getCurrentPosition = (ok) => ok({coords: {latitude: %v, longitude: %v, accuracy: %v}}), true)`, lat, lng, accuracy))
}
