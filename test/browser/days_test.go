package browser_test

import (
	"context"
	"fmt"
	"testing"

	cdpnetwork "github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// An operator looks back, from what was earned to the days it was earned on.
func testDays(t *testing.T, b *browser, n *network) {
	p := b.open(t, n.url+"/#/hotspots/"+n.hotspots[1].id, desk)
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
	p.sees("No gaps in ")

	// What was earned leads to the days, which stay where they are when the charts above them come.
	eval[bool](p, `(() => {
		const real = fetch, late = new Promise((resolve) => { window.release = resolve; });
		window.fetch = (path, init) => (String(path).includes("/history?") ? late.then(() => real(path, init)) : real(path, init));
		document.querySelector("main").style.overflowAnchor = "none"; // not every browser makes up for it
		return true;
	})()`)
	p.visit("/rewards")
	p.press("By day of " + n.hotspots[0].name)
	p.until(`document.activeElement.innerText === "Rewards by day"`)
	top := `document.activeElement.getBoundingClientRect().top`
	before := eval[float64](p, top)
	eval[bool](p, `(release(), true)`)
	p.until(`document.querySelectorAll(".plot canvas").length === 3`)
	p.until(`![...document.querySelectorAll(".scroll td")].some((e) => e.innerText === "…")`)
	if after := eval[float64](p, top); after != before || after > 300 {
		t.Errorf("the days are at %v, and then at %v", before, after)
	}
	p.shot("days")

	// Days that were asked for while the server was away come when it is back.
	p.expects("ERR_CONNECTION_REFUSED")
	p.expects("ERR_INCOMPLETE_CHUNKED_ENCODING")
	p.visit("/hotspots/" + n.hotspots[2].id)
	p.until(`document.querySelectorAll(".plot canvas").length === 3`)
	p.until(says("Live"))
	n.stop()
	p.until(says("Reconnecting"))
	eval[bool](p, `([...document.querySelectorAll("h2")].find((e) => e.innerText === "Rewards by day").scrollIntoView(), true)`)
	p.sees("The server cannot be reached.")
	n.restart()
	p.until(`![...document.querySelectorAll(".scroll td")].some((e) => e.innerText === "…")`)
	p.until(`!document.body.innerText.includes("The server cannot be reached.")`)
	p.until(says("Live"))

	// Without a network nothing is live, though the stream has not noticed.
	p.offline(true)
	p.until(says("Offline"))
	p.shot("offline")
	p.accessible("offline")
	p.offline(false)
	p.until(says("Live"))
}

// says tells whether the frame says of the stream of events that it is in a state.
func says(state string) string {
	return fmt.Sprintf(`document.querySelector(".live").innerText === %q`, state)
}

// offline takes the browser's network away, or gives it back.
func (p *page) offline(is bool) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, cdpnetwork.OverrideNetworkState, cdpnetwork.OverrideNetworkStateParams{Offline: is})
		return err
	}))
}
