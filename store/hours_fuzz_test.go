package store

import (
	"reflect"
	"testing"
)

// Operating hours that can be read from a row are read the same after they were
// written again.
func FuzzDecodeHours(f *testing.F) {
	for _, seed := range []string{
		"", `{"timezone":"America/New_York","weekly":[{"days":[1,2],"open":480,"close":1320}],"exceptions":[{"date":"2026-12-25","closed":true}]}`, `{}`, `null`, `[]`, `{"weekly":null}`, `{"timezone":"\u0000"}`,
	} {
		f.Add(seed)
	}
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
