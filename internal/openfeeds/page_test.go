package openfeeds_test

import (
	"context"
	"errors"
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
	"github.com/beacon-wifi/beacon/internal/openfeeds"
)

// pagesOf returns the pages of a network, on which all hotspots had these last 30 days.
func pagesOf(n *network, uptime openfeeds.Uptime) *openfeeds.Pages {
	return openfeeds.NewPages(n.feeds, openfeeds.Config{PublicURL: "http://x", Now: func() time.Time { return n.now }, Uptime: uptime})
}

func mostlyUp(_ context.Context, _ beacon.HotspotID, from, to time.Time) ([]float64, error) {
	days := make([]float64, int(to.Sub(from)/(24*time.Hour)))
	for i := range days {
		days[i] = 1
	}
	days[0], days[1], days[2] = math.NaN(), 0.5, 0.9
	return days, nil
}

func readPage(p *openfeeds.Pages, method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

// A page is in the language that the client asks for, if there is such, and caches keep
// the languages apart.
func TestPage_Languages(t *testing.T) {
	n := newNetwork(api.Limits{}, "http://x")
	up := n.add(t, beacon.Public, 1, geo.Point{Lat: 52.5, Lng: 13.4})
	n.beat(up)
	p := pagesOf(n, mostlyUp)
	const english, spanish = `<html lang="en">`, `<html lang="es">`
	for _, tc := range []struct {
		asked, path string
		has         []string
	}{
		{"es-MX,es;q=0.9,en;q=0.8", string(up.ID), []string{spanish, "En línea ahora", "<dd>Abierto</dd>", "18 de octubre: fuera de servicio", "Disponible el 97.9 % del tiempo previsto."}},
		{"de,es;q=0.5", string(up.ID) + "/embed", []string{spanish, "En línea ahora"}},
		{"es", "hs_none", []string{spanish, "No existe este punto de acceso", "Ir al mapa"}},
		{"en-GB,es;q=0.5", string(up.ID), []string{english, "Online now"}},
		{"de", string(up.ID), []string{english, "Online now"}},
		{"", string(up.ID), []string{english, "Online now"}},
		{"\x00;;q=ü", string(up.ID), []string{english, "Online now"}},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/h/"+tc.path, nil)
		r.Header.Set("Accept-Language", tc.asked)
		p.ServeHTTP(w, r)
		for _, text := range tc.has {
			if !strings.Contains(w.Body.String(), text) {
				t.Errorf("%q asked for %s and the page lacks %q:\n%s", tc.asked, tc.path, text, w.Body)
			}
		}
		if vary := w.Header().Get("Vary"); vary != "Accept-Language" {
			t.Errorf("%q asked for %s and Vary is %q", tc.asked, tc.path, vary)
		}
	}
}

func TestPage(t *testing.T) {
	n := newNetwork(api.Limits{}, "http://x")
	up := n.add(t, beacon.Public, 1, geo.Point{Lat: 52.5, Lng: 13.4})
	down := n.add(t, beacon.Business, 2, geo.Point{Lat: 52.5, Lng: 13.4}, func(h *beacon.Hotspot) {
		h.Settings.OperatingHours = &beacon.OperatingHours{Timezone: "UTC"} // never open
	})
	n.beat(up)
	p := pagesOf(n, mostlyUp)
	for _, tc := range []struct {
		path        string
		has, hasNot []string
		frame       bool
	}{
		{path: "/h/" + string(up.ID), has: []string{
			"<h1>public 1 &#34;&lt;b&gt;</h1>", "Online now", "ssid-public-1", "1 public street", "<dd>Open</dd>", "Show on the map", "30 days", "Up 97.9 % of the time",
			"18 October: not in service", "19 October: 50.0 %", "16 November: 100.0 %", "&lt;iframe src=\"http://x/h/" + string(up.ID) + "/embed\"", "QR code of http://x/h/" + string(up.ID), `href="/#/map/` + string(up.ID) + `?at=52.50000,13.40000,17.00"`,
		}, hasNot: []string{"<b>", "usr_secret", "02:00:5e", "<script"}},
		{path: "/h/" + string(down.ID), has: []string{"Offline", "<dd>Closed</dd>", "It is not you"}, hasNot: []string{"Online now"}},
		{path: "/h/" + string(up.ID) + "/embed", has: []string{"Online now", `target="_top"`, "Up 97.9 %"}, hasNot: []string{"iframe", "QR code"}, frame: true},
	} {
		w := readPage(p, "GET", tc.path)
		body := w.Body.String()
		if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" || w.Header().Get("Cache-Control") != "public, max-age=60" {
			t.Errorf("%s is answered with %d %v", tc.path, w.Code, w.Header())
		}
		for _, text := range tc.has {
			if !strings.Contains(body, text) {
				t.Errorf("%s lacks %q: %s", tc.path, text, body)
			}
		}
		for _, text := range tc.hasNot {
			if strings.Contains(body, text) {
				t.Errorf("%s has %q", tc.path, text)
			}
		}
		policy := w.Header().Get("Content-Security-Policy")
		framed := strings.Contains(policy, "frame-ancestors *") && w.Header().Get("X-Frame-Options") == ""
		closed := strings.Contains(policy, "frame-ancestors 'none'") && w.Header().Get("X-Frame-Options") == "DENY"
		if framed != tc.frame || closed == tc.frame || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "script-src") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s has the policy %s", tc.path, policy)
		}
		if strings.Count(body, "<rect class=") < 30 {
			t.Errorf("%s has %d bars", tc.path, strings.Count(body, "<rect class="))
		}
	}
	if w := readPage(p, "HEAD", "/h/"+string(up.ID)); w.Code != 200 || w.Body.Len() > 0 {
		t.Errorf("HEAD is answered with %d and %d bytes", w.Code, w.Body.Len())
	}
	if w := readPage(p, "POST", "/h/"+string(up.ID)); w.Code != 405 {
		t.Errorf("POST is answered with %d", w.Code)
	}
}

