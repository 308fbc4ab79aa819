//go:build linux

package torture_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// fields is a JSON object.
type fields = map[string]any

// fault is one thing that is wrong with a body.
type fault struct {
	path   string // of the member that is set
	value  any    // absent removes it
	field  string // what the answer names, in words; the path where empty
	isGone bool   // the fault is that something required is absent
}

type absentType struct{}

var omitted absentType

// unreadable is a number that JSON can spell and no float can hold.
var unreadable = json.RawMessage("1e400")

// registrationFaults are all that decisions N7 to N10 refuse.
var registrationFaults = slices.Concat([]fault{
	{path: "settings.operating_hours", value: fields{"timezone": "UTC"}, field: "settings.operating_hours*", isGone: true},
	{path: "settings.operating_hours", value: fields{"weekly": []any{}}, field: "settings.operating_hours*", isGone: true},
	{path: "type", value: omitted},
	{path: "type", value: "Home"},
	{path: "type", value: "office"},
	{path: "type", value: nil},
	{path: "type", value: 5},
	{path: "location", value: omitted, field: "location.lat location.lng"},
	{path: "location", value: nil},
	{path: "location", value: []any{}},
	{path: "location", value: "here"},
	{path: "location.lat", value: omitted},
	{path: "location.lat", value: 90.0001},
	{path: "location.lat", value: -91},
	{path: "location.lat", value: "40.7"},
	{path: "location.lat", value: nil},
	{path: "location.lat", value: unreadable},
	{path: "location.lng", value: omitted},
	{path: "location.lng", value: 180.0001},
	{path: "location.lng", value: []any{}},
	{path: "location.address", value: strings.Repeat("é", 201)},
	{path: "location.address", value: 5},
	{path: "location.verified", value: true},
	{path: "device", value: omitted, field: "device.ssid device.mac_address"},
	{path: "device", value: true},
	{path: "device.ssid", value: omitted},
	{path: "device.ssid", value: ""},
	{path: "device.ssid", value: strings.Repeat("x", 33)},
	{path: "device.ssid", value: strings.Repeat("é", 17)},
	{path: "device.ssid", value: 1},
	{path: "device.mac_address", value: omitted},
	{path: "device.mac_address", value: ""},
	{path: "device.mac_address", value: "02:be:ac:00:00"},
	{path: "device.mac_address", value: "02:be:ac:00:00:01:02:03"},
	{path: "device.mac_address", value: "00:00:00:00:00:00"},
	{path: "device.mac_address", value: "FF-FF-FF-FF-FF-FF"},
	{path: "device.mac_address", value: "02:be:ac:00:00:0g"},
	{path: "device.linked", value: true},
	{path: "settings", value: nil},
	{path: "settings", value: 5},
	{path: "id", value: "hs_00000000000000000000000000"},
	{path: "status", value: "online"},
	{path: "operator_id", value: "me"},
	{path: "NAME", value: "Some Name"},
}, changeFaults)

// changeFaults are what is refused in a change, and in a registration too.
var changeFaults = slices.Concat([]fault{
	{path: "name", value: nil},
	{path: "name", value: "ab"},
	{path: "name", value: strings.Repeat("x", 51)},
	{path: "name", value: "日本"},
	{path: "name", value: "   "},
	{path: "name", value: "a\x00bc"},
	{path: "name", value: "tab\tbed"},
	{path: "name", value: 12345},
	{path: "name", value: []any{"a", "b", "c"}},
	{path: "settings.max_connections", value: 0},
	{path: "settings.max_connections", value: 10001},
	{path: "settings.max_connections", value: 1.5},
	{path: "settings.max_connections", value: "5"},
	{path: "settings.max_connections", value: nil},
	{path: "settings.max_connections", value: -1},
	{path: "settings.bandwidth_limit_mbps", value: 0},
	{path: "settings.bandwidth_limit_mbps", value: 100000.5},
	{path: "settings.bandwidth_limit_mbps", value: nil},
	{path: "settings.bandwidth_limit_mbps", value: unreadable},
	{path: "settings.coverage_radius_m", value: 9.9},
	{path: "settings.coverage_radius_m", value: 500.1},
	{path: "settings.colour", value: "red"},
	{path: "colour", value: nil},
	{path: "settings.operating_hours", value: "always"},
	{path: "settings.operating_hours", value: []any{}},
}, hoursFaults())

