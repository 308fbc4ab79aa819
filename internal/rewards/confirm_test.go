package rewards_test

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// TestConfirmClock: after a month off nothing is closed that is in doubt, until staff
// say what day it is; a date that no clock shows is refused.
func TestConfirmClock(t *testing.T) {
	w, _, _ := running(t, sqliteTwice)
	m := w.machine(w.db.Rewards(), w.db.Clocks)
	m.off = 30 * 24 * time.Hour // it was off
	m.Closer.Telemetry = final{w, m}
	m.run(t, 20*time.Minute)
	today, err := beacon.ParseDay("2026-12-10")
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.ReportClock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if days, months := c.Due(today); days != 30 || months != 1 || c.First.String() != "2026-11-10" || c.Certain.After(w.now) {
		t.Errorf("%d days and %d months are due, from %s on; certain is %s", days, months, c.First, c.Certain)
	}
	if _, months := c.Due(today + 24); months != 1 {
		t.Errorf("%d months are due on %s; want November", months, today+25)
	}
	for _, wrong := range []beacon.Day{today + 1, today - 1, today + 365} {
		if err := m.ConfirmClock(t.Context(), staff, wrong); err == nil {
			t.Errorf("%s is confirmed, and no clock says that", wrong)
		}
	}
	m.run(t, 10*time.Minute)
	if n := w.closedDays(t); n != 0 {
		t.Errorf("%d days are closed", n)
	}
	if err := m.ConfirmClock(t.Context(), staff, today); err != nil {
		t.Fatal(err)
	}
	m.run(t, 40*time.Minute)
	if through := w.closedThrough(t); through != today-1 {
		t.Errorf("after that, days up to %s are closed", through)
	}
	m.run(t, 30*time.Minute)
	if !m.Clock.Agreed() {
		t.Error("the clock is not believed an hour later")
	}
}
