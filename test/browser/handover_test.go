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

// another is an owner of another account, and its id.
func (c *crowd) another(t *testing.T) (dana *page, account string) {
	made := c.ada.as(t).fetchesAs("POST", "/v1/invitations", `{account: "new", account_name: "Harbour Bar"}`)
	dana = c.joins(t, made["data"].(map[string]any)["link"].(string), "Dana", small)
	dana.press("Accept")
	c.makesPasskey(dana, "/welcome", true)
	dana.at("/welcome", "Recovery codes")
	dana.press("Later")
	dana.at("/hotspots", "My hotspots")
	dana.visit("/account")
	dana.sees("The id of this account")
	return dana, eval[string](dana, `document.querySelector("main .hint code").innerText`)
}

// handsOver is a hand-over, in the walk of people.
func (c *crowd) handsOver(t *testing.T) {
	dana, account := c.another(t)
	ben := c.ben.as(t)
	made := ben.fetchesAs("POST", "/v1/hotspots", `{name: "Terrace", type: "public", location: {lat: 40.7036, lng: -73.9932}, device: {ssid: "Guest", mac_address: "02:00:5e:10:00:79"}}`)
	ben.visit("/hotspots/" + made["data"].(map[string]any)["id"].(string))
	ben.at("/hotspots/", "Terrace")
	ben.press("Hand over…")
	ben.fill(`input[name="to-account"]`, account)
	ben.press("Offer it")
	ben.sees("On offer to " + account)
	dana.visit("/hotspots")
	dana.sees("On offer to you")
	dana.press("Accept")
	dana.sees("Terrace is yours now.")
	dana.looks("handed-over")
	ben.visit("/hotspots")
	ben.at("/hotspots", "My hotspots")
	ben.until(`![...document.querySelectorAll("main a")].some((e) => e.innerText === "Terrace")`)
}

// TestHandOver lets someone offer a hotspot to another account, whose owner takes it over; and
// staff offer one whose operator is gone.
func TestHandOver(t *testing.T) {
	level.Needs(t, level.Check)
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t, address: harness.FreeAddress()}
	url := "http://localhost" + n.address[strings.LastIndex(n.address, ":"):]
	stop := n.serve(t, "--public-url", url)
	invitation := n.command(t, "keys", "invite", "--public-url", url, "--clock-start", today().Format(time.RFC3339Nano))
	c := &crowd{whole: t, n: n, b: launch(t), url: url}
	c.setUp(t, invitation)
	c.invitesAnOperator(t)
	dana, account := c.another(t)
	ben := c.ben
	ben.visit("/hotspots/" + c.hotspot)
	ben.at("/hotspots/"+c.hotspot, "Reading Room")
	ben.press("Hand over…")
	ben.fill(`input[name="to-account"]`, "usr_nobody")
	ben.expects("400")
	ben.press("Offer it")
	ben.sees("must be the id of a user")
	ben.fill(`input[name="to-account"]`, account)
	ben.looks("hand-over")
	ben.press("Offer it")
	ben.sees("On offer to " + account)
	ben.press("Withdraw the offer")
	ben.sees("You sold the place, or you leave?")

	// A while later both are asked to show once more who they are.
	for _, p := range c.pages {
		p.expects("ERR_")
		p.expects("40")
	}
	stop()
	n.serve(t, "--public-url", url, "--clock-start", today().Add(10*time.Minute).Format(time.RFC3339Nano))
	ben.do(chromedp.Reload())
	ben.press("Hand over…")
	ben.fill(`input[name="to-account"]`, account)
	ben.press("Offer it")
	ben.press("Show my passkey")
	ben.sees("On offer to " + account)
	ben.looks("hand-over-offered")

	dana.do(chromedp.Reload())
	dana.sees("On offer to you")
	dana.looks("account-offers")
	dana.visit("/hotspots")
	dana.at("/hotspots", "My hotspots")
	dana.sees("Reading Room")
	dana.looks("offers")
	dana.press("Accept")
	dana.press("Show my passkey")
	dana.sees("Reading Room is yours now.")
	dana.until(`[...document.querySelectorAll("main a")].some((e) => e.innerText === "Reading Room")`)
	dana.looks("taken-over")
	ben.visit("/hotspots")
	ben.at("/hotspots", "My hotspots")
	ben.sees("no hotspots")
	dana.visit("/hotspots/" + c.hotspot + "/days")
	dana.sees("another account's") // today is Ben's

	// Ben leaves, and nobody can sign in to his account.
	left := ben.fetchesAs("POST", "/v1/hotspots", `{name: "Pier", type: "public", location: {lat: 40.7036, lng: -73.9932}, device: {ssid: "Guest", mac_address: "02:00:5e:10:00:78"}}`)
	pier := left["data"].(map[string]any)["id"].(string)
	who := eval[string](ben, `localStorage.getItem("beacon-stays")`)
	ben.fills(false) // else it tries his passkey again and again, which is refused from then on
	ada := c.ada
	ada.do(chromedp.Reload())
	ada.visit("/staff/people/" + who)
	ada.press("Suspend")
	ada.press("Show my passkey")
	ada.sees("Suspended: this person cannot sign in.")
	ada.visit("/visits/" + pier)
	ada.sees("Pier")
	ada.press("Is its operator gone?")
	ada.fill(`input[name="to-account"]`, account)
	ada.fill(`input[name="claim-reason"]`, "lives there since May")
	ada.looks("claim")
	ada.press("Offer it to them")
	ada.sees("It is on offer for seven days.")
	dana.visit("/account")
	dana.visit("/hotspots")
	dana.sees("The network's staff made it.")
	dana.press("Decline")
	dana.sees("The offer of Pier is declined.")

	// In Spanish; the hotspot has an English name.
	dana.asksFor("es-MX,es,en")
	dana.do(chromedp.Reload())
	dana.narrow("/hotspots/"+c.hotspot, "Ofrezca el punto de acceso a otra cuenta.")
	dana.press("Ceder…")
	dana.sees("Qué significa cederlo")
	dana.looks("hand-over-spanish")
	dana.narrow("/account", "El identificador de esta cuenta")
	dana.inSpanish(onlyEnglish(t))
}
