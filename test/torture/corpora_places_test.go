//go:build linux

package torture_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// storeEverywhere sends a text in each field that is stored, and says where it
// was taken. What is plain and of the right length must be.
func (b *corpusBench) storeEverywhere(t *testing.T, n int, text string) map[string]bool {
	t.Helper()
	name := norm.NFC.String(strings.TrimSpace(text))
	taken := map[string]bool{}

	r := request{method: http.MethodPatch, path: b.hotspot, key: adminKey, body: fields{"name": text}}
	taken["name"] = accepted(t, r, b.ask(t, r), 200, name, func(f fields) any { return f["name"] })
	if length := utf8.RuneCountInString(name); (length < 3 || length > 50) == taken["name"] && (taken["name"] || isPlain(text)) {
		t.Errorf("a name of %d characters: %v: %q", length, taken["name"], text)
	}

	for _, field := range []string{"ssid", "address"} {
		location, device := fields{"lat": 1, "lng": 1, "address": "x"}, fields{"ssid": "x", "mac_address": fmt.Sprintf("02beacf0%04x", n)}
		if field == "ssid" {
			device["ssid"] = text
		} else {
			location["address"] = text
		}
		r = request{method: http.MethodPost, path: "/v1/hotspots", key: adminKey, body: fields{"name": "Naughty", "type": "home", "location": location, "device": device}}
		a := b.ask(t, r)
		taken[field] = accepted(t, r, a, 201, text, func(f fields) any {
			if field == "ssid" {
				return f["device"].(fields)["ssid"]
			}
			if address, there := f["location"].(fields)["address"]; there || !blank(text) {
				return address
			}
			return text // in an address that nobody could see there is nothing
		})
		if most := map[string]int{"ssid": 32, "address": 200}[field]; isPlain(text) && len(text) > 0 && len(text) <= most && !taken[field] || taken[field] && field == "ssid" && len(text) > 32 {
			t.Errorf("%s %q of %d bytes: %v", field, text, len(text), taken[field])
		}
		if taken[field] {
			b.ask(t, request{method: http.MethodDelete, path: b.created(t), key: adminKey})
		}
	}

	r = request{method: http.MethodPost, path: "/v1/keys", key: adminKey, body: fields{"scopes": []string{}, "name": text}}
	taken["key"] = accepted(t, r, b.ask(t, r), 200, name, func(f fields) any { return f["name"] })
	r = request{method: http.MethodPost, path: b.hotspot + "/verification", key: adminKey, body: fields{"lat": 40.75, "lng": -73.98, "accuracy_m": 1, "method": text}}
	taken["method"] = accepted(t, r, b.ask(t, r), 200, "", func(fields) any { return "" })
	b.refuseEverywhere(t, text)
	return taken
}

// blank reports whether nothing of a text can be seen.
func blank(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }) == ""
}

// created finds the hotspot that was registered last, in every store.
func (b *corpusBench) created(t *testing.T) string {
	t.Helper()
	for _, w := range b.worlds {
		a := w.ask(request{method: http.MethodGet, path: "/v1/hotspots/nearby?lat=1&lng=1&status=all", key: adminKey})
		id := ids.FindString(string(a.text))
		if !strings.HasPrefix(id, "hs_") {
			t.Fatalf("on %s what was registered is not near: %s", w.name, a.text)
		}
		w.bound["hslast"] = id
	}
	return "/v1/hotspots/{hslast}"
}

// refuseEverywhere sends a text in fields that hold no free text: whatever it is,
// no store stumbles over it.
func (b *corpusBench) refuseEverywhere(t *testing.T, text string) {
	t.Helper()
	for _, r := range []request{
		{method: http.MethodPost, path: "/v1/hotspots", key: adminKey, body: fields{
			"name": "Naughty", "type": text, "location": fields{"lat": text, "lng": 0}, "device": fields{"ssid": "x", "mac_address": text},
			"settings": fields{text: text, "operating_hours": fields{"timezone": text, "weekly": []any{fields{"days": []any{text}, "open": text, "close": text}}}},
		}},
		{method: http.MethodPost, path: "/v1/keys", key: adminKey, body: fields{"scopes": []string{text}, "user_id": text, "expires_at": text}},
	} {
		if a := b.ask(t, r); a.status != 400 {
			t.Errorf("%s: %d %s; want 400", r, a.status, a.text)
		}
	}
	r := request{method: http.MethodPost, path: "/v1/devices/link", body: fields{"code": text, "mac_address": text}}
	if a := b.ask(t, r); a.status != 403 && a.status != 400 {
		t.Errorf("%s: %d %s; want 403", r, a.status, a.text)
	}
	if !strings.ContainsAny(text, "\x00\r\n") && norm.NFC.IsNormalString(text) && isPlain(text) { // else net/http does not send it
		r = request{method: http.MethodPatch, path: b.hotspot, key: adminKey, body: "{}", header: map[string]string{"If-Match": text, "Accept": text, "Idempotency-Key": text}}
		if a := b.ask(t, r); a.status != 200 && a.status != 409 && a.status != 400 {
			t.Errorf("%s: %d %s", r, a.status, a.text)
		}
	}
}

// queryEverywhere puts a text, as it stands in a URL, into every parameter and
// path of the network.
func (b *corpusBench) queryEverywhere(t *testing.T, text string) {
	t.Helper()
	for len(text) > 400 { // a URL of more than 8 KiB is another matter
		text = text[:len(text)/2/3*3] // between two escapes
	}
	for _, path := range []string{
		"/v1/hotspots/nearby?lat=@&lng=@&radius=@&status=@&limit=@", "/v1/hotspots/nearby?lat=0&lng=0&radius=@", "/v1/coverage?north=@&south=@&east=@&west=@&zoom=@", b.hotspot + "/history?from=@&to=@&step=@",
		"/v1/users/me/rewards?period=@", "/v1/users/me/rewards/history?start_date=@&end_date=@&page=@&per_page=@", b.hotspot + "/rewards/explain?date=@", "/v1/keys?user_id=@&page=@",
		"/v1/events?after=x@", "/v1/hotspots/@", "/v1/users/@/hotspots", "/v1/users/@/rewards", "/v1/users/me/rewards/statements/@", "/v1/coverage/tiles/@/@/@.mvt", "/v1/keys/@", "/v1/@",
	} {
		b.ask(t, request{method: http.MethodGet, path: strings.ReplaceAll(path, "@", text), key: adminKey})
	}
}
