package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// The service is down for two days and more, begun and ended at any hour. The explanation of
// such a day says what its minutes count for while it is open, as closing will write it, and
// after.
func TestExplain_WholeDaysDown(t *testing.T) {
	t.Parallel()
	minutes := policy.BuiltIn()[2]
	minutes.From = beacon.DayOf(noon)
	places := policy.BuiltIn()[1]
	places.From = beacon.DayOf(noon)
	minutes.Version = 2
	for name, test := range map[string]struct {
		policies policy.Set
		says     string
	}{
		"places":  {append(policy.Devices(), places), "Each counts as a whole minute, "},
		"minutes": {append(policy.Devices(), minutes), "They count as 1"},
	} {
		for shift, long := range map[time.Duration]time.Duration{0: 50*time.Hour + 7*time.Minute, 9*time.Hour + 31*time.Minute: 40*time.Hour + 3*time.Minute} {
			for kind, open := range stores {
				if kind == "postgres" && level.Now() == level.Test {
					continue
				}
				t.Run(at("%s from %v after noon/%s", name, shift, kind), func(t *testing.T) {
					t.Parallel()
					d := down{options{limits: ample, live: true, policies: test.policies, begins: noon.Add(shift)}, open(t), long}
					d.days(t, test.says)
				})
			}
		}
	}
}

// down is a service that serves for two hours, and then is down.
type down struct {
	options
	db   *store.DB
	long time.Duration
}

func (d *down) days(t *testing.T, says string) {
	var hotspot string
	var key string
	t.Run("up", func(t *testing.T) { // the server stops when this ends
		s := start(t, d.db, d.options)
		c := s.anyone(t, "hotspots:write", "rewards:read")
		m := c.install(t, 1)
		s.verify(t, m.hotspot)
		for seq := range 31 {
			m.beat(t, at(`{"boot_id":"b","seq":%d,"clients":1,"rx_bytes":0,"tx_bytes":0}`, seq)).want(t, http.StatusOK)
			if seq < 30 { // the service is up until the last beat
				s.advance(4 * time.Minute)
			}
		}
		hotspot, key = m.hotspot, c.plain
	})
	first := beacon.DayOf(d.begins.Add(2*time.Hour)) + 1
	d.begins = d.begins.Add(2*time.Hour + d.long)
	s := start(t, d.db, d.options)
	c := client{server: s, plain: key}
	open := map[beacon.Day]explained{}
	for day := first; day.Time().Add(24 * time.Hour).Before(s.now()); day++ {
		open[day] = c.explain(t, hotspot, day.String())
		if e := open[day]; !e.Open || e.Facts.Expected != 0 || !strings.Contains(excusedOf(e), says) {
			t.Errorf("%s, open: %+v", day, e)
		}
	}
	if len(open) == 0 {
		t.Fatal("no day was excused from end to end")
	}
	for day, was := range open {
		harness.Eventually(t, "the closing", func() bool {
			s.advance(10 * time.Second)
			return !c.explain(t, hotspot, day.String()).Open
		})
		is := c.explain(t, hotspot, day.String())
		if is.Earned != was.Earned || is.Facts != was.Facts || is.Earned.Total == 0 || excusedOf(is) != excusedOf(was) {
			t.Errorf("%s, closed: %+v; open it was %+v", day, is, was)
		}
	}
}

func excusedOf(e explained) string {
	for _, l := range e.Losses {
		if l.Reason == "excused" {
			return l.Explanation
		}
	}
	return ""
}
