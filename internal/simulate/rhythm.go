package simulate

import (
	"math"
	"time"

	"github.com/beacon-wifi/beacon/client"
)

// Kinds of places with their own rhythm: the three types of hotspot, and others.
const (
	Home     = string(client.Home)
	Business = string(client.Business)
	Public   = string(client.Public)
	Street   = "street"
	Station  = "station"
	Library  = "library"
	Park     = "park"
)

// rhythm is a fraction of a place's usual crowd for each hour of the day.
type rhythm struct{ weekday, weekend [24]float64 }

var rhythms = map[string]*rhythm{
	Home: {
		weekday: [24]float64{.4, .2, .1, .1, .1, .2, .5, .8, .6, .4, .3, .3, .4, .4, .4, .5, .7, .9, 1.1, 1.3, 1.4, 1.3, 1, .7},
		weekend: [24]float64{.6, .4, .2, .1, .1, .1, .2, .4, .7, .9, 1, 1, 1, 1, 1, 1, 1, 1.1, 1.2, 1.3, 1.3, 1.2, 1, .8},
	},
	Business: {
		weekday: [24]float64{0, 0, 0, 0, 0, .1, .3, .7, 1, 1.1, 1.2, 1.3, 1.5, 1.4, 1.1, 1, 1, 1.1, .9, .6, .4, .2, .1, 0},
		weekend: [24]float64{.1, 0, 0, 0, 0, 0, .1, .2, .5, .8, 1, 1.1, 1.1, 1, .9, .8, .7, .6, .5, .4, .3, .2, .1, .1},
	},
	Public: {
		weekday: [24]float64{.1, .1, 0, 0, 0, .1, .3, .8, 1.1, .9, .8, .9, 1.2, 1.2, 1, 1.1, 1.3, 1.5, 1.2, .8, .6, .4, .3, .2},
		weekend: [24]float64{.2, .1, .1, 0, 0, 0, .1, .3, .6, 1, 1.3, 1.5, 1.6, 1.7, 1.7, 1.6, 1.4, 1.2, 1, .8, .6, .5, .4, .3},
	},
	Street: {
		weekday: [24]float64{.4, .3, .2, .1, .1, .2, .5, .9, 1.2, 1.1, 1.1, 1.2, 1.4, 1.4, 1.3, 1.3, 1.4, 1.6, 1.6, 1.4, 1.2, 1, .8, .6},
		weekend: [24]float64{.8, .7, .5, .3, .2, .1, .2, .3, .6, .9, 1.2, 1.4, 1.5, 1.6, 1.6, 1.6, 1.5, 1.5, 1.5, 1.4, 1.3, 1.3, 1.2, 1},
	},
	Station: {
		weekday: [24]float64{.2, .1, .1, .1, .1, .4, 1.2, 2.3, 2.6, 1.5, .9, .8, .9, .9, 1, 1.3, 2, 2.7, 2.2, 1.3, .9, .7, .5, .3},
		weekend: [24]float64{.4, .3, .2, .1, .1, .1, .3, .4, .7, .9, 1.1, 1.2, 1.3, 1.3, 1.3, 1.3, 1.3, 1.2, 1.1, 1, .9, .8, .7, .5},
	},
	Library: {
		weekday: [24]float64{0, 0, 0, 0, 0, 0, 0, .1, .3, .8, 1.3, 1.5, 1.6, 1.6, 1.6, 2, 2.1, 1.7, 1.1, .4, .1, 0, 0, 0},
		weekend: [24]float64{0, 0, 0, 0, 0, 0, 0, 0, .1, .4, 1.4, 1.8, 2, 2, 1.9, 1.6, 1.1, .4, .1, 0, 0, 0, 0, 0},
	},
	Park: {
		weekday: [24]float64{.1, 0, 0, 0, 0, .1, .3, .6, .8, .8, .8, .9, 1.2, 1.3, 1.1, 1.2, 1.5, 1.7, 1.5, 1, .6, .4, .3, .1},
		weekend: [24]float64{.1, .1, 0, 0, 0, .1, .2, .5, .9, 1.5, 2, 2.4, 2.6, 2.8, 2.8, 2.6, 2.3, 1.9, 1.4, .9, .6, .4, .3, .2},
	},
}

