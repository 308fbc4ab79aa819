package browser_test

import (
	"encoding/json"
	"os"
	"sync"

	"github.com/chromedp/chromedp"

	"github.com/beacon-wifi/beacon/test/harness/level"
)

// axe is the source of the checker; empty where it is not installed.
var axe = sync.OnceValue(func() string {
	source, err := os.ReadFile("../../console/node_modules/axe-core/axe.min.js")
	if err != nil {
		return ""
	}
	return string(source)
})

// accessible has a page checked by axe-core against WCAG 2.2 AA.
func (p *page) accessible(name string) {
	p.t.Helper()
	if axe() == "" {
		said := p.t.Logf
		if level.Now() >= level.Check {
			said = p.t.Errorf
		}
		said("axe-core is not installed (scripts/check-console does that): %s was NOT checked", name)
		return
	}
	const run = `(async () => {
		const {violations} = await axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]});
		return JSON.stringify(violations.map(({id, help, nodes}) => ({id, help, at: nodes.map((n) => n.target.join(" ") + ": " + n.failureSummary)})));
	})()`
	eval[bool](p, `(() => { if (!window.axe) {`+axe()+`} return true; })()`)
	found, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](run, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatal(err)
	}
	var violations []struct {
		ID, Help string
		At       []string
	}
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		p.t.Fatal(err)
	}
	for _, v := range violations {
		p.t.Errorf("%s: %s (%s): %q", name, v.Help, v.ID, v.At)
	}
}
