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

// TestScreenshots draws the README's pictures: the map and an operator's rewards in the
// demonstration's network, light and dark. Only make screenshots runs it, which names
// the folder to write to.
func TestScreenshots(t *testing.T) {
	folder := os.Getenv("BEACON_SCREENSHOTS")
	if folder == "" {
		t.Skip("make screenshots draws the README's pictures")
	}
	folder = filepath.Join(harness.Root(), folder)
	url, operator := startDemo(t, "--clock-start", "2026-11-13T19:30:00Z")
	p := launch(t).open(t, url+"/#/sign-in", desk)
	p.signIn(operator)
	for _, mode := range []struct {
		name  string
		light bool
	}{{"light", true}, {"dark", false}} {
		p.light(mode.light)
		p.visit("/map?at=40.74460,-73.99900,14.70")
		p.until(figure("Hotspots") + ` !== "–"`)
		p.calm()
		p.press("Around the centre")
		p.sees("The 20 nearest")
		p.calm()
		p.picture(filepath.Join(folder, "map-"+mode.name+".webp"))
		p.visit("/rewards")
		p.press("Last month")
		p.sees("This period is settled")
		p.until(`document.querySelector(".plot canvas") && !document.body.innerText.includes("One moment")`)
		p.calm()
		p.picture(filepath.Join(folder, "rewards-"+mode.name+".webp"))
	}
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
