//go:build linux

package torture_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestF12_SetWhileRunning sets the clock of a running server again and again:
// by an hour or by forty days, ahead and back, and back across the end of a
// month. No answer is an error, every one adds up, no duration is negative. What
// is closed, settled or was changed later stays so (I5, I6, I8).
func TestF12_SetWhileRunning(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		seed := level.Seed(t)
		random := rand.New(rand.NewPCG(seed, 12))
		staff := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
		begin := time.Date(2026, 10, 31, 21, 0, 0, 0, time.UTC)
		clock := newHeldClock(t, begin, jumpRate)
		clock.hold(t, begin) // on a slow machine hotspots would be linked on the next day, and earn nothing on this one
		s := clock.Start(t, db, clock.Flags()...)
		j := &jumper{db: db, tables: harness.OpenSQL(t, db), Onlooker: audit.NewOnlooker(audit.NewOperator(t, db)), staff: staff}
		for len(j.Hotspots) < 2 {
			j.Link(t, staff, s, len(j.Hotspots), nil)
		}
		clock.goOn(t)
		jumps := []time.Duration{3 * time.Hour, -2 * time.Hour, 40 * day, -40 * day}
		for range rounds(0, 0, 60) {
			jumps = append(jumps, (40*day)/time.Duration(1+random.IntN(960))*time.Duration(1-2*random.IntN(2)))
		}
		for _, jump := range jumps {
			if clock.Now().Add(jump).Before(clock.Began) {
				jump = -jump
			}
			clock.run(t, clock.Now().Add(jump), time.Time{})
			j.live(t, s, clock)
			if t.Failed() {
				t.Fatalf("after the clock was set by %v, to %v", jump, clock.At)
			}
		}
		j.catchUp(t, s, clock)
		j.conclude(t, s)
	})
}

const day = 24 * time.Hour

// live looks at everything for half an hour after the clock was set.
func (j *jumper) live(t *testing.T, s *harness.Server, clock *heldClock) {
	t.Helper()
	until, sealed := clock.Now().Add(30*time.Minute), audit.Sealed(t, j.tables)
	for looks := 0; (looks < 2 || clock.Now().Before(until)) && !t.Failed(); looks++ {
		s.Running(t)
		j.Behind = clock.Now().Before(j.latest)
		j.beatAndLook(t, s)
		j.rename(t, s)
	}
	if at := clock.Now(); at.After(j.latest) {
		j.latest = at
	}
	j.checkKept(t)
	audit.StillSealed(t, sealed, audit.Sealed(t, j.tables))
}

// rename changes a hotspot: the time of its last change never goes back (I8).
func (j *jumper) rename(t *testing.T, s *harness.Server) {
	t.Helper()
	h := j.Hotspots[0]
	was := j.Client.Ask(t, http.MethodGet, s.URL+"/v1/hotspots/"+h.Hotspot, nil)
	j.renamed++
	is := j.Client.Ask(t, http.MethodPatch, s.URL+"/v1/hotspots/"+h.Hotspot, harness.Fields{"name": fmt.Sprintf("Name %d", j.renamed)})
	if t.Failed() {
		return
	}
	if was["updated_at"].(string) > is["updated_at"].(string) || was["updated_at"].(string) < j.updated {
		t.Errorf("updated_at was %s, then %v, and after a change %v", j.updated, was["updated_at"], is["updated_at"])
	}
	j.updated = is["updated_at"].(string)
	r := harness.ReadingOf(was)
	if r.Uptime < 0 || r.Uptime > 1 || r.Connections < 0 {
		t.Errorf("the hotspot shows %+v", r)
	}
}

