package openfeeds_test

import (
	"context"
	"errors"
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/edge"
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
	n := newNetwork(edge.Limits{}, "http://x")
	up := n.add(t, beacon.Public, 1, geo.Point{Lat: 52.5, Lng: 13.4})
	n.beat(up)
	p := pagesOf(n, mostlyUp)
	const english, spanish = `<html lang="en">`, `<html lang="es">`
	for _, tc := range []struct {
		asked, path string
		has         []string
	}{
		{"es-MX,es;q=0.9,en;q=0.8", string(up.ID), []string{spanish, "En línea ahora", "<dd>Siempre abierto</dd>", "18 de octubre: fuera de servicio", "Disponible el 97,9 % del tiempo previsto."}},
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
	n := newNetwork(edge.Limits{}, "http://x")
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
			"<h1>public 1 &#34;&lt;b&gt;</h1>", "Online now", "ssid-public-1", "1 public street", "<dd>Always open</dd>", "Show on the map", "30 days", "Up 97.9% of the time",
			"18 October: not in service", "19 October: 50.0%", "16 November: 100.0%", "&lt;iframe src=\"http://x/h/" + string(up.ID) + "/embed\"", "QR code of http://x/h/" + string(up.ID), `href="/#/map/` + string(up.ID) + `?at=52.50000,13.40000,17.00"`,
		}, hasNot: []string{"<b>", "usr_secret", "02:00:5e", "<script", "Opening hours"}},
		{path: "/h/" + string(down.ID), has: []string{"Offline", "<dd>Closed now</dd>", "It is not you", "Times of UTC"}, hasNot: []string{"Online now"}},
		{path: "/h/" + string(up.ID) + "/embed", has: []string{"Online now", `target="_top"`, "Up 97.9%"}, hasNot: []string{"iframe", "QR code"}, frame: true},
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

