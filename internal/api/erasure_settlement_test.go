package api_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/erasure"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// Whenever days are closed and a month is settled while a user is erased, as by a process
// that stood still for weeks, the erasure ends, the statements of the user and of a neighbour
// can be verified, by Beacon and by a program that shares nothing with it, and a replay gives
// what the books have.
func TestErasure_Settlement(t *testing.T) {
	const writes = 13 // of the erasure of one key and one hotspot before its last step; after the eighth it waits for the month
	opts := alive
	opts.policies = policy.BuiltIn()
	for n := 1; n <= writes; n += level.Rounds(6, 4, 1) {
		t.Run(at("write %d", n), func(t *testing.T) {
			eachStoreWith(t, opts, func(t *testing.T, s *server) { settleDuring(t, s, n) })
		})
	}
}

// dueErasure lets two neighbors serve, and the first of them wait to be erased.
func (s *server) dueErasure(t *testing.T) (c, other, admin client) {
	t.Helper()
	scopes := []string{"hotspots:write", "rewards:read", "keys:manage"}
	c, other, admin = s.anyone(t, scopes...), s.anyone(t, scopes...), s.anyone(t, "admin")
	s.serveTenMinutes(t, []machine{c.install(t, 1, "name", `"Smith"`, "location.lat", "40.70011"), other.install(t, 2, "location.lat", "40.70038")})
	asked := s.now().Add(-beacon.ErasureWait - time.Hour)
	if _, err := s.db.Users.AskErasure(t.Context(), beacon.Erasure{User: c.user, Asked: asked, Due: asked.Add(beacon.ErasureWait)}, beacon.Actor{Request: "cli"}); err != nil {
		t.Fatal(err)
	}
	return c, other, admin
}

// settleDuring erases a user, and settles the month just before one of the writes.
func settleDuring(t *testing.T, s *server, write int) {
	t.Helper()
	c, other, admin := s.dueErasure(t)
	settled := func() {
		s.time.Store(time.Date(2026, 12, 5, 12, 0, 0, 0, time.UTC).UnixMicro())
		harness.Eventually(t, "a settled month", func() bool {
			s.advance(10 * time.Second)
			month, any := beacon.Month(0), false
			err := s.db.Ledger.Books(t.Context(), func(b ledger.Books) (err error) {
				month, any, err = b.Finished(t.Context())
				return err
			})
			return err == nil && any && month == beacon.MonthOf(noon)
		})
	}
	cfg := s.APIConfig().Erasures.Config
	cfg.Lease = func() (lease.Lease, bool) { return lease.Lease{}, true }
	now := s.now()
	cfg.Clock = clock.Of(func() time.Time { return now })
	busy := &interrupted{Wishes: s.APIConfig().Erasures.Wishes, Store: s.APIConfig().Erasures.Store, left: write, meanwhile: settled}
	cfg.Wishes, cfg.Store = busy, busy
	if err := erasure.New(cfg).Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if busy.left > 0 { // it ended before that write
		settled()
	}
	now, cfg.Store = s.now(), s.APIConfig().Erasures.Store
	if err := erasure.New(cfg).Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	wish, _, err := s.db.Users.Erasure(t.Context(), c.user)
	if err != nil || wish.Status() != beacon.ErasureIsDone {
		t.Errorf("it is %+v, %v", wish, err)
	}
	all, err := s.db.Hotspots.EverOf(t.Context(), c.user, "", 10)
	if err != nil || len(all) != 1 || !all[0].Deleted() || all[0].Name == "Smith" || !all[0].PlaceErased() {
		t.Errorf("there is %+v, %v", all, err)
	}
	wantBooks(t, s, c, other, admin)
}

// wantBooks checks the statements of November of a user who was erased and of a neighbour.
func wantBooks(t *testing.T, s *server, c, other, admin client) {
	t.Helper()
	for user, lat := range map[beacon.UserID]string{c.user: "407001100", other.user: "407003800"} {
		document := admin.get(t, "/v1/users/"+string(user)+"/rewards/statements/2026-11").want(t, http.StatusOK).body
		verified(t, document)
		if !bytes.Contains(document, []byte(`"date":"2026-11-15"`)) || !bytes.Contains(document, []byte(`"place_lat_e7":`+lat)) {
			t.Errorf("the day was not closed with the place: %s", document)
		}
	}
	r, err := s.APIConfig().Closing.Replay(t.Context(), closing.ReplayQuery{From: beacon.DayOf(noon), To: beacon.DayOf(noon) + 15}, func(closing.ReplayedDay) error { return nil })
	if err != nil || r.Differ != 0 || r.Rows < 2 {
		t.Errorf("a replay of the month: %+v, %v", r, err)
	}
}

