//go:build linux

package torture_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
	"github.com/beacon-wifi/beacon/rig/books"
	"github.com/beacon-wifi/beacon/rig/level"
)

// adjustable is a server with a clock that can be set while it runs, and tells the
// time of a place as the machine's does. All else of it is as it is delivered.
var adjustable = &rig.Variant{Name: "adjustable", Files: map[string]string{"cmd/beacon/clock.go": adjustableClock}}

// adjustableClock reads from a file how far it is off.
const adjustableClock = `package main

import (
	"os"
	"strconv"
	"time"
)

type clock struct {
	ClockStart time.Time
	ClockRate  float64 ` + "`default:\"1\"`" + `
}

func (c clock) now() (func() time.Time, error) {
	began := time.Now()
	return func() time.Time {
		text, _ := os.ReadFile(os.Getenv("TORTURE_CLOCK"))
		off, _ := strconv.ParseInt(string(text), 10, 64)
		return c.ClockStart.Add(time.Duration(float64(time.Since(began))*c.ClockRate)).Add(time.Duration(off)).Local()
	}, nil
}
`

// liveClock is a clock that can be set while servers run.
type liveClock struct {
	*rig.Clock
	rig.Program
	file string
}

func newLiveClock(t *testing.T, at time.Time, rate int) *liveClock {
	t.Helper()
	c := &liveClock{Clock: rig.NewClock(at, rate), file: filepath.Join(t.TempDir(), "clock")}
	c.Program = rig.Program{Binary: adjustable.Build(t), Environment: []string{"TORTURE_CLOCK=" + c.file}}
	c.set(t, 0)
	return c
}

