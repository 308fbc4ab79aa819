package browser_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/beacon-wifi/beacon/test/harness"
)

// shotsVariable names a folder that keeps the screenshots; else they go with the test.
const shotsVariable = "BEACON_TEST_SHOTS"

// dayInText is how pages write a day, in English.
const dayInText = "Jan 2, 2006"

// look is how a page is looked at.
type look struct {
	dark          bool
	width, height int64
}

var (
	desk  = look{width: 1280, height: 800}
	night = look{width: 1280, height: 800, dark: true}
	phone = look{width: 360, height: 740}
	wide  = look{width: 1400, height: 900}
	small = look{width: 390, height: 844}
)

// browser is a running Chromium; each page gets a session of its own.
type browser struct {
	ctx context.Context
}

func launch(t testing.TB, more ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("use-angle", "swiftshader"), chromedp.Flag("enable-unsafe-swiftshader", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("no-pings", true),
		chromedp.UserDataDir(profile(t)), chromedp.WSURLReadTimeout(harness.Patience))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), append(options, more...)...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("the browser does not start: %v", err)
	}
	return &browser{ctx}
}

// profile is a folder for a browser. Its helpers may write there for a moment after it
// has ended, when a folder of the test's own could not be removed.
func profile(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "beacon-browser")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		harness.Eventually(t, "the browser lets go of its folder", func() bool { return os.RemoveAll(folder) == nil })
	})
	return folder
}

// page is a tab. Whatever its console says is a fault, unless it was expected.
type page struct {
	t      testing.TB
	ctx    context.Context
	mu     sync.Mutex
	said   []string
	expect []string // parts of what may be said
}

// open shows a page of the console in a new tab, which knows of no other.
func (b *browser) open(t testing.TB, url string, l look) *page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	p := &page{t: t, ctx: ctx, expect: []string{"503"}} // a server that is busy may say so: the page asks again
	p.do(
		chromedp.EmulateViewport(l.width, l.height),
		chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error { return prepare(ctx) }),
	)
	messages := chromedp.Console(ctx)
	var listening sync.WaitGroup
	listening.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if strings.Contains(m.Text, "GL Driver Message") {
				continue // of a graphics card that is not there
			}
			if m.Type == "error" || m.Type == "warning" || m.IsException() {
				p.hear(fmt.Sprintf("%s: %s (%s)", m.Type, m.Text, m.URL))
			}
		}
	})
	t.Cleanup(func() {
		p.as(t).quiet()
		cancel()
		listening.Wait()
	})
	p.light(!l.dark)
	p.do(chromedp.Navigate(url))
	return p
}

// as goes on with the page in a part of the test.
func (p *page) as(t testing.TB) *page {
	p.t = t
	return p
}

// light sets what the user prefers.
func (p *page) light(is bool) {
	p.t.Helper()
	p.prefer(is, "reduce") // flights of the map end at once
}

// prefer sets whether the user prefers light, and what of motion.
func (p *page) prefer(light bool, motion string) {
	p.t.Helper()
	scheme := map[bool]string{true: "light", false: "dark"}[light]
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: motion},
		}})
		return err
	}))
}

// prepare sets what must hold before the page is loaded.
func prepare(ctx context.Context) error {
	_, err := chromedp.Call(ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(`
		window.Date = class extends Date {
			constructor(...at) { super(...(at.length ? at : [new.target.now()])); }
			static now() { return super.now() + %d; }
		};
		window.violations = [];
		addEventListener("securitypolicyviolation", (e) => violations.push(e.violatedDirective + " " + e.blockedURI));
		window.asked = [];
		window.confirm = (text) => { asked.push(text); return true; };
	`, ahead.Milliseconds())})
	return err
}

func (p *page) hear(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = append(p.said, what)
}

// expects lets the page's console say something that a test brings about.
func (p *page) expects(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expect = append(p.expect, part)
}

// quiet fails the test when anything was said, or kept from loading.
func (p *page) quiet() {
	p.t.Helper()
	if p.ctx.Err() == nil {
		if violations := eval[[]string](p, `window.violations ?? []`); len(violations) > 0 {
			p.t.Errorf("the policy was violated: %v", violations)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
next:
	for _, line := range p.said {
		for _, part := range p.expect {
			if strings.Contains(line, part) {
				continue next
			}
		}
		p.t.Errorf("the browser's console says: %s", line)
	}
}

func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx); err != nil { // binds the tab to the context without a deadline
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(p.ctx, harness.Patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.fail("%v", err)
	}
}

// fail ends the test with a picture of what there was to see.
func (p *page) fail(format string, args ...any) {
	p.t.Helper()
	p.mu.Lock()
	said := strings.Join(p.said, "\n")
	p.mu.Unlock()
	text, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.body.innerText`))
	p.shot("failure-" + strings.ReplaceAll(p.t.Name(), "/", "-"))
	p.t.Fatalf(format+"\nthe page shows:\n%.1500s\nits console: %s", append(args, text, said)...)
}

func eval[T any](p *page, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// until waits for an expression to be true. A page that is on its way to another cannot
// be asked: that is not yet.
func (p *page) until(expression string) {
	p.t.Helper()
	deadline := time.Now().Add(harness.Patience)
	for {
		met, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err == nil && met {
			return
		}
		if time.Now().After(deadline) || p.ctx.Err() != nil {
			p.fail("after %v, still not: %s (%v)", harness.Patience, expression, err)
		}
		time.Sleep(30 * time.Millisecond) // between two looks, up to a deadline
	}
}

// sees waits until the page shows a text.
func (p *page) sees(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.body.innerText.includes(%q)`, text))
}

