package heartbeat_test

import (
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/beacon/beacontest"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// oracle keeps every beat and counts from scratch, by the definitions of N14,
// N16 and X3. It shares no code with what it judges.
type oracle struct {
	beats   map[[2]uint64]heartbeat.Beat
	spans   []heartbeat.Span
	active  time.Time       // zero: pending
	periods []beacon.Period // in service before
	hours   []inForce

	ups     []bool // minutes with a beat
	expects []int8 // memo of verdict
	most    map[bootHour]uint64
	peaks   map[int64]int
	tested  map[[2]uint64]heartbeat.Beat // those with a speed test
}

type bootHour struct {
	boot uint64
	hour int64
}

// horizon is how many minutes an oracle can count.
const horizon = 450 * 1440

// epoch is when it begins to.
var epoch = time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC).Unix() / 60

// inForce is hours from a time on.
type inForce struct {
	from  time.Time
	hours beacon.Schedule
}

func newOracle() *oracle {
	return &oracle{
		beats: map[[2]uint64]heartbeat.Beat{}, hours: []inForce{{}},
		ups: make([]bool, horizon), expects: make([]int8, horizon),
		most: map[bootHour]uint64{}, peaks: map[int64]int{}, tested: map[[2]uint64]heartbeat.Beat{},
	}
}

func (o *oracle) add(b heartbeat.Beat) (fresh bool) {
	_, known := o.beats[[2]uint64{b.Boot, b.Seq}]
	o.beats[[2]uint64{b.Boot, b.Seq}] = b
	o.ups[b.At/60e6-epoch] = true
	if b.Test.LatencyMs > 0 {
		o.tested[[2]uint64{b.Boot, b.Seq}] = b
	}
	hour := b.At / 3600e6
	o.most[bootHour{b.Boot, hour}] = max(o.most[bootHour{b.Boot, hour}], b.Bytes)
	o.peaks[hour] = max(o.peaks[hour], b.Clients)
	return !known
}

func (o *oracle) served(minute int64) bool {
	return slices.Contains(o.ups[minute-3-epoch:minute+1-epoch], true)
}

// The answers of verdict; 0 is not asked yet.
const (
	expected int8 = iota + 1
	closed
	excused
	outside
)

// verdict says whether a minute was expected, and why not.
func (o *oracle) verdict(minute int64) int8 {
	memo := &o.expects[minute-epoch]
	if *memo != 0 {
		return *memo
	}
	switch {
	case !o.inService(minute):
		*memo = outside
	case !o.open(minute):
		*memo = closed
	case o.excused(minute):
		*memo = excused
	default:
		*memo = expected
	}
	return *memo
}

// inService reports whether any moment of a minute was.
func (o *oracle) inService(minute int64) bool {
	from, until := time.Unix(minute*60, 0), time.Unix(minute*60+60, 0)
	if !o.active.IsZero() && o.active.Before(until) {
		return true
	}
	return slices.ContainsFunc(o.periods, func(p beacon.Period) bool { return p.From.Before(until) && p.Until.After(from) })
}

// rewarded is what was carried in from..to, both included, in hours of which at
// least one of these minutes was open: in service, and not closed.
func (o *oracle) rewarded(from, to int64) (bytes uint64) {
	open := map[int64]bool{}
	for m := from; m <= to; m++ {
		if verdict := o.verdict(m); verdict == expected || verdict == excused {
			open[m/60] = true
		}
	}
	for hour := range open {
		bytes += o.carried(hour)
	}
	return bytes
}

// facts counts from..to, both included, but for bytes and the tier.
func (o *oracle) facts(from, to int64) (f beacon.Facts) {
	for m := from; m <= to; m++ {
		switch o.verdict(m) {
		case closed:
			f.Closed++
		case excused:
			f.Excused++
		case outside:
			f.Outside++
		default:
			f.Expected++
			if o.served(m) {
				f.Served++
			}
		}
	}
	return f
}

