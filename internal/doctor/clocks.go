package doctor

import (
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

// clocks checks that no day is closed that has not come, by what the database itself
// knows about the time.
func clocks(run *checkRun) error {
	return run.snapshot(func(s store.Snapshot) error {
		certain, known, err := s.Certain(run.ctx)
		if err != nil || !known {
			run.at("no server has run by a real clock")
			return err
		}
		run.at("what is closed by %s", beacon.FormatTime(certain))
		days, err := s.Closings(run.ctx)
		if err != nil || len(days) == 0 {
			return err
		}
		if through := days[len(days)-1].Through(); through >= beacon.DayOf(certain) {
			run.wrong(through.String(), "is closed, and has not come: it is %s; a clock was ahead", beacon.FormatTime(certain))
		}
		return nil
	})
}
