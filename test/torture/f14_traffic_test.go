//go:build linux

package torture_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
)

// TestF14_Traffic lets devices that count in their own ways beat for a day, and compares
// what each is paid with what it carried, to the micro-credit.
func TestF14_Traffic(t *testing.T) { harness.Stores(t, testTraffic) }

const (
	// beatEvery is the minutes between two beats: no minute is lost.
	beatEvery = 4
	// carriedABeat is what a device carries from one beat to the next.
	carriedABeat = 50_000_000
)

// carrier is a device that carries the same all day. count makes the n-th beat of the
// day, or returns nil if the device is cut off.
type carrier struct {
	name        string
	open, close string // its hours; empty: always open
	count       func(n uint64) harness.Fields
	paid        func(n uint64) bool // whether the traffic that the n-th beat reports is paid; nil: always

	*harness.Device
	heard, carried uint64 // the beats it sent before; what must be paid
}

// counts is the usual beat: the n-th, of a device that carried so much.
func counts(boot string, seq, bytes uint64) harness.Fields {
	return harness.Fields{"boot_id": boot, "seq": seq, "clients": 1, "rx_bytes": bytes * 3 / 5, "tx_bytes": bytes - bytes*3/5}
}

// with adds fields to a beat.
func with(beat harness.Fields, more harness.Fields) harness.Fields {
	maps.Copy(beat, more)
	return beat
}

// narrow is a beat of a device that counts with 32 bits.
func narrow(seq, bytes uint64) harness.Fields {
	return with(counts("a", seq, 0), harness.Fields{"rx_bytes": uint32(bytes * 3 / 5), "tx_bytes": uint32(bytes - bytes*3/5)})
}

func carriers() []*carrier {
	const c = carriedABeat
	return []*carrier{
		{name: "as it should be", count: func(n uint64) harness.Fields { return counts("a", n, n*c) }},
		{name: "counters start again inside a boot", count: func(n uint64) harness.Fields { return counts("a", n, (n-1)%45*c+c) }},
		{name: "counters start again, and it says so", count: func(n uint64) harness.Fields {
			return with(counts("a", n, (n-1)%3*c+c), harness.Fields{"counter_epoch": fmt.Sprint("e", (n-1)/3)})
		}},
		{name: "counters of 32 bits", count: func(n uint64) harness.Fields { return narrow(n, n*c) }},
		{name: "counters of 32 bits, and it says so", count: func(n uint64) harness.Fields {
			return with(narrow(n, n*c), harness.Fields{"counter_bits": 32})
		}},
		{name: "a boot for each beat", count: func(n uint64) harness.Fields { return counts(fmt.Sprint("boot-", n), 1, c) }},
		{name: "numbers start again", count: func(n uint64) harness.Fields { return counts("a", (n-1)%100, n*c) }},
		{name: "numbers start again at once", count: func(n uint64) harness.Fields { return counts("a", (n-1)%7, n*c) }},
		{name: "numbers start again, and counters, and it says so", count: func(n uint64) harness.Fields {
			return with(counts("a", (n-1)%90, (n-1)%90*c+c), harness.Fields{"counter_epoch": fmt.Sprint("e", (n-1)/90)})
		}},
		{name: "a number beyond all", count: func(n uint64) harness.Fields {
			if n == 30 {
				return counts("a", 1<<53, n*c)
			}
			return counts("a", n, n*c)
		}},
		{name: "a leap of numbers", count: func(n uint64) harness.Fields {
			if n == 30 {
				return counts("a", 1<<51, n*c)
			}
			return counts("a", n, n*c)
		}},
		{
			name: "cut off when it closes", open: "08:00", close: "18:00",
			count: func(n uint64) harness.Fields {
				if at := (n - 1) * beatEvery; at >= 16*60 && at < 18*60+20 {
					return nil
				}
				return counts("a", n, n*c)
			},
			paid: func(n uint64) bool { at := (n - 1) * beatEvery; return at >= 8*60 && at < 16*60 || at == 18*60+20 },
		},
		{
			name: "reports after it closes", open: "08:00", close: "18:00",
			count: func(n uint64) harness.Fields { return counts("a", n, n*c) },
			paid:  func(n uint64) bool { at := (n - 1) * beatEvery; return at >= 8*60 && at <= 18*60 },
		},
		{
			name: "closes at midnight", open: "12:00", close: "00:00",
			count: func(n uint64) harness.Fields { return counts("a", n, n*c) },
			paid:  func(n uint64) bool { return (n-1)*beatEvery >= 12*60 },
		},
	}
}

