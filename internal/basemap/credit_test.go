package basemap_test

import (
	"testing"

	"github.com/beacon-wifi/beacon/internal/basemap"
)

// Links stay, because licences ask for them. Nothing else does.
func TestCredit(t *testing.T) {
	for given, want := range map[string]string{
		"": "",
		`<a href="https://www.openstreetmap.org/copyright" target="_blank">&copy; OpenStreetMap</a>`: `<a href="https://www.openstreetmap.org/copyright">© OpenStreetMap</a>`,
		`<a href='https://a.example/?x=1&y=2'>A</a> &amp; <b>B</b>`:                                  `<a href="https://a.example/?x=1&amp;y=2">A</a> &amp; B`,
		`<script>alert(1)</script>`:                                            `alert(1)`,
		`<a href="javascript:alert(1)">x</a>`:                                  `x`,
		`<a href="https://a.example" onclick="x()"><img src=x onerror=y>A</a>`: `<a href="https://a.example">A</a>`,
		`&lt;img src=x&gt;`:                                                    `&lt;img src=x&gt;`,
		`1 < 2`:                                                                `1 &lt; 2`,
	} {
		if got := (basemap.Info{Attribution: given}).Credit(); got != want {
			t.Errorf("%s became %s, want %s", given, got, want)
		}
	}
}
