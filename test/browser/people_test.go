package browser_test

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestPeople begins with an empty folder and ends with several people. Ada sets the network up,
// and invites Ben, who registers a hotspot; Cleo is in the same account, and Ivo links the device
// of the hotspot. Vera of staff verifies its place, and holds what it earns, which takes two. Ben
// hands another one over to Dana of another account. Then they see to themselves and to each other.
func TestPeople(t *testing.T) {
	level.Needs(t, level.Check)
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t, address: harness.FreeAddress()}
	stop := n.serve(t, slowly...)
	invitation := n.command(t, "keys", "invite", "--addr", n.address, "--clock-start", today().Format(time.RFC3339Nano))
	// Passkeys need a name: an address will not do.
	url, _, _ := strings.Cut(invitation, "/#/")
	if url != "http://localhost"+n.address[strings.LastIndex(n.address, ":"):] {
		t.Errorf("the first admin is sent to %s", url)
	}
	walkPeople(t, launch(t), n, url, invitation, func(t *testing.T) {
		stop()
		stop = n.serve(n.whole, append(slowly, "--clock-start", today().Add(10*time.Minute).Format(time.RFC3339Nano))...)
	})
}

// slowly has the server's clock go so slowly that who signed in stays fresh until the test says
// otherwise, however slow the machine is.
var slowly = []string{"--clock-rate", "0.01"}

// makesPasskey takes the step that makes a passkey, or leaves it out.
func (c *crowd) makesPasskey(p *page, page string, really bool) {
	p.t.Helper()
	p.at(page, "A passkey for next time")
	if page == "/set-up" {
		p.looks("set-up-passkey")
	}
	if really {
		p.press("Create a passkey")
	} else {
		p.press("Later")
	}
}

// crowd is who the walk brings together, each with a browser of their own.
type crowd struct {
	whole    testing.TB // that the pages live as long as
	n        *network
	b        *browser
	url      string
	later    func(*testing.T) // lets ten minutes pass
	pages    []*page
	ada      *page // who set up the network
	ben      *page // an operator
	vera     *page // of staff
	operator string
	hotspot  string // of theirs
	codes    []string
}

func walkPeople(t *testing.T, b *browser, n *network, url, invitation string, later func(*testing.T)) {
	c := &crowd{whole: t, n: n, b: b, url: url, later: later}
	for _, part := range []struct {
		name string
		test func(*testing.T)
	}{
		{"set up", func(t *testing.T) { c.setUp(t, invitation) }},
		{"operator", c.invitesAnOperator},
		{"second", c.becomeTwo},
		{"installer", c.installs},
		{"verifier", c.verifies},
		{"hold", c.holds},
		{"doors", c.comesBack},
		{"accounts", c.actsForAnother},
		{"hand over", c.handsOver},
		{"me", c.seesToThemselves}, // Ben uses a recovery code, and may give nobody rights from then on
		{"fresh", c.showsThemselves},
		{"staff", c.staff},
		{"language", c.speaksSpanish},
	} {
		ok := t.Run(part.name, part.test)
		for _, p := range c.pages {
			p.as(t)
		}
		if !ok {
			return // the parts follow each other
		}
	}
}

// person opens a page in a browser that can make passkeys.
func (c *crowd) person(t *testing.T, url string, l look) *page {
	t.Helper()
	p := c.b.open(c.whole, "about:blank", l).as(t)
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
			return err
		}
		_, err := chromedp.Call(ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: "ctap2", Transport: "internal", HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		}})
		return err
	}))
	p.do(chromedp.Navigate(url))
	c.pages = append(c.pages, p)
	return p
}

// looks checks a page on a phone and on a desk, in the light and in the dark.
func (p *page) looks(name string) {
	p.t.Helper()
	for _, l := range []look{small, night, desk, {width: small.width, height: small.height, dark: true}} {
		p.do(chromedp.EmulateViewport(l.width, l.height))
		p.light(!l.dark)
		if eval[bool](p, `!!document.querySelector(".map")?.checkVisibility()`) {
			p.calm()
		}
		p.until(`![...document.querySelectorAll(".uplot")].some((e) => e.getBoundingClientRect().right > innerWidth)`) // charts follow the window
		p.fits()
		p.whole(fmt.Sprintf("people-%s-%d-%s", name, l.width, map[bool]string{true: "dark", false: "light"}[l.dark]))
		if l.dark == (l.width == small.width) {
			p.accessible(fmt.Sprintf("%s, %d pixels", name, l.width))
		}
	}
	p.do(chromedp.EmulateViewport(desk.width, desk.height))
	p.light(true)
}

