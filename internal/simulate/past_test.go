package simulate

import (
	"context"
	"math"
	"net/http"
	"slices"
	"testing"
	"time"
)

func usual() Character {
	return Character{
		Seed: 3, Place: Street, Crowd: 20, DBM: -60, Appetite: 10_000, Uplink: Uplink{150, 20, 12},
		Fails: 30 * time.Hour, Repair: 25 * time.Minute,
	}
}

func pastOf(d *Device, from, until time.Time) (all []Stretch) {
	d.Live(from, until, func(s Stretch) { all = append(all, s) })
	return all
}

// A stretch lies in one hour and follows the one before it; afterwards the device
// goes on from there.
func TestDevice_Live(t *testing.T) {
	d := usual().Device()
	from, until := monday.Add(17*time.Minute), monday.AddDate(0, 0, 20).Add(41*time.Minute)
	var last Stretch
	beats, boots, tests, broke, next := 0, 0, 0, 0, from
	for i, s := range pastOf(d, from, until) {
		first := s.Last.Add(-time.Duration(s.Count-1) * time.Minute)
		if first.Before(next) || !s.Last.Before(until) || first.Truncate(time.Hour) != s.Last.Truncate(time.Hour) || s.Count < 1 || s.Count > 60 {
			t.Fatalf("stretch %d is %+v, from %s, after %+v", i, s, first, last)
		}
		switch {
		case s.Boot != last.Boot:
			boots++
			if s.Seq != uint64(s.Count) {
				t.Fatalf("a boot begins with %+v", s)
			}
		case s.Seq != last.Seq+uint64(s.Count) || s.Rx < last.Rx || s.Tx < last.Tx:
			t.Fatalf("%+v after %+v", s, last)
		}
		if s.Clients < 0 || s.Clients > 200 || s.DBM < -120 || s.DBM > 0 {
			t.Fatalf("%+v", s)
		}
		if s.Test != (Uplink{}) {
			tests++
		}
		if first.After(next.Add(time.Minute)) && next.Minute() != 0 {
			broke++ // in the middle of an hour
		}
		beats += s.Count
		last, next = s, s.Last.Truncate(time.Minute).Add(time.Minute)
	}
	all := int(until.Sub(from) / time.Minute)
	if lost := all - beats; lost < all/500 || lost > all/20 || boots < 4 || boots > 40 || tests < 60 || tests > 84 || broke == 0 {
		t.Errorf("%d of %d beats, %d boots, %d tests, %d outages within an hour", beats, all, boots, tests, broke)
	}
	b, due := d.Beat(last.Last.Add(time.Minute))
	if !due || b.Boot == last.Boot && (b.Seq != last.Seq+1 || b.Rx < last.Rx) || last.BootID() == "" {
		t.Errorf("it goes on with %+v after %+v", b, last)
	}
}

// What a device lived through by the hour is like what it would have said minute by
// minute.
func TestDevice_LiveAsBeats(t *testing.T) {
	steady := usual()
	steady.Fails = 10_000 * time.Hour
	until := monday.AddDate(0, 0, 7)
	var past Stretch
	for _, s := range pastOf(steady.Device(), monday, until) {
		past = s
	}
	d := steady.Device()
	var beat Beat
	for now := monday; now.Before(until); now = now.Add(time.Minute) {
		beat, _ = d.Beat(now)
	}
	if past.Boot != beat.Boot || past.Seq != beat.Seq || math.Abs(float64(past.Tx)/float64(beat.Tx)-1) > 0.05 {
		t.Errorf("by the hour: %+v; by the minute: %+v", past, beat)
	}
}

func TestDevice_LiveSameSeed(t *testing.T) {
	day := monday.AddDate(0, 0, 1)
	whole := pastOf(usual().Device(), monday, day)
	d := usual().Device()
	parts := append(pastOf(d, monday, monday.Add(5*time.Hour)), pastOf(d, monday.Add(5*time.Hour), day)...)
	if len(whole) < 24 || !slices.Equal(whole, parts) {
		t.Errorf("%d stretches at once, %d in two parts, and not the same", len(whole), len(parts))
	}
	other := usual()
	other.Seed++
	if slices.Equal(whole, pastOf(other.Device(), monday, day)) {
		t.Error("two seeds lead to one life")
	}
}

func TestDevice_Restart(t *testing.T) {
	d := usual().Device()
	before, _ := d.Beat(monday)
	d.Restart()
	after, _ := d.Beat(monday.Add(time.Minute))
	if after.Boot == before.Boot || after.Seq != 1 {
		t.Errorf("switched on again, it says %+v after %+v", after, before)
	}
}

// The new places have rhythms of their own.
func TestRhythms(t *testing.T) {
	at := func(kind string, day, hour int) float64 {
		return rhythms[kind].at(epochOf(time.Date(2026, 6, 1+day, hour+5, 0, 0, 0, time.UTC)))
	}
	for what, more := range map[string]bool{
		"station at rush hour":      at(Station, 1, 8) > 2*at(Station, 1, 11),
		"no rush hour on Sunday":    at(Station, 6, 8) < at(Station, 6, 13),
		"library closed at night":   at(Library, 1, 23) == 0,
		"park at weekends":          at(Park, 5, 14) > 2*at(Park, 1, 14),
		"streets are never empty":   at(Street, 1, 4) > 0,
		"streets later on Saturday": at(Street, 6, 0) > at(Street, 2, 0),
	} {
		if !more {
			t.Error(what, "is not so")
		}
	}
}

// A device that was made up goes by the clock of its server, and signs in as it
// was told to.
func TestDrive_Clock(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := serveHeartbeats(t, func(w http.ResponseWriter, id string, n int) {
		ok(w, id, n)
		cancel()
	})
	d := usual().Device()
	d.Serve("hs_1", "key of hs_1")
	client := newTestClient(t, s.URL, 1)
	client.Clock = func() time.Time { return monday }
	client.Drive(ctx, []*Device{d}, time.Millisecond, &Meter{})
	if d.last != epochOf(monday) || len(s.seen["hs_1"]) == 0 {
		t.Errorf("it beat at %s; want %s", d.last, monday)
	}
}
