package rewards_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/rewards/holds"
	"github.com/beacon-wifi/beacon/internal/rewards/places"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/postgres"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// world is some operators and what their hotspots did, as a test makes it up: it
// stands for telemetry. The database is real.
type world struct {
	db         *store.DB
	held       lease.Lease
	began, now time.Time
	policies   policy.Set

	users   []beacon.UserID
	owners  map[beacon.HotspotID]beacon.UserID // now
	whose   map[beacon.HotspotID][]tenure      // whose each day is, oldest first
	names   map[beacon.HotspotID]string
	deleted map[beacon.HotspotID]bool
	facts   map[beacon.Day]map[beacon.HotspotID]beacon.Facts

	statements map[beacon.UserID]map[beacon.Month]ledger.Statement // that were seen

	late    map[uint64]int     // by bytes: when a hotspot that carried so many began to serve
	asked   int                // how often what is decided was asked for
	holds   bool               // no day is final
	hides   bool               // homes
	decided map[beacon.Day]int // how many minutes of a day are decided; all if it is not there
}

// tenure is who a hotspot is of, from the beginning of a day on.
type tenure struct {
	from beacon.Day
	user beacon.UserID
}

// ownerOn returns whose a hotspot was when a day began.
func (w *world) ownerOn(hotspot beacon.HotspotID, day beacon.Day) (user beacon.UserID) {
	for _, t := range w.whose[hotspot] {
		if t.from <= day {
			user = t.user
		}
	}
	return user
}

// handOver gives a hotspot to another user now, and reports whether that was possible.
func (w *world) handOver(t testing.TB, hotspot beacon.HotspotID, to beacon.UserID) bool {
	t.Helper()
	offer := beacon.Offer{Hotspot: hotspot, To: to, OfferedAt: w.now, ExpiresAt: w.now.Add(beacon.OfferLasts)}
	err := w.db.Hotspots.PutOffer(t.Context(), offer, beacon.Actor{}, func(h *beacon.Hotspot, _ beacon.Giving) (beacon.UserID, error) { return h.Operator, nil })
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.db.Hotspots.TakeOver(t.Context(), hotspot, to, beacon.Actor{}, w.now, func(h *beacon.Hotspot, known beacon.Taking) error {
		if !known.Found || known.Held {
			return &beacon.Error{Kind: beacon.Conflict}
		}
		return h.HandOver(beacon.Behind{User: to}, known.Closing, w.now)
	})
	if beacon.KindOf(err) == beacon.Conflict && err != nil {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	w.owners[hotspot] = to
	w.whose[hotspot] = append(w.whose[hotspot], tenure{w.today() + 1, to})
	return true
}

func openSQLite(t testing.TB, now time.Time) *store.DB {
	t.Helper()
	// No test cuts the power, so nothing has to be synced.
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "beacon.db"), sqlite.Options{Now: now, Draft: true})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func openPostgres(t testing.TB, now time.Time) *store.DB {
	t.Helper()
	open := func(ctx context.Context, url string) (*store.DB, error) {
		return postgres.Open(ctx, storetest.Patient(t, url), postgres.Options{Now: now})
	}
	db, err := open(t.Context(), storetest.Prepared(t, open))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// onBoth runs a test on both engines. make test has it on SQLite alone: what the two have
// in common is held by store/storetest.
func onBoth(t *testing.T, test func(t *testing.T, open func(testing.TB, time.Time) *store.DB)) {
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, openSQLite) })
	if level.Now() > level.Test {
		t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, openPostgres) })
	}
}

func newWorld(t testing.TB, db *store.DB, now time.Time, users int) *world {
	t.Helper()
	t.Cleanup(func() { _ = db.Close() })
	held, taken, err := db.Leases.TakeLease(t.Context(), "keeper", "this test", time.Now(), time.Hour)
	if err != nil || !taken {
		t.Fatalf("lease: %v, taken %v", err, taken)
	}
	w := &world{
		db: db, held: held, began: now, now: now, policies: policy.Devices(),
		statements: map[beacon.UserID]map[beacon.Month]ledger.Statement{},
		owners:     map[beacon.HotspotID]beacon.UserID{}, names: map[beacon.HotspotID]string{},
		whose:   map[beacon.HotspotID][]tenure{},
		deleted: map[beacon.HotspotID]bool{}, facts: map[beacon.Day]map[beacon.HotspotID]beacon.Facts{},
	}
	for range users {
		w.users = append(w.users, beacon.UserID(id.New(beacon.UserPrefix, now)))
	}
	return w
}

