package beacon_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func hoursOf(zone string) *beacon.OperatingHours { return &beacon.OperatingHours{Timezone: zone} }

// hoursPatch changes the hours to those that are closed all week in a zone, or
// to always open.
func hoursPatch(zone string) beacon.Patch {
	hours := beacon.Null[beacon.HoursForm]()
	if zone != "" {
		hours = some(beacon.HoursForm{Timezone: some(zone), Weekly: some([]beacon.SpanForm{})})
	}
	return settingsPatch(beacon.SettingsForm{OperatingHours: hours})
}

// Hours that change leave behind what was in force before, and until when.
func TestPatch_PastHours(t *testing.T) {
	var h beacon.Hotspot
	apply := func(patch beacon.Patch, at time.Duration) {
		t.Helper()
		if _, err := patch.ApplyAt(&h, noon.Add(at)); err != nil {
			t.Fatal(err)
		}
	}
	want := func(past ...beacon.PastHours) {
		t.Helper()
		if diff := cmp.Diff(append([]beacon.PastHours{}, past...), append([]beacon.PastHours{}, h.PastHours...)); diff != "" {
			t.Errorf("past hours (-want +got):\n%s", diff)
		}
	}
	past := func(zone string, until time.Duration) beacon.PastHours {
		p := beacon.PastHours{Until: noon.Add(until)}
		if zone != "" {
			p.Hours = hoursOf(zone)
		}
		return p
	}
	h.Name = "A name"
	apply(beacon.Patch{Name: some("Another")}, 0)
	apply(hoursPatch(""), 0)
	want() // nothing changed
	apply(hoursPatch("UTC"), 30*time.Second)
	want(past("", 0))
	apply(hoursPatch("UTC"), time.Hour)
	want(past("", 0))
	apply(hoursPatch("Asia/Tokyo"), time.Hour+time.Second)
	apply(hoursPatch("Europe/Paris"), time.Hour+59*time.Second) // Tokyo was not in force for a minute
	want(past("", 0), past("UTC", time.Hour))
	apply(hoursPatch("Asia/Tokyo"), time.Hour+60*time.Second)
	want(past("", 0), past("UTC", time.Hour), past("Europe/Paris", time.Hour+time.Minute))
	apply(hoursPatch("UTC"), 30*time.Minute) // the clock went back
	want(past("", 0), past("UTC", time.Hour), past("Europe/Paris", time.Hour+time.Minute))
	const later = 32*24*time.Hour + time.Hour
	apply(hoursPatch(""), later)
	want(past("", 0), past("UTC", time.Hour), past("Europe/Paris", time.Hour+time.Minute), past("UTC", later))
}