// usualCrowd is the mean number of clients by type of place.
var usualCrowd = map[string]float64{Home: 4, Business: 14, Public: 32}

// eastern is the time zone of all places, in seconds. Daylight saving makes no difference
// worth the trouble here.
const eastern = -5 * 3600

// at returns the fraction of the usual crowd at a time, without a jump on the hour. It is
// asked millions of times for a history, so it counts hours itself.
func (r *rhythm) at(now epoch) float64 {
	local := int64(now/time.Second) + eastern
	part := float64(local%3600) / 3600
	return r.in(local/3600)*(1-part) + r.in(local/3600+1)*part
}

// in returns the fraction at the beginning of an hour since 1970.
func (r *rhythm) in(hour int64) float64 {
	if day := time.Weekday((hour/24 + int64(time.Thursday)) % 7); day == time.Saturday || day == time.Sunday {
		return r.weekend[hour%24]
	}
	return r.weekday[hour%24]
}

// chance is a random number generator of eight bytes. Every device has its own, so
// that the order in which devices are asked does not matter.
type chance uint64

// chanceOf returns the generator for one of many things made from a seed.
func chanceOf(seed, number uint64) chance {
	c := chance(seed)
	return chance(c.next() ^ number*0x9e3779b97f4a7c15)
}

// next is SplitMix64.
func (c *chance) next() uint64 {
	*c += 0x9e3779b97f4a7c15
	z := uint64(*c)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// unit returns a number in [0, 1).
func (c *chance) unit() float64 { return float64(c.next()>>11) / (1 << 53) }

// between returns a number between two bounds.
func (c *chance) between(low, high float64) float64 { return low + c.unit()*(high-low) }

// one returns a number in [0, n).
func (c *chance) one(n int) int { return int(c.next() % uint64(n)) }

// normal returns a number around 0, mostly between -1 and 1: a sum of a few uniform
// numbers is near enough.
func (c *chance) normal() float64 {
	return (c.unit() + c.unit() + c.unit() + c.unit() - 2) * math.Sqrt(3)
}

// after returns the time until the next of events that happen once in mean, on
// average.
func (c *chance) after(mean time.Duration) time.Duration {
	return time.Duration(-math.Log(1-c.unit()) * float64(mean))
}

// pick returns one of several things.
func pick[T any](c *chance, from []T) T { return from[c.one(len(from))] }

// Stretch is past heartbeats of a device, one a minute, within one hour.
type Stretch struct {
	Beat  // the last one, with the most clients at once
	Last  time.Time
	Count int
}

// Live simulates the device from one minute until before another, and calls each with
// its heartbeats, by the hour: what Beat would have returned minute by minute, apart
// from chance. Afterwards the device continues from there. Times must not go back.
func (d *Device) Live(from, until time.Time, each func(Stretch)) {
	end := epochOf(until)
	for now := epochOf(from); now < end; {
		if !d.works(now) {
			now = d.downUntil.Truncate(time.Minute) + time.Minute
			continue
		}
		left := min(time.Hour-now%time.Hour, d.failsAt-now, end-now)
		count := max(1, int((left+time.Minute-1)/time.Minute))
		each(d.stretch(now, count))
		now += time.Duration(count) * time.Minute
	}
}

// stretch returns count heartbeats from a minute on.
func (d *Device) stretch(first epoch, count int) Stretch {
	second := d.testsAt % time.Minute // when in a minute the device sends
	long := time.Duration(count) * time.Minute
	last := first + long - time.Minute + second
	usual := d.character.Crowd * d.rhythm.at(first+d.character.East+long/2)
	clients := max(0, int(math.Round(usual*(1.2+0.3*d.chance.normal()))))
	moved := usual * d.character.Appetite * float64(count) * 60 * d.chance.between(0.7, 1.3)
	return Stretch{d.report(last, count, clients, moved), time.Unix(0, int64(last)).UTC(), count}
}
