package browser_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestPeople begins with an empty folder and ends with several people: someone sets the network
// up with a passkey and invites an operator, who becomes two; an installer whom they invite links
// a hotspot; and an admin sees to all of them.
func TestPeople(t *testing.T) {
	level.Needs(t, level.Check)
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t, address: harness.FreeAddress()}
	// Passkeys need a name: an address will not do.
	url := "http://localhost" + n.address[strings.LastIndex(n.address, ":"):]
	stop := n.serve(t, "--public-url", url)
	if !n.hasPeople(t) {
		t.Skip("this server has no people yet")
	}
	invitation := n.command(t, "keys", "invite", "--public-url", url, "--clock-start", today().Format(time.RFC3339Nano))
	walkPeople(t, launch(t), n, url, invitation, func(t *testing.T) {
		stop()
		stop = n.serve(n.whole, "--public-url", url, "--clock-start", today().Add(10*time.Minute).Format(time.RFC3339Nano))
	})
}

// hasPeople reports whether the server knows of people at all.
func (n *network) hasPeople(t testing.TB) bool {
	t.Helper()
	status, _ := n.send(t, "", "GET", "/console/doors", nil)
	return status == http.StatusOK
}

func (n *network) doors(t testing.TB) map[string]any {
	t.Helper()
	return n.ask(t, "", "GET", "/console/doors", nil)
}

// steps is what a page says of how far someone is, where the first of them makes a passkey.
func (c *crowd) steps(at, of int) string {
	if !c.passkeys {
		at, of = max(at-1, 1), of-1
	}
	return fmt.Sprintf("Step %d of %d", at, of)
}

// makesPasskey takes the step that makes a passkey, where there is one, or leaves it out.
func (c *crowd) makesPasskey(p *page, page string, really bool) {
	p.t.Helper()
	if !c.passkeys {
		return
	}
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
	passkeys bool             // whether the server has them
	later    func(*testing.T) // lets ten minutes pass
	pages    []*page
	ada      *page // who set up the network
	ben      *page // an operator
	operator string
	hotspot  string // of theirs
	codes    []string
}