// whole keeps a picture of a page as long as it is, so that nothing below is left out.
func (p *page) whole(name string) {
	p.t.Helper()
	size := eval[[]float64](p, `(() => { const m = document.querySelector("main"); return [innerWidth, Math.max(innerHeight, Math.ceil(m.getBoundingClientRect().top + (m.classList.contains("on-map") ? m.clientHeight : m.scrollHeight)))]; })()`)
	p.do(chromedp.EmulateViewport(int64(size[0]), min(int64(size[1]), 4000)))
	p.shot(name)
}

// link waits for a link that is shown once, with its picture.
func (p *page) link() string {
	p.t.Helper()
	p.until(`document.querySelector(".shown-link .secret") && document.querySelector(".shown-link .qr path")`)
	text := eval[string](p, `document.querySelector(".shown-link .secret").innerText`)
	if read := p.scans(); read != text {
		p.t.Errorf("the picture says %s, the link is %s", read, text)
	}
	return text
}

// at waits for a page of the console: for its address, and for its title.
func (p *page) at(address, title string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`location.hash.startsWith(%q) && document.querySelector("main h1")?.innerText === %q && !document.querySelector(".waiting")?.checkVisibility()`, "#"+address, title))
}

// writesCodesDown makes recovery codes, and types one of them back.
func (p *page) writesCodesDown() (codes []string) {
	p.t.Helper()
	p.press("Show my codes")
	p.until(`document.querySelectorAll(".codes code").length === 10`)
	codes = eval[[]string](p, `[...document.querySelectorAll(".codes code")].map((e) => e.innerText)`)
	return codes
}

func (c *crowd) setUp(t *testing.T, invitation string) {
	p := c.person(t, invitation, desk)
	c.ada = p
	p.at("/first-key/", "Your network begins here")
	p.sees("Step 1 of 6")
	p.looks("first-admin")
	p.fill(`input[name="name"]`, "Ada")
	p.press("Next")
	c.makesPasskey(p, "/set-up", true)
	p.at("/set-up", "Recovery codes")
	codes := p.writesCodesDown()
	p.looks("set-up-codes")
	p.fill(`input[name="code-back"]`, "0000-0000-0000")
	p.expects("40")
	p.press("I have them")
	p.sees("This is none of the codes above.")
	p.fill(`input[name="code-back"]`, codes[3])
	p.press("I have them")
	p.at("/set-up/network", "Your network")
	p.looks("set-up-network")
	p.fill(`input[name="network-name"]`, "Harbour Wi-Fi")
	p.press("Next")
	p.until(`location.hash === "#/set-up/place"`)
	p.calm()
	p.looks("set-up-place")
	p.expects("400")
	p.click(`.panel summary`)
	p.fill(`input[name="timezone"]`, "Harbour time")
	p.press("Begin here")
	p.sees("must be an IANA time zone")
	p.fill(`input[name="timezone"]`, "America/New_York")
	p.press("Begin here")
	p.at("/set-up/people", "The next person")
	p.set(`select[name="kind"]`, "operator")
	p.fill(`input[name="account-name"]`, "Corner Books")
	p.press("Create the invitation")
	c.operator = p.link()
	p.looks("set-up-people")
	p.press("Done")
	p.at("/staff", "Staff")
	if address := eval[string](p, `location.href`); strings.Contains(address, invitation[strings.LastIndex(invitation, "/")+1:]) {
		t.Errorf("the address %s still has the token", address)
	}

	late := c.person(t, invitation, desk) // it was used
	late.expects("401")
	late.fill(`input[name="name"]`, "Eve")
	late.press("Next")
	late.until(`document.querySelector("main .note.bad")`)
}

// joins accepts an invitation.
func (c *crowd) joins(t *testing.T, link, name string, l look) *page {
	t.Helper()
	p := c.person(t, link, l)
	p.at("/join/", "You are invited")
	p.sees("Accept")
	p.fill(`input[name="name"]`, name)
	return p
}

