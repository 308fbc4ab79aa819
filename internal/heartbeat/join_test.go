package heartbeat

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// part makes a record of a day out of some of its beats, decided to a minute by
// someone who knows of some outages, and of some of what its owner did.
func part(r *rand.Rand, beats []Beat, day beacon.Day) *Record {
	service := NewOutages()
	down := day.Midnight() + beacon.Minute(r.IntN(1440))
	service.Set([]Span{{0, down}, {down + beacon.Minute(r.IntN(200)), beacon.LastMinute}})
	table := NewTable(service)
	var h beacon.Hotspot
	h.Location.VerifiedAt, h.Device.LinkedAt = day.Time().AddDate(0, 0, -3), day.Time().AddDate(0, 0, -3)
	if r.IntN(2) == 0 {
		h.PastService = []beacon.Period{{From: h.Device.LinkedAt, Until: day.Time().Add(time.Duration(r.IntN(1000)) * time.Minute)}}
		h.Device.LinkedAt = day.Time().Add(time.Duration(r.IntN(1440)) * time.Minute)
	}
	if r.IntN(2) == 0 {
		h.Settings.OperatingHours = &beacon.OperatingHours{Timezone: "UTC", Weekly: []beacon.WeeklySpan{
			{Days: []beacon.Weekday{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, Open: r.IntN(700), Close: 700 + r.IntN(700)},
		}}
	}
	l := table.Place(nil, h)
	for _, b := range beats {
		if r.IntN(2) == 0 {
			table.Apply(l, &b)
		}
	}
	minute := r.IntN(1500)
	if r.IntN(3) == 0 {
		minute = r.IntN(5) // the day before is hardly over
	}
	records := table.FoldNow(l, nil, day.Time().Add(time.Duration(minute)*time.Minute))
	for _, record := range records {
		if record.day == day {
			return record
		}
	}
	return &Record{day: day}
}

func join(a, b *Record) *Record {
	out := a.copy()
	out.join(b)
	return out
}

// minuteByMinute counts the facts one by one: outside before closed, closed
// before excused; and the bytes of each hour with the first minute of it that is
// neither outside nor closed.
func minuteByMinute(r *Record) beacon.Facts {
	f := beacon.Facts{Tier: r.Tier()}
	paid := map[int]bool{}
	for m := range r.decided {
		has := func(d *dayBits) bool { return d[m/64]>>(m%64)&1 != 0 }
		if hour := m / 60; !has(&r.why.outside) && !has(&r.why.closed) && !paid[hour] {
			paid[hour] = true
			for _, b := range r.boots {
				before := b.base
				if hour > 0 {
					before = b.upTo[hour-1]
				}
				f.Bytes += b.upTo[hour] - before
			}
		}
		switch {
		case has(&r.why.outside):
			f.Outside++
		case has(&r.why.closed):
			f.Closed++
		case has(&r.why.excused):
			f.Excused++
		default:
			f.Expected++
			if has(&r.served) {
				f.Served++
			}
		}
	}
	return f
}

func TestRecord_JoinIsALattice(t *testing.T) {
	level.Repeats(t)
	day := beacon.Day(20_772)
	differ := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 12))
		var beats []Beat
		for i := range 300 {
			b := Beat{At: int64(day-1)*86_400e6 + r.Int64N(2*86_400e6)}
			b.Heartbeat = beacon.Heartbeat{Boot: r.Uint64N(4), Seq: uint64(i), Bytes: r.Uint64N(1e9), Clients: r.IntN(9), Signal: beacon.Signal(r.IntN(5))}
			if r.IntN(4) == 0 {
				b.Test = beacon.SpeedTest{DownMbps: float32(r.IntN(200)), UpMbps: float32(r.IntN(20)), LatencyMs: float32(1 + r.IntN(80))}
			}
			beats = append(beats, b)
		}
		a, b, c := part(r, beats, day), part(r, beats, day), part(r, beats, day)
		same := func(law string, x, y *Record) {
			if p, q := x.Append(nil), y.Append(nil); !bytes.Equal(p, q) {
				t.Fatalf("seed %d: %s\n%x\n%x", seed, law, p, q)
			}
		}
		same("a⊔b = b⊔a", join(a, b), join(b, a))
		same("(a⊔b)⊔c = a⊔(b⊔c)", join(join(a, b), c), join(a, join(b, c)))
		same("a⊔a = a", join(a, a), a)
		same("(a⊔b)⊔a = a⊔b", join(join(a, b), a), join(a, b))
		if !bytes.Equal(join(a, b).Append(nil), a.Append(nil)) {
			differ++
		}
		if got, want := join(a, b).Facts(), minuteByMinute(join(a, b)); got != want {
			t.Fatalf("seed %d: facts %+v; want %+v", seed, got, want)
		}
	}
	if differ < 30 {
		t.Errorf("in only %d cases a join changed anything", differ)
	}
}