func walkPeople(t *testing.T, b *browser, n *network, url, invitation string, later func(*testing.T)) {
	c := &crowd{whole: t, n: n, b: b, url: url, passkeys: n.doors(t)["passkeys"] == true, later: later}
	for _, part := range []struct {
		name string
		test func(*testing.T)
	}{
		{"set up", func(t *testing.T) { c.setUp(t, invitation) }},
		{"operator", c.invitesAnOperator},
		{"second", c.becomeTwo},
		{"installer", c.installs},
		{"doors", c.comesBack},
		{"me", c.seesToThemselves},
		{"accounts", c.actsForAnother},
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
	return eval[string](p, `document.querySelector(".shown-link .secret").innerText`)
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
	p.sees(c.steps(1, 6))
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
	p.press("Save")
	p.sees("Everyone sees it within seconds.")
	p.press("Next")
	p.until(`location.hash === "#/set-up/place"`)
	p.calm()
	p.looks("set-up-place")
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
	p.sees(c.steps(2, 2))
	p.press("Later")
	p.at("/hotspots", "My hotspots")
	p.sees("no hotspots")
	p.looks("operator-home")

	again := c.person(t, c.operator, small) // one invitation, one person
	again.expects("40")
	again.until(`document.querySelector("main .note.bad")`)
	again.sees("Each invitation works once")
	again.looks("join-used")

	// What they may do goes with the cookie and the account, not with a key.
	made := p.fetchesAs("POST", "/v1/hotspots", `{name: "Reading Room", type: "public", location: {lat: 40.7536, lng: -73.9832}, device: {ssid: "Guest", mac_address: "02:00:5e:10:00:77"}}`)
	if made["status"] != 201.0 {
		t.Fatalf("a hotspot is registered with %v", made)
	}
	c.hotspot = made["data"].(map[string]any)["id"].(string)
}

// fetchesAs asks as the page would, for the person's account.
func (p *page) fetchesAs(method, path, body string) map[string]any {
	p.t.Helper()
	script := fmt.Sprintf(`(async () => {
		const me = (await (await fetch("/v1/people/me")).json()).data;
		const response = await fetch(%q, {method: %q, body: JSON.stringify(%s), headers: {"Content-Type": "application/json", "Beacon-Account": me.memberships[0]?.account ?? ""}});
		return {status: response.status, ...(await response.json().catch(() => ({})))};
	})()`, path, method, body)
	answer, err := chromedp.Run(p.ctx, chromedp.Evaluate[map[string]any](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.fail("%s %s: %v", method, path, err)
	}
	return answer
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

// comesBack signs out, and in again by a passkey.
func (c *crowd) comesBack(t *testing.T) {
	if !c.passkeys {
		t.Skip("this server has no passkeys yet")
	}
	p := c.ben.as(t)
	p.press("Sign out")
	p.sees("You are signed out.")
	p.visit("/sign-in")
	p.sees("Sign in with a passkey")
	p.looks("sign-in")
	p.press("Recovery code")
	p.expects("401")
	p.fill(`input[name="code"]`, "not-a-code")
	p.click(`.doors details form button`)
	p.sees("This code is not valid")
	p.press("Sign in with a passkey")
	p.at("/hotspots", "My hotspots")
	p.do(chromedp.Reload())
	p.at("/hotspots", "My hotspots")
	if kept := eval[string](p, `JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie`); strings.Contains(kept, "bcp_") {
		t.Errorf("scripts can read %s", kept)
	}
}

func (c *crowd) seesToThemselves(t *testing.T) {
	p := c.ben.as(t)
	p.click(".who a.name")
	p.at("/me", "Ben")
	if c.passkeys {
		p.sees("Add a second one")
	}
	p.sees("You have no codes.")
	p.until(`document.querySelector("#sessions tbody tr")`)
	p.looks("me")
	p.fill(`input[name="mail"]`, "ben@example.org")
	p.press("Save")
	p.sees("Saved.")
	c.codes = p.writesCodesDown()
	codes := c.codes
	p.fill(`input[name="code-back"]`, codes[0])
	p.press("I have them")
	p.sees("10 codes are left.")
	p.sees("Your new codes count from now on.")

	// Another browser comes in by a code, and is told that something waits.
	other := c.person(t, c.url+"/#/sign-in", small)
	other.press("Recovery code")
	other.fill(`input[name="code"]`, codes[1])
	other.click(`.doors details form button`)
	other.at("/hotspots", "My hotspots")
	other.sees("You came in by a recovery.")
	other.looks("frozen")
	p.visit("/hotspots")
	p.visit("/me")
	p.until(`document.querySelectorAll("#sessions tbody tr").length === 2`)
	p.press("End all others")
	p.until(`document.querySelectorAll("#sessions tbody tr").length === 1`)
	other.expects("401")
	other.visit("/me")
	other.sees("Your session has ended. Sign in again.")
}

// actsForAnother lets someone who is here already join an account, and go from one to the other.
func (c *crowd) actsForAnother(t *testing.T) {
	p := c.ben.as(t)
	p.visit("/account")
	p.at("/account", "Corner Books")
	p.set(`#invitations select[name="role"]`, "viewer")
	p.press("Create the invitation")
	link := p.link()
	ada := c.ada.as(t)
	ada.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	ada.sees("You are signed in as Ada, and join as such.")
	ada.press("Accept")
	ada.at("/account", "Corner Books")
	ada.sees("Viewer, since")
	ada.looks("switcher")
	ada.visit("/hotspots")
	ada.at("/hotspots", "My hotspots")
	ada.sees("Reading Room")
	if eval[bool](ada, `[...document.querySelectorAll("main a.button")].some((e) => e.textContent.includes("Register"))`) {
		t.Error("a viewer sees a button that would be refused")
	}
	own := eval[string](ada, `[...document.querySelector(".switcher").options].find((o) => o.text !== "Corner Books").value`)
	ada.set(".switcher", own)
	ada.sees("no hotspots")
	ada.do(chromedp.Reload())
	ada.at("/hotspots", "My hotspots")
	ada.until(`document.querySelector(".switcher").value === ` + "`" + own + "`")
}

// showsThemselves is asked once more who they are, before something that matters.
func (c *crowd) showsThemselves(t *testing.T) {
	for _, other := range c.pages {
		other.expects("ERR_") // while the server is away
		other.expects("40")   // and who is not fresh is refused at first
	}
	c.later(t)
	p := c.ben.as(t)
	p.do(chromedp.Reload())
	p.visit("/me")
	p.press("New codes")
	p.until(`document.querySelector("dialog[open]")`)
	p.looks("fresh")
	p.press("Cancel")
	p.until(`!document.querySelector("dialog[open]") && document.querySelector("#codes .note.bad")`)
	p.press("New codes")
	if c.passkeys {
		p.press("Show my passkey")
	} else {
		p.fill(`input[name="fresh-code"]`, "0000-0000-0000")
		p.press("Use the code")
		p.sees("This code is not valid")
		p.fill(`input[name="fresh-code"]`, c.codes[2])
		p.press("Use the code")
	}
	p.until(`!document.querySelector("dialog[open]") && document.querySelectorAll(".codes code").length === 10`)
}

func (c *crowd) staff(t *testing.T) {
	p := c.ada.as(t)
	p.visit("/staff/people")
	p.sees("Ben")
	p.sees("Manager at")
	p.looks("staff-people")
	p.fill(`input[name="q"]`, "iv")
	p.until(`document.querySelectorAll('[aria-label="People"] tbody tr').length === 1`)
	p.press("Ivo")
	p.sees("Locked out")
	p.looks("staff-person")
	p.click(`input[name="posts"][value="verifier"]`)
	p.press("Save")
	p.sees("Saved.")
	p.press("Link to sign in")
	link := p.link()
	for _, other := range c.pages { // those of who is suspended are cut off
		other.expects("401")
		other.expects("ERR_INCOMPLETE_CHUNKED_ENCODING")
	}
	p.press("Suspend")
	p.sees("Suspended: this person cannot sign in.")
	ivo := c.person(t, link, small)
	ivo.sees("This link signs you in, once.")
	ivo.looks("enter")
	ivo.expects("40")
	ivo.click(`main button.button`)
	ivo.until(`document.querySelector("main .note.bad")`)
	p.press("Restore")
	p.sees("Suspend")
	p.fill(`input[name="erase-name"]`, "Ivo")
	p.press("Erase")
	p.until(`location.hash === "#/staff/people"`)
	p.until(`!document.body.innerText.includes("Ivo")`)
	p.visit("/staff/audit")
	p.sees("person.erased")
	p.until(`[...document.querySelectorAll("tbody tr")].some((e) => e.innerText.includes("person.erased") && [...e.querySelectorAll("a")].some((a) => a.innerText === "Ada"))`)
	p.looks("staff-audit")
}

// speaksSpanish walks through the pages of people once more, in Spanish.
func (c *crowd) speaksSpanish(t *testing.T) {
	english := onlyEnglish(t)
	ben := eval[string](c.ben.as(t), `localStorage.getItem("beacon-stays")`)
	for _, l := range []look{{width: small.width, height: small.height, dark: true}, desk} {
		p := c.ada.as(t)
		p.do(chromedp.EmulateViewport(l.width, l.height))
		p.asksFor("es-MX,es,en")
		p.do(chromedp.Reload())
		for _, page := range [][2]string{
			{"/me", "Dónde está abierta su sesión"},
			{"/account", "Miembros"},
			{"/keys", "Mis claves"},
			{"/staff/people", "Ben"},
			{"/staff/people/" + ben, "Ayuda para entrar"},
			{"/set-up/codes", "Códigos de recuperación"},
			{"/set-up/network", "Su red"},
			{"/set-up/place", "Lugar en el mapa"},
			{"/set-up/people", "La siguiente persona"},
			{"/enter", "El enlace ya se usó."},
			{"/join", "La invitación ya se aceptó."},
			{"/sign-in", "Código de recuperación"},
		} {
			p.narrow(page[0], page[1])
			p.inSpanish(english)
		}
		p.accessible("sign in, in Spanish")
		p.visit("/staff/people")
		p.press("Qué permite cada cargo")
		p.press("Crear la invitación")
		link := p.link()
		p.inSpanish(english)
		invited := c.person(t, "about:blank", l)
		invited.asksFor("es-MX,es,en")
		invited.do(chromedp.Navigate(link))
		invited.sees("Tiene una invitación")
		invited.sees("Aceptar")
		invited.inSpanish(english)
		invited.fits()
	}
}
