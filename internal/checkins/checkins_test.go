package checkins

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// world is a database with servers on it, and a clock that a test can turn.
type world struct {
	db    *store.DB
	clock time.Time
	boot  uint64
}

// server is one of the servers.
type server struct {
	*CheckIns
	*world
	fleet *fleet.Fleet
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db := storetest.Opened(t)(sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "beacon.db"), sqlite.Options{Now: storetest.Now}))
	return &world{db: db, clock: time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)}
}

type tables struct {
	store.HotspotTable
	store.CheckInTable
}

// open starts a server that has all hotspots.
func (w *world) open(t *testing.T) *server {
	t.Helper()
	f := fleet.New(func(beacon.Hotspot, *beacon.Hotspot) string { return "" })
	s := &server{New(tables{w.db.Hotspots, w.db.CheckIns}, f, func() time.Time { return w.clock }, slog.New(slog.DiscardHandler)), w, f}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := w.db.Hotspots.EachHotspot(t.Context(), time.Time{}, func(h beacon.Hotspot) error { return f.Apply(h) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func operator(n int) beacon.UserID { return beacon.UserID(fmt.Sprintf("usr_%d", n)) }

// stand makes a hotspot of an operator of its own that staff have just visited.
func (w *world) stand(t *testing.T, n int) beacon.HotspotID {
	t.Helper()
	h := storetest.Hotspot(n)
	h.Operator, h.Visits, h.Vouches, h.PastService, h.PastHours, h.Settings.OperatingHours = operator(n), nil, nil, nil, nil, nil
	h.CreatedAt, h.UpdatedAt, h.Location.VerifiedAt, h.Device.LinkedAt = w.clock, w.clock, w.clock, w.clock
	h.Visits = []beacon.Visit{{At: w.clock, Point: h.Location.Point, AccuracyM: 5, Proves: true}}
	if err := w.db.Hotspots.InsertHotspot(t.Context(), h, beacon.Actor{}, nil); err != nil {
		t.Fatal(err)
	}
	return h.ID
}

// addr is where the device of a hotspot sends from.
func addr(n int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 51, 100, byte(n)}), 32)
}

// beat has the device of a hotspot send to a server.
func (s *server) beat(t *testing.T, hotspot beacon.HotspotID, from netip.Prefix) {
	t.Helper()
	spot, ok := s.fleet.Find(hotspot)
	if !ok {
		t.Fatal("no such hotspot")
	}
	raw, _ := id.Parse(beacon.HotspotPrefix, string(hotspot))
	s.boot++
	s.fleet.Beat(spot, &heartbeat.Beat{Hotspot: raw, At: s.clock.UnixMicro(), Heartbeat: beacon.Heartbeat{Boot: s.boot, Seq: 1}})
	s.Heard(spot, from)
}

// in checks an install in, and returns why it does not count.
func (s *server) in(t *testing.T, hotspot beacon.HotspotID, install int, from netip.Prefix) beacon.NoEvidence {
	t.Helper()
	out, err := s.CheckIn(t.Context(), beacon.Principal{User: "usr_app"}, report(hotspot, install, from))
	if err != nil {
		t.Fatal(err)
	}
	return out.Why
}

func report(hotspot beacon.HotspotID, install int, from netip.Prefix) Report {
	return Report{Hotspot: hotspot, From: from, Form: beacon.CheckInForm{
		Install: beacon.Some(fmt.Sprintf("install-%08d", install)), Works: beacon.Some(true),
	}}
}

// pending returns how many addresses a server has not written.
func (s *server) pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.noted)
}

