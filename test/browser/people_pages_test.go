package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// comesBack signs out, and in again by a passkey.
func (c *crowd) comesBack(t *testing.T) {
	stranger := c.person(t, c.url+"/#/sign-in", desk) // whose device has no passkey
	stranger.sees("Sign in with a passkey")
	stranger.looks("sign-in")
	stranger.press("Recovery code")
	stranger.expects("401")
	stranger.fill(`input[name="code"]`, "not-a-code")
	stranger.click(`.doors details form button`)
	stranger.sees("This code is not valid")

	p := c.ben.as(t)
	p.fills(false)
	p.press("Sign out")
	p.sees("You are signed out.")
	p.visit("/sign-in")
	p.press("Sign in with a passkey")
	p.at("/hotspots", "My hotspots")

	// A browser that fills in passkeys does so without a button: this one takes the only one.
	p.fills(true)
	p.press("Sign out")
	p.until(`document.querySelector(".who .name")?.innerText.endsWith("Ben")`)
	p.at("/hotspots", "My hotspots")
	p.do(chromedp.Reload())
	p.at("/hotspots", "My hotspots")
	if kept := eval[string](p, `JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie`); strings.Contains(kept, "bcp_") {
		t.Errorf("scripts can read %s", kept)
	}
}

// fills sets whether the browser offers passkeys among what it fills in.
func (p *page) fills(does bool) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(PublicKeyCredential.isConditionalMediationAvailable = async () => %t, true)`, does))
}

func (c *crowd) seesToThemselves(t *testing.T) {
	p := c.ben.as(t)
	p.click(".who a.name")
	p.at("/me", "Ben")
	p.sees("Add a second one")
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
	other.comesByCode(codes[1])
	other.sees("You came in by a recovery.")
	other.looks("frozen")
	p.visit("/hotspots")
	p.visit("/me")
	p.sees("Chrome, Linux")
	p.until(`document.querySelectorAll("#sessions tbody tr").length === 2`)
	p.looks("sessions")
	p.click(`#sessions tbody button`) // of one's own there is none
	p.until(`document.querySelectorAll("#sessions tbody tr").length === 1`)
	other.ended()
	for _, code := range codes[2:4] {
		c.person(t, c.url+"/#/sign-in", small).comesByCode(code)
	}
	p.visit("/hotspots")
	p.visit("/me")
	p.until(`document.querySelectorAll("#sessions tbody tr").length === 3`)
	p.press("End all others")
	p.until(`document.querySelectorAll("#sessions tbody tr").length === 1`)
	c.pages[len(c.pages)-1].as(t).ended()
	c.pages[len(c.pages)-2].as(t).ended()
}

// comesByCode signs in with a recovery code.
func (p *page) comesByCode(code string) {
	p.t.Helper()
	p.press("Recovery code")
	p.fill(`input[name="code"]`, code)
	p.click(`.doors details form button`)
	p.at("/hotspots", "My hotspots")
}

// ended is a page whose session was ended elsewhere.
func (p *page) ended() {
	p.t.Helper()
	p.expects("401")
	p.visit("/me")
	p.sees("Your session has ended. Sign in again.")
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
	p.press("Recovery code")
	p.fill(`input[name="fresh-code"]`, "0000-0000-0000")
	p.press("Use the code")
	p.sees("This code is not valid")
	p.press("Show my passkey")
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
	p.press("Show my passkey") // it was a while ago
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