func testTraffic(t *testing.T, db string) {
	staff := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	clock := harness.NewHeldClock(t, time.Date(2026, 10, 20, 0, 0, 30, 0, time.UTC))
	server := clock.Start(t, db)
	all := carriers()
	for i, d := range harness.LinkDevices(t, staff, server, 0, len(all)) {
		all[i].Device = d
		if all[i].open != "" {
			staff.Ask(t, http.MethodPatch, server.URL+"/v1/hotspots/"+d.Hotspot, harness.Fields{"settings": harness.Fields{"operating_hours": harness.Fields{
				"timezone": "UTC", "exceptions": []any{}, "weekly": []any{harness.Fields{
					"days": []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, "open": all[i].open, "close": all[i].close,
				}},
			}}})
		}
	}
	beats := uint64(0)
	for ; clock.Now().Day() == 20 && !t.Failed(); clock.Pass(beatEvery * time.Minute) {
		beats++
		var beating sync.WaitGroup
		for _, d := range all {
			beating.Go(func() { d.send(t, staff, server, beats) })
		}
		beating.Wait()
	}
	midnight := all[len(all)-1]
	if midnight.send(t, staff, server, beats+1); midnight.carried != (12*60/beatEvery+1)*carriedABeat {
		t.Error("it is not midnight")
	}
	midnight.check(t, staff, server, "2026-10-21", carriedABeat)
	audit.AwaitClosed(t, db, "2026-10-20", server, func() { clock.Pass(5 * time.Minute) })
	for _, d := range all {
		if d == midnight {
			d.carried -= carriedABeat
		}
		if e := d.check(t, staff, server, "2026-10-20", d.carried); e.Open || d.open == "" && (e.Facts.Served != e.Facts.Expected || d.carried != beats*carriedABeat) {
			t.Errorf("%s: served %d of %d minutes", d.name, e.Facts.Served, e.Facts.Expected)
		}
	}
}

// send sends the n-th beat, and some of them twice.
func (d *carrier) send(t *testing.T, c *harness.Client, s *harness.Server, n uint64) {
	body := d.count(n)
	if body == nil {
		return
	}
	a := d.Send(t.Context(), c, s, body)
	if body["seq"] == uint64(1<<53) {
		if a.Status != http.StatusBadRequest {
			t.Errorf("%s: beat %d answered %d %s", d.name, n, a.Status, a.Code)
		}
		body["seq"] = n
		a = d.Send(t.Context(), c, s, body)
	}
	if a.Status != http.StatusOK || uncounted(t, a) != "" {
		t.Errorf("%s: beat %d answered %d %s %s", d.name, n, a.Status, a.Code, a.Data)
	}
	if d.paid == nil || d.paid(n) {
		d.carried += (n - d.heard) * carriedABeat
	}
	d.heard = n
	if n%10 == 0 {
		if again := d.Send(t.Context(), c, s, body); again.Status != http.StatusOK || uncounted(t, again) != "repeated" {
			t.Errorf("%s: beat %d, sent twice, answered %d %s", d.name, n, again.Status, again.Data)
		}
	}
}

// uncounted is the reason in an answer why a beat did not count.
func uncounted(t *testing.T, a harness.Answer) string {
	var taken struct {
		Counted *bool
		Reason  string
	}
	if err := json.Unmarshal(a.Data, &taken); err != nil {
		t.Error(err)
	}
	if (taken.Counted == nil) != (taken.Reason == "") || taken.Counted != nil && *taken.Counted {
		t.Errorf("an answer is %s", a.Data)
	}
	return taken.Reason
}

// check compares what a day is paid with what the device carried.
func (d *carrier) check(t *testing.T, c *harness.Client, s *harness.Server, day string, carried uint64) audit.Explanation {
	t.Helper()
	e, _, _ := audit.Fetch[audit.Explanation](t, c, s.URL+"/v1/hotspots/"+d.Hotspot+"/rewards/explain?date="+day)
	if want := audit.Micros(carried * 20_000 / 1_000_000_000); e.Facts.Bytes != carried || e.Earned.Utilization != want || e.Problem() != "" {
		t.Errorf("%s: on %s it is paid %d for %d bytes; want %d for %d bytes %s", d.name, day, e.Earned.Utilization, e.Facts.Bytes, want, carried, e.Problem())
	}
	return e
}
