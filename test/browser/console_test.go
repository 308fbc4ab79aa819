package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestConsole goes through the console as its users do. The parts follow each
// other on one network: to make another for each would take longer than all.
func TestConsole(t *testing.T) {
	level.Needs(t, level.Check)
	b := launch(t)
	n := start(t)
	p := b.open(t, n.url, desk)
	for _, part := range []struct {
		name string
		test func(*testing.T)
	}{
		{"preview", func(t *testing.T) { testPreview(p.as(t), n) }},
		{"map", func(t *testing.T) { testMap(p.as(t), n) }},
		{"operator", func(t *testing.T) { testOperator(p.as(t), n) }},
		{"home", func(t *testing.T) {
			testHome(t, b, n)
			testNarrow(t, b, n)
		}},
		{"address", func(t *testing.T) { testAddress(t, b, n) }},
		{"days", func(t *testing.T) { testDays(t, b, n) }},
		{"sign in", func(t *testing.T) { testSignIn(t, b, n) }},
		{"staff", func(t *testing.T) { testStaff(t, b, n) }},
		{"desk", func(t *testing.T) { testDesk(t, b, n) }},
		{"visits", func(t *testing.T) { testVisits(t, b, n) }},
		{"books", func(t *testing.T) { testBooks(t, b, n) }},
		{"inventory", func(t *testing.T) { testInventory(t, b, n) }},
		{"import", func(t *testing.T) { testImport(t, b, n) }},
		{"language", func(t *testing.T) { testLanguage(t, b, n) }},
		{"phone", func(t *testing.T) { testPhone(t, b, n) }},
	} {
		t.Run(part.name, func(t *testing.T) {
			n.stayAwake(t)
			part.test(t)
		})
		p.as(t)
	}
}

// The preview needs no key; it is seen in light and dark.
func testPreview(p *page, n *network) {
	p.do(chromedp.Navigate(n.url + "/preview"))
	p.sees("78 fixed records")
	p.do(chromedp.KeyEvent("\t"))
	p.until(`document.activeElement.innerText === "Skip to content"`)
	p.calm()
	p.shot("preview")
	p.light(false)
	p.accessible("preview, dark")
	p.calm()
	p.shot("preview-dark")
	p.light(true)
	p.accessible("preview")
	p.clickMap(0.6, 0.5)
	p.sees("Nearest hotspots")
	p.fill(`input[type="search"]`, "bryant")
	p.click(".results button")
	p.sees("Green chairs near the 40th Street corner")
}

// A key is checked, kept for the tab alone, and forgotten.
func testSignIn(t *testing.T, b *browser, n *network) {
	p := b.open(t, n.url+"/#/rewards", desk) // needs a key, so it asks for one
	p.sees("API key")
	p.expects("401")
	p.fill(`input[name="key"]`, "bcn_of_nobody")
	p.click(`form button[type="submit"]`)
	p.sees("This key is not valid. Check it, or ask for a new one.")
	p.shot("sign-in")
	p.accessible("sign in")
	p.fill(`input[name="key"]`, n.operator)
	p.click(`form button[type="submit"]`)
	p.sees("This period is in progress")
	p.do(chromedp.Reload())
	p.sees("This period is in progress") // the tab still knows
	if kept := eval[string](p, `JSON.stringify(localStorage) + document.cookie + location.href`); strings.Contains(kept, n.operator) {
		t.Errorf("the key is kept in %s", kept)
	}
	p.press("Sign out")
	p.sees("API key")
	p.until(`document.querySelector("main > [role=status]").innerText.startsWith("You are signed out")`)
	p.until(`document.querySelector(".note").checkVisibility() && document.activeElement.id === "main"`)
	if left := eval[float64](p, `sessionStorage.length`); left != 0 {
		t.Error("the key is kept after signing out")
	}

	// Who is told to wait does, and asks again; the page shows nothing of it.
	p.signIn(n.operator)
	eval[bool](p, `(() => {
		const real = fetch;
		window.refused = 0;
		window.fetch = (path, init) => String(path).includes("/rewards?") && refused++ < 2
			? Promise.resolve(new Response(JSON.stringify({error: {code: "x", message: "wait"}}), {status: [429, 503][refused - 1], headers: {"Retry-After": "0"}}))
			: real(path, init);
		return true;
	})()`)
	p.press("Last month")
	p.sees("This period is settled")
	if refused := eval[float64](p, `refused`); refused != 3 {
		t.Errorf("it asked %v times; want two refusals and one answer", refused)
	}
	p.press("Sign out")
	p.sees("API key")

	// Also where there will be a map, the form is not behind it.
	p.visit("/register")
	p.sees("API key")
	if eval[bool](p, `document.querySelector(".map-host").checkVisibility()`) {
		t.Error("the map lies over the form")
	}
	p.signIn(n.operator)
	p.sees("Click the map where the access point is.")
	p.press("Sign out")
	p.visit("/rewards")
	p.sees("API key")

	// A key that is revoked while it is in use ends the session, and says so.
	made := n.ask(t, n.staff, "POST", "/v1/keys", map[string]any{"scopes": []string{"rewards:read"}, "user_id": "new", "name": "brief"})
	p.fill(`input[name="key"]`, made["key"].(string))
	p.click(`form button[type="submit"]`)
	p.sees("No rewards yet.")
	n.ask(t, n.staff, "DELETE", "/v1/keys/"+made["id"].(string), nil)
	p.visit("/hotspots")
	p.until(`document.body.innerText.includes("Your key is no longer valid") || (location.hash = location.hash === "#/rewards" ? "#/hotspots" : "#/rewards", false)`)
}

