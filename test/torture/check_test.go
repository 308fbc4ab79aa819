//go:build linux

package torture_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// checker is the client who looks after the others: everything that it reads is
// in the history too.
const checker = -1

// check holds a server to what was done since the last check. Whatever had an
// unknown outcome is settled by it.
func (l *load) check(t *testing.T, s *harness.Server) {
	t.Helper()
	l.settle()
	fresh := l.fresh()
	each(fresh, func(hotspot *hotspot) { l.readBack(t, s, hotspot) })
	l.checkHotspots(t, fresh)
	harness.CheckTraffic(t, l.devices, l.admin.Readings(t, s)) // I7
	l.repeatBeats(t, s)
	if t.Failed() {
		t.FailNow() // more of it would tell no more
	}
}

// checkAll holds a server, and what its database holds, to the whole history.
func (l *load) checkAll(t *testing.T, s *harness.Server) {
	t.Helper()
	l.check(t, s)
	l.checkLists(t, s)
	l.checkHotspots(t, l.hotspots)
	l.checkSettled(t)
	checkChanges(t, s.DB)
	// What is in memory is what is in the database, where each MAC is there once.
	l.admin.Converges(t, s, harness.Truth(t, harness.OpenStore(t, s.DB)), int(l.number.Load()))
	l.report(t)
}

// readBack reads one hotspot, wherever it may be.
func (l *load) readBack(t *testing.T, s *harness.Server, hotspot *hotspot) {
	if hotspot.id == "" {
		hotspot.id = l.find(t, s, hotspot)
	}
	if hotspot.id == "" {
		l.note(hotspot, &op{kind: read, client: checker, call: l.now()}, harness.Answer{Status: http.StatusNotFound})
		return
	}
	a := l.read(t.Context(), s, hotspot, checker)
	if a.Status != http.StatusOK && a.Status != http.StatusNotFound {
		t.Errorf("%s cannot be read: %d %s %v", hotspot.id, a.Status, a.Code, a.Err)
	}
}

// find looks on the map for the hotspot that a registration without an answer
// may have made.
func (l *load) find(t *testing.T, s *harness.Server, hotspot *hotspot) (id string) {
	a := hotspot.owner.Do(t.Context(), http.MethodGet, s.URL+placeOf(hotspot), nil)
	ids := hotspotIDs(a)
	if a.Status != http.StatusOK || len(ids) > 1 {
		t.Errorf("at the place of hotspot %d there are %v: %d %s %v", hotspot.number, ids, a.Status, a.Code, a.Err)
	}
	if len(ids) != 1 {
		return ""
	}
	return ids[0]
}

func hotspotIDs(a harness.Answer) (ids []string) {
	var list []struct{ ID string }
	_ = json.Unmarshal(a.Data, &list) // of what is no list, there are none
	for _, h := range list {
		ids = append(ids, h.ID)
	}
	return ids
}

// checkLists reads the hotspots of all users: each is one that somebody asked
// for (I2), and reading a list is reading each of its hotspots.
func (l *load) checkLists(t *testing.T, s *harness.Server) {
	t.Helper()
	all := map[string]*hotspot{}
	for _, hotspot := range l.hotspots {
		all[fmt.Sprint("net-", hotspot.number)] = hotspot
	}
	for _, u := range l.users {
		called := l.now()
		listed := u.Owned(t, s)
		for ssid, h := range listed {
			hotspot := all[ssid]
			if hotspot == nil || hotspot.owner != u {
				t.Errorf("%s of %s came from nowhere", ssid, u.id)
				continue
			}
			data, _ := json.Marshal(h)
			l.note(hotspot, &op{kind: read, client: checker, user: u, call: called}, harness.Answer{Status: http.StatusOK, Data: data})
			delete(all, ssid)
		}
	}
	for ssid, hotspot := range all {
		if hotspot.id != "" {
			t.Errorf("%s is there, and not in the list of its owner", ssid)
		}
	}
}

// checkSettled: what was settled stays so (I8).
func (l *load) checkSettled(t *testing.T) {
	t.Helper()
	settled := map[*user]float64{}
	for _, o := range l.ops { // in the order of their ends
		if o.kind != earned || o.outcome != harness.Done {
			continue
		}
		summary, _ := o.got["summary"].(harness.Fields)
		now, ok := summary["settled"].(float64)
		if !ok || now < settled[o.user] {
			t.Errorf("%s had %v settled, and now: %v", o.user.id, settled[o.user], o.got)
		}
		settled[o.user] = now
	}
}

// repeatBeats sends again what was acknowledged, with more clients, as a device must
// not. The server must know each. It cannot be asked with more traffic: then the
// device's numbers started again, and the beat counts (D95).
func (l *load) repeatBeats(t *testing.T, s *harness.Server) {
	t.Helper()
	each(l.devices, func(d *harness.Device) {
		if d.Latest == nil {
			return
		}
		again := with(maps.Clone(d.Latest), harness.Fields{"clients": 9999})
		a := d.Send(t.Context(), l.admin, s, again)
		if a.Status != http.StatusOK {
			t.Errorf("a repeated beat was answered %d %s %v", a.Status, a.Code, a.Err)
			return
		}
		// Of replicas, s may have heard of a later beat first, whose outcome is unknown.
		if got := a.Fields(t); d.Acked == d.Bytes && (got["counted"] != false || got["reason"] != "repeated") {
			t.Errorf("%s: a repeated beat was answered %v", d.SSID, got)
		}
	})
	harness.CheckTraffic(t, l.devices, l.admin.Readings(t, s))
}

// report says how much was done, and refuses to have proved something with
// nothing.
func (l *load) report(t *testing.T) {
	t.Helper()
	for _, m := range l.mix {
		done, unknown := l.count(m.kind, harness.Done), l.count(m.kind, harness.Unknown)
		t.Logf("%s: %d done, %d refused, %d unknown", m.kind, done, l.count(m.kind, harness.Refused), unknown)
		if done == 0 {
			t.Errorf("not one %s was acknowledged: that proves nothing", m.kind)
		}
	}
}

// each does something with all items, a few at a time.
func each[T any](items []T, do func(T)) {
	var group sync.WaitGroup
	queue := make(chan T)
	for range 8 {
		group.Go(func() {
			for item := range queue {
				do(item)
			}
		})
	}
	for _, item := range items {
		queue <- item
	}
	close(queue)
	group.Wait()
}
