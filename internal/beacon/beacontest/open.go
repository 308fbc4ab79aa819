// Package beacontest has what tests of several packages compare opening hours with.
package beacontest

import (
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// IsOpen says whether a moment is within an opening, by wall-clock time.
func IsOpen(s beacon.Schedule, at time.Time) bool {
	if s.Zone() == nil {
		return true
	}
	local := at.In(s.Zone())
	// A date has no zone: the day before is computed in UTC, where all days are
	// equally long.
	today := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	for before := range 2 { // an opening may run past midnight
		minute := before*24*60 + local.Hour()*60 + local.Minute()
		spans, _ := s.On(today.AddDate(0, 0, -before))
		for _, span := range spans {
			closes := span.Close
			if closes <= span.Open {
				closes += 24 * 60
			}
			if minute >= span.Open && minute < closes {
				return true
			}
		}
	}
	return false
}
