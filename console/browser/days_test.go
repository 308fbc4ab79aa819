package browser_test

import (
	"testing"
)

// An operator looks back, from what was earned to the days it was earned on.
func testDays(t *testing.T, b *browser, n *network) {
	p := b.open(t, n.url+"/#/hotspots/"+n.spots[1].id, desk)
	p.signIn(n.operator)

	// One page tells one uptime.
	p.press("30 days")
	p.sees("in 30 days")
	told := eval[string](p, `document.querySelector(".chart .small").innerText`)
	fact := eval[string](p, `[...document.querySelectorAll(".facts dt")].find((e) => e.innerText === "Uptime, 30 days").nextElementSibling.innerText`)
	if told != fact+" in 30 days" {
		t.Errorf("the uptime is %q, and %q", told, fact)
	}
	p.press("90 days")
	p.sees("Without a gap in ")
}
