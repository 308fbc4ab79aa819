package browser_test

import (
	"path/filepath"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestEnrolmentKey makes a key for many devices, sees how many it has linked, and revokes it.
func TestEnrolmentKey(t *testing.T) {
	level.Needs(t, level.Check)
	b := launch(t)
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t}
	operator := n.command(t, "keys", "create", "--user", "new", "--scopes", "hotspots:write,keys:manage", "--name", "Ada")
	n.serve(t)
	n.ask(t, operator, "POST", "/v1/hotspots", map[string]any{
		"name": "Town hall", "type": "public", "location": map[string]any{"lat": 52.5186, "lng": 13.4083},
		"device": map[string]any{"ssid": "freifunk.net", "mac_address": "02:00:5e:10:00:01"},
	})
	for _, as := range []struct {
		name string
		look
	}{{"1400", wide}, {"390", small}} {
		t.Run(as.name, func(t *testing.T) {
			p := b.open(t, n.url+"/#/keys", as.look)
			p.signIn(operator)
			p.sees("Create a key")
			p.click(`input[value="hotspots:write"]`)
			p.click(`input[value="devices:enrol"]`) // which is alone
			p.until(`[...document.querySelectorAll(".checks input:checked")].map((e) => e.value).join() === "devices:enrol"`)
			p.fill(`input[name="key-name"]`, "Move "+as.name)
			p.expects("400")
			p.press("Create")
			p.until(`document.querySelector(".fault")?.innerText === "is required"`)
			p.fill(`input[name="max-enrolments"]`, "1000")
			p.fill(`input[name="addresses"]`, "127.0.0.0/8, 10.0.0.0/8")
			p.fits()
			p.shot("enrolment-key-" + as.name)
			p.accessible("a form for an enrolment key")
			p.press("Create")
			p.sees("is shown only once")
			p.sees("Run “beacon-agent enrol” with it on each device.")
			p.sees("0 of 1,000 devices, until ")
			key := eval[string](p, `document.querySelector(".secret").innerText`)
			done := n.ask(t, key, "POST", "/v1/devices/enrol", map[string]any{"mac_address": "02:00:5e:10:00:01"})
			n.ask(t, operator, "DELETE", "/v1/hotspots/"+done["hotspot_id"].(string)+"/device", nil) // for the next
			p.visit("/hotspots")
			p.visit("/keys")
			p.sees("1 of 1,000 devices, until ")
			p.fits()
			p.shot("enrolment-keys-" + as.name)
			p.accessible("keys")
			p.press("Revoke Move " + as.name)
			p.until(`[...document.querySelectorAll("tr")].some((r) => r.innerText.includes("Move ` + as.name + `") && r.innerText.includes("revoked "))`)
			if status, _ := n.send(t, key, "POST", "/v1/devices/enrol", map[string]any{"mac_address": "02:00:5e:10:00:01"}); status != 401 {
				t.Errorf("after it was revoked, the key is answered %d", status)
			}
		})
	}
}