func (p *page) click(selector string) {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// press clicks a button or a link by what it says.
func (p *page) press(text string) {
	p.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll("button, a, summary")].find((e) => e.textContent.replace(/\s+/g, " ").trim() === %q && e.checkVisibility() && !e.disabled)`, text)
	p.on(find, `e.scrollIntoView({block: "center"}); e.click();`)
}

// on waits for an element e, and does something with it in the same step: between two, the
// page may draw itself again, without it.
func (p *page) on(find, do string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`(() => { const e = %s; if (!e) return false; %s return true; })()`, find, do))
}

// fill types into an input, after emptying it.
func (p *page) fill(selector, text string) {
	p.t.Helper()
	p.do(
		chromedp.Focus(chromedp.CSS(selector), chromedp.NodeVisible),
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := chromedp.Evaluate[bool](fmt.Sprintf(`(document.querySelector(%q).select?.(), true)`, selector))(ctx, t)
			return err
		}),
		chromedp.KeyEvent("\b"),
		chromedp.SendKeys(chromedp.CSS(selector), text),
	)
}

// set sets a select, a range or a checkbox as a user would.
func (p *page) set(selector, value string) {
	p.t.Helper()
	p.on(fmt.Sprintf(`document.querySelector(%q)`, selector), fmt.Sprintf(`
		Object.getOwnPropertyDescriptor(Object.getPrototypeOf(e), "value").set.call(e, %q);
		e.dispatchEvent(new Event("input", {bubbles: true}));
		e.dispatchEvent(new Event("change", {bubbles: true}));
	`, value))
}

// calm waits until the map has drawn what it has to draw. A browser with several windows may let
// one of them draw nothing, until a picture is taken of it.
func (p *page) calm() {
	p.t.Helper()
	p.until(`document.querySelector(".map")?.hasAttribute("aria-busy")`)
	for deadline := time.Now().Add(harness.Patience); !eval[bool](p, `document.querySelector(".map")?.getAttribute("aria-busy") === "false"`); {
		if time.Now().After(deadline) {
			p.fail("the map is still busy after %v", harness.Patience)
		}
		if _, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot()); err != nil {
			p.t.Fatal(err)
		}
	}
}

// clickMap clicks on the map, at a part of its width and height.
func (p *page) clickMap(x, y float64) {
	p.t.Helper()
	p.calm()
	box := eval[[]float64](p, `(({left, top, width, height}) => [left, top, width, height])(document.querySelector(".map canvas").getBoundingClientRect())`)
	p.do(chromedp.MouseClickXY(box[0]+x*box[2], box[1]+y*box[3]))
}

// middle is where an element has its middle.
func (p *page) middle(selector string) []float64 {
	p.t.Helper()
	return eval[[]float64](p, fmt.Sprintf(`(({left, top, width, height}) => [left + width / 2, top + height / 2])(document.querySelector(%q).getBoundingClientRect())`, selector))
}

// inSight is true of an element of which a panel hides no whole pixel, above or below. Both
// are read in one step: what is drawn ends at fractions of pixels, and may move between two.
func inSight(element, panel string) string {
	return fmt.Sprintf(`((e, p) => Math.ceil(e.top) >= Math.floor(p.top) && Math.floor(e.bottom) <= Math.ceil(p.bottom))(%s.getBoundingClientRect(), document.querySelector(%q).getBoundingClientRect())`, element, panel)
}

// visit goes to another page of the console.
func (p *page) visit(path string) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(location.hash = %q, true)`, path))
}

// signIn uses the form that stands on every page that needs a key.
func (p *page) signIn(key string) {
	p.t.Helper()
	p.fill(`input[name="key"]`, key)
	p.click(`form button[type="submit"]`)
	p.sees("Sign out")
}

// shot keeps a picture.
func (p *page) shot(name string) {
	p.t.Helper()
	folder := os.Getenv(shotsVariable)
	if folder == "" {
		folder = p.t.TempDir()
	}
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Logf("no screenshot: %v", err)
		return
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644); err != nil {
		p.t.Error(err)
	}
}

// fits checks that nothing has to be scrolled sideways, and no table up and down.
func (p *page) fits() {
	p.t.Helper()
	wide := eval[[]string](p, `[...document.querySelectorAll("body, main, main *")].filter((e) => !e.closest(".scroll, .map, pre") && e.getBoundingClientRect().right > innerWidth + 1)
		.map((e) => location.hash + ": " + e.tagName + "." + e.className + " reaches " + Math.round(e.getBoundingClientRect().right))`)
	over := eval[float64](p, `Math.max(document.documentElement.scrollWidth, document.querySelector("main").scrollWidth) - innerWidth`)
	if cut := eval[float64](p, `[...document.querySelectorAll(".bar nav")].reduce((n, e) => n + e.scrollWidth - e.clientWidth, 0)`); cut > 0 {
		p.t.Errorf("%v pixels of the navigation are cut off", cut)
	}
	if over > 0 || len(wide) > 0 {
		p.t.Errorf("the page is wider than the window by %v pixels: %q", over, wide)
	}
	// A table shows all its rows, unless it holds the many values of a chart.
	hidden := eval[[]string](p, `[...document.querySelectorAll(".scroll")].filter((e) => e.checkVisibility() && !e.closest("details") && e.scrollHeight > e.clientHeight + 1)
		.map((e) => location.hash + ": " + e.getAttribute("aria-label") + " shows " + e.clientHeight + " of " + e.scrollHeight)`)
	if len(hidden) > 0 {
		p.t.Errorf("rows are hidden: %q", hidden)
	}
}
