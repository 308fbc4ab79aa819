package heartbeat_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// history is a made-up life of a hotspot.
type history struct {
	r      *rand.Rand
	start  time.Time
	end    time.Time
	beats  []heartbeat.Beat // as they were sent
	spans  []heartbeat.Span
	places []place // what its owner did, in order
}

type place struct {
	at      time.Time
	hotspot beacon.Hotspot
}

// newHistory invents days of beats with reboots, gaps, silence, outages of the
// service, an activation after the first beats, changes of hours, and devices
// that are taken off and put on again.
func newHistory(t testing.TB, seed uint64) *history {
	t.Helper()
	h := &history{r: rand.New(rand.NewPCG(seed, 7))}
	months := []time.Month{2, 3, 6, 10, 12}
	h.start = time.Date(2026, months[h.r.IntN(len(months))], 26+h.r.IntN(3), h.r.IntN(24), h.r.IntN(60), h.r.IntN(60), 0, time.UTC)
	length := time.Duration(1+h.r.IntN(30)) * time.Hour
	if h.r.IntN(3) == 0 {
		length = time.Duration(1+h.r.IntN(6)) * 24 * time.Hour
	}
	h.end = h.start.Add(length)
	h.makeSpans()
	h.makeBeats()
	h.makePlaces(t)
	return h
}

func (h *history) makeSpans() {
	from := h.start.Add(-time.Duration(h.r.IntN(2000)) * time.Minute)
	for from.Before(h.end) {
		to := from.Add(time.Duration(1+h.r.IntN(2000)) * time.Minute)
		if h.r.IntN(2) == 0 {
			to = h.end
		}
		h.spans = append(h.spans, heartbeat.Span{From: beacon.MinuteOf(from), To: beacon.MinuteOf(to)})
		from = to.Add(time.Duration(1+h.r.IntN(90)) * time.Minute)
		if h.r.IntN(6) == 0 {
			from = from.Add(time.Duration(h.r.IntN(50)) * time.Hour)
		}
	}
	h.spans = append(h.spans, heartbeat.Span{From: beacon.MinuteOf(h.end), To: beacon.MinuteOf(h.end) + 100_000})
}

func (h *history) up(at time.Time) bool {
	for _, s := range h.spans {
		if m := beacon.MinuteOf(at); m >= s.From && m <= s.To {
			return true
		}
	}
	return false
}

func (h *history) makeBeats() {
	r := h.r
	boot, seq, bytes, clients := r.Uint64(), uint64(r.IntN(3)), uint64(0), r.IntN(20)
	signals := r.IntN(3)
	boots := 0
	at := h.start
	for at.Before(h.end) {
		switch n := r.IntN(300); {
		case n == 0 && boots < 6: // reboot
			boots++
			boot, seq, bytes = r.Uint64(), 0, 0
		case n == 1 && boots < 6: // the counter runs over, or was reset
			bytes = 0
		case n == 2:
			at = at.Add(time.Duration(r.IntN(30)) * time.Minute)
		case n == 3 && r.IntN(4) == 0:
			at = at.Add(time.Duration(r.IntN(60)) * time.Hour)
		}
		at = at.Add(time.Duration(50+r.IntN(25)) * time.Second).Add(time.Duration(r.IntN(1e6)) * time.Microsecond)
		seq += 1 + uint64(r.IntN(20)/19)
		bytes += uint64(r.ExpFloat64() * 1e7)
		clients = max(0, clients+r.IntN(7)-3)
		if !at.Before(h.end) || !h.up(at) {
			continue
		}
		b := heartbeat.Beat{At: at.UnixMicro(), Heartbeat: beacon.Heartbeat{Boot: boot, Seq: seq, Bytes: bytes, Clients: clients}}
		if signals > 0 && r.IntN(signals) == 0 {
			b.Signal = beacon.Signal(1 + r.IntN(4))
		}
		if r.IntN(60) == 0 || at.Hour() == 3 && r.IntN(4) == 0 {
			b.Test = beacon.SpeedTest{DownMbps: float32(r.IntN(250)), UpMbps: float32(r.IntN(30)), LatencyMs: float32(1 + r.IntN(90))}
		}
		h.beats = append(h.beats, b)
	}
}

func (h *history) makePlaces(t testing.TB) {
	r := h.r
	var hotspot beacon.Hotspot
	randomHours := func() *beacon.OperatingHours {
		if r.IntN(3) == 0 {
			return nil
		}
		zones := []string{"UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Europe/Berlin"}
		return &beacon.OperatingHours{
			Timezone: zones[r.IntN(len(zones))],
			Weekly: []beacon.WeeklySpan{
				{Days: []beacon.Weekday{"mon", "wed", "thu", "sat"}, Open: r.IntN(600), Close: 600 + r.IntN(800)},
				{Days: []beacon.Weekday{"tue", "sun"}, Open: 900 + r.IntN(500), Close: r.IntN(400)},
			},
			Exceptions: []beacon.HoursException{{Date: h.start.AddDate(0, 0, 1).Format(time.DateOnly), Closed: true}},
		}
	}
	hotspot.Settings.OperatingHours = randomHours()
	active := h.start.AddDate(0, 0, -r.IntN(40))
	if r.IntN(2) == 0 {
		active = h.start.Add(time.Duration(r.Int64N(int64(h.end.Sub(h.start)))))
	}
	if active.After(h.start) {
		h.places = append(h.places, place{h.start, hotspot})
	}
	hotspot.Location.VerifiedAt, hotspot.Device.LinkedAt = active, active.Add(-time.Hour)
	h.places = append(h.places, place{active, hotspot})
	at := active
	for r.IntN(4) > 0 {
		at = at.Add(time.Duration(r.Int64N(int64(48 * time.Hour))))
		if at.Before(h.start) {
			at = h.start
		}
		if !at.Before(h.end) {
			break
		}
		if r.IntN(2) == 0 {
			changeService(r, &hotspot, at)
			h.places = append(h.places, place{at, hotspot})
			continue
		}
		hotspot.PastHours = append(hotspot.PastHours[:len(hotspot.PastHours):len(hotspot.PastHours)], beacon.PastHours{Until: at, Hours: hotspot.Settings.OperatingHours})
		hotspot.Settings.OperatingHours = randomHours()
		h.places = append(h.places, place{at, hotspot})
	}
}

// changeService takes the device off, puts another in its place, or one on.
func changeService(r *rand.Rand, hotspot *beacon.Hotspot, at time.Time) {
	if since := hotspot.ActiveSince(); !since.IsZero() {
		hotspot.PastService = append(hotspot.PastService[:len(hotspot.PastService):len(hotspot.PastService)], beacon.Period{From: since, Until: at})
		if r.IntN(2) == 0 {
			hotspot.Device.LinkedAt = time.Time{}
			return
		}
	}
	hotspot.Device.LinkedAt = at
}

// tell makes an oracle know what the owner did.
func (o *oracle) tell(t testing.TB, h beacon.Hotspot) {
	t.Helper()
	o.active, o.periods = h.ActiveSince(), h.PastService
	o.hours = nil
	from := time.Time{}
	add := func(hours *beacon.OperatingHours) {
		s, err := hours.Schedule()
		if err != nil {
			t.Fatal(err)
		}
		o.hours = append(o.hours, inForce{from, s})
	}
	for _, past := range h.PastHours {
		add(past.Hours)
		from = past.Until
	}
	add(h.Settings.OperatingHours)
	clear(o.expects)
}
