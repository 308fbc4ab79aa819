package openfeeds

import (
	"context"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Traffic calls each with the bytes that each hotspot carried on a UTC day, homes too, and
// reports whether all of the day is known.
type Traffic func(ctx context.Context, day beacon.Day, each func(beacon.HotspotID, uint64)) (known bool, err error)

const (
	// leastCarrying is how many hotspots must have carried something on a day for it to
	// count: the traffic of each is for its owner and staff.
	leastCarrying = 5
	// mostADay is what a line of 1 Gbit/s carries on a day. What devices report beyond it is
	// not believed.
	mostADay = 10e12
	// trafficTime is how long the database may take. What it has returned until then is kept.
	trafficTime = 5 * time.Second
)

// totals is what the network is in a few figures.
type totals struct {
	Network     string `json:"network,omitempty"`
	License     string `json:"license,omitempty"`
	Attribution string `json:"attribution,omitempty"`

	Hotspots int           `json:"hotspots"`
	Online   int           `json:"online"`
	Traffic  *monthTraffic `json:"traffic"`
	Rewards  bool          `json:"rewards"`
}

type monthTraffic struct {
	Month beacon.Month `json:"month"`
	GB    float64      `json:"gb"`
}

// totals serves the figures of the network. All are of the hotspots that feeds show.
func (f *Feeds) totals(w http.ResponseWriter, r *http.Request) error {
	e, who := f.editions.current(), f.who()
	return writeJSON(w, r, totals{
		Network: who.Name, License: who.License, Attribution: who.Attribution,
		Hotspots: len(e.items), Online: e.online, Traffic: f.traffic.of(f.stopping, e).shown(), Rewards: !f.noRewards(),
	})
}

// traffic adds up what the hotspots that feeds show carried in the month of yesterday.
type traffic struct {
	read   Traffic // nil: nothing is known
	latest atomic.Pointer[carried]
	adding sync.Mutex
}

// carried is the traffic of the days of a month, up to one. It never changes.
type carried struct {
	at   time.Time // of the edition for which it was asked
	upto beacon.Day
	days map[beacon.Day]float64 // bytes, of the days that are known
}

// of returns the traffic as of an edition. It asks for each day once, when it is over, and
// again at the next edition as long as it is not known.
func (t *traffic) of(ctx context.Context, e *edition) *carried {
	upto := beacon.DayOf(e.at) - 1
	fresh := func(last *carried) bool {
		return last.upto == upto && (last.at.Equal(e.at) || len(last.days) == int(upto-upto.Month().First())+1)
	}
	return renew(&t.latest, &t.adding, fresh, func() *carried {
		next := &carried{at: e.at, upto: upto, days: map[beacon.Day]float64{}}
		if last := t.latest.Load(); last != nil && last.upto.Month() == upto.Month() {
			next.days = maps.Clone(last.days)
		}
		ctx, cancel := context.WithTimeout(ctx, trafficTime)
		defer cancel()
		for day := upto.Month().First(); t.read != nil && day <= upto; day++ {
			if _, known := next.days[day]; known {
				continue
			}
			bytes, known := t.on(ctx, e, day)
			if !known {
				break
			}
			next.days[day] = bytes
		}
		return next
	})
}

// on returns what the hotspots of an edition carried on a day.
func (t *traffic) on(ctx context.Context, e *edition, day beacon.Day) (bytes float64, known bool) {
	carrying := 0
	known, err := t.read(ctx, day, func(id beacon.HotspotID, n uint64) {
		if _, shown := e.find(string(id)); shown && n > 0 {
			carrying++
			bytes += min(float64(n), mostADay)
		}
	})
	if carrying < leastCarrying {
		bytes = 0
	}
	return bytes, known && err == nil
}

// shown returns the traffic in two digits, or nil if there was none.
func (c *carried) shown() *monthTraffic {
	sum := 0.0
	for day := c.upto.Month().First(); day <= c.upto; day++ { // in order: sums of floats depend on it
		sum += c.days[day]
	}
	if sum == 0 {
		return nil
	}
	return &monthTraffic{c.upto.Month(), inTwoDigits(sum / 1e9)}
}
