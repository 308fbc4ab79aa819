//go:build linux

package endtoend_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
)

// crowd is many hotspots, put into a database before a server runs on it. They
// are verified and linked, and have never beaten.
type crowd struct {
	members []*member
	sent    atomic.Int64 // beats
}

// member is a hotspot of a crowd.
type member struct {
	*harness.Device
	disc groundDisc
}

// newCrowd puts hotspots to where their discs are.
func newCrowd(t testing.TB, db string, now time.Time, discs []groundDisc) *crowd {
	t.Helper()
	handle := harness.OpenStore(t, db)
	c := &crowd{members: make([]*member, len(discs))}
	abreast(64, len(discs), func(i int) { // they share transactions
		m, err := newMember(t.Context(), handle, i, now, discs[i])
		if err != nil {
			t.Error(err)
		}
		c.members[i] = m
	})
	if t.Failed() {
		t.FailNow()
	}
	return c
}

// abreast does something for 0 to count-1, some at a time.
func abreast(workers, count int, do func(i int)) {
	var next atomic.Int64
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for i := int(next.Add(1)) - 1; i < count; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	working.Wait()
}

func newMember(ctx context.Context, db *store.DB, i int, now time.Time, disc groundDisc) (*member, error) {
	h := beacon.Hotspot{
		ID: beacon.HotspotID(id.New(beacon.HotspotPrefix, now)), Operator: "usr_01hzzzzzzzzzzzzzzzzzzzzzzz",
		Name: fmt.Sprintf("Hotspot %d", i), Type: beacon.Home,
		Location: beacon.Location{Point: geo.Point{Lat: disc.lat, Lng: disc.lng}, VerifiedAt: now},
		Device:   beacon.Device{SSID: fmt.Sprintf("net-%d", i), MAC: beacon.MAC(harness.MACOf(i)), LinkedAt: now},
		Settings: beacon.Settings{MaxConnections: 16, BandwidthLimitMbps: 50, CoverageRadiusM: disc.radiusM},

		CreatedAt: now, UpdatedAt: now, Version: 1,
	}
	m := &member{Device: &harness.Device{Hotspot: string(h.ID), SSID: h.Device.SSID, MAC: harness.MACOf(i)}, disc: disc}
	m.Key, h.Device.KeyHash = access.MintDevice(h.ID)
	_, err := db.InsertHotspot(ctx, h, storetest.Actor, nil)
	return m, err
}

// beat lets members beat once, some at a time.
func (c *crowd) beat(t testing.TB, client *harness.Client, s *harness.Server, members []*member) {
	t.Helper()
	abreast(32, len(members), func(i int) {
		c.sent.Add(1)
		members[i].beat(t, client, s)
	})
}

func (m *member) beat(t testing.TB, client *harness.Client, s *harness.Server) {
	body := m.Next()
	a := m.Send(t.Context(), client, s, body)
	for tries := 0; a.Err != nil && tries < 3; tries++ { // a connection that was never used may be closed any time
		a = m.Send(t.Context(), client, s, body)
	}
	if m.Hear(a, body); a.Status != http.StatusOK {
		t.Errorf("a beat was answered %d %s %v", a.Status, a.Code, a.Err)
	}
}