// The map of the live network.
func testMap(p *page, n *network) {
	t := p.t
	p.press("Sign in")
	p.signIn(n.operator)
	p.until(`document.querySelector(".live").innerText === "Live"`)
	if pages := eval[string](p, `document.querySelector("nav").innerText.replace(/\s+/g, " ")`); pages != "Map My hotspots Rewards Keys Docs" {
		t.Errorf("an operator is offered %q", pages)
	}
	p.visit("/map?at=40.75360,-73.98320,15.00")
	p.until(figure("Hotspots") + ` === "4"`)
	p.until(figure("Covered") + `.endsWith("m²")`)
	p.visit("/map?at=40.64530,-73.94550,11.40") // Brooklyn
	p.until(figure("Hotspots") + ` !== "4"`)
	p.calm()
	p.shot("map")

	// Search by name asks the server, for whom ß and SS are the same.
	p.search("BOATHOUSE")
	p.until(`document.querySelector(".card h2")?.innerText === "Prospect Park Boathouse"`)
	p.press("Back")

	// It says whose names are searched.
	p.fill(`input[type="search"]`, "no such")
	p.sees("You have no hotspot with this name.")

	// Search by id shows the hotspot; its name is text, whatever it says.
	p.search(n.hotspots[2].id)
	p.until(fmt.Sprintf(`document.querySelector(".card h2")?.innerText === %q`, hostile))
	if eval[bool](p, `!!document.querySelector("img")`) {
		t.Error("a name became an element")
	}

	// It stands in the address: the page can be loaded again, and one can go back.
	p.do(chromedp.Reload())
	p.until(fmt.Sprintf(`document.querySelector(".card h2")?.innerText === %q`, hostile))
	p.search(n.hotspots[3].id)
	p.until(fmt.Sprintf(`document.querySelector(".card h2")?.innerText === %q`, n.hotspots[3].name))
	eval[bool](p, `(history.back(), true)`)
	p.until(fmt.Sprintf(`document.querySelector(".card h2")?.innerText === %q`, hostile))
	p.press("Show on the map")
	p.until(figure("Hotspots") + ` === "4"`) // those near Bryant Park
	p.calm()
	p.shot("map-close")
	p.accessible("map")

	// A click on a hotspot shows it; one beside it shows who is near.
	at := p.middle(".map-ring")
	p.press("Back")
	p.calm()
	p.do(chromedp.MouseClickXY(at[0], at[1]))
	p.until(`document.querySelector(".card h2")`)
	p.press("Back")
	p.clickMap(0.8, 0.8)
	p.sees("4 hotspots, the nearest first")
	p.sees("load ")
	p.shot("map-nearby")
	eval[bool](p, `(document.querySelector(".list .row").focus(), true)`)
	p.do(chromedp.KeyEvent("\r"))
	p.until(`document.querySelector(".card h2") && document.activeElement.className === "panel-body"`) // and not at the top of the page
	p.press("Back")
	p.set(`.panel select`, "offline")
	p.sees("No hotspots nearby.")

	p.whatIf()
	p.live(n)
}