func (c *crowd) invitesAnOperator(t *testing.T) {
	p := c.joins(t, c.operator, "Ben", desk)
	c.ben = p
	p.sees("Welcome to Corner Books!")
	p.looks("join")
	p.press("Accept")
	c.makesPasskey(p, "/welcome", true)
	p.at("/welcome", "Recovery codes")
	p.sees("Step 2 of 2")
	p.press("Later")
	p.at("/hotspots", "My hotspots")
	p.sees("no hotspots")
	p.looks("operator-home")

	again := c.person(t, c.operator, small) // one invitation, one person
	again.expects("40")
	again.until(`document.querySelector("main .note.bad")`)
	again.sees("Each invitation works once")
	again.looks("join-used")

	p.press("Register a hotspot")
	p.sees("Click the map where the access point is.")
	p.clickMap(0.7, 0.4)
	p.sees("Drag the pin")
	p.fill(`input[name="name"]`, "Reading Room")
	p.fill(`input[name="ssid"]`, "Guest")
	p.fill(`input[name="mac"]`, "02:00:5e:10:00:77")
	p.press("Register")
	p.until(`document.querySelector("h1").innerText === "Reading Room"`)
	c.hotspot = strings.TrimPrefix(eval[string](p, `location.hash`), "#/hotspots/")
	p.looks("registered")
}

func (c *crowd) becomeTwo(t *testing.T) {
	p := c.ben.as(t)
	p.press("Account")
	p.at("/account", "Corner Books")
	p.press("Who may do what")
	p.looks("account")
	p.set(`#invitations select[name="role"]`, "owner")
	p.press("Create the invitation")
	link := p.link()
	p.looks("account-invited")

	cleo := c.joins(t, link, "Cleo", small)
	cleo.sees("From Ben")
	cleo.sees("Owner: everything in the account")
	cleo.press("Accept")
	c.makesPasskey(cleo, "/welcome", false)
	cleo.at("/welcome", "Recovery codes")
	cleo.press("Later")
	cleo.at("/hotspots", "My hotspots")
	cleo.sees("Reading Room")

	// An organisation of two: one makes the other a manager, and nobody changes their own role.
	p.visit("/hotspots")
	p.visit("/account")
	p.at("/account", "Corner Books")
	p.sees("Cleo")
	if eval[bool](p, `[...document.querySelectorAll("#members button")].some((e) => e.textContent.includes("Ben"))`) {
		t.Error("Ben may change his own role")
	}
	p.press("Change Cleo")
	p.set(`#members select`, "manager")
	p.press("Save")
	p.sees("Manager, since")
	p.looks("account-change")
	// Who becomes a manager no longer sees what only owners may.
	cleo.do(chromedp.Reload())
	cleo.visit("/account")
	cleo.at("/account", "Corner Books")
	cleo.sees("Invite someone")
	if eval[bool](cleo, `[...document.querySelector('#invitations select[name="role"]').options].some((o) => o.value === "owner")`) {
		t.Error("a manager may invite owners")
	}
}

func (c *crowd) installs(t *testing.T) {
	p := c.ben.as(t)
	p.visit("/hotspots")
	p.visit("/account")
	p.at("/account", "Corner Books")
	p.set(`#invitations select[name="role"]`, "installer")
	p.sees("Hotspots assigned to them")
	p.click(`#invitations input[name="assigned"]`)
	p.press("Create the invitation")
	link := p.link()

	ivo := c.joins(t, link, "Ivo", small)
	ivo.press("Accept")
	c.makesPasskey(ivo, "/welcome", false)
	ivo.at("/welcome", "Recovery codes")
	ivo.press("Later")
	ivo.at("/hotspots", "My hotspots")
	ivo.sees("Reading Room")
	ivo.looks("installer")
	ivo.press("Link the device Reading Room")
	ivo.at("/hotspots/"+c.hotspot, "Reading Room")
	ivo.sees("Create a link code")
	if eval[bool](ivo, `[...document.querySelectorAll("main button, main a")].some((e) => ["Edit", "Move", "Replace", "Delete"].some((w) => e.textContent.trim().startsWith(w)))`) {
		t.Error("an installer sees buttons that would be refused")
	}
	ivo.press("Create a link code")
	ivo.until(`document.querySelector(".linking .code")`)
	ivo.looks("installer-code")
	code := eval[string](ivo, `document.querySelector(".linking .code").innerText`)
	c.n.ask(t, "", "POST", "/v1/devices/link", map[string]any{"code": code, "mac_address": "02:00:5e:10:00:77"})
	ivo.until(`document.querySelector(".steps .done")`)
	ivo.visit("/map")
	ivo.calm()
	ivo.visit("/account")
	ivo.at("/account", "Corner Books")
	if eval[bool](ivo, `[...document.querySelectorAll("#members button, #invitations")].some((e) => e.textContent.trim() !== "Leave")`) {
		t.Error("an installer sees what only owners and managers may do")
	}
}

