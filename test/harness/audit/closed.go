//go:build linux

package audit

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// AwaitClosed waits until a day is closed for everyone. A fold must have found that no
// beat of it can turn up any more, so time has to pass: pass moves the clock, and then it
// stands still for longer than the server takes to notice.
func AwaitClosed(t *testing.T, dsn, day string, s *harness.Server, pass func()) {
	t.Helper()
	db := harness.OpenSQL(t, dsn)
	closed := func() bool {
		return Day(Number(t, db, `SELECT coalesce(max(day), 0) FROM reward_days WHERE closed_at <> 0`)).String() >= day
	}
	harness.Eventually(t, day+" is closed", func() bool {
		s.Running(t)
		pass()
		for held := time.Now(); time.Since(held) < 1500*time.Millisecond && !closed(); {
			time.Sleep(20 * time.Millisecond) // between two looks
		}
		return t.Failed() || closed()
	})
}
