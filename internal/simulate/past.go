package simulate

import (
	"math"
	"strconv"
	"time"
)

// Stretch is past heartbeats of a device, one a minute, within one hour.
type Stretch struct {
	Last      time.Time // time of the last one
	Count     int
	Boot, Seq uint64 // of the last one
	Rx, Tx    uint64 // up to the last one
	Clients   int    // the most at once
	DBM       int
	Down, Up  float64 // a speed test with the last one, if not 0
	Latency   float64
}

// BootID returns the device's id of the boot.
func (s *Stretch) BootID() string { return strconv.FormatUint(s.Boot, 16) }

// Live simulates the device from one minute until before another, and calls each with
// its heartbeats, by the hour: what Beat would have returned minute by minute, apart
// from chance. Afterwards the device continues from there. Times must not go back.
func (d *Device) Live(from, until time.Time, each func(Stretch)) {
	for now := from; now.Before(until); {
		if !d.works(now) {
			now = now.Add(time.Minute).Truncate(time.Minute)
			if d.downUntil.After(now) {
				now = d.downUntil.Truncate(time.Minute).Add(time.Minute)
			}
			continue
		}
		end := now.Truncate(time.Hour).Add(time.Hour)
		if d.failsAt.Before(end) {
			end = d.failsAt
		}
		if until.Before(end) {
			end = until
		}
		count := max(1, int((end.Sub(now)+time.Minute-1)/time.Minute))
		each(d.stretch(now, count))
		now = now.Add(time.Duration(count) * time.Minute)
	}
}

// stretch returns count heartbeats from a minute on.
func (d *Device) stretch(first time.Time, count int) Stretch {
	d.last = first.Add(time.Duration(count-1)*time.Minute + d.second())
	d.seq += uint64(count)
	middle := first.Add(time.Duration(count) * time.Minute / 2)
	usual := d.crowd * crowdAt(d.kind, middle)
	clients := max(0, int(math.Round(usual*(1.2+0.3*d.chance.normal()))))
	moved := usual * d.appetite * float64(count) * 60 * d.chance.between(0.7, 1.3)
	d.tx += uint64(moved * 0.86)
	d.rx += uint64(moved * 0.14)
	s := Stretch{Last: d.last, Count: count, Boot: d.boot, Seq: d.seq, Rx: d.rx, Tx: d.tx, Clients: clients, DBM: d.hears()}
	if t, due := d.tests(d.last); due {
		s.Down, s.Up, s.Latency = t.down, t.up, t.latency
	}
	return s
}

// second returns when in a minute the device sends.
func (d *Device) second() time.Duration { return d.testsAt % time.Minute }
