package browser_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestPrivacy hides homes: staff choose it, a stranger sees an approximate place, and the
// operator sees what the stranger does. The operator can ask to be erased, and take it
// back.
func TestPrivacy(t *testing.T) {
	level.Needs(t, level.Check)
	b := launch(t)
	for _, as := range []struct {
		name string
		look
	}{{"1400", wide}, {"390", small}} {
		t.Run(as.name, func(t *testing.T) {
			n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t}
			n.operator = n.command(t, "keys", "create", "--user", "new", "--scopes", "hotspots:write,keys:manage")
			n.staff = n.command(t, "keys", "create", "--user", "new", "--scopes", "admin")
			stranger := n.command(t, "keys", "create", "--user", "new", "--scopes", "")
			n.serve(t)
			home := n.bringUp(t, 2, names[2])

			p := b.open(t, n.url+"/#/staff/settings", as.look)
			p.signIn(n.staff)
			p.sees("Homes are not hidden")
			p.click(`input[name="home-privacy"][value="blur"]`)
			p.sees("Homes are hidden.")
			p.click(`input[name="network-clients"]`)
			p.sees("Not saved yet.")
			p.click(`#identity button[type="submit"]`)
			p.sees("Everyone sees it within seconds.")
			if data := n.ask(t, n.staff, "GET", "/v1/settings", nil); data["show_clients"] != true || data["home_privacy"] != "blur" {
				t.Errorf("the settings are %v", data)
			}
			p.fits()
			p.shot("privacy-staff-" + as.name)
			p.accessible("home privacy")

			p = b.open(t, n.url+"/#/sign-in", as.look)
			p.signIn(stranger)
			p.visit("/map/" + home.id)
			p.sees("Approximate place")
			p.until(`document.querySelector(".map-ring.approximate")`)
			p.calm()
			p.fits()
			p.shot("privacy-stranger-" + as.name)
			p.accessible("a hidden home")

			p = b.open(t, n.url+"/#/sign-in", as.look)
			p.signIn(n.operator)
			p.visit("/hotspots/" + home.id)
			p.sees("What others see")
			p.until(`/an approximate one: .* m away/.test(document.querySelector("#others-see")?.innerText)`)
			p.until(`document.querySelector("#others-see").innerText.includes("you can show it")`)
			p.click(`input[name="show_ssid"]`)
			p.press("Save")
			p.sees("Saved.")
			p.until(`!document.querySelector("#others-see").innerText.includes("you can show it")`)
			p.fits()
			p.shot("privacy-operator-" + as.name)
			p.accessible("what others see")
			if data := n.ask(t, stranger, "GET", "/v1/hotspots/"+home.id, nil); data["device"].(map[string]any)["ssid"] == "" {
				t.Error("the SSID is hidden although its operator shows it")
			}

			// On the map, operators find it where it is.
			p.visit(fmt.Sprintf("/map?at=%.5f,%.5f,17.00", home.lat, home.lng))
			harness.Eventually(t, "a click on the home shows it", func() bool {
				if as.look == small {
					return true // the panel is in front of it
				}
				p.clickMap(0.5, 0.5)
				return eval[bool](p, fmt.Sprintf(`location.hash.startsWith("#/map/%s")`, home.id))
			})
			p.calm()
			p.shot("privacy-own-" + as.name)

			p.visit("/keys")
			p.press("Erase my data")
			p.sees("You asked for it on")
			p.fits()
			p.shot("privacy-erasure-" + as.name)
			p.accessible("an erasure")
			p.press("Take it back")
			p.sees("Erase my data")
			if data := n.ask(t, n.operator, "GET", "/v1/users/me/erasure", nil); data["status"] != "none" {
				t.Errorf("taken back, it is %v", data)
			}
		})
	}
}
