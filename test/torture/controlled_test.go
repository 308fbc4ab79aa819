//go:build linux

package torture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
)

// controlled returns a binary that a test controls: it can be stopped at named
// points, and its clock can be held or set while it runs. Its pages have the size
// of audit.Page. All else is as it is delivered.
func controlled(t testing.TB) (binary string) {
	t.Helper()
	return controlledVariant().Build(t)
}

var controlledVariant = sync.OnceValue(func() *harness.Variant {
	const importing = "import (\n\t\"github.com/beacon-wifi/beacon/point\"\n"
	return &harness.Variant{Name: "controlled", Files: map[string]string{
		"point/point.go":     pointSource,
		"cmd/beacon/held.go": heldSource,
		"cmd/beacon/clock.go": patched("cmd/beacon/clock.go", "import \"time\"\n", "import (\n\t\"os\"\n\t\"time\"\n)\n",
			"	if !c.simulated() {\n", heldHook+"	if !c.simulated() {\n"),
		"internal/store/sql.go": patched("internal/store/sql.go", "import (\n", importing,
			"	return inChunks(len(rows),", "	defer point.Reach(point.Table(text))\n	return inChunks(len(rows),"),
		"internal/store/holds.go": patched("internal/store/holds.go", "import (\n", importing,
			"known int) (n int64, err error) {\n", "known int) (n int64, err error) {\n	point.Reach(\"hold\")\n	defer point.Reach(\"hold\")\n"),
		"internal/store/people_edit.go": patched("internal/store/people_edit.go", "import (\n", importing,
			"		w := peopleWriter{tx: tx, seen: seen}\n", "		point.Reach(\"people\")\n		defer point.Reach(\"people\")\n		w := peopleWriter{tx: tx, seen: seen}\n",
			"	return db.doOnce(ctx, op, by)\n", "	defer point.Reach(\"people\")\n	return db.doOnce(ctx, op, by)\n"),
		"internal/rewards/closing/settle.go": patched("internal/rewards/closing/settle.go", "import (\n", importing,
			"	written, err := s.Months.Settle(ctx, s.by, s.revision, s.statements(users, accounts, ended), ended...)\n",
			"	due := s.statements(users, accounts, ended)\n	point.Reach(\"ready\")\n	written, err := s.Months.Settle(ctx, s.by, s.revision, due, ended...)\n"),
		"internal/rewards/rewards.go": patched("internal/rewards/rewards.go", "const pageSize = 1000\n", fmt.Sprintf("const pageSize = %d\n", audit.Page)),
		"internal/erasure/erasure.go": patched("internal/erasure/erasure.go", "return &Erasures{cfg}", "stopping := stops{cfg.Wishes, cfg.Store}; cfg.Wishes, cfg.Store = stopping, stopping; return &Erasures{cfg}",
			"interval = time.Minute", "interval = 50 * time.Millisecond"),
		"internal/erasure/stops.go": stopsSource,
	}}
})

// stopsSource lets an erasure reach a point before each of its writes.
const stopsSource = `package erasure

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/point"
)

type stops struct {
	Wishes
	Store
}

func (s stops) StepErasure(ctx context.Context, e beacon.Erasure, by beacon.Actor, now time.Time) (bool, error) {
	point.Reach("erasure")
	return s.Wishes.StepErasure(ctx, e, by, now)
}

func (s stops) RevokeKey(ctx context.Context, id beacon.KeyID, at time.Time, by beacon.Actor) error {
	point.Reach("erasure")
	return s.Store.RevokeKey(ctx, id, at, by)
}

func (s stops) EraseKey(ctx context.Context, k beacon.Key) error {
	point.Reach("erasure")
	return s.Store.EraseKey(ctx, k)
}

func (s stops) UpdateHotspot(ctx context.Context, id beacon.HotspotID, by beacon.Actor, kind beacon.ChangeKind, edit func(*beacon.Hotspot) (bool, error)) (beacon.Hotspot, error) {
	point.Reach("erasure")
	return s.Store.UpdateHotspot(ctx, id, by, kind, edit)
}

func (s stops) EraseHotspot(ctx context.Context, id beacon.HotspotID, by beacon.Actor, edit func(*beacon.Hotspot)) error {
	point.Reach("erasure")
	return s.Store.EraseHotspot(ctx, id, by, edit)
}

func (s stops) EraseUser(ctx context.Context, user beacon.UserID, by beacon.Actor, now time.Time) error {
	point.Reach("erasure")
	return s.Store.EraseUser(ctx, user, by, now)
}

func (s stops) EraseNotes(ctx context.Context, targets map[string]bool) error {
	point.Reach("erasure")
	return s.Store.EraseNotes(ctx, targets)
}
`