// hoursFaults are decision N10.
func hoursFaults() (all []fault) {
	spell := func(open, shut string, days ...any) fields { return fields{"days": days, "open": open, "close": shut} }
	week := func(spans ...any) fields { return fields{"timezone": "UTC", "weekly": spans} }
	for _, hours := range []fields{
		{"timezone": "Mars/Olympus", "weekly": []any{}},
		{"timezone": "UTC", "weekly": nil},
		week(spell("25:00", "10:00", "mon")), week(spell("8:00", "10:00", "mon")), week(spell("24:00", "10:00", "mon")), week(spell("08:00", "10:60", "mon")),
		week(spell("08:00", "10:00", "Mon")), week(spell("08:00", "10:00", "monday")), week(spell("08:00", "10:00")),
		week(spell("08:00", "12:00", "mon"), spell("11:00", "13:00", "mon")),
		week(spell("22:00", "06:00", "sun"), spell("05:00", "07:00", "mon")),
		week(fields{"days": []any{"mon"}, "open": "08:00", "close": "09:00", "until": "x"}),
		{"timezone": "UTC", "weekly": []any{}, "exceptions": []any{fields{"date": "2026-02-30", "closed": true}}},
		{"timezone": "UTC", "weekly": []any{}, "exceptions": []any{fields{"date": "2026-12-25", "closed": true}, fields{"date": "2026-12-25", "closed": true}}},
	} {
		all = append(all, fault{path: "settings.operating_hours", value: hours, field: "settings.operating_hours*"})
	}
	return append(all, fault{
		path: "settings.operating_hours", value: week(fields{"days": []any{"mon"}, "open": "08:00"}), field: "settings.operating_hours*", isGone: true,
	})
}

// spoil makes a body wrong in up to two of the given ways. Each is in another
// member, so that none hides the other.
func spoil(t *rapid.T, body fields, faults []fault, atLeast int) *want {
	e := refused(400, "missing_parameter")
	spoiled := map[string]bool{}
	for range rapid.IntRange(atLeast, 2).Draw(t, "faults") {
		f := rapid.SampledFrom(faults).Draw(t, "fault")
		top, _, _ := strings.Cut(f.path, ".")
		if spoiled[top] {
			continue
		}
		spoiled[top] = true
		put(body, f.path, f.value)
		if f.value != omitted && !f.isGone {
			e.code = "invalid_request"
		}
		e.fields = append(e.fields, strings.Fields(cmp.Or(f.field, f.path))...)
	}
	if len(spoiled) == 0 {
		return nil
	}
	return e
}

// put sets a member of an object in an object, which is made if it is not there.
func put(body fields, path string, value any) {
	first, rest, deeper := strings.Cut(path, ".")
	switch {
	case deeper:
		inner, _ := body[first].(fields)
		inner = maps.Clone(inner)
		if inner == nil {
			inner = fields{}
		}
		put(inner, rest, value)
		body[first] = inner
	case value == omitted:
		delete(body, first)
	default:
		body[first] = value
	}
}

// titles are good names, and what becomes of them: cut off at the ends,
// normalized, and counted in code points (decision N8).
var titles = [][2]string{
	{"abc", "abc"},
	{"  Corner Café ", "Corner Café"},
	{"Cafe\u0301 Ole", "Café Ole"},
	{strings.Repeat("é", 50), strings.Repeat("é", 50)},
	{strings.Repeat("e\u0301", 50), strings.Repeat("é", 50)},
	{"日本語", "日本語"},
	{"👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
	{"'; DROP TABLE hotspots;--", "'; DROP TABLE hotspots;--"},
	{"<b>&\"\\/</b>", "<b>&\"\\/</b>"},
	{"null", "null"},
}

// openings are good operating hours, as they come back.
var openings = []any{
	nil,
	fields{"timezone": "America/New_York", "weekly": []any{
		fields{"days": []any{"mon", "tue"}, "open": "08:00", "close": "22:00"},
		fields{"days": []any{"sat"}, "open": "10:00", "close": "24:00"},
	}, "exceptions": []any{fields{"date": "2026-12-25", "closed": true}, fields{"date": "2026-12-31", "open": "10:00", "close": "02:00"}}},
	fields{"timezone": "Asia/Kathmandu", "weekly": []any{fields{"days": []any{"sun"}, "open": "22:00", "close": "06:00"}}, "exceptions": []any{fields{"date": "2028-02-29", "closed": true}}},
}

// spelledMAC writes a hardware address in one of the ways that are accepted.
func spelledMAC(t *rapid.T, octets string) string {
	pairs := func(with string, size int) string {
		var parts []string
		for i := 0; i < len(octets); i += size {
			parts = append(parts, octets[i:i+size])
		}
		return strings.Join(parts, with)
	}
	spelled := rapid.SampledFrom([]string{pairs(":", 2), pairs("-", 2), pairs(".", 4), pairs("", 2)}).Draw(t, "spelling")
	if rapid.Bool().Draw(t, "upper") {
		return strings.ToUpper(spelled)
	}
	return spelled
}

// octets is a hardware address in one spelling.
func octets(mac string) string {
	return strings.ToLower(strings.NewReplacer(":", "", "-", "", ".", "").Replace(mac))
}

// macOf is one of a few addresses that a run has to give out.
func (m *model) macOf(n int) string { return fmt.Sprintf("02beac%04x%02x", m.run&0xffff, n) }
