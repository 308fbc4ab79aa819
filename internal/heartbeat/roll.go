package heartbeat

import "github.com/beacon-wifi/beacon/internal/beacon"

// roll adds the days that must have a record at now although no beat arrived on them.
// So a hotspot has a record of every day from its first on, except for days on which
// nothing was expected of it because the service was down.
func (k *openDays) roll(now beacon.Minute) {
	today := now.Day()
	if len(k.days) == 0 { // in service without a beat: that is a fact too
		for day := max(today, 1) - 1; day <= today; day++ {
			if k.beganBy(day, now) {
				k.day(day)
			}
		}
		return
	}
	first := max(k.days[0].day, today-min(today, maxDays-2))
	for day := first + 1; day <= today; day++ {
		if _, known := k.find(day); !known && k.needs(day, today) {
			k.day(day)
		}
	}
}

// beganBy reports whether the hotspot was in service on a day, up to and including now.
func (k *openDays) beganBy(day beacon.Day, now beacon.Minute) bool {
	mask := k.inService(day)
	mask.keepRange(0, int(min(now+1-day.Midnight(), beacon.MinutesADay)))
	return mask != dayBits{}
}

// needs reports whether a day without a record must have one.
func (k *openDays) needs(day, today beacon.Day) bool {
	if day == today && !k.deleted {
		return true
	}
	return k.expects(day) != dayBits{}
}