// A list that someone else holds is not written to.
func TestPatch_PastHoursAreNotShared(t *testing.T) {
	list := make([]beacon.PastHours, 1, 8)
	list[0] = beacon.PastHours{Until: noon}
	a := beacon.Hotspot{PastHours: list}
	b := a
	if _, err := hoursPatch("UTC").ApplyAt(&a, noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := hoursPatch("Asia/Tokyo").ApplyAt(&b, noon.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if !a.PastHours[1].Until.Equal(noon.Add(time.Hour)) || len(list) != 1 {
		t.Errorf("one change shows in another: %v", a.PastHours)
	}
}

// There is room for 50 changes in two days; then the hotspot stays as it is.
func TestPatch_HoursTooOften(t *testing.T) {
	var h beacon.Hotspot
	zones := []string{"UTC", "Asia/Tokyo"}
	for i := range 50 {
		if _, err := hoursPatch(zones[i%2]).ApplyAt(&h, noon.Add(time.Duration(i)*time.Minute)); err != nil {
			t.Fatalf("change %d: %v", i, err)
		}
	}
	late := noon.Add(50 * time.Minute)
	before := h
	if changed, err := hoursPatch("UTC").ApplyAt(&h, late); kindOf(t, err) != beacon.Conflict || changed || !cmp.Equal(h, before) {
		t.Errorf("change 51: %t, %v; the hotspot changed: %t", changed, err, !cmp.Equal(h, before))
	}
	if _, err := (beacon.Patch{Name: some("Another")}).ApplyAt(&h, late); err != nil || h.Name != "Another" {
		t.Errorf("a name cannot be changed any more: %v", err)
	}
	if _, err := hoursPatch("UTC").ApplyAt(&h, late.Add(48*time.Hour)); err != nil || len(h.PastHours) != 50 {
		t.Errorf("two days later: %v, %d past hours", err, len(h.PastHours))
	}
}

// serving makes a hotspot that is in service since a time after noon.
func serving(since time.Duration) beacon.Hotspot {
	var h beacon.Hotspot
	h.Location.VerifiedAt, h.Device.LinkedAt = noon, noon.Add(since)
	return h
}

// What a hotspot served before stays known, each time once.
func TestHotspot_PastService(t *testing.T) {
	h := serving(time.Minute)
	minutes := func(n float64) time.Time { return noon.Add(time.Duration(n * float64(time.Minute))) }
	want := func(past ...beacon.Period) {
		t.Helper()
		if diff := cmp.Diff(append([]beacon.Period{}, past...), append([]beacon.Period{}, h.PastService...)); diff != "" {
			t.Errorf("past service (-want +got):\n%s", diff)
		}
	}
	end := func(at float64) {
		h.EndService(minutes(at))
		h.Device.LinkedAt = time.Time{}
	}
	end(10.5)
	want(beacon.Period{From: minutes(1), Until: minutes(10.5)})
	end(11) // it was not in service
	want(beacon.Period{From: minutes(1), Until: minutes(10.5)})
	h.Device.LinkedAt = minutes(10.9)
	end(20) // no minute without service in between
	want(beacon.Period{From: minutes(1), Until: minutes(20)})
	h.Device.LinkedAt = minutes(25)
	end(24) // the clock was set back
	want(beacon.Period{From: minutes(1), Until: minutes(20)})
	h.Device.LinkedAt = minutes(21)
	end(30)
	want(beacon.Period{From: minutes(1), Until: minutes(20)}, beacon.Period{From: minutes(21), Until: minutes(30)})
	h.Device.LinkedAt = minutes(29)
	end(29.5) // the clock was set back: the end stays
	want(beacon.Period{From: minutes(1), Until: minutes(20)}, beacon.Period{From: minutes(21), Until: minutes(30)})
	h.Device.LinkedAt = minutes(40)
	const year = 365 * 24 * 60
	end(year) // by a clock that is ahead
	want(beacon.Period{From: minutes(1), Until: minutes(20)}, beacon.Period{From: minutes(21), Until: minutes(30)},
		beacon.Period{From: minutes(40), Until: minutes(year)})
}

// A list that someone else holds is not written to.
func TestHotspot_PastServiceIsNotShared(t *testing.T) {
	list := make([]beacon.Period, 1, 8)
	list[0] = beacon.Period{From: noon.Add(-time.Hour), Until: noon}
	for _, since := range []time.Duration{0, time.Hour} {
		h := serving(since)
		h.PastService = list
		h.EndService(noon.Add(2 * time.Hour))
		if !list[0].Until.Equal(noon) || list[:2][1] != (beacon.Period{}) {
			t.Fatalf("the list of another is %v", list[:2])
		}
	}
}

// There is room for 50 beginnings in two days. An end is never refused.
func TestHotspot_ServiceTooOften(t *testing.T) {
	h := serving(0)
	at := noon
	for i := range 50 {
		at = at.Add(2 * time.Minute)
		if i > 0 {
			if err := h.RenewService(at); err != nil {
				t.Fatalf("beginning %d: %v", i, err)
			}
			h.Device.LinkedAt = at
			at = at.Add(2 * time.Minute)
		}
		h.EndService(at)
		h.Device.LinkedAt = time.Time{}
	}
	if err := h.RenewService(at); kindOf(t, err) != beacon.Conflict || len(h.PastService) != 50 {
		t.Errorf("beginning 51: %v, %d times in service", err, len(h.PastService))
	}
	if err := h.RenewService(at.Add(48 * time.Hour)); err != nil || len(h.PastService) != 49 {
		t.Errorf("two days later: %v, %d times in service", err, len(h.PastService))
	}
}

// Minutes may be judged weeks later, and the clock may be a year ahead meanwhile: what was
// in force is kept, as long as there is room for what changed in the last two days.
func TestRetireHours_KeepsWeeks(t *testing.T) {
	begin := time.Date(2026, 10, 21, 13, 0, 0, 0, time.UTC)
	var h beacon.Hotspot
	retire := func(after time.Duration) error {
		return h.RetireHours(&beacon.OperatingHours{Timezone: "UTC"}, begin.Add(after))
	}
	const day = 24 * time.Hour
	for _, step := range []struct {
		after time.Duration
		kept  int
	}{{0, 1}, {5 * day, 2}, {31 * day, 3}, {36 * day, 4}, {400 * day, 5}} {
		if err := retire(step.after); err != nil || len(h.PastHours) != step.kept {
			t.Errorf("after %v %d are kept, %v; want %d", step.after, len(h.PastHours), err, step.kept)
		}
	}
	for i := range 80 { // more than there is room for, and never too many in two days
		if err := retire(500*day + time.Duration(i)*time.Hour); err != nil || len(h.PastHours) > 50 {
			t.Fatalf("change %d: %v, %d are kept", i, err, len(h.PastHours))
		}
	}
}

func TestEndService_KeepsWeeks(t *testing.T) {
	begin := time.Date(2026, 10, 21, 13, 0, 0, 0, time.UTC)
	var h beacon.Hotspot
	for i := range 3 {
		from := begin.Add(time.Duration(i) * 5 * 24 * time.Hour)
		h.Location.VerifiedAt, h.Device.LinkedAt = from, from
		h.EndService(from.Add(time.Hour))
		if len(h.PastService) != i+1 {
			t.Errorf("%d periods are kept; want %d", len(h.PastService), i+1)
		}
	}
}
