package identity_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/identity"
)

const icon = `<svg xmlns="http://www.w3.org/2000/svg"><rect fill="#0b62ba"/><path stroke="#fff"/></svg>`

func get(t *testing.T, p *identity.Pages, path string) (http.Header, []byte) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if !p.Handles(r) {
		t.Fatalf("%s is not served", path)
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	h := w.Header()
	if policy := h.Get("Content-Security-Policy"); w.Code != http.StatusOK || h.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.HasPrefix(policy, "default-src 'none'; style-src 'unsafe-inline'; object-src 'none'") || strings.Contains(policy, "script") {
		t.Errorf("%s is answered with %d %v", path, w.Code, h)
	}
	return h, w.Body.Bytes()
}

func pngOf(t *testing.T, width, height int, c color.Color) beacon.Logo {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		m.Set(i%width, i/width, c)
	}
	var out bytes.Buffer
	if err := png.Encode(&out, m); err != nil {
		t.Fatal(err)
	}
	return beacon.Logo{Type: beacon.PNG, Data: out.String()}
}

func decode(t *testing.T, body []byte, width, height int) image.Image {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(body))
	if err != nil || m.Bounds().Size() != image.Pt(width, height) {
		t.Fatalf("it is no picture of %d × %d: %v", width, height, err)
	}
	return m
}

// What is served follows what staff set, with no more than that.
func TestPages(t *testing.T) {
	var who beacon.Identity
	p := identity.New(identity.Config{Identity: func() beacon.Identity { return who }, Icon: []byte(icon)})
	if _, body := get(t, p, "/logo"); string(body) != icon {
		t.Errorf("without a logo there is %s", body)
	}
	if _, body := get(t, p, "/brand.css"); len(body) != 0 {
		t.Errorf("without a color there is %s", body)
	}
	who = beacon.Identity{Name: `</script>"Grüße aus dem Kiez`, Color: "#ffcc00"}
	if _, body := get(t, p, "/logo"); string(body) != strings.NewReplacer("#0b62ba", "#ffcc00", "#fff", "#000000").Replace(icon) {
		t.Errorf("in another color there is %s", body)
	}
	h, body := get(t, p, "/brand.css")
	if h.Get("Content-Type") != "text/css; charset=utf-8" || !bytes.Contains(body, []byte(":root{--accent:#876c00;")) || bytes.Count(body, []byte("{--accent:#ffcc00;")) != 2 {
		t.Errorf("the style is %s", body)
	}
	h, body = get(t, p, "/manifest.webmanifest")
	var m struct {
		Name      string
		ShortName string `json:"short_name"`
		StartURL  string `json:"start_url"`
		Display   string
		Icons     []struct{ Src, Sizes, Type string }
	}
	if err := json.Unmarshal(body, &m); err != nil || h.Get("Content-Type") != "application/manifest+json" || m.Name != who.Name || m.ShortName != `</script>"Gr` ||
		m.StartURL != "/" || m.Display != "standalone" || len(m.Icons) != 2 || bytes.Contains(body, []byte("</script>")) {
		t.Errorf("the manifest is %s, %v", body, err)
	}
	for _, i := range m.Icons {
		get(t, p, i.Src)
	}
	who.Logo = beacon.Logo{Type: beacon.SVG, Data: `<svg xmlns="http://www.w3.org/2000/svg"/>`}
	if h, body := get(t, p, "/logo"); h.Get("Content-Type") != beacon.SVG || string(body) != who.Logo.Data {
		t.Errorf("the logo is %s", body)
	}
	if _, body := get(t, p, "/manifest.webmanifest"); !bytes.Contains(body, []byte(`"src":"/logo","sizes":"any"`)) {
		t.Errorf("the manifest has no drawing: %s", body)
	}
	var red color.Color = color.RGBA{255, 0, 0, 255}
	who.Logo = pngOf(t, 64, 16, red)
	if h, body := get(t, p, "/logo"); h.Get("Content-Type") != beacon.PNG || string(body) != who.Logo.Data {
		t.Errorf("the logo is of type %s", h.Get("Content-Type"))
	}
	_, body = get(t, p, "/icon-512.png")
	small := decode(t, body, 512, 512)
	if _, _, _, a := small.At(256, 20).RGBA(); color.RGBAModel.Convert(small.At(256, 256)) != red || a != 0 {
		t.Error("the icon is not the logo, in its proportions")
	}
	for _, r := range []*http.Request{
		httptest.NewRequest(http.MethodPost, "/logo", nil), httptest.NewRequest(http.MethodGet, "/logo.svg", nil), httptest.NewRequest(http.MethodGet, "/%6cogo", nil),
	} {
		if p.Handles(r) {
			t.Errorf("%s %s is handled", r.Method, r.URL)
		}
	}
}

// The picture of a private network has its name alone: neither what it is nor where.
func TestCard(t *testing.T) {
	who := beacon.Identity{Name: "Freifunk Berlin", Color: "#dc0067"}
	dots := func(size float64, yield func(x, y float64)) {
		for i := range 100_000 {
			yield(float64(i%300)/300*size, float64(i)/100_000*size)
		}
		yield(-1, size+1e9) // outside
	}
	at := func(public bool) *identity.Pages {
		return identity.New(identity.Config{Identity: func() beacon.Identity { return who }, Public: public, Dots: dots})
	}
	private := at(false)
	_, before := get(t, private, "/card.png")
	_, open := get(t, at(true), "/card.png")
	who.Description = "Free Wi-Fi by neighbours for neighbours."
	if _, after := get(t, private, "/card.png"); !bytes.Equal(before, after) {
		t.Error("the picture of a private network tells more than its name")
	}
	_, described := get(t, at(true), "/card.png")
	if bytes.Equal(open, before) || bytes.Equal(open, described) {
		t.Error("the picture of a public network has no dots, or no description")
	}
	decode(t, described, 1200, 630)
	who.Name = "Another"
	if _, after := get(t, private, "/card.png"); bytes.Equal(before, after) {
		t.Error("the picture does not follow the name")
	}
}

// A name of any length and script makes a picture.
func TestDraw(t *testing.T) {
	plain := identity.Draw(beacon.Identity{}, "", "", nil)
	for _, name := range []string{strings.Repeat("W", 60), strings.Repeat("a b ", 50), "Красная площадь", "ελληνικά", "日本語", "👩‍👩‍👧", " "} {
		body := identity.Draw(beacon.Identity{Logo: pngOf(t, 16, 1024, color.Black)}, name, strings.Repeat(name, 5), nil)
		decode(t, body, 1200, 630)
	}
	if !bytes.Equal(plain, identity.Draw(beacon.Identity{}, "日本語", "", nil)) {
		t.Error("letters that the font lacks are drawn as boxes")
	}
}

// Staff rename the network while its pages are asked for.
func TestPages_Meanwhile(t *testing.T) {
	var n atomic.Int64
	p := identity.New(identity.Config{Icon: []byte(icon), Identity: func() beacon.Identity {
		return beacon.Identity{Name: strconv.FormatInt(n.Add(1), 10)}
	}})
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for range 50 {
				get(t, p, identity.Manifest)
			}
		})
	}
	asking.Wait()
}
