package simulate

import "time"

// Kinds of places with their own rhythm: the three types of hotspot, and others.
const (
	Home     = home
	Business = business
	Public   = public
	Street   = "street"
	Station  = "station"
	Library  = "library"
	Park     = "park"
)

// rhythm is a fraction of a place's usual crowd for each hour of the day.
type rhythm struct{ weekday, weekend [24]float64 }

var rhythms = map[string]*rhythm{
	home: {
		weekday: [24]float64{.4, .2, .1, .1, .1, .2, .5, .8, .6, .4, .3, .3, .4, .4, .4, .5, .7, .9, 1.1, 1.3, 1.4, 1.3, 1, .7},
		weekend: [24]float64{.6, .4, .2, .1, .1, .1, .2, .4, .7, .9, 1, 1, 1, 1, 1, 1, 1, 1.1, 1.2, 1.3, 1.3, 1.2, 1, .8},
	},
	business: {
		weekday: [24]float64{0, 0, 0, 0, 0, .1, .3, .7, 1, 1.1, 1.2, 1.3, 1.5, 1.4, 1.1, 1, 1, 1.1, .9, .6, .4, .2, .1, 0},
		weekend: [24]float64{.1, 0, 0, 0, 0, 0, .1, .2, .5, .8, 1, 1.1, 1.1, 1, .9, .8, .7, .6, .5, .4, .3, .2, .1, .1},
	},
	public: {
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
var usualCrowd = map[string]float64{home: 4, business: 14, public: 32}

// eastern is the time zone of all places. Daylight saving makes no difference worth
// the trouble here.
var eastern = time.FixedZone("EST", -5*3600)

// crowdAt returns the fraction of the usual crowd at a time, without a jump on the
// hour.
func crowdAt(kind string, now time.Time) float64 {
	local := now.In(eastern)
	rhythm := rhythms[kind]
	at := func(t time.Time) float64 {
		if day := t.Weekday(); day == time.Saturday || day == time.Sunday {
			return rhythm.weekend[t.Hour()]
		}
		return rhythm.weekday[t.Hour()]
	}
	part := float64(local.Minute()*60+local.Second()) / 3600
	return at(local)*(1-part) + at(local.Add(time.Hour))*part
}