// tables are what rewards need of a database.
type tables interface {
	rewards.Store
	closing.Days
	closing.Months
	places.Store
	holds.Store
	earnings.Totals
}

// process is what one process knows and does of rewards.
type process struct {
	*rewards.Ledger
	*closing.Closer
	*earnings.Earnings
	*holds.Holds
}

func (p process) Start(ctx context.Context) error { return p.Closer.Start(ctx) }

// inPagesOf makes pages small, so that few hotspots need many.
func (p process) inPagesOf(n int) { p.Ledger.PageSize = n }

// rewards are a process of this world's; the store may be one that fails.
func (w *world) rewards(over tables) process {
	return w.rewardsAt(over, clock.New(clock.Config{Store: w.db.Clocks, Now: func() time.Time { return w.now }}))
}

func (w *world) rewardsAt(over tables, c *clock.Clock) process {
	l := rewards.New(rewards.Config{Store: over, Policies: w.policies, Clock: c})
	return process{
		l, closing.New(closing.Config{
			Ledger: l, Days: over, Months: over, Places: over, Holds: over, Telemetry: w,
			Lease: func() (lease.Lease, bool) { return w.held, true }, Log: slog.New(slog.DiscardHandler),
		}),
		earnings.New(earnings.Config{Ledger: l, Places: over, Totals: over, Telemetry: w, Around: w.around, HidesHomes: func() bool { return w.hides }}),
		&holds.Holds{Ledger: l, Store: over},
	}
}

func (w *world) today() beacon.Day { return beacon.DayOf(w.now) }

// register gives a user one more hotspot.
func (w *world) register(t testing.TB, user beacon.UserID) beacon.HotspotID {
	t.Helper()
	return w.registerAt(t, user, geo.Point{Lat: 40, Lng: -74})
}

func (w *world) registerAt(t testing.TB, user beacon.UserID, place geo.Point) beacon.HotspotID {
	t.Helper()
	n := len(w.owners)
	h := beacon.Hotspot{
		ID: beacon.HotspotID(id.New(beacon.HotspotPrefix, w.now)), Operator: user, Name: fmt.Sprintf("Hotspot %d", n), Type: beacon.Home,
		Location: beacon.Location{Point: place},
		Device:   beacon.Device{SSID: "guests", MAC: beacon.MAC(fmt.Sprintf("02:00:00:00:%02x:%02x", n>>8, n&255))},
		Settings: beacon.Settings{MaxConnections: 16, BandwidthLimitMbps: 50}, CreatedAt: w.now, UpdatedAt: w.now, Version: 1,
	}
	if err := w.db.Hotspots.InsertHotspot(t.Context(), h, beacon.Actor{}, nil); err != nil {
		t.Fatal(err)
	}
	w.owners[h.ID], w.names[h.ID] = user, h.Name
	w.whose[h.ID] = []tenure{{0, user}}
	return h.ID
}

