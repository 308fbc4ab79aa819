package heartbeat

// roll makes the days of which there is a record at now though no beat came on
// them. So each has one of every day, from its first on, but for days on which
// nothing was expected of it because the service was down.
func (k *book) roll(now Minute) {
	today := now.Day()
	if len(k.days) == 0 { // in service, and never heard: that is a fact too
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

// beganBy reports whether the hotspot was in service on a day before the minute
// after now.
func (k *book) beganBy(day Day, now Minute) bool {
	mask := k.inService(day)
	mask.keepRange(0, int(min(now+1-day.First(), minutesADay)))
	return mask != dayBits{}
}

// needs reports whether there must be a record of a day that is not there yet.
func (k *book) needs(day, today Day) bool {
	if day == today && !k.departed {
		return true
	}
	return k.expects(day) != dayBits{}
}
