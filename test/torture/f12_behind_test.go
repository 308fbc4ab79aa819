//go:build linux

package torture_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
)

// TestF12_ServerBehind lets devices talk to a server whose clock is half an hour
// behind, and which is started when a day is closed already. The minutes that it takes
// for that day are too late to count, and that is told. Their traffic counts on the next
// day (D96); nothing is lost, nothing counts twice, and the books add up.
func TestF12_ServerBehind(t *testing.T) {
	t.Parallel()
	const rate, late = 1200, 30 * time.Minute
	db := harness.NewDatabase(t, "postgres")
	staff := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	begin := endOfOctober.Add(-15 * time.Minute)
	clock := newHeldClock(t, begin, rate)
	clock.hold(t, clock.At)
	right := clock.Start(t, db, clock.Flags()...)
	devices := harness.LinkDevices(t, staff, right, 0, 6)
	beat := func(s *harness.Server, d *harness.Device) {
		if a := d.Beat(t.Context(), staff, s); a.Status != http.StatusOK {
			t.Fatalf("a beat was answered %d %s %v", a.Status, a.Code, a.Err)
		}
	}
	for ; clock.Now().Before(endOfOctober); clock.hold(t, clock.Now().Add(time.Minute)) {
		for _, d := range devices {
			beat(right, d)
		}
	}
	tables := harness.OpenSQL(t, db)
	clock.run(t, clock.Now(), endOfOctober.Add(20*time.Hour)) // it is believed once it has run for some minutes
	harness.Eventually(t, "the day is closed", func() bool {
		return audit.Number(t, tables, `SELECT count(*) FROM reward_days WHERE closed_at <> 0`) > 0
	})
	clock.hold(t, clock.Now())
	slow := newHeldClock(t, endOfOctober.Add(-late/2), rate)
	slow.hold(t, slow.At)
	behind := slow.Start(t, db, slow.Flags()...)
	for ; slow.Now().Before(endOfOctober.Add(5 * time.Minute)); slow.hold(t, slow.Now().Add(time.Minute)) {
		for _, d := range devices {
			beat(behind, d)
		}
	}
	for _, d := range devices {
		sent := d.Totals().Sent
		var counted uint64
		harness.Eventually(t, "the last beats have come from one to the other", func() bool {
			counted = 0
			for _, date := range []string{"2026-10-31", "2026-11-01"} {
				e, _, _ := audit.Fetch[audit.Explanation](t, staff, right.URL+"/v1/hotspots/"+d.Hotspot+"/rewards/explain?date="+date)
				counted += e.Facts.Bytes
			}
			return counted >= sent
		})
		if counted != sent {
			t.Errorf("%s: %d bytes are counted; %d were sent", d.SSID, counted, sent)
		}
	}
	if !strings.Contains(right.Log(t), "a server accepted heartbeats for a day that is already closed") {
		t.Error("nobody is told that minutes are lost")
	}
	behind.Stop(t)
	right.Stop(t)
	audit.Audit(t, tables)
}
