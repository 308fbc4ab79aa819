package review

import (
	"math/bits"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// What real devices and honest operators do at most. A hotspot beyond one of these limits
// is flagged; docs/trust.md says how many of New York are beyond each.
const (
	// boots is how often a device boots on a day if it restarts every quarter of an hour.
	// More often is flagged.
	boots = 96
	// An access point without clients carries at most idleBytes in an hour. More is flagged
	// if it happens in idleHours hours of a day.
	idleBytes = 100_000_000
	idleHours = 3
	// The traffic of a real device is never the same, to a hundredth, in steadyHours hours
	// of a day.
	steadyHours = 12
	// sameTests speed tests of a real device never have the same figures.
	sameTests = 4
	// A real device does not go off and on at regular intervals equalOutages times a day.
	equalOutages = 8
	// A real device sends a heartbeat in at least sparse tenths of the minutes that it
	// serves. That is checked if it serves at least sparseFrom minutes.
	sparse     = 4
	sparseFrom = 600
	// A place that is open at all is open for at least openAWeek minutes a week.
	openAWeek = 7 * 60
	// Nobody unlinks a device less than linkedBriefly after it was linked, linkedAgain times
	// within linkedDays days.
	linkedBriefly = time.Hour
	linkedAgain   = 2
	linkedDays    = 3
	// Someone who is new to registering registers a device fewer than registeredAgain times
	// within registeredWithin days.
	registeredAgain  = 3
	registeredWithin = 30
	// addresses is how many addresses a device sends from on a day if it switches between
	// lines, or gets a new address every few hours. More are flagged.
	addresses = 5
	// grown is how many times the usual radius of its type a hotspot reaches at most.
	grown = 2
)

// weights order the queue: the higher, the harder to explain.
var weights = map[beacon.FlagKind]int{
	beacon.InterleavedBoots: 90, beacon.ManyAddresses: 88, beacon.AboveBandwidth: 85, beacon.AcrossAccounts: 82, beacon.OneAddress: 78, beacon.CloseTogether: 80, beacon.RingAroundVisit: 75, beacon.MACAgain: 70,
	beacon.TooRegular: 65, beacon.NoClients: 60, beacon.ManyBoots: 55, beacon.LinkedAgain: 50, beacon.ShortHours: 45,
	beacon.SparseBeats: 40, beacon.RadiusGrown: 20,
}

type facts = map[string]int64

// Case is what is known of a hotspot on a day.
type Case struct {
	beacon.Hotspot
	heartbeat.Traits
	Heard bool // it has traits

	From      int64 // the hash of the address that the device sends from; 0: not known
	Network   int64 // that of its network
	Addresses int   // from how many it is known to have sent on the day
}

func flag(hotspot beacon.HotspotID, operator beacon.UserID, day beacon.Day, kind beacon.FlagKind, f facts) beacon.Flag {
	return beacon.Flag{Hotspot: hotspot, Operator: operator, Kind: kind, Weight: weights[kind], Facts: f, First: day, Last: day}
}

// rules are what a hotspot is flagged for by itself. Each returns its facts, or nil.
var rules = []struct {
	kind  beacon.FlagKind
	heard bool // it is about traits
	facts func(*Case, beacon.Day) facts
}{
	{beacon.InterleavedBoots, true, (*Case).interleaved},
	{beacon.ManyAddresses, true, (*Case).manyAddresses},
	{beacon.AboveBandwidth, true, (*Case).aboveBandwidth},
	{beacon.TooRegular, true, (*Case).tooRegular},
	{beacon.NoClients, true, (*Case).noClients},
	{beacon.ManyBoots, true, (*Case).manyBoots},
	{beacon.SparseBeats, true, (*Case).sparseBeats},
	{beacon.LinkedAgain, false, (*Case).linkedAgain},
	{beacon.ShortHours, false, (*Case).shortHours},
	{beacon.RadiusGrown, false, (*Case).radiusGrown},
}

// flags returns what the hotspot is flagged for by itself.
func (c *Case) flags(day beacon.Day) (flags []beacon.Flag) {
	for _, rule := range rules {
		if rule.heard && !c.Heard || !rule.heard && c.Deleted() {
			continue
		}
		if f := rule.facts(c, day); f != nil {
			flags = append(flags, flag(c.ID, c.Operator, day, rule.kind, f))
		}
	}
	return flags
}

func (c *Case) interleaved(beacon.Day) facts {
	if c.Overlaps == 0 {
		return nil
	}
	return facts{"boots": int64(c.Boots), "overlapping_boots": int64(c.Overlaps)}
}

func (c *Case) manyAddresses(beacon.Day) facts {
	if c.Addresses <= addresses {
		return nil
	}
	return facts{"addresses": int64(c.Addresses)}
}

func (c *Case) manyBoots(beacon.Day) facts {
	if c.Boots <= boots {
		return nil
	}
	return facts{"boots": int64(c.Boots)}
}

// aboveBandwidth compares the traffic of an hour with what the hotspot can carry in both
// directions.
func (c *Case) aboveBandwidth(beacon.Day) facts {
	const bytesAnHour = 2 * 3600 * 1e6 / 8 // at 1 Mbit/s
	limit, most, hours := c.Settings.BandwidthLimitMbps*bytesAnHour, uint64(0), int64(0)
	for _, bytes := range c.Bytes {
		if most = max(most, bytes); float64(bytes) > limit {
			hours++
		}
	}
	if hours == 0 {
		return nil
	}
	return facts{"hours": hours, "most_bytes_an_hour": int64(min(most, 1<<62)), "bandwidth_limit_mbps": int64(c.Settings.BandwidthLimitMbps)}
}

func (c *Case) noClients(beacon.Day) facts {
	hours, total := int64(0), uint64(0)
	for hour, bytes := range c.Bytes {
		if bytes > idleBytes && c.Clients[hour] == 0 {
			hours++
			total += bytes
		}
	}
	if hours < idleHours {
		return nil
	}
	return facts{"hours": hours, "bytes": int64(min(total, 1<<62))}
}

// tooRegular looks for figures that stay the same, and outages by the clock.
func (c *Case) tooRegular(beacon.Day) facts {
	f := facts{}
	if n := c.steady(); n >= steadyHours {
		f["hours_of_equal_traffic"] = int64(n)
	}
	if n := c.equalTests(); n >= sameTests {
		f["equal_speed_tests"] = int64(n)
	}
	if n := countEqualOutages(&c.Served); n >= equalOutages {
		f["equal_outages"] = int64(n)
	}
	if len(f) == 0 {
		return nil
	}
	return f
}

// steady returns how many whole hours were served, if the traffic of all of them is the
// same to a hundredth, and 0 otherwise.
func (c *Case) steady() (hours int) {
	low, high := ^uint64(0), uint64(0)
	for hour, bytes := range c.Bytes {
		if servedIn(&c.Served, hour*60, 60) == 60 {
			hours++
			low, high = min(low, bytes), max(high, bytes)
		}
	}
	if high == 0 || high-min(low, high) > high/100 {
		return 0
	}
	return hours
}

// equalTests returns how many tests there are, if all are equal, and 0 otherwise.
func (c *Case) equalTests() int {
	for _, test := range c.Tests {
		if test != c.Tests[0] {
			return 0
		}
	}
	return len(c.Tests)
}

// servedIn counts the minutes served of some.
func servedIn(served *beacon.Minutes, from, count int) (n int) {
	for m := from; m < from+count; m++ {
		n += int(served[m/64] >> (m % 64) & 1)
	}
	return n
}

// countEqualOutages returns how often the hotspot was away, if all outages and all times
// between them are equally long, give or take a minute, and 0 otherwise. The first and last
// of the day are left out: midnight cuts them.
func countEqualOutages(served *beacon.Minutes) (away int) {
	var runs [2][]int // of minutes away and served
	was, length := -1, 0
	for m := range beacon.MinutesADay {
		is := int(served[m/64] >> (m % 64) & 1)
		if is != was {
			if was >= 0 {
				runs[was] = append(runs[was], length)
			}
			was, length = is, 0
		}
		length++
	}
	for _, of := range runs {
		if len(of) <= equalOutages {
			return 0
		}
		for _, n := range of[2:] {
			if n < of[1]-1 || n > of[1]+1 {
				return 0
			}
		}
	}
	return len(runs[0])
}

func (c *Case) sparseBeats(beacon.Day) facts {
	served := 0
	for _, word := range c.Served {
		served += bits.OnesCount64(word)
	}
	if !c.Counted || served < sparseFrom || c.Beats*10 >= served*sparse {
		return nil
	}
	return facts{"heartbeats": int64(c.Beats), "minutes_served": int64(served)}
}

func (c *Case) linkedAgain(day beacon.Day) facts {
	times := int64(0)
	for _, p := range c.PastService {
		if p.Until.Sub(p.From) < linkedBriefly && beacon.DayOf(p.Until) > day-linkedDays {
			times++
		}
	}
	if times < linkedAgain {
		return nil
	}
	return facts{"times": times}
}

func (c *Case) shortHours(day beacon.Day) facts {
	if c.Settings.OperatingHours == nil || c.ActiveSince().IsZero() {
		return nil
	}
	hours, err := c.Settings.OperatingHours.Schedule()
	if err != nil {
		return nil // a time zone that is gone
	}
	open := 0
	for d := range beacon.Day(7) {
		for _, word := range hours.OpenMask(day - d) {
			open += bits.OnesCount64(word)
		}
	}
	if open == 0 || open >= openAWeek {
		return nil // one that is closed for long earns nothing
	}
	return facts{"minutes_a_week": int64(open)}
}

func (c *Case) radiusGrown(beacon.Day) facts {
	usual := beacon.Settings{}.CoverageRadius(c.Type)
	if is := c.Settings.CoverageRadiusM; is > grown*usual {
		return facts{"coverage_radius_m": int64(is), "usual_m": int64(usual)}
	}
	return nil
}
