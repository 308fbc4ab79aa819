//go:build linux

package torture_test

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
)

// TestF12_DatabaseClock runs a server on a database whose clock is forty days
// off. A month is closed and settled all the same, at its time: the server's clock is
// simulated, and not to be compared with the database's. Nothing is stamped by it.
func TestF12_DatabaseClock(t *testing.T) {
	t.Parallel()
	for _, off := range []string{"+40d", "-40d"}[:rounds(1, 1, 2)] {
		t.Run(off, func(t *testing.T) {
			db := harness.NewClusterOff(t, off).URL()
			october := gregorian{year: 2026, month: 10, days: 31}
			settleMonth(t, db, october, "TZ=UTC")
			handle := harness.OpenSQL(t, db)
			if now := audit.Number(t, handle, `SELECT CAST(extract(epoch FROM now() - to_timestamp($1)) / 86400 AS bigint)`, time.Now().Unix()); now > -39 && now < 39 {
				t.Errorf("the clock of the database is %d days off: that proves nothing", now)
			}
			for _, column := range []string{`finished_at FROM reward_months`, `max(settled_at) FROM statements`, `max(closed_at) FROM reward_days`} {
				at := time.UnixMicro(audit.Number(t, handle, `SELECT `+column)).UTC()
				if at.Before(endOfOctober) || at.After(endOfOctober.Add(20*day)) {
					t.Errorf("%s is %v", column, at)
				}
			}
		})
	}
}