func (s *server) write(t *testing.T) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = s.flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Over two years, three people on three days keep a place proven, until staff must come
// again; two people, or two days, do not.
func TestCheckIn_Extends(t *testing.T) {
	w := newWorld(t)
	hotspots := []beacon.HotspotID{w.stand(t, 1), w.stand(t, 2), w.stand(t, 3)}
	s := w.open(t)
	visited := beacon.DayOf(w.clock)
	proven := func(day int) bool {
		t.Helper()
		h, err := w.db.Hotspots.Hotspot(t.Context(), hotspots[2])
		if err != nil {
			t.Fatal(err)
		}
		on := visited + beacon.Day(day)
		return h.PlaceOn(on).Proven(on)
	}
	day := func(n int, installs ...int) {
		t.Helper()
		w.clock = visited.Time().AddDate(0, 0, n).Add(12 * time.Hour)
		for i, hotspot := range hotspots {
			s.beat(t, hotspot, addr(i+1))
			for _, install := range installs {
				s.in(t, hotspot, install, addr(i+1))
			}
		}
	}
	day(1, 1, 2, 3)
	day(2, 1, 2, 3)
	if h, _ := w.db.Hotspots.Hotspot(t.Context(), hotspots[2]); len(h.Vouches) > 0 {
		t.Error("a proof was extended that does not end soon")
	}
	day(340, 1, 2, 3, 4)
	day(341, 1, 2)
	if proven(366) {
		t.Error("two days suffice")
	}
	day(342, 1)
	if !proven(366) || !proven(342+90) || proven(342+91) {
		t.Error("three installs on three days do not extend it by 90 days")
	}
	hotspot, _ := s.fleet.Find(hotspots[2])
	if h, _ := w.db.Hotspots.Hotspot(t.Context(), hotspots[2]); h.Version != 2 || hotspot.Version() != 2 {
		t.Errorf("the row has version %d, and the fleet %d", h.Version, hotspot.Version())
	}
	day(400, 5, 6, 7) // staff have not been at the other two for a year
	day(401, 5, 6, 7)
	day(402, 5, 6, 7)
	if proven(342 + 91) {
		t.Error("installs count that were at no visited hotspot within 90 days")
	}
}

