package beacon

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

func TestIdentityForm(t *testing.T) {
	for _, tc := range []struct {
		form  IdentityForm
		field string // with a fault; empty: none
	}{
		{IdentityForm{}, ""},
		{IdentityForm{Name: Some("F"), Description: Some("Free Wi-Fi."), Contact: Some("hello@example.org"), Color: Some("#DC0067")}, ""},
		{IdentityForm{Name: Some(`</script>"&`)}, ""}, // the pages that show it escape it
		{IdentityForm{Name: Null[string](), Logo: Null[string]()}, ""},
		{IdentityForm{Contact: Some("https://example.org/contact?a=1&b=2")}, ""},
		{IdentityForm{Name: Some("")}, "name"},
		{IdentityForm{Name: Some("  ")}, "name"},
		{IdentityForm{Name: Some("\u3164")}, "name"}, // a filler
		{IdentityForm{Name: Some("a\u200bb")}, "name"},
		{IdentityForm{Name: Some("a\u202eb")}, "name"},
		{IdentityForm{Name: Some("a\nb")}, "name"},
		{IdentityForm{Name: Some("\xff")}, "name"},
		{IdentityForm{Name: Some(strings.Repeat("ä", MaxNetworkName+1))}, "name"},
		{IdentityForm{Description: Some(strings.Repeat("ä", MaxDescription+1))}, "description"},
		{IdentityForm{Contact: Some("javascript:alert(1)")}, "contact"},
		{IdentityForm{Contact: Some("data:text/html,x")}, "contact"},
		{IdentityForm{Contact: Some("//example.org")}, "contact"},
		{IdentityForm{Contact: Some("https://user:word@example.org")}, "contact"},
		{IdentityForm{Contact: Some("https://example.org/\"><script>")}, "contact"},
		{IdentityForm{Contact: Some("Beacon <hello@example.org>")}, "contact"},
		{IdentityForm{Contact: Some("a@example.org?cc=b@example.org")}, "contact"},
		{IdentityForm{Contact: Some("https://example.org/" + strings.Repeat("a", MaxContact))}, "contact"},
		{IdentityForm{Color: Some("red")}, "color"},
		{IdentityForm{Color: Some("#fff")}, "color"},
		{IdentityForm{Color: Some("#0b62ba;}")}, "color"},
		{IdentityForm{Logo: Some("/logo.svg")}, "logo"},
	} {
		var f Faults
		tc.form.Validate(&f)
		got := ""
		if f.Any() {
			got = f.list[0].Field
		}
		if got != tc.field {
			t.Errorf("%+v: the fault is at %q (%v); want %q", tc.form, got, f.list, tc.field)
		}
	}
	var f Faults
	if p := (IdentityForm{Name: Some(" Beacon e\u0301 "), Color: Some("#DC0067")}).Validate(&f); p.Name.V != "Beacon \u00e9" || p.Color.V != "#dc0067" {
		t.Errorf("it is stored as %+v", p)
	}
	for contact, link := range map[string]string{"": "", "a@example.org": "mailto:a@example.org", "https://example.org": "https://example.org"} {
		if got := (Identity{Contact: contact}).ContactLink(); got != link {
			t.Errorf("the link of %q is %q", contact, got)
		}
	}
}

// Text in the shades of any color is readable on every page. The console's tests compare its
// shades with the same examples.
func TestShades(t *testing.T) {
	file, err := os.ReadFile("testdata/shades.json")
	if err != nil {
		t.Fatal(err)
	}
	var examples []struct{ Color, Light, Dark, On Color }
	if err := json.Unmarshal(file, &examples); err != nil || len(examples) < 8 {
		t.Fatal(err, len(examples))
	}
	for _, e := range examples {
		if light, dark := e.Color.Shades(); light != e.Light || dark != e.Dark || e.Color.On() != e.On {
			t.Errorf("the shades of %s are %s and %s, with %s on it; want %+v", e.Color, light, dark, e.Color.On(), e)
		}
	}
	parts := []string{"00", "11", "33", "55", "77", "80", "99", "bb", "dd", "ff"}
	for _, r := range parts {
		for _, g := range parts {
			for _, b := range parts {
				c := Color("#" + r + g + b)
				light, dark := c.Shades()
				for _, pair := range [][2]Color{{light, "#ffffff"}, {light, "#f3f5f8"}, {dark, "#171f29"}, {dark, "#0f151d"}, {dark, "#0a1725"}, {c, c.On()}} {
					if got := contrast(pair[0], pair[1]); got < 4.5 {
						t.Errorf("%s: %v have a contrast of %.2f", c, pair, got)
					}
				}
			}
		}
	}
}

const svgHead = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">`

func dataURL(kind, file string) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(file))
}

