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
	clock := &simulatedClock{at: time.Date(2027, 3, 14, 23, 20, 0, 0, time.UTC), real: time.Now(), rate: simulatedRate}
	admin := rig.NewClient(t, rig.CreateKey(t, db, "admin").Key)
	s := rig.Start(t, db, clock.flags()...)
	var all []*diary
	for i, d := range rig.LinkDevices(t, admin, s, 0, 30) {
		h := admin.Ask(t, http.MethodGet, s.URL+"/v1/hotspots/"+d.Hotspot, nil)
		linked, err := time.Parse(time.RFC3339, h["device"].(rig.Fields)["linked_at"].(string))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &diary{Device: d, active: minuteOf(linked), chance: []float64{1, 0.5, 0.12}[i%3]})
	}
	excuses := func() func(minute) bool { return outages(t, handle, minuteOf(clock.began)) }
	for range 4 {
		keepDiaries(t, admin, s, all, 12)
		down := minuteOf(clock.now()) + 1
		clock.pass(time.Duration(5+rand.IntN(10)) * time.Minute)
		s = rig.Start(t, db, clock.flags()...)
		checkDiaries(t, admin, s, excuses, all)
		excused := excuses()
		for up := minuteOf(clock.began) - 1; down <= up; down++ {
			if !excused(down) {
				t.Errorf("no server was up in minute %d, and still it is not excused", down)
			}
		}
	}
	for _, d := range all {
		rig.Eventually(t, 20*time.Second, "a record of each of two days", func() bool {
			today := int64(minuteOf(clock.now()) / (24 * 60))
			rows, err := handle.RecordsOf(t.Context(), beacon.HotspotID(d.Hotspot), today-1, today)
			return err == nil && len(rows) == 2
		})
	}
	checkDiaries(t, admin, s, excuses, all)
	surely, maybe := 0, 0
	for _, d := range all {
		served := d.served()
		surely += len(served.surely)
		maybe += len(served.maybe) - len(served.surely)
	}
	t.Logf("%d minutes were served, and %d more may have been", surely, maybe)
	if maybe > surely/2 {
		t.Error("too little is known to prove anything")
	}
}

// simulatedClock goes on from one server to the next.
type simulatedClock struct {
	at    time.Time // simulated, at some moment
	real  time.Time // which was this
	rate  int       // of simulated time
	began time.Time // the time at which the last server began
}

func (c *simulatedClock) now() time.Time { return c.at.Add(time.Since(c.real) * time.Duration(c.rate)) }

// pass lets some time pass in which there is no server.
func (c *simulatedClock) pass(d time.Duration) { c.at = c.at.Add(d) }

// flags give a server the time that it is now.
func (c *simulatedClock) flags() []string {
	c.began = c.now()
	return []string{"--clock-start", c.began.Format(time.RFC3339Nano), "--clock-rate", fmt.Sprint(c.rate)}
}

// minute counts minutes since 1970.
type minute int64

func minuteOf(t time.Time) minute { return minute(t.Unix() / 60) }

// diary is a device that remembers when it was heard.
type diary struct {
	*rig.Device
	active minute
	chance float64 // of a beat in a minute
	heard  []hearing

	last, lastReal time.Time // when it was last answered, by the server's clock and by ours
}

// hearing is between which minutes a beat was taken, and whether for sure.
type hearing struct {
	from, to minute
	surely   bool
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
		if d.Seq > 0 && rand.Float64() >= d.chance && s.Runs() {
			continue
		}
		sent := time.Now()
		a := d.Beat(t.Context(), c, s)
		switch {
		case a.Outcome() == rig.Refused && a.Err != nil: // there was nobody to take it
			return
		case a.Err != nil:
			at := d.last.Add(sent.Sub(d.lastReal) * simulatedRate)
			d.heard = append(d.heard, hearing{minuteOf(at), minuteOf(at.Add((a.Took+time.Since(sent))*simulatedRate)) + 1, false})
			return
		case a.Status != http.StatusOK:
			t.Errorf("a beat was answered %d %s", a.Status, a.Code)
			return
		}
		d.last, d.lastReal = a.At, time.Now()
		d.heard = append(d.heard, hearing{minuteOf(a.At.Add(-a.Took * simulatedRate)), minuteOf(a.At), true})
	}
}

// served is in which minutes a hotspot served.
type served struct{ surely, maybe map[minute]bool }

// served is the oracle of decision N16: a beat serves its minute and the three
// after it.
func (d *diary) served() served {
	out := served{map[minute]bool{}, map[minute]bool{}}
	for _, h := range d.heard {
		for m := h.from; m <= h.to+3; m++ {
			out.maybe[m] = true
		}
		for m := h.to; m <= h.from+3 && h.surely; m++ {
			out.surely[m] = true
		}
	}
	return out
}

// outages are the minutes that are excused: no server was up in them or in one
// of the three before. When servers were up, they wrote down; the last one,
// which began at a minute or later, still is.
func outages(t testing.TB, db *store.DB, since minute) (excused func(minute) bool) {
	t.Helper()
	var spans []beacon.ServiceSpan
	rig.Eventually(t, 5*time.Second, "the server notes that it is up", func() (noted bool) {
		var err error
		if spans, err = db.Spans(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		return len(spans) > 0 && spans[len(spans)-1].From >= int64(since)
	})
	up := map[minute]bool{}
	for _, s := range spans {
		for m := minute(s.From); m <= minute(s.To); m++ {
			up[m] = true
		}
	}
	first, last := minute(spans[0].From), minute(spans[len(spans)-1].From)
	return func(m minute) bool {
		for before := range minute(4) {
			if m-before >= first && m-before < last && !up[m-before] {
				return true
			}
		}
		return false
	}
}

// checkDiaries compares what a server shows with what its devices remember.
func checkDiaries(t *testing.T, c *rig.Client, s *rig.Server, outages func() func(minute) bool, all []*diary) {
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
func (d *diary) check(t testing.TB, h, history rig.Answer, excused func(minute) bool) (problem string) {
	served := d.served()
	// count gives the least and the most uptime from one minute to another, both included.
	count := func(from, to minute) (least, most float64, expected int) {
		surely, maybe := 0, 0
		for m := max(from, d.active); m <= to; m++ {
			if excused(m) {
				continue
			}
			expected++
			if served.surely[m] {
				surely++
			}
			if served.maybe[m] {
				maybe++
			}
		}
		return float64(surely) / float64(max(expected, 1)), float64(maybe) / float64(max(expected, 1)), expected
	}
	fits := func(got float64, from, to minute) string {
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
	if problem := fits(shown.Uptime, d.active, minuteOf(h.At)); problem != "" {
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
		from := minuteOf(at)
		to := min(from+59, minuteOf(history.At))
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
