package heartbeat

import "github.com/beacon-wifi/beacon/internal/beacon"

// hour counts hours since 1970, UTC.
type hour uint32

const (
	hoursADay   = 24
	microMinute = 60_000_000
)

func hourOf(m beacon.Minute) hour { return hour(m / 60) }

// firstHour returns the hour at which a day begins.
func firstHour(d beacon.Day) hour { return hour(d) * hoursADay }

func (h hour) first() beacon.Minute { return beacon.Minute(h) * 60 }

func (h hour) day() beacon.Day { return beacon.Day(h / hoursADay) }

// ofDay returns the hour, counted from midnight.
func (h hour) ofDay() int { return int(h % hoursADay) }
