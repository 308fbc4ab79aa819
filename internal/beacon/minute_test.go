package beacon_test

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func TestMinuteOf(t *testing.T) {
	noon := time.Date(2026, 11, 16, 12, 0, 59, 0, time.FixedZone("", -3600))
	m := beacon.MinuteOf(noon)
	if !m.Time().Equal(noon.Truncate(time.Minute)) || m.OfDay() != 13*60 || m.Day() != beacon.DayOf(noon) || m.Day().Midnight() != m-13*60 {
		t.Errorf("%v is minute %d, which begins at %v", noon, m, m.Time())
	}
	for at, want := range map[time.Time]beacon.Minute{
		time.Unix(-1, 0): 0, time.Unix(0, 0): 0, {}: 0, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC): beacon.LastMinute,
	} {
		if got := beacon.MinuteOf(at); got != want {
			t.Errorf("%v is minute %d; want %d", at, got, want)
		}
	}
}
