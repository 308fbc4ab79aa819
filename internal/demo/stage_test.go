package demo_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/demo"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
)

func openFile(t *testing.T, file string) *store.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), file, sqlite.Options{Node: store.SharedNode, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// opens tells whose keys open something in a database.
func opens(t *testing.T, file string, plain ...string) (users []beacon.UserID) {
	t.Helper()
	db := openFile(t, file)
	defer db.Close()
	keys := access.New(db, func() time.Time { return now }, func() bool { return false })
	for _, key := range plain {
		if p, err := keys.VerifyIf(t.Context(), key, func() error { return nil }); err == nil {
			users = append(users, p.User)
		}
	}
	return users
}

// A network that was written is taken up again: as many hotspots and devices, the same
// users, and other keys.
func TestStage(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "demo.db")
	days := 0
	first, err := demo.Create(t.Context(), file, demo.Config{Seed: 1, Hotspots: 20, Days: 3, Now: now}, func() { days++ })
	if err != nil {
		t.Fatal(err)
	}
	if days != 4 || first.Hotspots < 15 || len(first.Devices) < 10 { // three days, and today
		t.Errorf("%d days were written, of %d hotspots with %d devices", days, first.Hotspots, len(first.Devices))
	}
	users := opens(t, file, first.OperatorKey, first.StaffKey)
	again, err := demo.Continue(t.Context(), file, now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if again.Hotspots != first.Hotspots || len(again.Devices) < len(first.Devices) {
		t.Errorf("there are %d hotspots with %d devices; there were %d with %d", again.Hotspots, len(again.Devices), first.Hotspots, len(first.Devices))
	}
	if got := opens(t, file, again.OperatorKey, again.StaffKey); len(got) != 2 || !slices.Equal(got, users) {
		t.Errorf("the new keys are those of %v; the old ones were those of %v", got, users)
	}
	if got := opens(t, file, first.OperatorKey, first.StaffKey); len(got) > 0 {
		t.Errorf("the old keys still open what is of %v", got)
	}
	if left, _ := filepath.Glob(file + "*"); !slices.Equal(left, []string{file}) {
		t.Errorf("there are %v", left)
	}
}

// A network of someone else is not touched.
func TestContinue_Foreign(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "beacon.db")
	db := openFile(t, file)
	key, _ := access.Mint(now, beacon.Key{User: "usr_01kb3gzk00e9x8q6s5t4v3w2y1", Name: "Ada's"})
	if err := errors.Join(db.InsertKey(t.Context(), key, beacon.Actor{Request: "cli"}), db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := demo.Continue(t.Context(), file, now); !errors.Is(err, demo.ErrForeign) {
		t.Errorf("it is taken up: %v", err)
	}
	db = openFile(t, file)
	defer db.Close()
	if _, total, err := db.Keys(t.Context(), "", beacon.KeyPlace{}, 0, 1); total != 1 || err != nil {
		t.Errorf("there are %d keys, %v; want one", total, err)
	}
}

// Interrupted, it leaves nothing behind.
func TestCreate_Interrupted(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "demo.db")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := demo.Create(ctx, file, demo.Config{Seed: 1, Hotspots: 20, Days: 5, Now: now}, cancel) // after the first day
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	if left, _ := filepath.Glob(file + "*"); len(left) > 0 {
		t.Errorf("there are %v", left)
	}
}