// set puts the clock forward or back. Who reads it sees the old time or the new.
func (c *liveClock) set(t *testing.T, off time.Duration) {
	t.Helper()
	fresh := c.file + ".new"
	if err := os.WriteFile(fresh, fmt.Append(nil, int64(off)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(fresh, c.file); err != nil {
		t.Fatal(err)
	}
}

// TestF12_SetWhileRunning sets the clock of a running server again and again:
// by an hour or by forty days, ahead and back, and back across the end of a
// month. No answer is an error, every one adds up, no duration is negative. What
// is closed, settled or was changed later stays so (I5, I6, I8).
func TestF12_SetWhileRunning(t *testing.T) {
	rig.Stores(t, func(t *testing.T, db string) {
		seed := level.Seed(t)
		random := rand.New(rand.NewPCG(seed, 12))
		staff := rig.NewClient(t, rig.CreateKey(t, db, "admin").Key)
		clock := newLiveClock(t, time.Date(2026, 10, 31, 21, 0, 0, 0, time.UTC), jumpRate)
		s := clock.Start(t, db, clock.Flags()...)
		j := &jumper{db: db, tables: rig.OpenSQL(t, db), Onlooker: books.NewOnlooker(books.NewOperator(t, db)), staff: staff}
		for len(j.Hotspots) < 2 {
			j.Link(t, staff, s, len(j.Hotspots), nil)
		}
		var off time.Duration
		jumps := []time.Duration{3 * time.Hour, -2 * time.Hour, 40 * day, -40 * day}
		for range rounds(0, 0, 60) {
			jumps = append(jumps, (40*day)/time.Duration(1+random.IntN(960))*time.Duration(1-2*random.IntN(2)))
		}
		for _, jump := range jumps {
			if clock.Now().Add(off + jump).Before(clock.At) {
				jump = -jump
			}
			off += jump
			clock.set(t, off)
			j.live(t, s, clock, off)
			if t.Failed() {
				t.Fatalf("after the clock was set by %v, to %v", jump, clock.Now().Add(off))
			}
		}
		j.catchUp(t, s, clock)
		j.conclude(t, s)
	})
}

const day = 24 * time.Hour

// live looks at everything for half an hour after the clock was set.
func (j *jumper) live(t *testing.T, s *rig.Server, clock *liveClock, off time.Duration) {
	t.Helper()
	now := func() time.Time { return clock.Now().Add(off) }
	until, sealed := now().Add(30*time.Minute), books.Sealed(t, j.tables)
	for looks := 0; (looks < 2 || now().Before(until)) && !t.Failed(); looks++ {
		s.Running(t)
		j.Behind = now().Before(j.latest)
		j.beatAndLook(t, s)
		j.rename(t, s)
	}
	if at := now(); at.After(j.latest) {
		j.latest = at
	}
	j.checkKept(t)
	books.StillSealed(t, sealed, books.Sealed(t, j.tables))
}

// rename changes a hotspot: the time of its last change never goes back (I8).
func (j *jumper) rename(t *testing.T, s *rig.Server) {
	t.Helper()
	h := j.Hotspots[0]
	was := j.Client.Ask(t, http.MethodGet, s.URL+"/v1/hotspots/"+h.Hotspot, nil)
	j.renamed++
	is := j.Client.Ask(t, http.MethodPatch, s.URL+"/v1/hotspots/"+h.Hotspot, rig.Fields{"name": fmt.Sprintf("Name %d", j.renamed)})
	if t.Failed() {
		return
	}
	if was["updated_at"].(string) > is["updated_at"].(string) || was["updated_at"].(string) < j.updated {
		t.Errorf("updated_at was %s, then %v, and after a change %v", j.updated, was["updated_at"], is["updated_at"])
	}
	j.updated = is["updated_at"].(string)
	r := rig.ReadingOf(was)
	if r.Uptime < 0 || r.Uptime > 1 || r.Connections < 0 {
		t.Errorf("the hotspot shows %+v", r)
	}
}

// catchUp sets the clock to when all that was ever closed is over: heartbeats
// earn again, and that day is closed too.
func (j *jumper) catchUp(t *testing.T, s *rig.Server, clock *liveClock) {
	t.Helper()
	closed := func() books.Day {
		return books.Day(books.Number(t, j.tables, `SELECT max(day) FROM reward_days WHERE closed_at <> 0`))
	}
	goesOn := closed() + 1
	begin := goesOn.Time().Add(23*time.Hour + 30*time.Minute)
	off := begin.Sub(clock.Now())
	clock.set(t, off)
	j.Behind = begin.Before(j.latest)
	rig.Eventually(t, goesOn.String()+" is closed", func() bool {
		j.beatAndLook(t, s)
		return t.Failed() || closed() >= goesOn
	})
	earned := books.Number(t, j.tables, `SELECT CAST(sum(availability) AS bigint) FROM ledger WHERE day = $1`, int64(goesOn))
	if earned == 0 {
		t.Errorf("heartbeats earned nothing on %s, after the clock was set right", goesOn)
	}
}

var negative = regexp.MustCompile(`"\w*(_ms|took|behind|duration)":\s*"?-`)

// conclude audits the books, and looks for durations that are none.
func (j *jumper) conclude(t *testing.T, s *rig.Server) {
	t.Helper()
	books.Compare(t, j.staff, s, j.tables, j.UserID)
	if found := negative.FindString(s.Log(t)); found != "" {
		t.Errorf("the log tells of a negative duration: %s", found)
	}
	s.Stop(t) // it goes on closing days
	if rows, _ := books.Audit(t, j.tables); rows < 4 {
		t.Errorf("the books have %d rows: too few", rows)
	}
}

// TestF12_Limits sets the clock of a server that counts requests: nobody is
// locked out for longer than before, and nobody gets more than was allowed.
func TestF12_Limits(t *testing.T) {
	t.Parallel()
	db := rig.NewDatabase(t, "sqlite")
	k := rig.CreateKey(t, db, "hotspots:write")
	clock := newLiveClock(t, time.Now(), 1)
	s := clock.Start(t, db, append(clock.Flags(), "--rate-limit", "2/s:5")...)
	c := rig.NewClient(t, k.Key)
	allowed := func() bool {
		a := c.Do(t.Context(), http.MethodGet, s.URL+"/v1/hotspots/nearby?lat=40&lng=-74", nil)
		if a.Status != http.StatusOK && a.Status != http.StatusTooManyRequests {
			t.Fatalf("nearby answered %d %s %v", a.Status, a.Code, a.Err)
		}
		return a.Status == http.StatusOK
	}
	for _, off := range []time.Duration{time.Hour, 0, 40 * day, -40 * day, 0} {
		for allowed() { // until nothing is left
		}
		clock.set(t, off)
		began, passed := time.Now(), 0
		for range 50 {
			if allowed() {
				passed++
			}
		}
		// Limits count real time.
		if most := 2 + int(2*time.Since(began).Seconds()); passed > most {
			t.Errorf("set by %v, the limit let %d of 50 requests pass in %v; want %d at the most", off, passed, time.Since(began), most)
		}
		if waited := rig.Eventually(t, "a request is allowed", allowed); waited > 3*time.Second {
			t.Errorf("set by %v, the limit locked out for %v", off, waited)
		}
	}
}
