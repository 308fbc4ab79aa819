package beacon_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

func verification() beacon.VerificationForm {
	return beacon.VerificationForm{Lat: some(40.7), Lng: some(-74.0), AccuracyM: some(5.0), Method: some("gps")}
}

func TestVerification_Validate(t *testing.T) {
	got, err := beacon.VerificationForm{
		Lat: some(math.Copysign(0, -1)), Lng: some(180.0), AccuracyM: some(1000.0), Method: some("  by eye, e\u0301 "),
	}.Validate()
	want := beacon.Verification{Point: geo.Point{Lat: 0, Lng: 180}, AccuracyM: 1000, Method: "by eye, é"}
	if err != nil || got != want || math.Signbit(got.Point.Lat) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	form := verification()
	form.Type, form.SpeedTest = some("public"), some(beacon.SpeedTestForm{DownMbps: some(60.0), UpMbps: some(5.0), LatencyMs: some(9.0)})
	got, err = form.Validate()
	if err != nil || got.Type != beacon.Public || got.Test != (beacon.SpeedTest{DownMbps: 60, UpMbps: 5, LatencyMs: 9}) || got.Test.AtMost() != beacon.Enhanced {
		t.Errorf("with a type and a speed: %+v, %v", got, err)
	}
	if note := got.Against(beacon.Hotspot{Location: beacon.Location{Point: got.Point}}).Note(); note != "gps, 0 m away, accuracy 5 m, type public, 60 Mbps down, 5 up, 9 ms" {
		t.Errorf("the audit has %q", note)
	}
	nan := math.NaN()
	for _, test := range []struct {
		fields []string
		edit   func(*beacon.VerificationForm)
	}{
		{[]string{"lat", "lng", "accuracy_m", "method"}, func(f *beacon.VerificationForm) { *f = beacon.VerificationForm{} }},
		{[]string{"lat"}, func(f *beacon.VerificationForm) { f.Lat = some(90.1) }},
		{[]string{"lat"}, func(f *beacon.VerificationForm) { f.Lat = some(nan) }},
		{[]string{"lng"}, func(f *beacon.VerificationForm) { f.Lng = some(-180.1) }},
		{[]string{"lng"}, func(f *beacon.VerificationForm) { f.Lng = beacon.Null[float64]() }},
		{[]string{"accuracy_m"}, func(f *beacon.VerificationForm) { f.AccuracyM = some(-0.1) }},
		{[]string{"accuracy_m"}, func(f *beacon.VerificationForm) { f.AccuracyM = some(1000.1) }},
		{[]string{"accuracy_m"}, func(f *beacon.VerificationForm) { f.AccuracyM = some(nan) }},
		{[]string{"method"}, func(f *beacon.VerificationForm) { f.Method = some(" ") }},
		{[]string{"method"}, func(f *beacon.VerificationForm) { f.Method = some("a\nb") }},
		{[]string{"method"}, func(f *beacon.VerificationForm) { f.Method = some(strings.Repeat("é", 51)) }},
		{[]string{"type"}, func(f *beacon.VerificationForm) { f.Type = some("shop") }},
		{[]string{"type"}, func(f *beacon.VerificationForm) { f.Type = beacon.Null[string]() }},
		{[]string{"speedtest.down_mbps", "speedtest.up_mbps", "speedtest.latency_ms"}, func(f *beacon.VerificationForm) { f.SpeedTest = some(beacon.SpeedTestForm{}) }},
		{[]string{"lat", "method"}, func(f *beacon.VerificationForm) { f.Lat, f.Method = some(-91.0), some("") }},
	} {
		form := verification()
		test.edit(&form)
		if _, err := form.Validate(); !slices.Equal(faultyFields(t, err), test.fields) {
			t.Errorf("%+v: %v; want faults of %v", form, err, test.fields)
		}
	}
}

// Decision X1: 100 m and the accuracy, 200 m at most.
func TestVerification_Distance(t *testing.T) {
	const meter = 180 / (math.Pi * 6_371_008.8) // in degrees of a meridian
	for _, test := range []struct {
		meters, accuracy float64
		ok               bool
	}{
		{0, 0, true},
		{99.9, 0, true},
		{100.1, 0, false},
		{119.9, 20, true},
		{120.1, 20, false},
		{199.9, 100, true},
		{200.1, 100, false},
		{199.9, 1000, true},
		{200.1, 1000, false},
		{351, 20, false},
		{1e7, 0, false},
	} {
		found := beacon.Verification{Point: geo.Point{Lat: 10 + test.meters*meter, Lng: 20}, AccuracyM: test.accuracy, Method: "gps"}
		finding := found.Against(beacon.Hotspot{Location: beacon.Location{Point: geo.Point{Lat: 10, Lng: 20}}})
		err := finding.Err()
		if (err == nil) != test.ok {
			t.Errorf("%v m, ± %v m: %v; want it accepted: %t", test.meters, test.accuracy, err, test.ok)
		}
		told := fmt.Sprintf("%.0f m", math.Ceil(test.meters))
		if e, ok := errors.AsType[*beacon.Error](err); ok && (e.Kind != beacon.Conflict || !strings.Contains(e.Message, "is "+told)) {
			t.Errorf("%v m: %v; want a conflict that tells %s", test.meters, err, told)
		}
		if want := fmt.Sprintf("gps, %s away, accuracy %v m", told, test.accuracy); finding.Note() != want {
			t.Errorf("the note is %q; want %q", finding.Note(), want)
		}
	}
}