// Whenever a user is erased between the writes of a settlement, or the erasure that began
// before goes on there, it leaves what the books need: the settlement ends, and so does the
// erasure, and all can be verified.
func TestErasure_BetweenWritesOfSettlement(t *testing.T) {
	opts := alive
	opts.policies = policy.BuiltIn()
	for n := 1; n <= 3; n += level.Rounds(2, 1, 1) {
		for _, begun := range []bool{true, false} {
			t.Run(at("write %d, begun before %t", n, begun), func(t *testing.T) {
				eachStoreWith(t, opts, func(t *testing.T, s *server) { eraseDuring(t, s, n, begun) })
			})
		}
	}
}

// eraseDuring settles November, and erases a user just before one of the three writes.
func eraseDuring(t *testing.T, s *server, write int, begun bool) {
	t.Helper()
	c, other, admin := s.dueErasure(t)
	erase := func() {
		t.Helper()
		cfg := s.APIConfig().Erasures.Config
		now := s.now()
		cfg.Lease = func() (lease.Lease, bool) { return lease.Lease{}, true }
		cfg.Clock = clock.Of(func() time.Time { return now })
		cfg.Store = s.APIConfig().Erasures.Store
		if err := erasure.New(cfg).Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if begun {
		erase()
	}
	s.time.Store(time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC).UnixMicro()) // the month is over; no server settles it yet
	cfg := s.APIConfig().Closing.(*closing.Closer).Config
	busy := &betweenWrites{Months: cfg.Months, left: write, meanwhile: func() {
		erase()
		all, err := s.db.Hotspots.EverOf(t.Context(), c.user, "", 10)
		if err != nil || len(all) != 1 || !all[0].Deleted() || all[0].PlaceErased() {
			t.Errorf("before the month is settled there is %+v, %v", all, err)
		}
	}}
	cfg.Months = busy
	settling := closing.New(cfg)
	harness.Eventually(t, "closed days", func() bool {
		s.advance(10 * time.Second)
		r, err := settling.Settle(t.Context(), beacon.Actor{Request: "cli"}, beacon.MonthOf(noon), true, func(int, int) {})
		return err == nil && r.Statements == 2
	})
	if busy.left > 0 {
		t.Fatalf("the settlement has %d writes less than thought", busy.left)
	}
	erase()
	all, err := s.db.Hotspots.EverOf(t.Context(), c.user, "", 10)
	if err != nil || len(all) != 1 || !all[0].Deleted() || all[0].Name == "Smith" || all[0].PlaceErased() != begun {
		t.Errorf("there is %+v, %v", all, err) // December, in which the hotspot was deleted otherwise, is not settled
	}
	wantBooks(t, s, c, other, admin)
}

// betweenWrites does something else before one write of a settlement.
type betweenWrites struct {
	closing.Months
	left      int
	meanwhile func()
}

func (b *betweenWrites) next() {
	if b.left--; b.left == 0 {
		b.meanwhile()
	}
}

func (b *betweenWrites) AddTotals(ctx context.Context, revision int64, sums []ledger.HotspotMonth) error {
	b.next()
	return b.Months.AddTotals(ctx, revision, sums)
}

func (b *betweenWrites) Settle(ctx context.Context, by beacon.Actor, revision int64, statements []ledger.Statement, ended ...ledger.HeldDay) (int, error) {
	b.next()
	return b.Months.Settle(ctx, by, revision, statements, ended...)
}

func (b *betweenWrites) FinishMonth(ctx context.Context, month beacon.Month, revision int64, by beacon.Actor, at time.Time) error {
	b.next()
	return b.Months.FinishMonth(ctx, month, revision, by, at)
}

// verified checks a statement with Beacon and, from make check on, with a program in Python.
func verified(t *testing.T, document []byte) {
	t.Helper()
	report, err := statement.Verify(bytes.NewReader(document), policy.BuiltIn())
	if err != nil || report.Rows == 0 {
		t.Errorf("the statement: %+v, %v", report, err)
	}
	if level.Now() < level.Check {
		return
	}
	level.Tool(t, "python3", "python3")
	file := filepath.Join(t.TempDir(), "statement.json")
	if err := os.WriteFile(file, document, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("python3", filepath.Join("..", "rewards", "statement", "testdata", "verify.py"), file).CombinedOutput()
	if err != nil {
		t.Errorf("verify.py says %s, %v", out, err)
	}
}
