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

// TestF12_ServerBehind lets devices talk to a server whose clock is half an
// hour behind that of the one which closes days. What it takes for a day that is
// closed is too late to count, and that is told; nothing else is lost, nothing
// counts twice, and the books add up.
func TestF12_ServerBehind(t *testing.T) {
	t.Parallel()
	const rate, late = 1200, 30 * time.Minute
	db := harness.NewDatabase(t, "postgres")
	staff := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	begin := endOfOctober.Add(-15 * time.Minute)
	clock, slow := newHeldClock(t, begin, rate), newHeldClock(t, begin.Add(-late), rate)
	clock.hold(t, clock.At)
	slow.hold(t, slow.At)
	right := clock.Start(t, db, clock.Flags()...)
	harness.Eventually(t, "the right one is to close days", func() bool { return strings.Contains(right.Log(t), "this node now holds the lease") })
	behind := slow.Start(t, db, slow.Flags()...)
	devices := harness.LinkDevices(t, staff, behind, 0, 6)    // in service when the first beat comes, by its clock
	before, after := map[string]uint64{}, map[string]uint64{} // what was carried when the day was over for one, and for the other
	beat := func(d *harness.Device) {
		a := d.Beat(t.Context(), staff, behind)
		if a.Status != http.StatusOK {
			t.Fatalf("a beat was answered %d %s %v", a.Status, a.Code, a.Err)
		}
		if clock.Now().Before(endOfOctober) {
			before[d.SSID] = d.Bytes
		}
		if a.At.Before(endOfOctober) {
			after[d.SSID] = d.Bytes
		}
	}
	for ; clock.Now().Before(endOfOctober.Add(10 * time.Minute)); clock.hold(t, clock.Now().Add(time.Minute)) {
		for _, d := range devices {
			beat(d)
		}
		slow.hold(t, slow.Now().Add(time.Minute))
	}
	tables := harness.OpenSQL(t, db)
	clock.run(t, clock.Now(), endOfOctober.Add(20*time.Hour)) // it is believed once it has run for some minutes
	harness.Eventually(t, "the day is closed", func() bool {
		return audit.Number(t, tables, `SELECT count(*) FROM reward_days WHERE closed_at <> 0`) > 0
	})
	clock.hold(t, clock.Now())
	for ; slow.Now().Before(endOfOctober.Add(5 * time.Minute)); slow.hold(t, slow.Now().Add(time.Minute)) {
		for _, d := range devices {
			beat(d)
		}
	}
	var lost uint64
	for _, d := range devices {
		most, least := d.Totals().Sent, d.Totals().Sent-(after[d.SSID]-before[d.SSID])
		var counted uint64
		harness.Eventually(t, "the last beats have come from one to the other", func() bool {
			counted = 0
			for _, date := range []string{"2026-10-31", "2026-11-01"} {
				e, _, _ := audit.Fetch[audit.Explanation](t, staff, right.URL+"/v1/hotspots/"+d.Hotspot+"/rewards/explain?date="+date)
				counted += e.Facts.Bytes
			}
			return counted >= least
		})
		if counted > most {
			t.Errorf("%s: %d bytes are counted; %d were sent", d.SSID, counted, most)
		}
		lost += most - counted
	}
	told := strings.Contains(right.Log(t), "a server accepted heartbeats for a day that is already closed")
	if t.Logf("%d bytes are lost; that was told: %v", lost, told); lost == 0 || !told {
		t.Error("nothing is lost, or nobody is told")
	}
	behind.Stop(t)
	right.Stop(t)
	audit.Audit(t, tables)
}