// whatIf places a hotspot that does not exist, and drags it.
func (p *page) whatIf() {
	p.press("What if")
	p.search("40.7536, -73.9832") // where there is one already
	p.until(`document.querySelector(".verdict strong")?.innerText === "+0 km²"`)
	p.clickMap(0.75, 0.75)
	p.until(`document.querySelector(".verdict strong")?.innerText !== "+0 km²"`)
	p.sees("newly covered")
	before := eval[string](p, `document.querySelector(".verdict strong").innerText`)
	p.shot("map-what-if")
	p.set(`input[name="radius"]`, "300")
	p.until(fmt.Sprintf(`document.querySelector(".verdict strong").innerText !== %q`, before))
	at := p.middle(".map-pin")
	where := `document.querySelector(".panel input[type=number]").value`
	lat := eval[string](p, where)
	p.do(chromedp.DragAndDropXY(at[0], at[1], at[0]-80, at[1]-120))
	p.until(fmt.Sprintf(`%s !== %q`, where, lat))
	p.sees("credits a month")

	// A second one beside it; the address has both, and opens the same plan.
	p.press("Add another")
	p.until(`document.querySelectorAll(".map-pin").length === 2 && document.querySelectorAll(".pins li").length === 2`)
	p.until(`document.querySelectorAll(".pins .small")[1].innerText.includes("credits")`)
	eval[bool](p, `(document.querySelector("input[name=gaps]").click(), true)`)
	p.sees("The stronger the colour, the more hotspots are near.")
	p.calm()
	p.shot("map-plan")
	p.until(`location.hash.split("plan=")[1]?.split(";").length === 2`)
	p.do(chromedp.Reload())
	p.until(`document.querySelectorAll(".map-pin").length === 2 && document.querySelectorAll(".pins li").length === 2`)
	p.press("✕")
	p.until(`document.querySelectorAll(".map-pin").length === 1 && !document.querySelector(".pins")`)

	// The form has the place of the pin. The plan is kept meanwhile.
	coordinates := `[...document.querySelectorAll(".panel input[type=number]")].slice(0, 2).map((e) => Number(e.value).toFixed(5)).join()`
	place := eval[string](p, coordinates)
	p.press("Register here")
	p.until(`document.querySelector(".panel h1")?.innerText === "Register a hotspot"`)
	p.until(fmt.Sprintf(`%s === %q && document.querySelectorAll(".map-pin").length === 1`, coordinates, place))
	eval[bool](p, `(history.back(), true)`)
	p.until(fmt.Sprintf(`document.querySelector(".verdict") && %s === %q`, coordinates, place))
	p.press("Clear")
	p.until(`!document.querySelector(".map-pin") && !location.hash.includes("plan=")`)
	p.press("Nearby")
}

// live changes the network behind the page's back, which still shows Bryant Park.
func (p *page) live(n *network) {
	n.newcomer(p.t, "Newcomer", 1, 40.7533, -73.9828)
	p.sees("Just now: hotspot registered")
	p.until(figure("Hotspots") + ` === "5"`)

	// What happened while the server could not be reached is heard of afterwards.
	p.expects("ERR_CONNECTION_REFUSED")
	p.expects("ERR_INCOMPLETE_CHUNKED_ENCODING")
	n.stop()
	p.visit("/rewards")
	p.sees("The server cannot be reached.")
	n.restart()
	p.sees("This period is in progress") // without being asked again
	p.visit("/")
	n.ask(p.t, n.operator, "PATCH", "/v1/hotspots/"+n.hotspots[0].id, map[string]any{"settings": map[string]any{"max_connections": 77}})
	p.sees("Just now: hotspot updated")
	p.until(`document.querySelector(".live").innerText === "Live"`)

	// A tab in the background holds no connection.
	for _, hidden := range []string{"true", "false"} {
		eval[bool](p, fmt.Sprintf(`(Object.defineProperty(document, "hidden", {value: %s, configurable: true}), document.dispatchEvent(new Event("visibilitychange")))`, hidden))
		p.until(fmt.Sprintf(`(document.querySelector(".live").innerText === "Live") !== %s`, hidden))
	}
}

// search types into the map's search and takes the first that is found.
func (p *page) search(text string) {
	p.t.Helper()
	p.fill(`input[type="search"]`, text+"\r")
}

// figure is the expression that reads a figure beside the map.
func figure(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".figures div")].find((e) => e.innerText.includes(%q))?.querySelector("dd").innerText`, name)
}