// The page shows the openings of seven days by the clock of the hotspot, and whether it is
// open now: at noon in London on a Monday it is 21:00 in Tokyo and 07:00 in New York.
func TestPage_Hours(t *testing.T) {
	n := newNetwork(edge.Limits{}, "http://x")
	add := func(zone string, weekly []beacon.WeeklySpan, exceptions ...beacon.HoursException) string {
		n.count++
		h := n.add(t, beacon.Business, n.count, geo.Point{Lat: 1, Lng: 1}, func(h *beacon.Hotspot) {
			h.Settings.OperatingHours = &beacon.OperatingHours{Timezone: zone, Weekly: weekly, Exceptions: exceptions}
		})
		return "/h/" + string(h.ID)
	}
	weekdays := []beacon.Weekday{"mon", "tue", "wed", "thu", "fri"}
	shop := []beacon.WeeklySpan{{Days: weekdays, Open: 14 * 60, Close: 18 * 60}, {Days: weekdays, Open: 8 * 60, Close: 12*60 + 30}, {Days: []beacon.Weekday{"sat"}, Open: 22 * 60, Close: 2 * 60}}
	newYork := add("America/New_York", shop, beacon.HoursException{Date: "2026-11-19", Closed: true}, beacon.HoursException{Date: "2026-11-26", Closed: true})
	bar := add("Asia/Tokyo", []beacon.WeeklySpan{{Days: []beacon.Weekday{"mon"}, Open: 18 * 60, Close: 25*60 - 24*60}})
	late := add("Asia/Tokyo", []beacon.WeeklySpan{{Days: []beacon.Weekday{"mon"}, Open: 18 * 60, Close: 24 * 60}})
	night := add("Pacific/Kiritimati", []beacon.WeeklySpan{{Days: []beacon.Weekday{"mon"}, Open: 0, Close: 24 * 60}}) // where it is Tuesday
	season := add("UTC", nil, beacon.HoursException{Date: "2026-12-24", Spans: []beacon.ExceptionSpan{{Open: 60, Close: 120}}})
	p := pagesOf(n, mostlyUp)
	row := func(day, hours string) string {
		return `<tr><th scope="row">` + day + "</th><td>" + hours + "</td></tr>"
	}
	today := func(day, mark, hours string) string {
		return `<tr class="today" aria-current="date"><th scope="row">` + day + ` <span class="mark">` + mark + "</span></th><td>" + hours + "</td></tr>"
	}
	for _, tc := range []struct {
		path, language string
		has            []string
	}{
		{newYork, "en", []string{
			"<dd>Closed now, until 08:00</dd>", today("Monday", "today", "08:00–12:30, 14:00–18:00"), row("Tuesday", "08:00–12:30, 14:00–18:00"), row("Thursday, 19 November", "closed"),
			row("Saturday", "22:00–02:00"), row("Sunday", "closed"), "Times of America/New York",
		}},
		{newYork, "es", []string{"<dd>Cerrado ahora, hasta las 08:00</dd>", today("lunes", "hoy", "08:00–12:30, 14:00–18:00"), row("jueves, 19 de noviembre", "cerrado"), "Horario de apertura", "Hora de America/New York"}},
		{bar, "en", []string{"<dd>Open now, until Tuesday, 01:00</dd>", today("Monday", "today", "18:00–01:00")}},
		{bar, "es", []string{"<dd>Abierto ahora, hasta el martes a la 01:00</dd>"}},
		{late, "en", []string{"<dd>Open now, until 24:00</dd>", "18:00–24:00"}},
		{night, "en", []string{"<dd>Closed now, until Monday, 00:00</dd>", row("Monday", "all day"), today("Tuesday", "today", "closed")}},
		{night, "es", []string{"<dd>Cerrado ahora, hasta el lunes a las 00:00</dd>", row("lunes", "todo el día")}},
		{season, "en", []string{"<dd>Closed now, until 24 December 2026, 01:00</dd>", row("Thursday", "closed")}},
		{season, "es", []string{"<dd>Cerrado ahora, hasta el 24 de diciembre de 2026 a la 01:00</dd>"}},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", tc.path, nil)
		r.Header.Set("Accept-Language", tc.language)
		p.ServeHTTP(w, r)
		for _, text := range tc.has {
			if !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s in %s lacks %q:\n%s", tc.path, tc.language, text, w.Body)
			}
		}
		if rows := strings.Count(w.Body.String(), "<tr"); rows != 7 {
			t.Errorf("%s shows %d days", tc.path, rows)
		}
	}
	if w := readPage(p, "GET", newYork+"/embed"); strings.Contains(w.Body.String(), "<tr") {
		t.Error("the page in a frame has a table, for which it has no room")
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
		for _, kind := range []string{"", "/embed", "/poster"} {
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

// A poster has the network's name and logo, the hotspot's name and SSID, a code and the address of
// its page, in a language that can be chosen; there is nothing else to load, and no script.
func TestPoster(t *testing.T) {
	n := newNetwork(edge.Limits{}, "http://x")
	h := n.add(t, beacon.Public, 1, geo.Point{Lat: 52.5, Lng: 13.4})
	n.who = beacon.Identity{Name: `Free <b>"Wi-Fi"</b>`}
	n.serve(n.limits, nil)
	p := pagesOf(n, func(context.Context, beacon.HotspotID, time.Time, time.Time) ([]float64, error) {
		t.Error("the database was read")
		return nil, nil
	})
	for asked, says := range map[string]string{"": "There is Wi-Fi here", "?lang=es": "Aquí hay wifi", "?lang=xx": "There is Wi-Fi here"} {
		w := readPage(p, "GET", "/h/"+string(h.ID)+"/poster"+asked)
		body := w.Body.String()
		if w.Code != 200 || strings.Contains(body, "<b>") || strings.Contains(body, "<script") {
			t.Errorf("%q is answered with %d %s", asked, w.Code, body)
		}
		for _, text := range []string{says, "Free &lt;b&gt;", "<h1>public 1 ", "ssid-public-1", "http://x/h/" + string(h.ID) + "</p>", `<img src="/logo"`, "<path d="} {
			if !strings.Contains(body, text) {
				t.Errorf("%q lacks %q: %s", asked, text, body)
			}
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "script-src") || strings.Contains(policy, "unsafe") {
			t.Errorf("it has the policy %s", policy)
		}
	}
}

// A page reads the database, so it counts as several requests of its address.
func TestPage_Limit(t *testing.T) {
	n := newNetwork(edge.Limits{Feeds: ratelimit.Limit{Every: time.Hour, Burst: 7}}, "http://x")
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
	n := newNetwork(edge.Limits{}, "http://x")
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

// A database that does not respond costs a visitor seconds, not forever.
func TestPage_DatabaseHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(edge.Limits{}, "http://x")
		h := n.add(t, beacon.Public, 1, geo.Point{Lat: 52.5, Lng: 13.4})
		p := pagesOf(n, func(ctx context.Context, _ beacon.HotspotID, _, _ time.Time) ([]float64, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		if w := readPage(p, "GET", "/h/"+string(h.ID)); w.Code != 503 || w.Header().Get("Retry-After") == "" {
			t.Errorf("status %d, %v: %s; want 503 with Retry-After", w.Code, w.Header(), w.Body)
		}
	})
}

// A hotspot that was deleted since the edition was made has no page, like any other that
// does not exist.
func TestPage_JustDeleted(t *testing.T) {
	n := newNetwork(edge.Limits{}, "http://x")
	h := n.add(t, beacon.Public, 1, geo.Point{Lat: 52.5, Lng: 13.4})
	p := pagesOf(n, func(context.Context, beacon.HotspotID, time.Time, time.Time) ([]float64, error) {
		return nil, &beacon.Error{Kind: beacon.NotFound, Message: "no such hotspot"}
	})
	got, want := readPage(p, "GET", "/h/"+string(h.ID)), readPage(p, "GET", "/h/hs_none")
	if got.Code != 404 || got.Body.String() != want.Body.String() {
		t.Errorf("status %d: %s; want 404: %s", got.Code, got.Body, want.Body)
	}
}
