//go:build linux

package endtoend_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestDevicesFold kills a server (-9) again and again while devices beat, over
// midnight and over many folds of the journal. Each time it is away for some
// minutes. Uptime, as it is now and hour by hour, is what the beats that were
// acknowledged say, and the minutes in which the service was down cost nobody
// anything. The clock stands still but for when the test lets a minute pass.
func TestDevicesFold(t *testing.T) { harness.Stores(t, testDevicesFold) }

func testDevicesFold(t *testing.T, db string) {
	random := rand.New(rand.NewPCG(level.Seed(t), 1))
	handle := harness.OpenStore(t, db)
	clock := harness.NewHeldClock(t, time.Date(2027, 3, 14, 23, 40, 30, 0, time.UTC))
	admin := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	s := clock.Start(t, db)
	var all []*diary
	for i, d := range harness.LinkDevices(t, admin, s, 0, 30) {
		all = append(all, &diary{harness.Diary{Device: d, Active: harness.MinuteOf(clock.Now()), Chance: []float64{1, 0.5, 0.12}[i%3]}})
	}
	began := harness.MinuteOf(clock.Now())
	excuses := func() func(harness.Minute) bool { return outages(t, handle, began) }
	for range level.Rounds(2, 4, 8) { // midnight is in the second
		keepDiaries(t, admin, s, clock, random, all)
		down := harness.MinuteOf(clock.Now()) + 1
		audit.FreeLease(t, db) // or the next server could not fold for a while
		clock.Pass(time.Duration(5+random.IntN(4)) * time.Minute)
		s, began = clock.Start(t, db), harness.MinuteOf(clock.Now())
		checkDiaries(t, admin, s, excuses, all)
		excused := excuses()
		for ; down < began; down++ {
			if !excused(down) {
				t.Errorf("no server was up in minute %d, and still it is not excused", down)
			}
		}
	}
	clock.Pass(5 * time.Minute) // until the next fold
	today := beacon.DayOf(clock.Now())
	for _, d := range all {
		harness.Eventually(t, "a record of each of two days", func() bool {
			rows, err := handle.RecordsOf(t.Context(), beacon.HotspotID(d.Hotspot), today-1, today)
			return err == nil && len(rows) == 2
		})
	}
	checkDiaries(t, admin, s, excuses, all)
	surely, maybe := 0, 0
	for _, d := range all {
		served := d.Served()
		surely += len(served.Surely)
		maybe += len(served.Maybe) - len(served.Surely)
	}
	t.Logf("%d minutes were served, and %d more may have been", surely, maybe)
	if maybe > surely/2 {
		t.Error("too little is known to prove anything")
	}
}

// diary is a device that remembers when it was heard.
type diary struct{ harness.Diary }

// keeperFolds are the lines in a log that tell of folds for all.
var keeperFolds = regexp.MustCompile(`"heartbeats folded".*"keeper":true`)

// keepDiaries lets devices beat for some minutes, from the start of a server on, and
// kills it in the last of them, once some of the devices were heard. No minute
// passes during a fold, which is due a minute after the start and every five from
// then on: to a server that was killed right after, it would be unknown whether it
// was up in that minute.
func keepDiaries(t *testing.T, c *harness.Client, s *harness.Server, clock *harness.HeldClock, random *rand.Rand, all []*diary) {
	t.Helper()
	harness.Eventually(t, "the server may fold for all", func() bool {
		s.Running(t)
		return strings.Contains(s.Log(t), "this server now holds the lease")
	})
	folds := 0
	for minute := range 12 {
		beatDiaries(t, c, s, clock, random, all, len(all)+1)
		if minute%5 == 1 {
			folds++
			harness.Eventually(t, "the beats are folded", func() bool {
				s.Running(t)
				return len(keeperFolds.FindAllString(s.Log(t), -1)) >= folds
			})
		}
		clock.Pass(time.Minute)
	}
	beatDiaries(t, c, s, clock, random, all, 3)
	if s.Runs() {
		t.Error("the server was not killed")
	}
}

// beatDiaries lets some devices beat in this minute, all at the same time, and kills
// the server when so many were heard.
func beatDiaries(t *testing.T, c *harness.Client, s *harness.Server, clock *harness.HeldClock, random *rand.Rand, all []*diary, killAfter int) {
	t.Helper()
	var heard atomic.Int64
	var beating sync.WaitGroup
	for _, d := range all {
		if random.Float64() >= d.Chance {
			continue
		}
		beating.Go(func() {
			a := d.Beat(t.Context(), c, s)
			now := harness.MinuteOf(clock.Now())
			switch {
			case a.Outcome() == harness.Refused && a.Err != nil: // there was nobody to take it
			case a.Err != nil && killAfter <= len(all): // it may have been killed after it took this
				d.Note(now, now, false)
			case a.Status != http.StatusOK:
				t.Errorf("a beat was answered %d %s %v", a.Status, a.Code, a.Err)
			default:
				if d.Note(now, now, true); heard.Add(1) == int64(killAfter) {
					s.Kill()
				}
			}
		})
	}
	beating.Wait()
}

