package store

import (
	"reflect"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Operating hours that can be read from a row are read the same after they were
// written again.
func FuzzDecodeHours(f *testing.F) {
	for _, seed := range []string{
		"", `{"timezone":"America/New_York","weekly":[{"days":["mon","tue"],"open":480,"close":1320}],"exceptions":[{"date":"2026-12-25","closed":true}]}`, `{}`, `null`, `[]`, `{"weekly":null}`, `{"timezone":"\u0000"}`,
	} {
		f.Add(seed)
	}
	all := &beacon.OperatingHours{
		Timezone: "Asia/Tokyo", Weekly: []beacon.WeeklySpan{{Days: []beacon.Weekday{"mon", "sun"}, Open: 1, Close: 1440}},
		Exceptions: []beacon.HoursException{{Date: "2026-12-25", Closed: true}, {Date: "2026-12-31", Spans: []beacon.ExceptionSpan{{Open: 2, Close: 3}}}},
	}
	text, err := encodeHours(all)
	if got, err2 := decodeHours(text); err != nil || err2 != nil || !reflect.DeepEqual(got, all) {
		f.Fatalf("%+v is written as %q, and read as %+v: %v %v", all, text, got, err, err2)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text string) {
		hours, err := decodeHours(text)
		if err != nil {
			return
		}
		written, err := encodeHours(hours)
		if err != nil {
			return // a zone that no database takes
		}
		again, err := decodeHours(written)
		if err != nil || !reflect.DeepEqual(hours, again) {
			t.Errorf("%q is read as %+v, written as %q, and read as %+v, %v", text, hours, written, again, err)
		}
	})
}
