package beacon_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func registered(t *testing.T) beacon.Hotspot {
	t.Helper()
	h, err := registration().Validate("hs_1", "usr_1", noon)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func settingsPatch(s beacon.SettingsForm) beacon.Patch { return beacon.Patch{Settings: some(s)} }

func TestPatch_Changes(t *testing.T) {
	later := nineToFive()
	later.Weekly.V[0].Close = some("18:00")
	for _, test := range []struct {
		name  string
		patch beacon.Patch
		edit  func(*beacon.Hotspot)
	}{
		{"name", beacon.Patch{Name: some(" New Name ")}, func(h *beacon.Hotspot) { h.Name = "New Name" }},
		{"connections", settingsPatch(beacon.SettingsForm{MaxConnections: some(20.0)}), func(h *beacon.Hotspot) { h.Settings.MaxConnections = 20 }},
		{"bandwidth", settingsPatch(beacon.SettingsForm{BandwidthLimitMbps: some(2.5)}), func(h *beacon.Hotspot) { h.Settings.BandwidthLimitMbps = 2.5 }},
		{"radius", settingsPatch(beacon.SettingsForm{CoverageRadiusM: some(33.0)}), func(h *beacon.Hotspot) { h.Settings.CoverageRadiusM = 33 }},
		{"hours cleared", settingsPatch(beacon.SettingsForm{OperatingHours: beacon.Null[beacon.HoursForm]()}), func(h *beacon.Hotspot) { h.Settings.OperatingHours = nil }},
		{"hours moved", settingsPatch(beacon.SettingsForm{OperatingHours: some(later)}), func(h *beacon.Hotspot) {
			hours := *h.Settings.OperatingHours
			hours.Weekly = []beacon.WeeklySpan{{Days: []beacon.Weekday{"mon", "tue"}, Open: 540, Close: 1080}}
			h.Settings.OperatingHours = &hours
		}},
	} {
		got, want := registered(t), registered(t)
		test.edit(&want)
		changed, err := test.patch.Apply(&got)
		if err != nil || !changed || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: changed %t, %v\ngot  %+v\nwant %+v", test.name, changed, err, got, want)
		}
		if changed, err := test.patch.Apply(&got); changed || err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s, again: changed %t, %v; want nothing new", test.name, changed, err)
		}
		if err := test.patch.Validate(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestPatch_ChangesNothing(t *testing.T) {
	for _, patch := range []beacon.Patch{
		{},
		settingsPatch(beacon.SettingsForm{}),
		{Name: some("Corner Cafe\u0301")},
		settingsPatch(beacon.SettingsForm{MaxConnections: some(10.0), OperatingHours: some(nineToFive())}),
	} {
		got, want := registered(t), registered(t)
		if changed, err := patch.Apply(&got); changed || err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: changed %t, %v; want nothing", patch, changed, err)
		}
	}
}

func TestPatch_Refuses(t *testing.T) {
	null := beacon.Null[float64]()
	for _, test := range []struct {
		field string
		patch beacon.Patch
	}{
		{"name", beacon.Patch{Name: beacon.Null[string]()}},
		{"name", beacon.Patch{Name: some("")}},
		{"settings", beacon.Patch{Settings: beacon.Null[beacon.SettingsForm]()}},
		{"settings.max_connections", settingsPatch(beacon.SettingsForm{MaxConnections: null})},
		{"settings.max_connections", settingsPatch(beacon.SettingsForm{MaxConnections: some(0.0)})},
		{"settings.max_connections", settingsPatch(beacon.SettingsForm{MaxConnections: some(-1.0)})},
		{"settings.max_connections", settingsPatch(beacon.SettingsForm{MaxConnections: some(10_001.0)})},
		{"settings.max_connections", settingsPatch(beacon.SettingsForm{MaxConnections: some(1.5)})},
		{"settings.max_connections", settingsPatch(beacon.SettingsForm{MaxConnections: some(math.NaN())})},
		{"settings.bandwidth_limit_mbps", settingsPatch(beacon.SettingsForm{BandwidthLimitMbps: null})},
		{"settings.bandwidth_limit_mbps", settingsPatch(beacon.SettingsForm{BandwidthLimitMbps: some(0.0)})},
		{"settings.bandwidth_limit_mbps", settingsPatch(beacon.SettingsForm{BandwidthLimitMbps: some(100_000.1)})},
		{"settings.bandwidth_limit_mbps", settingsPatch(beacon.SettingsForm{BandwidthLimitMbps: some(math.NaN())})},
		{"settings.coverage_radius_m", settingsPatch(beacon.SettingsForm{CoverageRadiusM: some(9.9)})},
		{"settings.coverage_radius_m", settingsPatch(beacon.SettingsForm{CoverageRadiusM: some(500.1)})},
		{"settings.coverage_radius_m", settingsPatch(beacon.SettingsForm{CoverageRadiusM: some(math.Inf(1))})},
	} {
		got, want := registered(t), registered(t)
		changed, err := test.patch.Apply(&got)
		if fields := faultyFields(t, err); !slices.Equal(fields, []string{test.field}) || kindOf(t, err) != beacon.InvalidRequest {
			t.Errorf("%s: %v; want an invalid request", test.field, err)
		}
		if changed || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the hotspot changed in spite of the fault", test.field)
		}
		if test.patch.Validate() == nil {
			t.Errorf("%s: Validate accepts what Apply refuses", test.field)
		}
	}
}

// A patch with one good and one bad field changes neither.
func TestPatch_AllOrNothing(t *testing.T) {
	h := registered(t)
	patch := beacon.Patch{Name: some("New Name"), Settings: some(beacon.SettingsForm{MaxConnections: some(1.5)})}
	if _, err := patch.Apply(&h); err == nil || h.Name != "Corner Café" {
		t.Errorf("name %q, %v; want the old name and an error", h.Name, err)
	}
}
