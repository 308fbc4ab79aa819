package bench

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// monthWorld is a network near the end of a month: the last day but one is
// closed, and of the last day every hotspot has a record. An operator has ten
// hotspots, which were registered far from each other, as those of most have.
type monthWorld struct {
	file    string // to copy: who uses it changes it
	devices []device
}

var monthEnds = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// hotspotsVariable says how many hotspots to close and settle, for who has less
// time: a million otherwise.
const hotspotsVariable = "BEACON_BENCH_HOTSPOTS"

func monthHotspots() int {
	if n, err := strconv.Atoi(os.Getenv(hotspotsVariable)); err == nil {
		return n
	}
	return 1_000_000
}

// newMonthWorld makes it, or takes the one that was kept; see newWorld.
func newMonthWorld(b *testing.B, n int) monthWorld {
	b.Helper()
	folder := os.Getenv(worldVariable)
	if folder == "" {
		folder = b.TempDir()
	}
	w := monthWorld{file: filepath.Join(folder, fmt.Sprintf("month-%d.db", n))}
	keys := w.file + ".keys"
	makeOnce(b, w.file, func(file string) {
		makeLiveWorld(b, file, keys, n, monthEnds.AddDate(0, 0, -3), func(i int, h *beacon.Hotspot) {
			const far = 611_953 // a prime: no two come to the same place
			h.Operator = beacon.UserID(fmt.Sprintf("usr_%026d", i*far%n/10))
			h.Visits = []beacon.Visit{{At: h.Location.VerifiedAt, Point: h.Location.Point, AccuracyM: 5, Proves: true}}
		})
		liveUntilMonthEnds(b, file, readKeys(b, keys))
	})
	w.devices = readKeys(b, keys)
	return w
}

// liveUntilMonthEnds writes the records of the last two days, and closes the
// first of them.
func liveUntilMonthEnds(b *testing.B, file string, devices []device) {
	b.Helper()
	announced(b, file)
	db := open(b, file, monthEnds)
	defer db.Close()
	var ids []beacon.HotspotID
	for _, d := range devices {
		ids = append(ids, d.hotspot)
	}
	slices.Sort(ids)
	last := beacon.DayOf(monthEnds) - 1
	keep(b, db, func(held lease.Lease) {
		usual := newSomeDay(monthEnds.AddDate(0, 0, -3))
		for day := last - 1; day <= last; day++ {
			usual.beat(day.Time(), day.Time().Add(20*time.Hour))
			putRecords(b, db, held, ids, day, usual.record(b, day, (day+1).Time().Add(-10*time.Minute)))
		}
		keepBooks(b, db.Rewards(), records{last}, held, last.Time().Add(10*time.Minute), func(books ledger.Books) (bool, error) {
			closing, any, err := books.Closing(b.Context())
			return any && closing.Through() == last-1, err
		})
	})
}

// announced takes it that everyone has long heard of what is registered: to tell
// a million would be in the way of what is measured.
func announced(b *testing.B, file string) {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	_, err = db.ExecContext(context.Background(), `INSERT INTO event_places (node, seq) SELECT node, max(seq) FROM changes GROUP BY node`)
	if err != nil {
		b.Fatal(err)
	}
}
