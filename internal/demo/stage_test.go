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
	"github.com/beacon-wifi/beacon/internal/clock"
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
	keys := access.New(db.Keys, func() time.Time { return now }, new(clock.Heard))
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
	first, days := create(t, file, demo.Config{Seed: 1, Hotspots: 20, Days: 3, Now: now}), 0
	if err := first.WriteHistory(t.Context(), func() { days++ }, nothing); err != nil {
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
	if err := errors.Join(db.Keys.InsertKey(t.Context(), key, beacon.Actor{Request: "cli"}, nil), db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := demo.Continue(t.Context(), file, now); !errors.Is(err, demo.ErrForeign) {
		t.Errorf("it is taken up: %v", err)
	}
	db = openFile(t, file)
	defer db.Close()
	if _, total, err := db.Keys.Keys(t.Context(), "", beacon.KeyPlace{}, 0, 1); total != 1 || err != nil {
		t.Errorf("there are %d keys, %v; want one", total, err)
	}
}

// A run that was killed leaves a file that is known to be incomplete, and replaced.
func TestCreate_Killed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "demo.db")
	cfg := demo.Config{Seed: 1, Hotspots: 20, Days: 5, Now: now}
	killed, stop := context.WithCancel(t.Context())
	first := create(t, file, cfg)
	if err := first.WriteHistory(killed, stop, nothing); !errors.Is(err, context.Canceled) || !demo.Unfinished(file) {
		t.Errorf("it ended with %v; unfinished: %v", err, demo.Unfinished(file))
	}
	again := create(t, file, cfg)
	if err := again.WriteHistory(t.Context(), func() {}, nothing); err != nil || demo.Unfinished(file) {
		t.Errorf("the next run ended with %v; unfinished: %v", err, demo.Unfinished(file))
	}
	if err := again.Discard(); err != nil {
		t.Error(err)
	}
	if got := dump(t, file)["reward_days"]; len(got) != 5 {
		t.Errorf("%d days are closed", len(got))
	}
	if _, err := demo.Create(t.Context(), file, cfg); err == nil {
		t.Error("a network that is complete is replaced")
	}
}

// Interrupted, it leaves nothing behind.
func TestCreate_Interrupted(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "demo.db")
	ctx, cancel := context.WithCancel(t.Context())
	s := create(t, file, demo.Config{Seed: 1, Hotspots: 20, Days: 5, Now: now})
	if err := s.WriteHistory(ctx, cancel, nothing); !errors.Is(err, context.Canceled) { // after the first day
		t.Errorf("it ended with %v", err)
	}
	if err := s.Discard(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(file + "*"); len(left) > 0 {
		t.Errorf("there are %v", left)
	}
}

func create(t *testing.T, file string, cfg demo.Config) *demo.Stage {
	t.Helper()
	s, err := demo.Create(t.Context(), file, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func nothing(context.Context) error { return nil }
