package browser_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/beacon-wifi/beacon/internal/basemap/basemaptest"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// lumeford stands where Berlin is: far from the places that the console knows.
var lumeford = basemaptest.City{Lat: 52.52, Lng: 13.405}

// What the map must show of the city, light and dark: how many pixels at least have this
// colour, or nearly so, in the middle of the smaller window.
var cityColours = []struct {
	what        string
	light, dark color.RGBA
	least       int
}{
	{"water", color.RGBA{0xd8, 0xe4, 0xec, 255}, color.RGBA{0x0b, 0x11, 0x18, 255}, 2000},
	{"parks", color.RGBA{0xd9, 0xe8, 0xd2, 255}, color.RGBA{0x18, 0x2a, 0x23, 255}, 1000},
	{"houses", color.RGBA{0xe9, 0xe5, 0xde, 255}, color.RGBA{0x1f, 0x28, 0x33, 255}, 1000},
	{"highways", color.RGBA{0xf3, 0xd9, 0xa4, 255}, color.RGBA{0x5b, 0x4c, 0x2c, 255}, 500},
	{"streets", color.RGBA{0xff, 0xff, 0xff, 255}, color.RGBA{0x2b, 0x34, 0x40, 255}, 2000},
}

// TestBasemap shows streets from a file, in both schemas.
func TestBasemap(t *testing.T) {
	level.Needs(t, level.Check)
	b := launch(t)
	for _, tc := range []struct {
		schema, size string
		look
	}{{"protomaps", "1400", wide}, {"openmaptiles", "390", small}} {
		t.Run(tc.schema, func(t *testing.T) {
			city := lumeford
			city.Schema = tc.schema
			n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t}
			n.serve(t, "--public", "--basemap", city.Write(t))
			p := b.open(t, n.url+"/#/map?at=52.51430,13.39072,14.60", tc.look)
			// Who made the file is named, as text.
			p.until(`document.querySelector(".maplibregl-ctrl-attrib a[href='https://example.org/copyright']")?.textContent === "© Surveyors of Lumeford"`)
			p.calm()
			p.shows(true)
			p.shot("basemap-" + tc.schema + "-" + tc.size)
			p.light(false)
			p.shows(false)
			p.shot("basemap-" + tc.schema + "-" + tc.size + "-dark")
			p.fits()
			p.accessible("streets")
		})
	}
}

// TestBasemapFirstView opens a network whose streets are in a file that has no tiles for what
// fits a whole city: the first view is drawn nevertheless, on a desk and on a phone, and water
// goes on where the file ends.
func TestBasemapFirstView(t *testing.T) {
	level.Needs(t, level.Check)
	b := launch(t)
	coast := basemaptest.City{Lat: 36.8, Lng: -6.4, Schema: "plain", MinZoom: 10, Times: 16} // by the sea, in the south and west
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t}
	n.serve(t, "--public", "--basemap", coast.Write(t))
	for name, l := range map[string]look{"1280": desk, "390": small} {
		t.Run(name, func(t *testing.T) {
			p := b.open(t, n.url, l)
			p.until(`/at=36\.\d+,-6\.\d+,[89]\./.test(location.hash)`) // below the first zoom of the file
			p.calm()
			harness.Eventually(t, "the first view shows the city", func() bool {
				seen := p.colours()
				return seen.near(color.RGBA{0xf6, 0xf4, 0xef, 255}) > 5000 && seen.near(color.RGBA{0xf3, 0xd9, 0xa4, 255}) > 50
			})
			p.shot("basemap-first-" + name)
			p.visit("/map?at=36.80000,-7.40000,11.00") // out at sea, beside the file
			p.calm()
			harness.Eventually(t, "the sea is water", func() bool { return p.colours().near(cityColours[0].light) > 50_000 })
		})
	}
}

