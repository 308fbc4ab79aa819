package browser_test

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestShapes compares each pixel of the map with the discs that the server tells: ground that
// several of them cover looks like ground that one covers, and edges are those of the union.
func TestShapes(t *testing.T) {
	level.Needs(t, level.Check)
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t}
	n.operator = n.command(t, "keys", "create", "--user", "new", "--scopes", "hotspots:write")
	n.staff = n.command(t, "keys", "create", "--user", "new", "--scopes", "admin")
	n.serve(t)
	for i := range 3 {
		n.hotspots = append(n.hotspots, n.bringUp(t, i, names[i]))
	}
	n.beat(t, n.hotspots...)
	n.newcomer(t, "Half covered", 1, 40.7544, -73.9828)
	n.newcomer(t, "Beside it", 2, 40.7548, -73.9824)
	p := launch(t).open(t, n.url+"/#/sign-in", wide)
	p.signIn(n.staff)
	p.expects("cannot be restored after WebGL context loss") // which the page does itself
	const lat, lng = 40.7538, -73.98300
	for i, zoom := range []float64{14.4, 17} {
		t.Run(fmt.Sprint(zoom), func(t *testing.T) {
			p := p.as(t)
			if i > 0 { // the graphics card was reset meanwhile
				eval[bool](p, `(window.card = document.querySelector(".map canvas").getContext("webgl2").getExtension("WEBGL_lose_context"), card.loseContext(), true)`)
				p.until(`document.querySelector(".map canvas").getContext("webgl2").isContextLost()`)
				eval[bool](p, `(card.restoreContext(), true)`)
				p.until(`!document.querySelector(".map canvas").getContext("webgl2").isContextLost()`)
			}
			p.visit(fmt.Sprintf("/map?at=%.5f,%.5f,%.2f", lat, lng, zoom))
			p.until(fmt.Sprintf(`location.hash.includes("%.2f")`, zoom))
			p.calm()
			box := eval[[]float64](p, `(({left, top, width, height}) => [left + width / 2, top + height / 2, Math.max(...[...document.querySelectorAll(".panel")].map((e) => e.getBoundingClientRect().right))])(document.querySelector(".map canvas").getBoundingClientRect())`)
			var discs []disc
			for _, h := range n.ask(t, n.staff, "GET", "/v1/coverage?north=40.76&south=40.75&east=-73.97&west=-73.99&zoom=18", nil)["hotspots"].([]any) {
				mark := h.(map[string]any)
				x, y := worldPixel(mark["lat"].(float64), mark["lng"].(float64), zoom)
				middleX, middleY := worldPixel(lat, lng, zoom)
				metre := 512 * math.Exp2(zoom) / (2 * math.Pi * 6_371_008.8 * math.Cos(mark["lat"].(float64)*math.Pi/180))
				discs = append(discs, disc{box[0] + x - middleX, box[1] + y - middleY, mark["radius_m"].(float64) * metre, mark["status"] == "online"})
			}
			body, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			p.shot(fmt.Sprintf("shapes-%v", zoom))
			picture, err := png.Decode(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			looks := map[string][]color.RGBA{}
			for _, ground := range []color.RGBA{{0xf0, 0xef, 0xe9, 255}} { // without streets all is land here
				looks["ground"] = append(looks["ground"], ground)
				looks["online"] = append(looks["online"], over(ground, color.RGBA{0x1b, 0x7f, 0x4d, 255}, 0.2))
				looks["pending"] = append(looks["pending"], over(ground, color.RGBA{0x96, 0x65, 0x0a, 255}, 0.1))
			}
			seen, wrong := map[string]int{}, 0
			for x := int(box[2]) + 30; x < 1150; x++ { // beyond the shadow of the panel
				for y := 120; y < 700; y++ {
					what := whatIsAt(discs, float64(x)+0.5, float64(y)+0.5)
					if what == "" {
						continue
					}
					seen[what]++
					got := color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)
					if !slices.ContainsFunc(looks[what], func(c color.RGBA) bool { return palette{got: 1}.near(c) > 0 }) {
						if wrong++; wrong < 5 {
							t.Errorf("at %d, %d there should be %s, %v, and is %v", x, y, what, looks[what], got)
						}
					}
				}
			}
			t.Logf("%v pixels, %d of them wrong", seen, wrong)
			if seen["ground"] < 1000 || seen["online"] < 1000 || seen["pending"] < 20 {
				t.Error("there is too little to compare")
			}
		})
	}
}

// disc is one on the screen.
type disc struct {
	x, y, radius float64
	online       bool
}

// whatIsAt tells what a pixel must show; empty, where edges and points are.
func whatIsAt(discs []disc, x, y float64) string {
	online, pending := math.Inf(-1), math.Inf(-1)
	for _, d := range discs {
		away := math.Hypot(x-d.x, y-d.y)
		if away < 15 { // its point
			return ""
		}
		if d.online {
			online = max(online, d.radius-away)
		} else {
			pending = max(pending, d.radius-away)
		}
	}
	const edge = 3 // pixels
	switch {
	case online > edge:
		return "online"
	case online > -edge:
		return ""
	case pending > edge:
		return "pending"
	case pending > -edge:
		return ""
	}
	return "ground"
}

// worldPixel is where a place is on a map of the whole world.
func worldPixel(lat, lng, zoom float64) (x, y float64) {
	size := 512 * math.Exp2(zoom)
	return (lng/360 + 0.5) * size, (0.5 - math.Asinh(math.Tan(lat*math.Pi/180))/(2*math.Pi)) * size
}

// over is a colour that is seen through another one.
func over(below, c color.RGBA, opacity float64) color.RGBA {
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-opacity) + float64(b)*opacity)) }
	return color.RGBA{mix(below.R, c.R), mix(below.G, c.G), mix(below.B, c.B), 255}
}
