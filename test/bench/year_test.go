package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
)

// yearWorld is the books of one operator over a year and two weeks: twelve months
// are settled, the thirteenth is in progress, and its fifteenth day is open.
type yearWorld struct {
	file string
	key  string
}

const (
	yearHotspots = 10_000
	yearOperator = beacon.UserID("usr_00000000000000000000000001")
)

var (
	yearBegins = time.Date(2025, 11, 1, 0, 0, 0, 0, time.UTC)
	yearEnds   = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	yearNow    = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
)

// What each hotspot does on every day of the year, and what it earns by that:
// half of a credit, a quarter of that for its tier, and 0.2 for 10 GB.
var yearFacts = beacon.Facts{Served: 720, Expected: 1440, Bytes: 10_000_000_000, Tier: beacon.Enhanced}

const yearEarns = 825_000 * beacon.Amount(1)

// yearDays stands for telemetry and its records: all days are alike.
type yearDays struct {
	store.RewardTables
	records
	ids []beacon.HotspotID
}

func (yearDays) DidOf([]byte) (beacon.Did, error) { return beacon.Did{Facts: yearFacts}, nil }

func (y yearDays) OwnedRecords(_ context.Context, _ beacon.Day, after beacon.Owned, limit int) (
	some []beacon.OwnedRecord, next beacon.Owned, more bool, err error,
) {
	from, found := slices.BinarySearch(y.ids, after.Hotspot)
	if found {
		from++
	}
	to := min(from+limit, len(y.ids))
	for _, id := range y.ids[from:to] {
		next = beacon.Owned{User: yearOperator, Hotspot: id}
		some = append(some, beacon.OwnedRecord{Owned: next})
	}
	return some, next, to < len(y.ids), nil
}

// newYearWorld makes it, or takes the one that was kept; see newWorld.
func newYearWorld(b *testing.B) yearWorld {
	b.Helper()
	folder := os.Getenv(worldVariable)
	if folder == "" {
		folder = b.TempDir()
	}
	w := yearWorld{file: filepath.Join(folder, fmt.Sprintf("year-%d.db", yearHotspots))}
	makeOnce(b, w.file, func(file string) { makeYearWorld(b, file) })
	db := open(b, w.file, yearNow)
	defer db.Close()
	key, plain := access.Mint(yearNow, beacon.Key{User: yearOperator, Scopes: []beacon.Scope{beacon.RewardsRead}})
	if err := db.Keys.InsertKey(b.Context(), key, beacon.Actor{Request: "bench"}, nil); err != nil {
		b.Fatal(err)
	}
	w.key = plain
	return w
}

func makeYearWorld(b *testing.B, file string) {
	b.Helper()
	db := open(b, file, yearBegins)
	defer db.Close()
	random := rand.New(rand.NewPCG(1, 2))
	all := cities(random)
	began := yearBegins.Add(-time.Hour)
	var ids []beacon.HotspotID
	fill(b, db, yearHotspots, func() geo.Point { return place(random, all) }, began, func(h *beacon.Hotspot) {
		h.Operator, h.Location.VerifiedAt, h.Device.LinkedAt = yearOperator, began, began
		ids = append(ids, h.ID)
	})
	slices.Sort(ids)
	keep(b, db, func(held lease.Lease) {
		first, today := beacon.DayOf(yearBegins), beacon.DayOf(yearNow)
		day := newSomeDay(began)
		day.beat(today.Time(), yearNow.Add(-time.Minute))
		putRecords(b, db, held, ids, today, day.record(b, today, yearNow))
		putRecords(b, db, held, ids[:1], first, []byte{}) // where the books begin
		year := yearDays{db.Rewards(), records{today}, ids}
		keepBooks(b, year, year, held, yearNow, func(books ledger.Books) (bool, error) {
			month, any, err := books.Finished(b.Context())
			return any && month == beacon.MonthOf(yearEnds)-1, err
		})
	})
}