// TestBasemapStyle shows the style of another server, with names that the console uses too.
// What it has elsewhere is not loaded.
func TestBasemapStyle(t *testing.T) {
	level.Needs(t, level.Check)
	square := func(west, east float64) map[string]any {
		ring := [][2]float64{{west, 52.4}, {east, 52.4}, {east, 52.6}, {west, 52.6}, {west, 52.4}}
		return map[string]any{"type": "Feature", "properties": map[string]any{}, "geometry": map[string]any{"type": "Polygon", "coordinates": []any{ring}}}
	}
	var asked sync.Map // what servers were asked for, by their address and path
	serve := func(files map[string]any) (url string) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Store("http://"+r.Host+r.URL.Path, true)
			w.Header().Set("Access-Control-Allow-Origin", "*")
			_ = json.NewEncoder(w).Encode(files[r.URL.Path])
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	elsewhere := serve(map[string]any{"/square.json": square(13.405, 13.6)}) + "/square.json"
	files := map[string]any{"/square.json": square(13.2, 13.405)}
	tiles := serve(files)
	files["/style.json"] = map[string]any{
		"version": 8,
		"sources": map[string]any{
			"own":   map[string]any{"type": "geojson", "data": tiles + "/square.json", "attribution": "© Squares"},
			"other": map[string]any{"type": "geojson", "data": elsewhere},
		},
		"layers": []any{
			map[string]any{"id": "background", "type": "background", "paint": map[string]any{"background-color": "#335577"}},
			map[string]any{"id": "own", "type": "fill", "source": "own", "paint": map[string]any{"fill-color": "#779933"}},
			map[string]any{"id": "other", "type": "fill", "source": "other", "paint": map[string]any{"fill-color": "#993377"}},
		},
	}
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t}
	n.serve(t, "--public", "--basemap", tiles+"/style.json")
	p := launch(t).open(t, n.url+"/#/map?at=52.51430,13.40500,14.00", wide)
	p.expects("Content Security Policy")
	p.expects(elsewhere)
	p.expects("Failed to fetch")
	p.until(`document.querySelector(".maplibregl-ctrl-attrib")?.textContent.includes("© Squares")`)
	harness.Eventually(t, "the map shows the style", func() bool {
		seen := p.colours()
		return seen.near(color.RGBA{0x33, 0x55, 0x77, 255}) > 50_000 && seen.near(color.RGBA{0x77, 0x99, 0x33, 255}) > 50_000
	})
	p.calm()
	p.until(`!document.querySelector(".maplibregl-ctrl-attrib").textContent.includes("Natural Earth")`) // nothing of it is drawn
	if count := p.colours().near(color.RGBA{0x99, 0x33, 0x77, 255}); count > 0 {
		t.Errorf("%d pixels come from another address", count)
	}
	// The map's worker tells nobody what was refused; the page does.
	p.mayLoad(tiles+"/square.json", true)
	p.mayLoad(elsewhere, false)
	p.until(fmt.Sprintf(`violations.join() === "connect-src %s" && (violations = [])`, elsewhere))
	if _, was := asked.Load(elsewhere); was {
		t.Errorf("%s was asked for", elsewhere)
	}
	p.accessible("a style")
	p.shot("basemap-style")
}

// mayLoad checks whether the page may load an address.
func (p *page) mayLoad(url string, may bool) {
	p.t.Helper()
	did, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](fmt.Sprintf(`fetch(%q).then((r) => r.ok, () => false)`, url), chromedp.EvalAwaitPromise))
	if err != nil || did != may {
		p.t.Errorf("did the page load %s? %v, %v", url, did, err)
	}
}

// TestAnyCity signs in to networks that are not in New York: the map begins where staff
// say, else where the hotspots are; it finds streets, and where one stands.
func TestAnyCity(t *testing.T) {
	level.Needs(t, level.Check)
	b := launch(t)
	city := lumeford
	city.Schema = "protomaps"
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t}
	key := n.command(t, "keys", "create", "--user", "new", "--scopes", "admin", "--name", "Ada")
	n.serve(t, "--basemap", city.Write(t))
	n.ask(t, key, "POST", "/v1/hotspots", map[string]any{
		"name": "Far from the middle", "type": "public", "location": map[string]any{"lat": 48.2, "lng": 16.37},
		"device": map[string]any{"ssid": "Guest", "mac_address": "02:00:5e:10:00:01"},
	})
	other := n.command(t, "keys", "create", "--user", "new", "--name", "Guest")

	p := b.open(t, n.url+"/#/sign-in", wide)
	p.signIn(other)
	p.visit("/")
	p.until(`/at=48\.[12].*,16\.3/.test(location.hash)`) // where the hotspot is

	n.ask(t, key, "PATCH", "/v1/settings", map[string]any{"start_view": map[string]any{"lat": 52.52, "lng": 13.405, "zoom": 14}, "language": "de"})
	p = b.open(t, n.url+"/#/sign-in", wide)
	p.signIn(other)
	p.visit("/")
	p.until(`location.hash.endsWith("at=52.52000,13.40500,14.00")`)
	p.calm()
	p.shot("any-city-german")
	p.fill(`input[type="search"]`, "backerstr") // as the map has it
	p.until(`document.querySelector(".results")?.innerText.includes("Bäckerstraße")`)
	p.fill(`input[type="search"]`, "baker")
	p.until(`[...document.querySelectorAll(".results button")].some((e) => /Baker Street\s*street/.test(e.innerText))`)
	p.accessible("results")
	p.shot("any-city-search")
	p.click(".results button")
	p.until(`location.hash.endsWith(",16.00")`)

	p.stands(52.5301, 13.3852)
	p.click(".maplibregl-ctrl-geolocate")
	p.until(`/at=52\.530\d*,13\.385/.test(location.hash)`)
	p.calm()
	p.shot("any-city-here")
}