// remove deletes a hotspot.
func (w *world) remove(t testing.TB, hotspot beacon.HotspotID) {
	t.Helper()
	_, err := w.db.Hotspots.UpdateHotspot(t.Context(), hotspot, beacon.Actor{}, beacon.HotspotDeleted, func(h *beacon.Hotspot) (bool, error) {
		h.DeletedAt = w.now
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.deleted[hotspot] = true
}

// live are the hotspots that are not deleted, by id.
func (w *world) live() []beacon.HotspotID {
	var all []beacon.HotspotID
	for _, hotspot := range slices.Sorted(maps.Keys(w.owners)) {
		if !w.deleted[hotspot] {
			all = append(all, hotspot)
		}
	}
	return all
}

// did notes what a hotspot has done today so far.
func (w *world) did(hotspot beacon.HotspotID, f beacon.Facts) {
	if w.facts[w.today()] == nil {
		w.facts[w.today()] = map[beacon.HotspotID]beacon.Facts{}
	}
	w.facts[w.today()][hotspot] = f
}

// midnight ends the day: its records are written, and the next one begins.
func (w *world) midnight(t testing.TB) {
	t.Helper()
	var rows []beacon.RecordRow
	for hotspot, facts := range w.facts[w.today()] {
		data, err := json.Marshal(facts)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, beacon.RecordRow{Hotspot: hotspot, Day: w.today(), Data: data})
	}
	slices.SortFunc(rows, func(a, b beacon.RecordRow) int { return compareText(a.Hotspot, b.Hotspot) })
	if err := w.db.Records.PutRecords(t.Context(), w.held, rows); err != nil {
		t.Fatal(err)
	}
	w.now = (w.today() + 1).Time().Add(10 * time.Minute)
}

func compareText[T ~string](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// step lets a process do what is to be done, and it must succeed.
func (w *world) step(t testing.TB) {
	t.Helper()
	r := w.rewards(w.db.Rewards())
	r.inPagesOf(3)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// FinalBefore, Facts and DidOf are what telemetry would say.

func (w *world) FinalBefore() (beacon.Day, bool) { return w.today(), !w.holds }

func (w *world) Facts(_ context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID]beacon.Facts, error) {
	found := map[beacon.HotspotID]beacon.Facts{}
	for _, hotspot := range ids {
		if f, ok := w.facts[day][hotspot]; ok && !f.None() {
			found[hotspot] = f
		}
	}
	return found, nil
}

// Decided takes all of a day for decided, unless a test says how much.
func (w *world) Decided(_ context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID]beacon.Did, error) {
	w.asked++
	found := map[beacon.HotspotID]beacon.Did{}
	for _, hotspot := range ids {
		if f, ok := w.facts[day][hotspot]; ok {
			found[hotspot] = w.until(day, w.didOf(f))
		}
	}
	return found, nil
}

// until cuts a day where it is not decided. Of the minutes that were not served, those
// expected come first, then the closed ones, then the excused ones.
func (w *world) until(day beacon.Day, d beacon.Did) beacon.Did {
	minutes, cut := w.decided[day]
	if !cut {
		return d
	}
	var is beacon.Did
	is.Tier, is.Bytes = d.Tier, d.Bytes*uint64(minutes)/beacon.MinutesADay
	if minutes == beacon.MinutesADay {
		is.Bytes = d.Bytes
	}
	missed := 0
	for m := range minutes {
		switch {
		case d.Minutes[m/64]&(1<<(m%64)) != 0:
			is.Minutes[m/64] |= 1 << (m % 64)
			is.Served++
			is.Expected++
			continue
		case missed < d.Expected-d.Served:
			is.Expected++
		case missed < d.Expected-d.Served+d.Closed:
			is.Closed++
		case missed < d.Expected-d.Served+d.Closed+d.Excused:
			is.Excused++
			is.ExcusedMinutes[m/64] |= 1 << (m % 64)
		default:
			is.Outside++
		}
		missed++
	}
	return is
}

// around finds everyone, in no order.
func (w *world) around(_ geo.Point, _ float64, each func(beacon.HotspotID)) {
	for hotspot := range w.owners {
		each(hotspot)
	}
}

// DidOf decodes a record.
func (w *world) DidOf(record []byte) (beacon.Did, error) {
	if string(record) == "damaged" {
		return beacon.Did{}, beacon.ErrDamaged
	}
	var f beacon.Facts
	err := json.Unmarshal(record, &f)
	return w.didOf(f), err
}

// didOf says in which minutes what was done. Of those that were not served, the expected ones
// come first, then the closed ones, then the excused ones.
func (w *world) didOf(f beacon.Facts) beacon.Did {
	d := beacon.Did{Facts: f, Minutes: w.minutes(f)}
	missed := 0
	for m := range beacon.MinutesADay {
		if d.Minutes[m/64]&(1<<(m%64)) != 0 {
			continue
		}
		if from := f.Expected - f.Served + f.Closed; missed >= from && missed < from+f.Excused {
			d.ExcusedMinutes[m/64] |= 1 << (m % 64)
		}
		missed++
	}
	return d
}

// minutes takes those served from the day's first on, unless a test says which.
func (w *world) minutes(f beacon.Facts) (m beacon.Minutes) {
	for minute := range f.Served {
		minute += w.late[f.Bytes]
		m[minute/64] |= 1 << (minute % 64)
	}
	return m
}

// settledMonths reads which months of a user's have a statement. What had one
// before has the same for ever.
func (w *world) settledMonths(t testing.TB, user beacon.UserID) map[string]bool {
	t.Helper()
	if w.statements[user] == nil {
		w.statements[user] = map[beacon.Month]ledger.Statement{}
	}
	known := w.statements[user]
	err := w.db.Ledger.Books(t.Context(), func(b ledger.Books) error {
		for month := beacon.MonthOf(w.began); month <= beacon.MonthOf(w.now); month++ {
			s, any, err := b.Statement(t.Context(), user, month)
			if err != nil {
				return err
			}
			if before, had := known[month]; had && (!any || s != before) {
				t.Fatalf("the statement of %s for %s was %+v, and is %+v", user, month, before, s)
			}
			if any {
				known[month] = s
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	settled := map[string]bool{}
	for month := range known {
		settled[month.String()] = true
	}
	return settled
}
