package beacon_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Times that have not come become the moment when the clock was right; others stay, and so
// does the copy that someone else holds.
func TestHotspot_SetRight(t *testing.T) {
	right := time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC)
	latest, before, ahead := right.Add(15*time.Minute), right.Add(-time.Hour), right.AddDate(0, 0, 3)
	var h beacon.Hotspot
	h.UpdatedAt = ahead
	h.Location.VerifiedAt, h.Device.LinkedAt = before, ahead
	h.PastHours = []beacon.PastHours{{Until: before}, {Until: ahead}}
	h.PastService = []beacon.Period{{From: before.Add(-time.Hour), Until: ahead}, {From: ahead, Until: ahead.Add(time.Minute)}}
	h.Visits = []beacon.Visit{{At: before}, {At: ahead}}
	h.Vouches = []time.Time{before, ahead}
	held := h
	want := h
	want.Device.LinkedAt = right
	want.PastHours = []beacon.PastHours{{Until: before}, {Until: right}}
	want.PastService = []beacon.Period{{From: before.Add(-time.Hour), Until: right}}
	want.Visits = []beacon.Visit{{At: before}, {At: right}}
	want.Vouches = []time.Time{before, right}
	if !h.SetRight(latest, right) {
		t.Error("nothing has changed")
	}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !held.PastService[0].Until.Equal(ahead) || !held.Visits[1].At.Equal(ahead) || !held.PastHours[1].Until.Equal(ahead) || !held.Vouches[1].Equal(ahead) {
		t.Error("a copy has changed")
	}
	if h.SetRight(latest, right.Add(time.Minute)) {
		t.Error("it has changed again")
	}
}