// verifies invites someone of staff, who finds the hotspot where it is registered.
func (c *crowd) verifies(t *testing.T) {
	ada := c.ada.as(t)
	ada.visit("/staff/people")
	ada.at("/staff/people", "People")
	ada.click(`input[name="posts"][value="treasurer"]`) // beside that of a verifier
	ada.press("Create the invitation")
	link := ada.link()
	vera := c.joins(t, link, "Vera", small)
	c.vera = vera
	vera.sees("Verifier: visits and the review queue")
	vera.looks("join-staff")
	vera.press("Accept")
	c.makesPasskey(vera, "/welcome", true)
	vera.at("/welcome", "Recovery codes")
	vera.press("Later")
	vera.at("/staff", "Staff")
	vera.looks("staff-verifier")

	place := vera.fetchesAs("GET", "/v1/hotspots/"+c.hotspot, "")["data"].(map[string]any)["location"].(map[string]any)
	vera.visit("/visits/" + c.hotspot)
	vera.sees("Reading Room")
	vera.stand(place["lat"].(float64), place["lng"].(float64), 4)
	vera.press("Measure here")
	vera.looks("visit")
	vera.press("Verify")
	vera.sees("Verified.")
}

// holds holds what the hotspot earns: one person places it, another one extends it.
func (c *crowd) holds(t *testing.T) {
	vera := c.vera.as(t)
	vera.visit("/staff/holds?hotspot=" + c.hotspot)
	vera.fill(`.inset input[name="reason"]`, "Far more devices than seats.")
	vera.fill(`.inset input[name="evidence"]`, "Counted on Tuesday.")
	vera.set(`.inset input[name="until"]`, today().AddDate(0, 0, 10).Format(time.DateOnly))
	vera.press("Place the hold")
	vera.sees("The hold is placed.")
	vera.expects("409")
	vera.press("Extend")
	vera.fill(`.cards .inset input[name="reason"]`, "Not seen yet.")
	vera.press("Extend the hold")
	vera.sees("An extension needs a second person: the end was set by you")
	vera.looks("hold-alone")

	ada := c.ada.as(t)
	ada.visit("/staff/holds")
	ada.press("Extend")
	ada.fill(`.cards .inset input[name="reason"]`, "The visit is on Friday.")
	ada.press("Extend the hold")
	ada.sees("The hold is extended.")
	ada.looks("hold-two")
	ben := c.ben.as(t)
	ben.visit("/hotspots/" + c.hotspot)
	ben.sees("Held: this hotspot")
	ben.looks("held")
}

// fetchesAs asks as the page would, for the person's account.
func (p *page) fetchesAs(method, path, body string) map[string]any {
	p.t.Helper()
	script := fmt.Sprintf(`(async () => {
		const me = (await (await fetch("/v1/people/me")).json()).data;
		const headers = {"Content-Type": "application/json", "Beacon-Account": me.memberships[0]?.account ?? ""};
		const response = await fetch(%q, {method: %q, headers, ...(%t && {body: JSON.stringify(%s)})});
		return {status: response.status, ...(await response.json().catch(() => ({})))};
	})()`, path, method, body != "", cmp.Or(body, "null"))
	answer, err := chromedp.Run(p.ctx, chromedp.Evaluate[map[string]any](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.fail("%s %s: %v", method, path, err)
	}
	return answer
}