// However many people check in at a place that only its operator has visited, it is not
// proven.
func TestCheckIn_WithoutVisit(t *testing.T) {
	w := newWorld(t)
	hotspots := []beacon.HotspotID{w.stand(t, 1), w.stand(t, 2), w.stand(t, 3)}
	_, err := w.db.Hotspots.UpdateHotspot(t.Context(), hotspots[2], beacon.Actor{}, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
		h.Visits = []beacon.Visit{{At: w.clock, Point: h.Location.Point, AccuracyM: 5}} // by its own operator
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s := w.open(t)
	began := beacon.DayOf(w.clock)
	for n := range 5 {
		w.clock = (began + beacon.Day(n)).Time().Add(12 * time.Hour)
		for i, hotspot := range hotspots {
			s.beat(t, hotspot, addr(i+1))
			for install := range 10 {
				if why := s.in(t, hotspot, install, addr(i+1)); i == 2 && why != "" {
					t.Fatalf("on day %d a known install does not count there: %s", n, why)
				}
			}
		}
		h, err := w.db.Hotspots.Hotspot(t.Context(), hotspots[2])
		if on := began + beacon.Day(n) + 1; err != nil || len(h.Vouches) > 0 || h.PlaceOn(on).Proven(on) {
			t.Fatalf("on day %d it is vouched for by %v, proven %t, %v", n, h.Vouches, h.PlaceOn(on).Proven(on), err)
		}
	}
}

// Beats that came to one server are known to the other, within a second; and so is that
// the device moved away, and back.
func TestCheckIn_Replicas(t *testing.T) {
	w := newWorld(t)
	hotspots := []beacon.HotspotID{w.stand(t, 1), w.stand(t, 2), w.stand(t, 3)}
	one, two := w.open(t), w.open(t)
	for i, hotspot := range hotspots {
		one.beat(t, hotspot, addr(i+1))
		two.beat(t, hotspot, netip.Prefix{}) // as its follower does, without the address
	}
	if why := two.in(t, hotspots[0], 1, addr(1)); why != beacon.Elsewhere {
		t.Errorf("before it is written: %q", why)
	}
	one.write(t)
	for i, hotspot := range hotspots {
		want := beacon.NewInstall
		if i == 2 {
			want = ""
		}
		if why := two.in(t, hotspot, 1, addr(i+1)); why != want {
			t.Errorf("at %d: %q; want %q", i, why, want)
		}
	}
	two.beat(t, hotspots[2], addr(9)) // another line, and another server
	two.write(t)
	if why := one.in(t, hotspots[2], 1, addr(3)); why != beacon.Elsewhere {
		t.Errorf("at the old address: %q", why)
	}
	if why := one.in(t, hotspots[2], 1, addr(9)); why != "" {
		t.Errorf("at the new address: %q", why)
	}
	// Back to the first server, which last heard it there: it is noted within the hour.
	w.clock = w.clock.Add(time.Hour)
	one.beat(t, hotspots[2], addr(3))
	if why := one.in(t, hotspots[2], 1, addr(3)); why != "" {
		t.Errorf("back at the old address: %q", why)
	}
	// An address that nobody noted for long does not count, even if the device is online.
	one.write(t)
	w.clock = w.clock.Add(beacon.AddressLasts + time.Minute)
	two.beat(t, hotspots[2], netip.Prefix{})
	if why := two.in(t, hotspots[2], 1, addr(3)); why != beacon.Elsewhere {
		t.Errorf("long after: %q", why)
	}
}

// A device is noted when its address changes, and once an hour: not with each beat.
func TestHeard_Seldom(t *testing.T) {
	w := newWorld(t)
	hotspot := w.stand(t, 1)
	s := w.open(t)
	noted := 0
	for range 600 {
		s.beat(t, hotspot, addr(1))
		noted += s.pending()
		s.write(t)
		w.clock = w.clock.Add(time.Minute)
	}
	if noted < 10 || noted > 11 {
		t.Errorf("in ten hours it was noted %d times", noted)
	}
	s.beat(t, hotspot, addr(2))
	s.beat(t, hotspot, addr(1))
	s.beat(t, hotspot, addr(2))
	if s.pending() != 1 {
		t.Errorf("%d rows for one hotspot", s.pending())
	}
	s.write(t)
	if got, err := w.db.CheckIns.DeviceAddress(t.Context(), hotspot); err != nil || got.Hash != s.hashAddress(addr(2)) {
		t.Errorf("got %+v, %v; want the last address", got, err)
	}
}

// failing is a store that is away.
type failing struct{ Store }

var errAway = errors.New("away")

func (failing) PutAddresses(context.Context, []beacon.DeviceAddress) error { return errAway }

// The addresses that a device sends from are counted by day, if there are several.
func TestAddresses(t *testing.T) {
	w := newWorld(t)
	stays, moves := w.stand(t, 1), w.stand(t, 2)
	s := w.open(t)
	today := beacon.DayOf(w.clock)
	for i := range 3 * maxAddresses {
		s.beat(t, stays, addr(1))
		s.beat(t, moves, addr(1+i%7))
		w.clock = w.clock.Add(time.Minute)
	}
	if a, b := s.Addresses(stays, today), s.Addresses(moves, today); a != 0 || b != 7 {
		t.Errorf("%d and %d addresses; want 0 and 7", a, b)
	}
	w.clock = w.clock.Add(24 * time.Hour)
	for i := range 3 * maxAddresses {
		s.beat(t, moves, addr(1+i))
	}
	if a, b, c := s.Addresses(moves, today), s.Addresses(moves, today+1), s.Addresses(moves, today+2); a != 7 || b != maxAddresses || c != 0 {
		t.Errorf("%d, %d and %d addresses; want 7, %d and 0", a, b, c, maxAddresses)
	}
}

// Two heartbeats can overtake each other at midnight, and a clock that is a little ahead is
// set back. What was counted of the day before stays.
func TestAddresses_AroundMidnight(t *testing.T) {
	w := newWorld(t)
	hotspot, late := w.stand(t, 1), w.stand(t, 2)
	s := w.open(t)
	w.clock = time.Date(2026, 11, 16, 23, 59, 59, 0, time.UTC)
	today := beacon.DayOf(w.clock)
	s.beat(t, late, addr(200))
	for n := range 7 {
		s.beat(t, hotspot, addr(n))
	}
	w.clock = w.clock.Add(time.Second) // midnight
	s.beat(t, hotspot, addr(10))
	w.clock = w.clock.Add(-time.Millisecond) // one that began before
	s.beat(t, late, addr(201))
	w.clock = w.clock.Add(time.Millisecond)
	s.beat(t, hotspot, addr(11))
	for _, want := range []struct {
		hotspot beacon.HotspotID
		day     beacon.Day
		n       int
	}{{hotspot, today, 7}, {late, today, 2}, {hotspot, today + 1, 3}} {
		if n := s.Addresses(want.hotspot, want.day); n != want.n {
			t.Errorf("%s sent from %d addresses on %s; want %d", want.hotspot, n, want.day, want.n)
		}
	}
}

// A clock that was ahead for weeks does not cost the days that follow.
func TestAddresses_ClockAhead(t *testing.T) {
	w := newWorld(t)
	hotspot := w.stand(t, 1)
	s := w.open(t)
	next := 0
	sends := func(n int) {
		for range n {
			s.beat(t, hotspot, addr(next))
			next++
		}
	}
	today := beacon.DayOf(w.clock)
	sends(3)
	w.clock = w.clock.AddDate(0, 0, 40)
	sends(1)
	w.clock = w.clock.AddDate(0, 0, -40)
	sends(4)
	w.clock = w.clock.AddDate(0, 0, 1)
	sends(2)
	for day, want := range map[beacon.Day]int{today: 7, today + 1: 3} { // with that of the beat before midnight
		if n := s.Addresses(hotspot, day); n != want {
			t.Errorf("sent from %d addresses on %s; want %d", n, day, want)
		}
	}
}

// While the database is away, what waits is bounded, and written later.
func TestHeard_Bounded(t *testing.T) {
	w := newWorld(t)
	first, second := w.stand(t, 1), w.stand(t, 2)
	s := w.open(t)
	s.store = failing{tables{w.db.Hotspots, w.db.CheckIns}}
	s.beat(t, first, addr(1))
	for n := range maxNoted - 1 {
		other := beacon.HotspotID(fmt.Sprint(n))
		s.noted[other] = beacon.DeviceAddress{Hotspot: other, At: w.clock}
	}
	s.beat(t, second, addr(2))
	s.beat(t, first, addr(3)) // which waits already
	if _, err := s.flush(t.Context()); !errors.Is(err, errAway) || s.pending() != maxNoted {
		t.Errorf("%v; %d wait", err, s.pending())
	}
	s.store = tables{w.db.Hotspots, w.db.CheckIns}
	s.write(t)
	s.beat(t, second, addr(2)) // is noted now
	s.write(t)
	for hotspot, from := range map[beacon.HotspotID]netip.Prefix{first: addr(3), second: addr(2)} {
		if got, err := w.db.CheckIns.DeviceAddress(t.Context(), hotspot); err != nil || got.Hash != s.hashAddress(from) {
			t.Errorf("%s: got %+v, %v", hotspot, got, err)
		}
	}
}

// Neither the token of an install nor an address is what is stored, and another network
// has other hashes.
func TestHash(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	s, again, elsewhere := w.open(t), w.open(t), other.open(t)
	if s.hashAddress(addr(1)) != again.hashAddress(addr(1)) || s.hashInstall("a") != again.hashInstall("a") {
		t.Error("two servers of a network disagree")
	}
	if s.hashAddress(addr(1)) == elsewhere.hashAddress(addr(1)) || s.hashInstall("a") == elsewhere.hashInstall("a") {
		t.Error("two networks have the same hashes")
	}
	if s.hashAddress(addr(1)) == s.hashAddress(addr(2)) || s.hashInstall("a") == s.hashInstall("b") {
		t.Error("two of them have one hash")
	}
}

// The networks of two addresses are one if they share a /24, or a /48 of IPv6.
func TestHash_OfNetworks(t *testing.T) {
	s := newWorld(t).open(t)
	network := func(text string) int64 { return s.hashNetwork(netip.MustParsePrefix(text)) }
	for _, test := range []struct {
		one, other string
		same       bool
	}{
		{"198.51.100.1/32", "198.51.100.254/32", true},
		{"198.51.100.1/32", "198.51.101.1/32", false},
		{"2001:db8:1:2::/64", "2001:db8:1:ffff::/64", true},
		{"2001:db8:1:2::/64", "2001:db8:2:2::/64", false},
	} {
		if one, other := network(test.one), network(test.other); one == other != test.same || one == 0 {
			t.Errorf("%s and %s: %d, %d", test.one, test.other, one, other)
		}
	}
	if first := netip.MustParsePrefix("198.51.100.0/32"); s.hashNetwork(first) == s.hashAddress(first) {
		t.Error("the first address of a network has the hash of the network")
	}
}
