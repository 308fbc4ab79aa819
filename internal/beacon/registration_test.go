package beacon_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

func some[T any](v T) beacon.Opt[T] { return beacon.Some(v) }

// registration is a complete one, for tests to spoil.
func registration() beacon.Registration {
	return beacon.Registration{
		Name: some(" Corner Cafe\u0301 "),
		Type: some("business"),
		Location: some(beacon.LocationForm{
			Lat: some(40.7), Lng: some(-73.9), Address: some("1 Main St"),
		}),
		Device: some(beacon.DeviceForm{SSID: some("Corner "), MAC: some("AA-0B-CC-DD-EE-FF")}),
		Settings: some(beacon.SettingsForm{
			MaxConnections: some(10.0), BandwidthLimitMbps: some(0.5), CoverageRadiusM: some(120.0),
			OperatingHours: some(nineToFive()),
		}),
	}
}

func TestRegistration_Validate(t *testing.T) {
	got, err := registration().Validate("hs_1", "usr_1", noon)
	if err != nil {
		t.Fatal(err)
	}
	want := beacon.Hotspot{
		ID: "hs_1", Operator: "usr_1", Name: "Corner Café", Type: beacon.Business,
		Location: beacon.Location{Point: geo.Point{Lat: 40.7, Lng: -73.9}, Address: "1 Main St"},
		Device:   beacon.Device{SSID: "Corner ", MAC: "AA-0B-CC-DD-EE-FF"},
		Settings: beacon.Settings{
			MaxConnections: 10, BandwidthLimitMbps: 0.5, CoverageRadiusM: 120,
			OperatingHours: &beacon.OperatingHours{
				Timezone: "America/New_York",
				Weekly:   []beacon.WeeklySpan{{Days: []beacon.Weekday{"mon", "tue"}, Open: 540, Close: 1020}},
			},
		},
		CreatedAt: noon, UpdatedAt: noon, Version: 1,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got.StatusAt(noon, noon) != beacon.Pending {
		t.Error("it is not pending")
	}
}

func TestRegistration_Defaults(t *testing.T) {
	r := registration()
	r.Location.V.Address = beacon.Opt[string]{}
	for _, settings := range []beacon.Opt[beacon.SettingsForm]{
		{}, some(beacon.SettingsForm{}), some(beacon.SettingsForm{OperatingHours: beacon.Null[beacon.HoursForm]()}),
	} {
		r.Settings = settings
		got, err := r.Validate("hs_1", "usr_1", noon)
		if err != nil || got.Settings != beacon.DefaultSettings(beacon.Business) || got.Location.Address != "" {
			t.Errorf("%+v: %+v, %v; want the defaults", settings, got, err)
		}
	}
	r.Settings = some(beacon.SettingsForm{BandwidthLimitMbps: some(7.0)})
	got, err := r.Validate("hs_1", "usr_1", noon)
	if want := (beacon.Settings{MaxConnections: 64, BandwidthLimitMbps: 7}); err != nil || got.Settings != want {
		t.Errorf("one override: %+v, %v; want %+v", got.Settings, err, want)
	}
}

// A latitude of 0 is a value, and so are the ends of every range.
func TestRegistration_Extremes(t *testing.T) {
	for _, p := range []geo.Point{{}, {Lat: 90, Lng: 180}, {Lat: -90, Lng: -180}, {Lat: math.Copysign(0, -1), Lng: math.Copysign(0, -1)}} {
		r := registration()
		r.Location.V.Lat, r.Location.V.Lng = some(p.Lat), some(p.Lng)
		got, err := r.Validate("hs_1", "usr_1", noon)
		if err != nil || got.Location.Point != p {
			t.Errorf("%v: %v, %v", p, got.Location.Point, err)
		}
		if at := got.Location.Point; at.Lat == 0 && (math.Signbit(at.Lat) || math.Signbit(at.Lng)) {
			t.Errorf("%v kept a negative zero", p)
		}
	}
	for _, s := range []beacon.SettingsForm{
		{MaxConnections: some(1.0), BandwidthLimitMbps: some(100_000.0), CoverageRadiusM: some(10.0)},
		{MaxConnections: some(10_000.0), BandwidthLimitMbps: some(1e-9), CoverageRadiusM: some(500.0)},
	} {
		r := registration()
		r.Settings = some(s)
		if _, err := r.Validate("hs_1", "usr_1", noon); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestRegistration_OneFault(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	type form = beacon.Registration
	for _, test := range []struct {
		field string
		kind  beacon.Kind
		spoil func(*form)
	}{
		{"name", beacon.MissingParameter, func(r *form) { r.Name = beacon.Opt[string]{} }},
		{"name", beacon.InvalidRequest, func(r *form) { r.Name = beacon.Null[string]() }},
		{"name", beacon.InvalidRequest, func(r *form) { r.Name = some("日本") }},
		{"name", beacon.InvalidRequest, func(r *form) { r.Name = some("") }},
		{"type", beacon.MissingParameter, func(r *form) { r.Type = beacon.Opt[string]{} }},
		{"type", beacon.InvalidRequest, func(r *form) { r.Type = some("Home") }},
		{"type", beacon.InvalidRequest, func(r *form) { r.Type = beacon.Null[string]() }},
		{"location", beacon.InvalidRequest, func(r *form) { r.Location = beacon.Null[beacon.LocationForm]() }},
		{"location.lat", beacon.MissingParameter, func(r *form) { r.Location.V.Lat = beacon.Opt[float64]{} }},
		{"location.lat", beacon.InvalidRequest, func(r *form) { r.Location.V.Lat = some(90.0000001) }},
		{"location.lat", beacon.InvalidRequest, func(r *form) { r.Location.V.Lat = some(-90.0000001) }},
		{"location.lat", beacon.InvalidRequest, func(r *form) { r.Location.V.Lat = some(nan) }},
		{"location.lng", beacon.MissingParameter, func(r *form) { r.Location.V.Lng = beacon.Opt[float64]{} }},
		{"location.lng", beacon.InvalidRequest, func(r *form) { r.Location.V.Lng = some(180.0000001) }},
		{"location.lng", beacon.InvalidRequest, func(r *form) { r.Location.V.Lng = some(inf) }},
		{"location.lng", beacon.InvalidRequest, func(r *form) { r.Location.V.Lng = beacon.Null[float64]() }},
		{"location.address", beacon.InvalidRequest, func(r *form) { r.Location.V.Address = some("a\nb") }},
		{"location.address", beacon.InvalidRequest, func(r *form) { r.Location.V.Address = beacon.Null[string]() }},
		{"device", beacon.InvalidRequest, func(r *form) { r.Device = beacon.Null[beacon.DeviceForm]() }},
		{"device.ssid", beacon.MissingParameter, func(r *form) { r.Device.V.SSID = beacon.Opt[string]{} }},
		{"device.ssid", beacon.InvalidRequest, func(r *form) { r.Device.V.SSID = some(strings.Repeat("é", 17)) }},
		{"device.mac_address", beacon.MissingParameter, func(r *form) { r.Device.V.MAC = beacon.Opt[string]{} }},
		{"device.mac_address", beacon.InvalidRequest, func(r *form) { r.Device.V.MAC = some("ff:ff:ff:ff:ff:ff") }},
		{"settings", beacon.InvalidRequest, func(r *form) { r.Settings = beacon.Null[beacon.SettingsForm]() }},
		{"settings.max_connections", beacon.InvalidRequest, func(r *form) { r.Settings.V.MaxConnections = some(1.5) }},
		{"settings.operating_hours.timezone", beacon.MissingParameter, func(r *form) {
			r.Settings.V.OperatingHours.V.Timezone = beacon.Opt[string]{}
		}},
	} {
		r := registration()
		test.spoil(&r)
		h, err := r.Validate("hs_1", "usr_1", noon)
		if got := faultyFields(t, err); !slices.Equal(got, []string{test.field}) {
			t.Errorf("%s: %v; want that field alone", test.field, err)
			continue
		}
		if kind := kindOf(t, err); kind != test.kind || h.ID != "" {
			t.Errorf("%s: kind %d, hotspot %q; want kind %d and none", test.field, kind, h.ID, test.kind)
		}
	}
}

func TestRegistration_AllFaultsAtOnce(t *testing.T) {
	var nothing beacon.Registration
	_, err := nothing.Validate("hs_1", "usr_1", noon)
	want := []string{"name", "type", "location.lat", "location.lng", "device.ssid", "device.mac_address"}
	if got := faultyFields(t, err); !slices.Equal(got, want) || kindOf(t, err) != beacon.MissingParameter {
		t.Errorf("an empty one: %v; want %v missing", got, want)
	}

	_, err = beacon.Registration{
		Name:     some("x"),
		Type:     some("castle"),
		Location: some(beacon.LocationForm{Lat: some(91.0), Lng: some(181.0), Address: some("\x00")}),
		Device:   some(beacon.DeviceForm{SSID: some(""), MAC: some("")}),
		Settings: some(beacon.SettingsForm{
			MaxConnections: some(0.0), BandwidthLimitMbps: some(0.0), CoverageRadiusM: some(9.0),
			OperatingHours: some(beacon.HoursForm{}),
		}),
	}.Validate("hs_1", "usr_1", noon)
	want = []string{
		"name", "type", "location.lat", "location.lng", "location.address", "device.ssid", "device.mac_address",
		"settings.max_connections", "settings.bandwidth_limit_mbps", "settings.coverage_radius_m",
		"settings.operating_hours.timezone", "settings.operating_hours.weekly",
	}
	if got := faultyFields(t, err); !slices.Equal(got, want) || kindOf(t, err) != beacon.InvalidRequest {
		t.Errorf("all wrong: %v; want %v", got, want)
	}
}
