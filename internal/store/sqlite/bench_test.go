package sqlite_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// BenchmarkInsertHotspot compares one client with 64, and both with the rate
// at which the bare driver commits transactions of one row to the same disk.
// The three take turns, so that a busy machine slows all of them alike.
func BenchmarkInsertHotspot(b *testing.B) {
	db, err := fresh(b)(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	commit := oneRowCommits(b)
	var bare, single, crowd stopwatch
	next := 0
	for b.Loop() {
		const rows = 500
		bare.measure(rows, func() { commit(rows) })
		single.measure(rows, func() { insertMany(b, db, next, rows, 1) })
		next += rows
		crowd.measure(8*rows, func() { insertMany(b, db, next, 8*rows, 64) })
		next += 8 * rows
	}
	b.ReportMetric(bare.rate(), "bare-commits/s")
	b.ReportMetric(single.rate(), "inserts/s")
	b.ReportMetric(crowd.rate(), "inserts-of-64/s")
	b.ReportMetric(single.rate()/bare.rate(), "of-bare")
	b.ReportMetric(crowd.rate()/single.rate(), "64-of-1")
}

type stopwatch struct {
	rows int
	took time.Duration
}

func (s *stopwatch) measure(rows int, work func()) {
	start := time.Now()
	work()
	s.rows += rows
	s.took += time.Since(start)
}

func (s *stopwatch) rate() float64 { return float64(s.rows) / s.took.Seconds() }

// insertMany inserts hotspots with the given number of clients.
func insertMany(b *testing.B, db *store.DB, first, n, clients int) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := db.Hotspots.InsertHotspot(b.Context(), registration(first+i), storetest.Actor, nil); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// registration is what a new hotspot looks like: no hours, random MAC.
func registration(n int) beacon.Hotspot {
	h := storetest.Hotspot(n)
	h.ID = beacon.HotspotID(id.New(beacon.HotspotPrefix, h.CreatedAt))
	h.Settings.OperatingHours = nil
	h.Location.VerifiedAt, h.Device.LinkedAt = time.Time{}, time.Time{}
	mixed := uint32(n) * 0x9e3779b1 // spread over the index, as real ones are
	h.Device.MAC = beacon.MAC(fmt.Sprintf("02:%02x:%02x:%02x:%02x:%02x", n>>24&0xff, mixed>>24, mixed>>16&0xff, mixed>>8&0xff, mixed&0xff))
	return h
}

// oneRowCommits is the yardstick: the same driver and settings, one row of a
// registration's size, one transaction each.
func oneRowCommits(b *testing.B) func(n int) {
	path := filepath.Join(b.TempDir(), "bare.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE rows (id text PRIMARY KEY, body text NOT NULL) WITHOUT ROWID`); err != nil {
		b.Fatal(err)
	}
	insert, err := db.Prepare(`INSERT INTO rows (id, body) VALUES ($1, $2)`)
	if err != nil {
		b.Fatal(err)
	}
	body := fmt.Sprintf("%0200d", 1)
	return func(n int) {
		for range n {
			if _, err := insert.Exec(id.New("hs_", storetest.Now), body); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkEachHotspot is the start of a server: a million hotspots, once.
func BenchmarkEachHotspot(b *testing.B) {
	const hotspots = 1_000_000
	path := filepath.Join(b.TempDir(), "million.db")
	db, err := sqlite.Open(b.Context(), path, sqlite.Options{Now: storetest.Now})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	fill(b, path, hotspots)
	before := cpuTime(b)
	for b.Loop() {
		var n atomic.Int64
		err := db.Hotspots.EachHotspot(b.Context(), time.Time{}, func(beacon.Hotspot) error { n.Add(1); return nil })
		if err != nil || n.Load() != hotspots {
			b.Fatalf("%d hotspots, %v; want %d", n.Load(), err, hotspots)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/million")
	b.ReportMetric((cpuTime(b)-before).Seconds()/float64(b.N), "cpu-s/million")
}

// cpuTime is what this process has used so far.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// fill writes hotspots behind the store's back, without a change for each:
// otherwise it would take longer than all the rest.
func fill(b *testing.B, path string, n int) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
		INSERT INTO hotspots (id, operator_id, name, type, lat, lng, address, verified_at, ssid, mac, mac_live, linked_at, max_connections,
			bandwidth_limit_mbps, operating_hours, coverage_radius_m, created_at, updated_at, deleted_at, version, device_hash, past_hours, past_service, seal)
		SELECT printf('hs_01k%023d', i), printf('usr_01k%022d', i / 3), 'Corner Café ' || i, 'home',
			40.5 + i * 1e-6, -74.0 + i * 1e-6, i || ' Main Street, New York', 0, 'Beacon ' || i,
			printf('02:00:5e:%02x:%02x:%02x', i >> 16, i >> 8 & 255, i & 255), printf('02:00:5e:%02x:%02x:%02x', i >> 16, i >> 8 & 255, i & 255),
			0, 16, 50.0, '', 0.0, 1794744000000000 + i, 1794744000000000 + i, 0, 1, printf('%064x', i), '', '', 0 FROM n`, n)
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRewards closes days and settles the month of as many hotspots as
// BEACON_BENCH_HOTSPOTS says, once: -benchtime 1x. The hotspots of a user stand
// far from each other, as those of most users do.
func BenchmarkRewards(b *testing.B) {
	hotspots := 100_000
	if n, err := strconv.Atoi(os.Getenv("BEACON_BENCH_HOTSPOTS")); err == nil {
		hotspots = n
	}
	path := filepath.Join(b.TempDir(), "rewards.db")
	db := open(b, path)
	fill(b, path, hotspots)
	raw(b, path, fmt.Sprintf(`UPDATE hotspots SET operator_id =
		printf('usr_01k%%022d', (CAST(substr(id, 7) AS integer) * 611953 %% %d) / 3)`, hotspots))
	storetest.BenchmarkRewards(b, db)
}
