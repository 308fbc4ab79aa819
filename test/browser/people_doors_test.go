package browser_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestPeople_Doors looks at the doors where not all of them open: over plain http, at an address
// without a name, and with a passkey that is refused.
func TestPeople_Doors(t *testing.T) {
	level.Needs(t, level.Check)
	const plain = "wifi.test" // a name for which browsers want https
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t, address: harness.FreeAddress()}
	n.serve(t, slowly...)
	port := n.address[strings.LastIndex(n.address, ":"):]
	over := func(link string) string { return strings.Replace(link, "localhost", plain, 1) }
	c := &crowd{whole: t, n: n, b: launch(t, chromedp.Flag("host-resolver-rules", "MAP "+plain+" 127.0.0.1")), url: "http://localhost" + port}

	plainly := func(url string, l look) *page {
		p := c.b.open(t, "about:blank", l)
		p.expects("Cross-Origin-Opener-Policy") // which browsers leave out there,
		p.expects("Geolocation")                // like where one is
		p.do(chromedp.Navigate(over(url)))
		return p
	}

	// Over plain http, a network begins with a key; at localhost, with a person.
	begin := n.command(t, "keys", "invite", "--addr", n.address, "--clock-start", today().Format(time.RFC3339Nano))
	first := plainly(begin, desk)
	first.sees("Begin with a key, and come back over https.")
	first.looks("http-first-key")
	ada := c.person(t, begin, desk)
	ada.at("/first-key/", "Your network begins here")
	ada.fill(`input[name="name"]`, "Ada")
	ada.press("Next")
	c.makesPasskey(ada, "/set-up", true)
	ada.at("/set-up", "Recovery codes")
	codes := ada.writesCodesDown()
	ada.fill(`input[name="code-back"]`, codes[0])
	ada.press("I have them")
	ada.at("/set-up/network", "Your network")
	ada.visit("/set-up/people")
	ada.press("Create the invitation")

	// A link that came over plain http says that it was not used.
	link := ada.link()
	early := plainly(link, small)
	early.sees("It was not used.")
	early.looks("http-join")
	early.visit("/enter/" + link[strings.LastIndex(link, "/")+1:])
	early.sees("Other ways to sign in")
	early.sees("It was not used.")
	vera := c.joins(t, link, "Vera", desk)
	vera.sees("Welcome to Beacon!") // which has no name of its own
	vera.press("Accept")

	p := plainly(c.url+"/#/sign-in", small)
	p.sees("This page came over plain http")
	p.sees("API key")
	if eval[bool](p, `!!document.querySelector("input[name=stay]")`) {
		t.Error("it offers to stay signed in over plain http")
	}
	if eval[bool](p, `document.body.innerText.includes("Recovery code")`) {
		t.Error("it offers doors that do not open over plain http")
	}
	p.looks("http-sign-in")
	p.signIn(strings.TrimSpace(n.command(t, "keys", "create", "--user", "new", "--scopes", "hotspots:write")))

	// At an address of numbers, the page leads to where passkeys work.
	p = c.b.open(t, "http://127.0.0.1"+port+"/#/sign-in", small)
	p.sees("Recovery code")
	p.looks("address-sign-in")
	p.press("open this page as localhost")
	p.sees("Sign in with a passkey")

	c.refused(t, ada)

	// Who is known here signs in where the invitation leads, and accepts it.
	ada.visit("/set-up/people")
	ada.press("Create the invitation")
	link = ada.link()
	ada.fills(false)
	ada.press("Sign out")
	ada.sees("You are signed out.")
	ada.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	ada.sees("Accept")
	ada.fills(false)
	ada.press("Have you been here before?")
	ada.sees("Sign in with a passkey")
	ada.looks("join-known")
	ada.press("Sign in with a passkey")
	ada.sees("You are signed in as Ada, and join as such.")
}

// refused shows a passkey whose proof is wrong: the session goes on.
func (c *crowd) refused(t *testing.T, p *page) {
	t.Helper()
	eval[bool](p, `(() => {
		const real = navigator.credentials.get.bind(navigator.credentials);
		window.wrong = 1;
		navigator.credentials.get = async (options) => {
			const made = await real(options);
			if (wrong-- > 0) new Uint8Array(made.response.signature)[20] ^= 1;
			return made;
		};
		return true;
	})()`)
	p.expects("40") // not fresh, and then refused
	eval[bool](p, `(() => {
		const real = fetch; // as if minutes had passed
		let stale = true;
		window.fetch = (path, init) => {
			if (!stale || !String(path).endsWith("/v1/people/me/codes")) return real(path, init);
			stale = false;
			return Promise.resolve(new Response(JSON.stringify({error: {code: "forbidden", message: "sign in again"}}), {status: 403, headers: {"Beacon-Sign-In": "fresh"}}));
		};
		return true;
	})()`)
	p.visit("/me")
	p.press("New codes")
	p.press("Show my passkey")
	p.sees("This passkey was not accepted.")
	p.looks("fresh-refused")
	p.press("Show my passkey")
	p.until(`!document.querySelector("dialog[open]") && document.querySelectorAll(".codes code").length === 10`)
}
