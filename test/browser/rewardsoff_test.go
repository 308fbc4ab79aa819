package browser_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestRewardsOff turns rewards off in a new network: from then on no page speaks of them, and
// staff can turn them on again.
func TestRewardsOff(t *testing.T) {
	level.Needs(t, level.Check)
	b := launch(t)
	for _, as := range []struct {
		name string
		look
	}{{"1400", wide}, {"390", small}} {
		t.Run(as.name, func(t *testing.T) {
			n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t}
			n.operator = n.command(t, "keys", "create", "--user", "new", "--scopes", "hotspots:write,rewards:read")
			n.staff = n.command(t, "keys", "create", "--user", "new", "--scopes", "admin")
			n.serve(t, "--public")
			day := func(days int) string { return today().AddDate(0, 0, days).Format(time.DateOnly) }

			p := b.open(t, n.url+"/#/staff/settings", as.look)
			p.signIn(n.staff)
			p.sees("Rewards are on.")
			p.fits()
			p.accessible("rewards are on")
			p.set(`input[name="rewards-from"]`, day(-1))
			p.expects("409")
			p.press("Turn rewards off")
			p.sees("new policy can start on")
			p.set(`input[name="rewards-from"]`, day(0))
			p.press("Turn rewards off")
			p.sees("Rewards are off.")
			p.until(`![...document.querySelectorAll(".bar a, .desks a")].some((link) => /Rewards|Months|Holds|policy/.test(link.innerText))`) // it is loaded again
			p.sees("Rewards are off.")
			p.shot("rewards-off-" + as.name)
			for _, path := range []string{"/staff", "/staff/operators", "/staff/review", "/staff/verifications"} {
				p.visit(path)
				p.sees("Audit")
				p.silent()
			}

			h := n.bringUp(t, 0, names[1])
			q := b.open(t, n.url+"/#/hotspots", as.look)
			q.signIn(n.operator)
			q.sees("of 1 online")
			q.silent()
			q.pages(h)
			stranger := b.open(t, n.url+"/", as.look)
			stranger.silent()
			for path, said := range map[string]string{"/open": "meshviewer.json", "/h/" + h.id: h.name} {
				stranger = b.open(t, n.url+path, as.look)
				stranger.sees(said)
				stranger.silent()
			}

			p.visit("/staff/settings")
			p.set(`input[name="rewards-from"]`, day(2))
			p.press("Turn rewards on")
			p.sees("Rewards are off, and on from")
		})
	}
}

// pages visits what an operator with a hotspot sees of it, and where another would be planned.
func (p *page) pages(h hotspot) {
	for path, said := range map[string]string{
		"/hotspots/" + h.id: "Delete this hotspot", "/move/" + h.id: "What moving it means", "/map/" + h.id: h.name, "/import": "Template",
	} {
		p.visit(path)
		p.sees(said)
		p.silent()
	}
	p.visit("/register")
	p.sees("Click the map where the access point is.")
	p.silent()
	p.press("Place it at the centre")
	p.calm()
	p.silent()
	p.visit("/")
	p.press("What if")
	p.press("Place it at the centre")
	p.sees("newly covered")
	p.silent()
}

// silent reports words about rewards.
func (p *page) silent() {
	p.t.Helper()
	p.until(`document.querySelector("h1") && !document.querySelector(".waiting")`)
	if said := eval[string](p, `(document.body.innerText.match(/.*\b(rewards?|earn\w*|credits?|paid|statements?|settled)\b.*/i) ?? [""])[0]`); said != "" {
		p.t.Errorf("%s says %q", eval[string](p, "location.href"), said)
	}
}