func (o *oracle) open(minute int64) bool {
	at := time.Unix(minute*60, 0)
	i := len(o.hours) - 1
	for o.hours[i].from.After(at) {
		i--
	}
	return beacontest.IsOpen(o.hours[i].hours, at)
}

func (o *oracle) excused(minute int64) bool {
	for m := minute - 3; m <= minute; m++ {
		if len(o.spans) > 0 && m >= int64(o.spans[0].From) && !slices.ContainsFunc(o.spans, func(s heartbeat.Span) bool {
			return m >= int64(s.From) && m <= int64(s.To)
		}) {
			return true
		}
	}
	return false
}

// uptime counts from..to, both included, for a hotspot that is in service now.
func (o *oracle) uptime(from, to int64) (served, expected int) {
	if o.active.IsZero() {
		return 0, 0
	}
	f := o.facts(from, to)
	return f.Served, f.Expected
}

// carried is what all boots carried in an hour since 1970.
func (o *oracle) carried(hour int64) (bytes uint64) {
	upTo, before := map[uint64]uint64{}, map[uint64]uint64{}
	for at, bytes := range o.most {
		if at.hour <= hour {
			upTo[at.boot] = max(upTo[at.boot], bytes)
		}
		if at.hour < hour {
			before[at.boot] = max(before[at.boot], bytes)
		}
	}
	for boot, most := range upTo {
		bytes += most - before[boot]
	}
	return bytes
}

func (o *oracle) peak(hour int64) int { return o.peaks[hour] }

// tierAfter is the tier that a record has of a minute: in an outage of ours, that of the
// last minute before it.
func (o *oracle) tierAfter(minute int64) beacon.Tier {
	for m := minute; m <= minute+3; m++ {
		if !o.excused(m) {
			return o.tier(minute)
		}
	}
	for o.excused(minute) {
		minute--
	}
	return o.tier(minute)
}

func (o *oracle) tier(minute int64) beacon.Tier {
	var tested []heartbeat.Beat
	for _, b := range o.tested {
		if m := b.At / 60e6; m <= minute && m >= minute-48*60 {
			tested = append(tested, b)
		}
	}
	slices.SortFunc(tested, func(a, b heartbeat.Beat) int { // the newest first
		if x, y := a.At/60e6, b.At/60e6; x != y {
			return int(y - x)
		}
		// Ties: by the low 16 bits of both names.
		tie := func(b heartbeat.Beat) int { return int(b.Seq%65536*65536 + b.Boot%65536) }
		return tie(b) - tie(a)
	})
	var tests []beacon.SpeedTest
	for _, b := range tested[:min(6, len(tested))] {
		tests = append(tests, b.Test)
	}
	return beacon.TierOf(tests)
}

func (o *oracle) signal(now int64) beacon.Signal {
	var samples []beacon.Signal
	step := now / 180
	for _, b := range o.beats {
		if s := b.At / (180 * 60e6); b.Signal != beacon.NoSignal && s <= step && s >= step-8 {
			samples = append(samples, b.Signal)
		}
	}
	if len(samples) == 0 {
		return beacon.NoSignal
	}
	slices.Sort(samples)
	return samples[len(samples)/2]
}

func (o *oracle) metrics(now time.Time) (m beacon.Metrics) {
	if len(o.beats) == 0 {
		return m
	}
	minute := now.Unix() / 60
	served, expected := o.uptime((minute/1440-29)*1440, minute)
	if served > 0 {
		m.Uptime30d = int(float64(served)/float64(expected)*10000 + 0.5)
		if served < expected {
			m.Uptime30d = min(max(m.Uptime30d, 1), 9999)
		}
	}
	for hour := minute/60 - 23; hour <= minute/60; hour++ {
		m.Bytes24h += o.carried(hour)
		m.Connections24h += o.peak(hour)
	}
	m.Tier = o.tier(minute)
	m.Signal = o.signal(minute)
	var newest *heartbeat.Beat
	for _, b := range o.beats {
		if newest == nil || b.At > newest.At {
			newest = &b
		}
	}
	m.Clients, m.Seen = newest.Clients, time.UnixMicro(newest.At).UTC()
	return m
}
