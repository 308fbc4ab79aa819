package browser_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/beacon-wifi/beacon/test/harness"
)

// TestScreenshots draws the pictures of the README and of the operators' guide, in the
// demonstration's network: the map as strangers see it, and an operator's pages. Only make
// screenshots runs it, which names the folder to write to.
func TestScreenshots(t *testing.T) {
	folder := os.Getenv("BEACON_SCREENSHOTS")
	if folder == "" {
		t.Skip("make screenshots draws the pictures")
	}
	folder = filepath.Join(harness.Root(), folder)
	url, operator := startDemo(t, "--clock-start", "2026-11-13T19:30:00Z")
	p := launch(t).open(t, url+"/", desk)
	draw := func(name string) {
		for mode, light := range map[string]bool{"light": true, "dark": false} {
			p.light(light)
			p.calm()
			p.picture(filepath.Join(folder, name+"-"+mode+".webp"))
		}
		p.light(true)
	}
	p.visit("/map?at=40.74460,-73.99900,14.70")
	p.sees("20 hotspots around the middle of the map")
	draw("map")
	p.visit("/sign-in")
	p.signIn(operator)
	p.visit("/rewards")
	p.press("Last month")
	p.sees("This period is settled")
	p.until(`document.querySelector(".plot canvas") && !document.body.innerText.includes("One moment")`)
	draw("rewards")
	p.visit("/hotspots")
	p.until(`document.querySelector(".plot canvas") && document.querySelector('a[href^="#/hotspots/hs_"]') && !document.body.innerText.includes("One moment")`)
	draw("hotspots")
}

// picture writes what the page shows as a small file.
func (p *page) picture(file string) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		got, err := chromedp.Call(ctx, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{Format: cdppage.CaptureScreenshotFormatWebp, Quality: new(int64(82))})
		if err != nil {
			return err
		}
		return os.WriteFile(file, got.Data, 0o644)
	}))
}