// outages are the minutes that are excused: no server was up in them or in one
// of the three before. When servers were up, they wrote down; the last one,
// which began at a minute or later, still is.
func outages(t testing.TB, db *store.DB, since harness.Minute) (excused func(harness.Minute) bool) {
	t.Helper()
	var spans []beacon.ServiceSpan
	harness.Eventually(t, "the server notes that it is up", func() (noted bool) {
		var err error
		if spans, err = db.Spans(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		return len(spans) > 0 && spans[len(spans)-1].From >= int64(since)
	})
	up := map[harness.Minute]bool{}
	for _, s := range spans {
		for m := harness.Minute(s.From); m <= harness.Minute(s.To); m++ {
			up[m] = true
		}
	}
	first, last := harness.Minute(spans[0].From), harness.Minute(spans[len(spans)-1].From)
	return func(m harness.Minute) bool {
		for before := range harness.Minute(4) {
			if m-before >= first && m-before < last && !up[m-before] {
				return true
			}
		}
		return false
	}
}

// checkDiaries waits until a server shows what its devices remember. What it thinks
// of its own outages may not be on disk yet, or the other way round.
func checkDiaries(t *testing.T, c *harness.Client, s *harness.Server, outages func() func(harness.Minute) bool, all []*diary) {
	t.Helper()
	for _, d := range all {
		problem := ""
		defer func() {
			if problem != "" {
				t.Errorf("%s: %s", d.SSID, problem)
			}
		}()
		harness.Eventually(t, "a server shows what a device remembers", func() bool {
			excused := outages()
			h := c.Do(t.Context(), http.MethodGet, s.URL+"/v1/hotspots/"+d.Hotspot, nil)
			history := c.Do(t.Context(), http.MethodGet, s.URL+"/v1/hotspots/"+d.Hotspot+"/history?step=1h", nil)
			problem = d.check(t, h, history, excused)
			return problem == ""
		})
	}
}

// check finds what does not fit.
func (d *diary) check(t testing.TB, h, history harness.Answer, excused func(harness.Minute) bool) (problem string) {
	served := d.Served()
	// count gives the least and the most uptime from one minute to another, both included.
	count := func(from, to harness.Minute) (least, most float64, expected int) {
		surely, maybe := 0, 0
		for m := max(from, d.Active); m <= to; m++ {
			if excused(m) {
				continue
			}
			expected++
			if served.Surely[m] {
				surely++
			}
			if served.Maybe[m] {
				maybe++
			}
		}
		return float64(surely) / float64(max(expected, 1)), float64(maybe) / float64(max(expected, 1)), expected
	}
	fits := func(got float64, from, to harness.Minute) string {
		least, most, expected := count(from, to)
		if got < least-0.00011 || got > most+0.00011 {
			return fmt.Sprintf("uptime from %v to %v is %v; want %.4f to %.4f of %d minutes",
				time.Unix(int64(from)*60, 0).UTC(), time.Unix(int64(to)*60, 0).UTC(), got, least, most, expected)
		}
		return ""
	}
	shown := harness.ReadingOf(h.Fields(t))
	if want := d.Totals(); shown.Bytes < want.Acked || shown.Bytes > want.Sent {
		return fmt.Sprintf("%d bytes; %d were acknowledged, and %d sent", shown.Bytes, want.Acked, want.Sent)
	}
	if problem := fits(shown.Uptime, d.Active, harness.MinuteOf(h.At)); problem != "" {
		return "now: " + problem
	}
	points := 0
	traffic := 0.0
	for _, p := range history.Fields(t)["points"].([]any) {
		p := p.(harness.Fields)
		at, err := time.Parse(time.RFC3339, p["at"].(string))
		if err != nil {
			t.Fatal(err)
		}
		traffic += p["traffic_gb"].(float64)
		from := harness.MinuteOf(at)
		to := min(from+59, harness.MinuteOf(history.At))
		_, _, expected := count(from, to)
		uptime, some := p["uptime"].(float64)
		if some != (expected > 0) {
			return fmt.Sprintf("history at %v: uptime %v; %d minutes were expected", at, p["uptime"], expected)
		}
		if !some {
			continue
		}
		if problem := fits(uptime, from, to); problem != "" {
			return "history: " + problem
		}
		points++
	}
	if want := float64(shown.Bytes) / 1e9; points == 0 || math.Abs(traffic-want) > 1e-9 {
		return fmt.Sprintf("history has %d points and %v GB; want %v", points, traffic, want)
	}
	return ""
}
