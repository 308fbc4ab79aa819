//go:build linux

package torture_test

import (
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// misfortunes plans what goes wrong on our side: one thing after the other.
func (y *year) misfortunes(servers int) {
	const hour = harness.Minute(60)
	kinds := []func(m harness.Minute) harness.Minute{
		func(m harness.Minute) harness.Minute { return y.outage(m, 1) },
		func(m harness.Minute) harness.Minute { return y.outage(m, y.between(2, 10)) },
		func(m harness.Minute) harness.Minute { return y.outage(m, y.between(10, 5*hour)) },
		func(m harness.Minute) harness.Minute { // when the day before is being closed
			return y.outage(m-m%minutesADay+minutesADay+y.between(5, 20), y.between(1, 30))
		},
		func(m harness.Minute) harness.Minute { return y.outage(m, y.between(20*hour, 30*hour)) },
		func(m harness.Minute) harness.Minute { // starts twice before its clock is believed
			return y.outage(y.outage(m, y.between(24*hour, 50*hour))+y.between(6, 60), y.between(1, 30))
		},
		// In the time that a clock is ahead it is not believed (D90).
		func(m harness.Minute) harness.Minute { return y.wrongClock(m, y.between(20, 55), 24*hour) },
		func(m harness.Minute) harness.Minute {
			return y.wrongClock(m, y.between(20, 7*hour), y.between(2, 4)*24*hour)
		},
		func(m harness.Minute) harness.Minute { return y.wrongClock(m, y.between(20, 24*hour), 365*24*hour) },
	}
	if servers > 1 {
		kinds = []func(m harness.Minute) harness.Minute{kinds[2], kinds[3], y.oneDown, y.oneDown}
	} else if y.end-y.first > 30*minutesADay { // staff must say what day it is
		kinds = append(kinds, func(m harness.Minute) harness.Minute { return y.outage(m, y.between(4*24*hour+1, 6*24*hour)) })
	}
	for i, m := 0, y.first+minutesADay; ; i++ {
		m += y.between(4*hour, harness.Minute(float64(8*minutesADay)/min(y.eventful, 6)))
		kind := i
		if i >= len(kinds) {
			kind = y.random.IntN(len(kinds))
		}
		// The last one is over, and confirmed by staff, when the year ends.
		if m > y.end-15*minutesADay && y.end-y.first > 20*minutesADay || m > y.end-3*minutesADay {
			return
		}
		m = kinds[kind](m) + 2*hour
	}
}

func (y *year) between(from, to harness.Minute) harness.Minute {
	return from + harness.Minute(y.random.IntN(int(to-from)))
}

// aligned does something right after the servers have recorded that they are up.
func (y *year) aligned(m harness.Minute, do func(m harness.Minute)) {
	y.agenda[m] = append(y.agenda[m], func(m harness.Minute) {
		if late := (m - y.service.servers[0].since) % y.service.marks(); late > 0 {
			y.aligned(m+y.service.marks()-late, do)
			return
		}
		do(m)
	})
}

// outage kills all servers, and starts them again later.
func (y *year) outage(m, lasts harness.Minute) (over harness.Minute) {
	y.aligned(m, func(m harness.Minute) {
		servers := len(y.service.servers)
		for range servers {
			y.service.kill(m, y.service.servers[0])
		}
		y.note(m, "outage of %d minutes", lasts)
		y.agenda[m+lasts] = append(y.agenda[m+lasts], func(m harness.Minute) {
			for range servers {
				y.service.launch(m)
			}
			if lasts > 4*minutesADay {
				y.at(m+y.between(20, 6*minutesADay), func(harness.Minute) { y.service.confirm() })
			}
		})
	})
	return m + y.service.marks() + lasts
}

// oneDown kills one of several servers: nobody notices.
func (y *year) oneDown(m harness.Minute) (over harness.Minute) {
	lasts := y.between(2, 300)
	y.aligned(m, func(m harness.Minute) {
		y.service.kill(m, y.service.servers[y.random.IntN(len(y.service.servers))])
		y.agenda[m+lasts] = append(y.agenda[m+lasts], y.service.launch)
	})
	return m + y.service.marks() + lasts
}

// wrongClock sets the clock ahead, and right again later.
func (y *year) wrongClock(m, lasts, ahead harness.Minute) (over harness.Minute) {
	y.aligned(m, func(m harness.Minute) {
		y.service.set(m, time.Duration(ahead)*time.Minute)
		y.note(m, "clock %d days ahead for %d minutes", ahead/minutesADay, lasts)
		y.aligned(m+lasts, func(m harness.Minute) {
			y.service.set(m, 0)
			y.agenda[m+y.service.notices()] = append(y.agenda[m+y.service.notices()], y.notice)
		})
	})
	return m + 2*y.service.marks() + lasts
}

// notice says that the servers have found that their clock was set right: by themselves, or
// because a heartbeat came before.
func (y *year) notice(m harness.Minute) {
	if !y.service.unnoticed {
		return
	}
	y.service.unnoticed = false
	y.service.rises(m)
	for _, h := range y.hotspots {
		h.clockRight(m)
	}
}

// note remembers what happened to everyone.
func (y *year) note(m harness.Minute, format string, args ...any) {
	for _, h := range y.hotspots {
		h.note(m, "ours: "+format, args...)
	}
}