// Homes, hotspots that are not in service, and those that do not exist have no page, and
// nobody can tell them apart.
func TestPage_NoHomes(t *testing.T) {
	n := town(t, true)
	p := pagesOf(n, func(context.Context, beacon.HotspotID, time.Time, time.Time) ([]float64, error) {
		t.Error("the uptime of a hotspot without a page was read")
		return nil, errors.New("none")
	})
	var bodies []string
	for _, id := range []string{"hs_01m7fh87h4ephbpxmpvwb00100", "hs_01m7fh87h4ephbpxmpvwb00200", "hs_01m7fh87h4ephbpxmpvwb00300", "hs_01m7fh87h4ephbpxmpvwb09999", "x", "%3Cb%3E"} {
		for _, kind := range []string{"", "/embed"} {
			w := readPage(p, "GET", "/h/"+id+kind)
			if w.Code != 404 {
				t.Errorf("%s%s is answered with %d", id, kind, w.Code)
			}
			if kind == "" {
				bodies = append(bodies, w.Body.String())
			}
		}
	}
	if len(slices.Compact(bodies)) != 1 || !strings.Contains(bodies[0], "No such hotspot") {
		t.Errorf("the pages are %q", bodies)
	}
}

// A page reads the database, so it counts as several requests of its address.
func TestPage_Limit(t *testing.T) {
	n := newNetwork(api.Limits{Feeds: ratelimit.Limit{Every: time.Hour, Burst: 7}}, "http://x")
	h := n.add(t, beacon.Public, 1, geo.Point{Lat: 1, Lng: 1})
	p := pagesOf(n, mostlyUp)
	for _, want := range []int{200, 429} {
		if w := readPage(p, "GET", "/h/"+string(h.ID)); w.Code != want {
			t.Errorf("answered with %d, want %d", w.Code, want)
		}
	}
}

// Uptime is on pages as long as the table of audiences makes it public.
func TestPage_Audience(t *testing.T) {
	n := newNetwork(api.Limits{}, "http://x")
	h := n.add(t, beacon.Public, 1, geo.Point{Lat: 1, Lng: 1})
	p := pagesOf(n, func(context.Context, beacon.HotspotID, time.Time, time.Time) ([]float64, error) {
		t.Error("uptime was read")
		return nil, nil
	})
	p.HideUptime()
	if w := readPage(p, "GET", "/h/"+string(h.ID)); w.Code != 200 || strings.Contains(w.Body.String(), "30 days") {
		t.Errorf("answered with %d %s", w.Code, w.Body)
	}
}
