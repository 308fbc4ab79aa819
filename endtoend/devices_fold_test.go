//go:build linux

package endtoend_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/beacon"
	"github.com/beacon-wifi/beacon/rig"
	"github.com/beacon-wifi/beacon/store"
	"github.com/beacon-wifi/beacon/store/storetest"
)

// TestDevicesFold kills a server (-9) while an hour and more passes on its clock,
// over midnight and over many folds of the journal. Each time it is away for some
// minutes. Uptime, as it is now and hour by hour, is what the beats that were
// acknowledged say, and the minutes in which the service was down cost nobody
// anything.
func TestDevicesFold(t *testing.T) {
	t.Parallel() // it mostly waits
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		testDevicesFold(t, filepath.Join(t.TempDir(), "beacon.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		testDevicesFold(t, storetest.Postgres(t))
	})
}

// simulatedRate is how much faster the clocks of servers run here: four minutes
// in a second.
const simulatedRate = 240

func testDevicesFold(t *testing.T, db string) {
	handle := rig.OpenStore(t, db)
	clock := rig.NewClock(time.Date(2027, 3, 14, 23, 20, 0, 0, time.UTC), simulatedRate)
	admin := rig.NewClient(t, rig.CreateKey(t, db, "admin").Key)
	s := rig.Start(t, db, clock.Flags()...)
	var all []*diary
	for i, d := range rig.LinkDevices(t, admin, s, 0, 30) {
		h := admin.Ask(t, http.MethodGet, s.URL+"/v1/hotspots/"+d.Hotspot, nil)
		linked, err := time.Parse(time.RFC3339, h["device"].(rig.Fields)["linked_at"].(string))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &diary{Diary: rig.Diary{Device: d, Active: rig.MinuteOf(linked), Chance: []float64{1, 0.5, 0.12}[i%3]}})
	}
	excuses := func() func(rig.Minute) bool { return outages(t, handle, rig.MinuteOf(clock.Began)) }
	for range 4 {
		keepDiaries(t, admin, s, all, 12)
		down := rig.MinuteOf(clock.Now()) + 1
		clock.Pass(time.Duration(5+rand.IntN(10)) * time.Minute)
		s = rig.Start(t, db, clock.Flags()...)
		checkDiaries(t, admin, s, excuses, all)
		excused := excuses()
		for up := rig.MinuteOf(clock.Began) - 1; down <= up; down++ {
			if !excused(down) {
				t.Errorf("no server was up in minute %d, and still it is not excused", down)
			}
		}
	}
	for _, d := range all {
		rig.Eventually(t, "a record of each of two days", func() bool {
			today := int64(rig.MinuteOf(clock.Now()) / (24 * 60))
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

// diary is a device that remembers when it was heard, until a server is killed.
type diary struct {
	rig.Diary
	last, lastReal time.Time // when it was last answered, by the server's clock and by ours
}

// keepDiaries lets devices beat for some minutes, and kills the server while they
// do.
func keepDiaries(t *testing.T, c *rig.Client, s *rig.Server, all []*diary, minutes int) {
	t.Helper()
	var beating sync.WaitGroup
	for _, d := range all {
		beating.Go(func() { d.keep(t, c, s) })
	}
	time.Sleep(time.Duration(minutes) * time.Minute / simulatedRate) // the time that the server has
	s.Kill()
	beating.Wait()
}

// keep beats in the rhythm of a device until the server is gone.
func (d *diary) keep(t *testing.T, c *rig.Client, s *rig.Server) {
	rhythm := time.NewTicker(time.Minute / simulatedRate)
	defer rhythm.Stop()
	for ; ; <-rhythm.C {
		if d.Seq > 0 && rand.Float64() >= d.Chance && s.Runs() {
			continue
		}
		sent := time.Now()
		a := d.Beat(t.Context(), c, s)
		switch {
		case a.Outcome() == rig.Refused && a.Err != nil: // there was nobody to take it
			return
		case a.Err != nil:
			at := d.last.Add(sent.Sub(d.lastReal) * simulatedRate)
			d.Note(rig.MinuteOf(at), rig.MinuteOf(at.Add((a.Took+time.Since(sent))*simulatedRate))+1, false)
			return
		case a.Status != http.StatusOK:
			t.Errorf("a beat was answered %d %s", a.Status, a.Code)
			return
		}
		d.last, d.lastReal = a.At, time.Now()
		d.Note(rig.MinuteOf(a.At.Add(-a.Took*simulatedRate)), rig.MinuteOf(a.At), true)
	}
}

// outages are the minutes that are excused: no server was up in them or in one
// of the three before. When servers were up, they wrote down; the last one,
// which began at a minute or later, still is.
func outages(t testing.TB, db *store.DB, since rig.Minute) (excused func(rig.Minute) bool) {
	t.Helper()
	var spans []beacon.ServiceSpan
	rig.Eventually(t, "the server notes that it is up", func() (noted bool) {
		var err error
		if spans, err = db.Spans(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		return len(spans) > 0 && spans[len(spans)-1].From >= int64(since)
	})
	up := map[rig.Minute]bool{}
	for _, s := range spans {
		for m := rig.Minute(s.From); m <= rig.Minute(s.To); m++ {
			up[m] = true
		}
	}
	first, last := rig.Minute(spans[0].From), rig.Minute(spans[len(spans)-1].From)
	return func(m rig.Minute) bool {
		for before := range rig.Minute(4) {
			if m-before >= first && m-before < last && !up[m-before] {
				return true
			}
		}
		return false
	}
}

// checkDiaries compares what a server shows with what its devices remember.
func checkDiaries(t *testing.T, c *rig.Client, s *rig.Server, outages func() func(rig.Minute) bool, all []*diary) {
	t.Helper()
	checked := 0
	for _, d := range all {
		// What the server thinks of its own outages changes now and then: look at
		// both at the same time.
		var problem string
		for range 20 {
			excused := outages()
			h := c.Do(t.Context(), http.MethodGet, s.URL+"/v1/hotspots/"+d.Hotspot, nil)
			history := c.Do(t.Context(), http.MethodGet, s.URL+"/v1/hotspots/"+d.Hotspot+"/history?step=1h", nil)
			if problem = d.check(t, h, history, excused); problem == "" {
				checked++
				break
			}
		}
		if problem != "" {
			t.Errorf("%s: %s", d.SSID, problem)
		}
	}
	if checked == 0 {
		t.Error("nothing was as it should be")
	}
}

// check finds what does not fit.
func (d *diary) check(t testing.TB, h, history rig.Answer, excused func(rig.Minute) bool) (problem string) {
	served := d.Served()
	// count gives the least and the most uptime from one minute to another, both included.
	count := func(from, to rig.Minute) (least, most float64, expected int) {
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
	fits := func(got float64, from, to rig.Minute) string {
		least, most, expected := count(from, to)
		if got < least-0.00011 || got > most+0.00011 {
			return fmt.Sprintf("uptime from %v to %v is %v; want %.4f to %.4f of %d minutes",
				time.Unix(int64(from)*60, 0).UTC(), time.Unix(int64(to)*60, 0).UTC(), got, least, most, expected)
		}
		return ""
	}
	shown := rig.ReadingOf(h.Fields(t))
	if want := d.Totals(); shown.Bytes < want.Acked || shown.Bytes > want.Sent {
		return fmt.Sprintf("%d bytes; %d were acknowledged, and %d sent", shown.Bytes, want.Acked, want.Sent)
	}
	if problem := fits(shown.Uptime, d.Active, rig.MinuteOf(h.At)); problem != "" {
		return "now: " + problem
	}
	points := 0
	traffic := 0.0
	for _, p := range history.Fields(t)["points"].([]any) {
		p := p.(rig.Fields)
		at, err := time.Parse(time.RFC3339, p["at"].(string))
		if err != nil {
			t.Fatal(err)
		}
		traffic += p["traffic_gb"].(float64)
		from := rig.MinuteOf(at)
		to := min(from+59, rig.MinuteOf(history.At))
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