// stands lets the page know where its user is. The browser would ask the user first; that the
// policy of the console allows that is for package console to test.
func (p *page) stands(lat, lng float64) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(navigator.geolocation.getCurrentPosition = (found) => found({timestamp: Date.now(), coords: {latitude: %v, longitude: %v, accuracy: 20}}), true)`, lat, lng))
}

// shows waits until the map has the city's colours.
func (p *page) shows(light bool) {
	p.t.Helper()
	lack := ""
	defer func() {
		if p.t.Failed() {
			p.t.Log(lack)
		}
	}()
	harness.Eventually(p.t, "the map shows the city", func() bool {
		seen := p.colours()
		for _, c := range cityColours {
			want := c.dark
			if light {
				want = c.light
			}
			if got := seen.near(want); got < c.least {
				lack = fmt.Sprintf("there are %d pixels of %s, want at least %d", got, c.what, c.least)
				return false
			}
		}
		letters := seen.letters(light)
		lack = fmt.Sprintf("there are %d pixels of names", letters)
		return letters > 200
	})
}

// palette is how many pixels a picture has of each colour.
type palette map[color.RGBA]int

// near counts the pixels whose colour nobody could tell from this one.
func (a palette) near(c color.RGBA) (count int) {
	for other, n := range a {
		if away := math.Abs(float64(other.R)-float64(c.R)) + math.Abs(float64(other.G)-float64(c.G)) + math.Abs(float64(other.B)-float64(c.B)); away <= 6 {
			count += n
		}
	}
	return count
}

// letters counts the pixels that stand out of all ground, which only names do.
func (a palette) letters(light bool) (count int) {
	for c, n := range a {
		if sum := int(c.R) + int(c.G) + int(c.B); light && sum < 480 || !light && sum > 300 {
			count += n
		}
	}
	return count
}

// colours counts the colours in the middle of the map, where nothing covers it.
func (p *page) colours() palette {
	p.t.Helper()
	body, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	count := palette{}
	width, height := picture.Bounds().Dx(), picture.Bounds().Dy()
	for x := width / 10; x < width*85/100; x++ {
		for y := height * 3 / 10; y < height*7/10; y++ {
			count[color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)]++
		}
	}
	return count
}

// TestStartView lets an admin choose in the settings where everyone's map begins, and give
// that up again.
func TestStartView(t *testing.T) {
	level.Needs(t, level.Check)
	b := launch(t)
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t}
	admin := n.command(t, "keys", "create", "--user", "new", "--scopes", "admin", "--name", "Ada")
	n.serve(t, "--public")
	p := b.open(t, n.url+"/#/sign-in", desk)
	p.signIn(admin)
	p.visit("/map?at=-1.28640,36.81720,12.50")
	p.sees("choose in the staff's settings where the map begins") // there are no hotspots
	p.calm()
	p.press("staff's settings")
	p.sees("It begins where the hotspots are, or else the streets.")
	p.press("Use what the map shows now")
	p.sees("It begins around -1.286, 36.817, at zoom 12.5.")
	p.accessible("where the map begins")
	p.shot("start-view")

	harness.Eventually(t, "the page's head says so", func() bool {
		response, err := http.Get(n.url)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		said, _ := io.ReadAll(response.Body)
		return bytes.Contains(said, []byte("36.8172"))
	})
	visitor := b.open(t, n.url, desk)
	visitor.until(`location.hash.endsWith("at=-1.28640,36.81720,12.50")`)
	p.press("Begin where the hotspots are")
	p.sees("It begins where the hotspots are, or else the streets.")
}
