package beacon_test

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func TestStatusAt(t *testing.T) {
	var never time.Time
	for _, test := range []struct {
		name                   string
		verified, linked, seen time.Time
		want                   beacon.Status
	}{
		{"new", never, never, never, beacon.Pending},
		{"only verified", noon, never, noon, beacon.Pending},
		{"only linked", never, noon, noon, beacon.Pending},
		{"never seen", noon, noon, never, beacon.Offline},
		{"just seen", noon, noon, noon, beacon.Online},
		{"seen 240 s ago", noon, noon, noon.Add(-240 * time.Second), beacon.Online},
		{"seen longer ago", noon, noon, noon.Add(-240*time.Second - 1), beacon.Offline},
		{"seen after now, as after a step of the clock", noon, noon, noon.Add(time.Second), beacon.Online},
	} {
		var h beacon.Hotspot
		h.Location.VerifiedAt, h.Device.LinkedAt = test.verified, test.linked
		if got := h.StatusAt(test.seen, noon); got != test.want {
			t.Errorf("%s: %s; want %s", test.name, got, test.want)
		}
	}
}