// patched returns a source of the project in which some texts are replaced by
// others. Each must be there exactly once.
func patched(file string, oldnew ...string) string {
	text, err := harness.Source(file)
	if err != nil {
		panic(err)
	}
	for i := 0; i < len(oldnew); i += 2 {
		if n := strings.Count(text, oldnew[i]); n != 1 {
			panic(fmt.Sprintf("%s has %d of %q; want 1", file, n, oldnew[i]))
		}
		text = strings.Replace(text, oldnew[i], oldnew[i+1], 1)
	}
	return text
}

// pointSource stops a process when it reaches a point for the n-th time. The points
// are the tables of rewards, once their rows are written and before the COMMIT,
// "ready", where a page of statements is computed and its transaction not begun, "hold",
// where a hold is written next (1) or the COMMIT is (2), "people", where people are
// written next (1), the COMMIT is (2) or the response is (3), and "erasure", where the
// next write of an erasure is not begun.
const pointSource = `package point

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

var (
	mu      sync.Mutex
	reached = map[string]int{}
)

// Table returns the third word of a statement: INSERT INTO it.
func Table(statement string) string { return strings.Fields(statement)[2] }

func Reach(name string) {
	mu.Lock()
	reached[name]++
	here := fmt.Sprint(name, " ", reached[name])
	mu.Unlock()
	file := os.Getenv("TORTURE_REACHED")
	if here != os.Getenv("TORTURE_POINT") || os.WriteFile(file, nil, 0o600) != nil {
		return
	}
	for {
		if _, err := os.Stat(file); err != nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}
`

// stop is a point, such as "ledger 2" for the second time that rows of the ledger
// are written. A process that is started with its environment stops there.
type stop struct{ point, file string }

func newStop(t testing.TB, point string) stop {
	t.Helper()
	return stop{point, filepath.Join(t.TempDir(), "reached")}
}

func (s stop) environment() []string {
	return []string{"TORTURE_POINT=" + s.point, "TORTURE_REACHED=" + s.file}
}

// reached reports whether the process has stopped.
func (s stop) reached() bool {
	_, err := os.Stat(s.file)
	return err == nil
}

// release lets it go on.
func (s stop) release(t testing.TB) {
	t.Helper()
	if err := os.Remove(s.file); err != nil {
		t.Error(err)
	}
}

const heldHook = `	if file := os.Getenv("TORTURE_CLOCK"); file != "" {
		return held(file), nil
	}
`

// heldSource tells the time that a file says, as heldClock writes it.
const heldSource = `package main

import (
	"fmt"
	"os"
	"time"
)

func held(file string) func() time.Time {
	return func() time.Time {
		text, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		var at, real, until time.Duration
		var rate int
		if _, err := fmt.Sscan(string(text), &at, &real, &rate, &until); err != nil {
			panic(err)
		}
		since := time.Duration(time.Now().UnixNano()) - real
		now := at + max(since, 0)*time.Duration(rate)
		if until != 0 {
			now = min(now, until)
		}
		return time.Unix(0, int64(now)).Local()
	}
}
`

// heldClock is the one clock of a test and of its servers. The test can set it, and
// hold it: then no machine is too slow for what has to be done before midnight.
type heldClock struct {
	*harness.Clock
	harness.Program
	file string
}

func newHeldClock(t *testing.T, at time.Time, rate int) *heldClock {
	t.Helper()
	c := &heldClock{Clock: harness.NewClock(at, rate), file: filepath.Join(t.TempDir(), "clock")}
	c.Program = harness.Program{Binary: controlled(t), Environment: []string{"TORTURE_CLOCK=" + c.file}}
	c.run(t, at, time.Time{})
	return c
}

// run sets the clock to a time, from which it runs until another, or for ever.
func (c *heldClock) run(t testing.TB, at, until time.Time) {
	t.Helper()
	c.Set(at)
	c.Until = until
	end := int64(0)
	if !until.IsZero() {
		end = until.UnixNano()
	}
	fresh := c.file + ".new"
	if err := os.WriteFile(fresh, fmt.Append(nil, c.At.UnixNano(), " ", c.Real.UnixNano(), " ", c.Rate, " ", end), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(fresh, c.file); err != nil { // a reader sees the old time or the new
		t.Fatal(err)
	}
}

// hold sets the clock to a time at which it stands still.
func (c *heldClock) hold(t testing.TB, at time.Time) {
	t.Helper()
	c.run(t, at, at)
}

// goOn lets a clock that is held run.
func (c *heldClock) goOn(t testing.TB) {
	t.Helper()
	c.run(t, c.Now(), time.Time{})
}

// passFold lets some minutes pass and waits until a server that keeps the lease has
// folded its heartbeats: it does so after five minutes.
func (c *heldClock) passFold(t testing.TB, s *harness.Server) {
	t.Helper()
	folds := func() int { return strings.Count(s.Log(t), `"heartbeats folded"`) }
	before := folds()
	c.hold(t, c.Now().Add(6*time.Minute))
	harness.Eventually(t, "heartbeats are folded", func() bool { s.Running(t); return folds() > before })
}
