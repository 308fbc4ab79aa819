package postgres_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/jackc/pgx/v5"
)

// BenchmarkInsertHotspot is one client against 64. To measure a server that
// syncs its disk: BEACON_TEST_POSTGRES_FSYNC=on scripts/with-postgres …
func BenchmarkInsertHotspot(b *testing.B) {
	db, err := database(b, storetest.Postgres(b))(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	var next atomic.Int64
	insert := func(n, clients int) float64 {
		start := time.Now()
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				for range n / clients {
					if _, err := register(db, int(next.Add(1)), nil); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		return float64(n) / time.Since(start).Seconds()
	}
	var single, crowd float64
	rounds := 0
	for b.Loop() {
		single += insert(200, 1)
		crowd += insert(64*50, 64)
		rounds++
	}
	b.ReportMetric(single/float64(rounds), "inserts/s")
	b.ReportMetric(crowd/float64(rounds), "inserts-of-64/s")
}

// BenchmarkEachHotspot is the start of a server with 200,000 hotspots.
func BenchmarkEachHotspot(b *testing.B) {
	const hotspots = 200_000
	db := withHotspots(b, hotspots, "i / 3")
	for b.Loop() {
		var n atomic.Int64
		err := db.EachHotspot(b.Context(), time.Time{}, func(beacon.Hotspot) error { n.Add(1); return nil })
		if err != nil || n.Load() != hotspots {
			b.Fatalf("%d hotspots, %v; want %d", n.Load(), err, hotspots)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e6/hotspots, "s/million")
}

// BenchmarkRecords is what 100,000 hotspots cost: the first fold of a day, the
// next one, and all of it at the start of a server.
func BenchmarkRecords(b *testing.B) {
	const hotspots, perCall = 100_000, 500
	db, err := database(b, storetest.Postgres(b))(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	l, taken, err := db.TakeLease(b.Context(), "keeper", "bench", storetest.Now, time.Hour)
	if err != nil || !taken {
		b.Fatal(taken, err)
	}
	data := make([]byte, 250)
	fold := func(day beacon.Day) {
		var rows []beacon.RecordRow
		for n := range hotspots {
			rows = append(rows, beacon.RecordRow{Hotspot: beacon.HotspotID(fmt.Sprintf("hs_%026d", n)), Day: day, Data: data})
			if len(rows) == perCall {
				if err := db.PutRecords(b.Context(), l, rows); err != nil {
					b.Fatal(err)
				}
				rows = rows[:0]
			}
		}
	}
	measure := func(what string, work func()) {
		start := time.Now()
		work()
		b.ReportMetric(time.Since(start).Seconds()*1e6/hotspots, what+"-s/million")
	}
	for day := beacon.Day(20_770); b.Loop(); day++ {
		measure("first-fold", func() { fold(day) })
		measure("next-fold", func() { fold(day) })
		measure("each", func() {
			var n atomic.Int64
			err := db.EachRecord(b.Context(), func(beacon.HotspotID, beacon.Day, []byte) error { n.Add(1); return nil })
			if err != nil || n.Load() != hotspots {
				b.Fatal(n.Load(), err)
			}
		})
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
	storetest.BenchmarkRewards(b, withHotspots(b, hotspots, "(i * 611953::bigint % $1) / 3"))
}

// withHotspots is a database of so many hotspots; user is an SQL expression for
// the number of the one that the i-th belongs to.
func withHotspots(b *testing.B, hotspots int, user string) *store.DB {
	b.Helper()
	url := storetest.Postgres(b)
	db, err := database(b, url)(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.Background())
	_, err = conn.Exec(b.Context(), `INSERT INTO hotspots SELECT 'hs_' || lpad(i::text, 26, '0'), 'usr_' || lpad((`+user+`)::text, 26, '0'),
		'Corner Café ' || i, 'home', 40.5, -74.0, i || ' Main Street, New York', 0, 'Beacon ' || i, '02:00:5e:00:00:01', i::text,
		0, 16, 50, '', 0, 1794744000000000 + i, 1794744000000000 + i, 0, 1, lpad(to_hex(i), 64, '0'), '', '', 0 FROM generate_series(1, $1::int) AS i`, hotspots)
	if err != nil {
		b.Fatal(err)
	}
	return db
}