// catchUp sets the clock to when all that was ever closed is over: heartbeats
// earn again, and that day is closed too.
func (j *jumper) catchUp(t *testing.T, s *harness.Server, clock *heldClock) {
	t.Helper()
	closed := func() audit.Day {
		return audit.Day(audit.Number(t, j.tables, `SELECT max(day) FROM reward_days WHERE closed_at <> 0`))
	}
	goesOn := max(closed()+1, audit.DayOf(endOfOctober)-1)
	begin, midnight := goesOn.Time().Add(23*time.Hour+30*time.Minute), (goesOn + 1).Time()
	j.Behind = begin.Before(j.latest)
	// The clock waits for the heartbeats of each minute.
	for clock.hold(t, begin); clock.Now().Before(midnight) && !t.Failed(); clock.hold(t, clock.Now().Add(time.Minute)) {
		j.beatAndLook(t, s)
	}
	clock.goOn(t)
	harness.Eventually(t, goesOn.String()+" is closed", func() bool {
		j.beatAndLook(t, s)
		return t.Failed() || closed() >= goesOn
	})
	earned := audit.Number(t, j.tables, `SELECT CAST(sum(availability) AS bigint) FROM ledger WHERE day = $1`, int64(goesOn))
	if earned == 0 {
		t.Errorf("heartbeats earned nothing on %s, after the clock was set right; %d rows, %d minutes expected, %d bytes", goesOn,
			audit.Number(t, j.tables, `SELECT count(*) FROM ledger WHERE day = $1`, int64(goesOn)),
			audit.Number(t, j.tables, `SELECT CAST(coalesce(sum(expected), 0) AS bigint) FROM ledger WHERE day = $1`, int64(goesOn)),
			audit.Number(t, j.tables, `SELECT CAST(coalesce(sum(bytes), 0) AS bigint) FROM ledger WHERE day = $1`, int64(goesOn)))
	}
}

var negative = regexp.MustCompile(`"\w*(_ms|took|behind|duration)":\s*"?-`)

// conclude audits the books, and looks for durations that are none.
func (j *jumper) conclude(t *testing.T, s *harness.Server) {
	t.Helper()
	audit.Compare(t, j.staff, s, j.tables, j.UserID)
	if found := negative.FindString(s.Log(t)); found != "" {
		t.Errorf("the log tells of a negative duration: %s", found)
	}
	s.Stop(t) // it goes on closing days
	if rows, _ := audit.Audit(t, j.tables); rows < 2 {
		t.Errorf("the books have %d rows: too few", rows)
	}
}

// TestF12_Limits sets the clock of a server that counts requests: nobody is
// locked out for longer than before, and nobody gets more than was allowed.
func TestF12_Limits(t *testing.T) {
	t.Parallel()
	db := harness.NewDatabase(t, "sqlite")
	k := harness.CreateKey(t, db, "hotspots:write")
	clock := newHeldClock(t, time.Now(), 1)
	s := clock.Start(t, db, append(clock.Flags(), "--rate-limit", "2/s:5")...)
	c := harness.NewClient(t, k.Key)
	allowed := func() bool {
		a := c.Do(t.Context(), http.MethodGet, s.URL+"/v1/hotspots/nearby?lat=40&lng=-74", nil)
		if a.Status != http.StatusOK && a.Status != http.StatusTooManyRequests {
			t.Errorf("nearby answered %d %s %v", a.Status, a.Code, a.Err)
		}
		if wait := a.Header.Get("Retry-After"); a.Status == http.StatusTooManyRequests && wait != "1" {
			t.Errorf("the limit locks out for %s seconds; want 1", wait)
		}
		return a.Status == http.StatusOK
	}
	for _, off := range []time.Duration{time.Hour, -time.Hour, 40 * day, -80 * day, 40 * day} {
		var began time.Time                              // nothing is left at some moment after it
		for refused := false; !refused && !t.Failed(); { // many at once, or a slow machine never gets there
			began = time.Now()
			var asking sync.WaitGroup
			var turnedAway atomic.Bool
			for range 20 {
				asking.Go(func() {
					if !allowed() {
						turnedAway.Store(true)
					}
				})
			}
			asking.Wait()
			refused = turnedAway.Load()
		}
		passed := 0
		clock.run(t, clock.Now().Add(off), time.Time{})
		for range 50 {
			if allowed() {
				passed++
			}
		}
		// Limits count real time: the slower these requests are, the more may pass.
		if most := 2 + int(2*time.Since(began).Seconds()); passed > most {
			t.Fatalf("set by %v, the limit let %d of 50 requests pass in %v; want %d at the most", off, passed, time.Since(began), most)
		}
		harness.Eventually(t, "a request is allowed", allowed)
	}
}