func TestParseLogo_SVG(t *testing.T) {
	for _, good := range []string{
		svgHead + `<path d="M0 0h8v8z"/></svg>`,
		`<?xml version="1.0" encoding="UTF-8"?><!-- by hand -->` + svgHead + `<defs><linearGradient id="a"><stop offset="0" stop-color="red"/></linearGradient></defs><rect fill="url(#a)" style="opacity:.5"/></svg>`,
		svgHead + `<style>.a{fill:url(#a)}</style><g class="a"><text>onload &amp; co</text></g></svg>`,
		svgHead + `<clipPath id="c"><rect/></clipPath><g clip-path="url(#c)"><circle r="3"/></g></svg>`,
		svgHead + `<linearGradient id="b" xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="#a"/></svg>`,
	} {
		l, err := ParseLogo(dataURL(SVG, good))
		if err != nil || l != (Logo{SVG, good}) || l.String() != dataURL(SVG, good) {
			t.Errorf("%s: %+v, %v", good, l, err)
		}
	}
	for _, bad := range []string{
		"", "x", "<svg/>", `<html xmlns="http://www.w3.org/1999/xhtml"/>`, svgHead, svgHead + "</svg><svg/>",
		svgHead + `<script>alert(1)</script></svg>`,
		svgHead + `<SCRIPT>alert(1)</SCRIPT></svg>`,
		svgHead + `<a:script xmlns:a="http://www.w3.org/2000/svg">alert(1)</a:script></svg>`,
		svgHead + `<x:script>alert(1)</x:script></svg>`,
		`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`,
		svgHead + `<g onClick="alert(1)"/></svg>`,
		svgHead + `<g a:onclick="alert(1)" xmlns:a="http://www.w3.org/2000/svg"/></svg>`,
		svgHead + `<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"/></foreignObject></svg>`,
		svgHead + `<image href="https://example.org/pixel.png"/></svg>`,
		svgHead + `<a href="javascript:alert(1)"><path/></a></svg>`,
		svgHead + `<use href="#a"/></svg>`,
		svgHead + `<g id="a"><use href="#a"/></g></svg>`,
		svgHead + `<animate attributeName="href" values="javascript:alert(1)"/></svg>`,
		svgHead + `<set attributeName="onmouseover" to="alert(1)"/></svg>`,
		svgHead + `<filter id="f"><feGaussianBlur stdDeviation="99999"/></filter></svg>`,
		svgHead + `<rect fill="url(https://example.org/a.svg#b)"/></svg>`,
		svgHead + `<rect fill="&#117;rl( 'https://example.org/a.svg#b')"/></svg>`,
		svgHead + `<rect style="fill:u\72l(//example.org)"/></svg>`,
		svgHead + `<linearGradient href="https://example.org/a.svg#b"/></svg>`,
		svgHead + `<style>@import "https://example.org/a.css";</style></svg>`,
		svgHead + `<style>a{background:u<!-- -->rl(//example.org)}</style></svg>`,
		svgHead + `<style><![CDATA[a{background:url("//example.org")}]]></style></svg>`,
		svgHead + `<style>g{mask:url(#m)}</style><mask id="m"><g/></mask></svg>`,
		svgHead + `<mask id="a"><g mask="url(#b)"/><g mask="url(#b)"/></mask></svg>`,
		svgHead + `<clipPath id="a" clip-path="url(#b)"/></svg>`,
		`<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>` + svgHead + `<text>&b;</text></svg>`,
		`<!DOCTYPE svg SYSTEM "file:///etc/passwd">` + svgHead + `</svg>`,
		`<?xml-stylesheet href="https://example.org/a.css"?>` + svgHead + `</svg>`,
		`<?xml version="1.0" encoding="UTF-16"?>` + svgHead + `</svg>`,
		`<?xml version="1.0" encoding="UTF-7"?>` + svgHead + `</svg>`,
		svgHead + `<text>&nbsp;</text></svg>`,
		svgHead + "<text>\xff</text></svg>",
		svgHead + strings.Repeat("<g>", maxLogoDepth) + strings.Repeat("</g>", maxLogoDepth) + `</svg>`,
		svgHead + strings.Repeat(" ", MaxLogo) + `</svg>`,
	} {
		if l, err := ParseLogo(dataURL(SVG, bad)); err == nil || l != (Logo{}) {
			t.Errorf("this is accepted: %.200s", bad)
		}
	}
}

func picture(t *testing.T, width, height int) string {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White})); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestParseLogo_PNG(t *testing.T) {
	for _, side := range []int{minLogoSide, 512, maxLogoSide} {
		if _, err := ParseLogo(dataURL(PNG, picture(t, side, side))); err != nil {
			t.Errorf("%d pixels: %v", side, err)
		}
	}
	// A header that promises 4 billion pixels must not take their memory.
	huge := []byte(picture(t, 16, 16))
	binary.BigEndian.PutUint32(huge[16:], 65535)
	binary.BigEndian.PutUint32(huge[20:], 65535)
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	noise := image.NewNRGBA(image.Rect(0, 0, 200, 200))
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(noise.Pix)
	var large bytes.Buffer
	if err := png.Encode(&large, noise); err != nil || large.Len() <= MaxLogo {
		t.Fatal(err, large.Len())
	}
	for name, tc := range map[string]struct{ url, says string }{
		"huge":          {dataURL(PNG, string(huge)), "65535 × 65535"},
		"too wide":      {dataURL(PNG, picture(t, maxLogoSide+1, 16)), "1025 × 16"},
		"too small":     {dataURL(PNG, picture(t, 16, 15)), "16 × 15"},
		"too many":      {dataURL(PNG, large.String()), "at most 40 kB"},
		"cut off":       {dataURL(PNG, picture(t, 64, 64)[:60]), "to its end"},
		"nothing":       {dataURL(PNG, ""), "PNG"},
		"an SVG":        {dataURL(PNG, svgHead+"</svg>"), "PNG"},
		"a PNG as SVG":  {dataURL(SVG, picture(t, 16, 16)), "SVG"},
		"a GIF":         {dataURL("image/gif", "GIF89a"), "data URL"},
		"HTML":          {dataURL("text/html", "<script>"), "data URL"},
		"no base64":     {"data:image/png;base64,%%%", "data URL"},
		"not in base64": {"data:image/svg+xml,<svg/>", "data URL"},
	} {
		l, err := ParseLogo(tc.url)
		if err == nil || l != (Logo{}) {
			t.Errorf("%s is accepted", name)
		} else if !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
