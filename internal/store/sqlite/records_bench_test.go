package sqlite_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

const (
	recorded  = 1_000_000
	perCall   = 500 // as many as a fold writes at once
	recordDay = 20_770
)

func recordID(n int) beacon.HotspotID { return beacon.HotspotID(fmt.Sprintf("hs_01k%023d", n)) }

func leader(b *testing.B, db *store.DB) lease.Lease {
	l, taken, err := db.Leases.TakeLease(b.Context(), "keeper", "bench", storetest.Now, time.Hour)
	if err != nil || !taken {
		b.Fatal(taken, err)
	}
	return l
}

// fold writes the record of each hotspot on a day.
func fold(b *testing.B, db *store.DB, l lease.Lease, day beacon.Day, hotspots int) {
	rows := make([]beacon.RecordRow, 0, perCall)
	data := make([]byte, 250)
	for n := range hotspots {
		rows = append(rows, beacon.RecordRow{Hotspot: recordID(n), Day: day, Data: data})
		if len(rows) == perCall || n == hotspots-1 {
			if err := db.Records.PutRecords(b.Context(), l, rows); err != nil {
				b.Fatal(err)
			}
			rows = rows[:0]
		}
	}
}

// BenchmarkRecords is what a million hotspots cost: the first fold of a day, the
// next one, reading some back in between, and all of it at the start of a server.
func BenchmarkRecords(b *testing.B) {
	db := open(b, filepath.Join(b.TempDir(), "records.db"))
	l := leader(b, db)
	day := beacon.Day(recordDay)
	fold(b, db, l, day, recorded) // a day before
	for b.Loop() {
		day++
		measure(b, "first-fold", func() { fold(b, db, l, day, recorded) })
		measure(b, "next-fold", func() { fold(b, db, l, day, recorded) })
		measure(b, "read-back", func() { readBack(b, db, day, 1) })
		measure(b, "read-back-of-10th", func() { readBack(b, db, day, 10) })
		measure(b, "each", func() {
			var n atomic.Int64
			err := db.Records.EachRecord(b.Context(), func(_ beacon.HotspotID, _ beacon.Day, data []byte) error {
				n.Add(int64(len(data)))
				return nil
			})
			if err != nil || n.Load() != 250*recorded {
				b.Fatal(n.Load(), err)
			}
		})
	}
}

// readBack reads the records of every step-th hotspot, as a fold does.
func readBack(b *testing.B, db *store.DB, day beacon.Day, step int) {
	ids := make([]beacon.HotspotID, 0, perCall)
	for n := 0; n < recorded; n += step {
		ids = append(ids, recordID(n))
		if len(ids) == perCall {
			found, err := db.Records.Records(b.Context(), day, ids)
			if err != nil || len(found) != perCall {
				b.Fatal(len(found), err)
			}
			ids = ids[:0]
		}
	}
}

// measure reports what the last run took.
func measure(b *testing.B, what string, work func()) {
	start, before := time.Now(), cpuTime(b)
	work()
	b.ReportMetric(time.Since(start).Seconds(), what+"-s")
	b.ReportMetric((cpuTime(b) - before).Seconds(), what+"-cpu-s")
}

// BenchmarkAppendBeats is a busy server: batches of 5 KB one after the other,
// alone, and while registrations and a fold go on beside them.
func BenchmarkAppendBeats(b *testing.B) {
	db := open(b, filepath.Join(b.TempDir(), "beats.db"))
	l := leader(b, db)
	batch := make([]byte, 5_000)
	const batches = 500
	registered := 0
	for b.Loop() {
		b.ReportMetric(float64(slowest(b, db, batch, batches).Microseconds()), "alone-p99-µs")
		stop := make(chan struct{})
		var beside sync.WaitGroup
		beside.Go(func() {
			for day := beacon.Day(recordDay); ; day++ {
				select {
				case <-stop:
					return
				default:
					fold(b, db, l, day, 10*perCall)
				}
			}
		})
		beside.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					insertMany(b, db, registered, 1000, 200)
					registered += 1000
				}
			}
		})
		before := registered
		start := time.Now()
		b.ReportMetric(float64(slowest(b, db, batch, batches).Microseconds()), "beside-others-p99-µs")
		took := time.Since(start)
		close(stop)
		beside.Wait()
		b.ReportMetric(batches/took.Seconds(), "beside-others/s")
		b.ReportMetric(float64(registered-before)/took.Seconds(), "registrations/s")
	}
}

// slowest appends batches and answers how long the slowest of a hundred took.
func slowest(b *testing.B, db *store.DB, batch []byte, n int) time.Duration {
	var took []time.Duration
	for range n {
		start := time.Now()
		if _, err := db.Journal.AppendBeats(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took[n*99/100]
}
