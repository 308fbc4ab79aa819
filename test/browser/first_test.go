package browser_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestFirstRun begins with nothing but a server: a command prints where to create the first
// key, and the browser that has it can stay signed in.
func TestFirstRun(t *testing.T) {
	level.Needs(t, level.Check)
	b := launch(t)
	for _, as := range []struct {
		name string
		look
	}{{"1400", wide}, {"390", small}} {
		t.Run(as.name, func(t *testing.T) {
			n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t}
			n.serve(t)
			address := n.invitation(t)
			p := b.open(t, address, as.look)
			p.sees("Your network begins here")
			p.press("A key instead")
			p.sees("This network has no key yet.")
			p.fits()
			p.shot("first-key-" + as.name)
			p.accessible("first key")
			p.press("Create the key")
			p.sees("is shown only once")
			p.until(`document.querySelector(".who .name").innerText.includes("First key") && location.hash === "#/first-key"`)
			p.fits()
			p.shot("first-key-made-" + as.name)
			p.accessible("the first key")
			p.named("Wi-Fi </b>\"&")
			p.press("Hide homes (recommended)")
			p.sees("Homes are hidden from strangers.")
			key := eval[string](p, `document.querySelector(".secret").innerText`)
			n.ask(t, key, "GET", "/v1/keys", nil)
			p.staysSignedIn(n, key, as.name)

			late := b.open(t, address, as.look) // it was used
			late.expects("401")
			late.press("A key instead")
			late.press("Create the key")
			late.sees("This address was used")
			late.accessible("an address that was used")
			token := address[strings.LastIndex(address, "/")+1:]
			log, err := os.ReadFile(n.log)
			if err != nil || strings.Contains(string(log), token) {
				t.Errorf("%v; the token is in the log", err)
			}
		})
	}
}

// named gives the network a name and a color, which the page shows from then on.
func (p *page) named(name string) {
	p.fill(`input[name="network-name"]`, name)
	p.fill(`input[name="network-contact"]`, "nobody")
	p.expects("400")
	p.press("Save")
	p.sees("must be a mail address")
	p.fill(`input[name="network-contact"]`, "hello@example.org")
	p.fill(`input[name="network-color"]`, "#ffcc00")
	p.sees("darker on light pages")
	p.press("Save")
	p.sees("Everyone sees it within seconds.")
	quoted, _ := json.Marshal(name)
	p.until(`document.querySelector(".brand span").textContent === ` + string(quoted) + ` && document.title.endsWith(` + string(quoted) + `)`)
	p.until(`getComputedStyle(document.documentElement).getPropertyValue("--accent") === "#876c00"`)
	p.accessible("a name for the network")
}

// invitation returns the address that beacon keys invite prints.
func (n *network) invitation(t *testing.T) string {
	t.Helper()
	return n.command(t, "keys", "invite", "--public-url", n.url, "--clock-start", today().Format(time.RFC3339Nano))
}

// staysSignedIn signs in for all tabs, and does with the cookie what the key may.
func (p *page) staysSignedIn(n *network, key, name string) {
	t := p.t
	p.press("Sign out")
	p.visit("/keys")
	p.sees("Stay signed in on this device")
	p.click(`input[name="stay"]`)
	p.fits()
	p.shot("stay-signed-in-" + name)
	p.accessible("stay signed in")
	p.signIn(key)
	p.sees("Create a key")
	if kept := eval[string](p, `JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie`); strings.Contains(kept, key) || strings.Contains(kept, "bcs.") {
		t.Errorf("scripts can read %s", kept)
	}
	p.do(chromedp.Reload()) // as another tab: nothing is kept for this one
	p.sees("Create a key")
	p.fill(`input[name="key-name"]`, "Made with the cookie")
	p.press("Create")
	p.sees("is shown only once")
	p.visit("/")
	p.until(`document.querySelector(".live").innerText === "Live"`)
	p.until(figure("Hotspots") + ` === "0"`)
	p.calm()
	p.fits()
	p.shot("signed-in-" + name)
	p.accessible("signed in")
	p.press("Sign out")
	p.until(`document.querySelector("main > [role=status]").innerText.startsWith("You are signed out")`)
	p.do(chromedp.Reload())
	p.press("Sign in")
	p.sees("API key") // and not signed in again

	// A session ends with its key. No page is open meanwhile: an open one may ask for something
	// first, and say so before it is loaded again.
	made := n.ask(t, key, "POST", "/v1/keys", map[string]any{"scopes": []string{"rewards:read"}, "name": "brief"})
	p.visit("/rewards")
	p.click(`input[name="stay"]`)
	p.signIn(made["key"].(string))
	address := eval[string](p, "location.href")
	p.do(chromedp.Navigate("about:blank"))
	n.ask(t, key, "DELETE", "/v1/keys/"+made["id"].(string), nil)
	p.expects("401")
	p.do(chromedp.Navigate(address))
	p.sees("Your key is no longer valid")
}
