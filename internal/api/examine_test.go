package api_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/doctor"
	"github.com/beacon-wifi/beacon/internal/store"
)

// leavesSound has the doctor examine the database when the test is over and the
// database is closed: whatever a test does through the interface leaves it sound.
func leavesSound(t testing.TB, open func(context.Context) (*store.Examination, error)) {
	if _, measures := t.(*testing.B); measures {
		return
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		x, err := open(ctx)
		if err != nil {
			t.Errorf("the doctor cannot open the database: %v", err)
			return
		}
		defer x.Close()
		now := noon.AddDate(1, 0, 0) // later than any test
		if machine := time.Now(); machine.After(now) {
			now = machine // by which leases are taken
		}
		_, err = doctor.Examine(ctx, x, doctor.Options{Quick: true, Now: now, Done: func(r doctor.Result) {
			if r.Wrong > 0 && !breaks[strings.Split(t.Name(), "/")[0]] && r.Check != "settings" && r.Check != doctor.Admins { // a server of tests does not sync, and nobody signs in there a year later
				t.Errorf("the doctor says of %s: %v", r.Check, r.Faults)
			}
		}})
		if err != nil {
			t.Errorf("the doctor could not finish: %v", err)
		}
	})
}

// breaks are the tests that write to their database past the interface what nobody
// could through it, such as a device that is linked and has no key; and those with two
// servers under the name of one node, who both hold its lease and tell events twice.
var breaks = map[string]bool{
	"TestGet_VerifiedAndLinked": true, "TestNearby_StatusAndLimit": true,
	"TestDeviceKey_AnotherServer": true, "TestEvents": true,
}
