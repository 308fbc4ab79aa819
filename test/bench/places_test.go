package bench

import (
	"database/sql"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// BenchmarkClosePlaces closes a day by device and by place, on SQLite and without requests.
// The limit is 60 s of the processor for a million hotspots, also if all of them flap or
// stand by the thousand within 10 m.
func BenchmarkClosePlaces(b *testing.B) {
	n := monthHotspots()
	w := newMonthWorld(b, n)
	devices := 0.0
	for _, scene := range []struct {
		name           string
		places         bool
		flap, together bool
	}{{name: "devices"}, {name: "places", places: true}, {name: "flapping", places: true, flap: true}, {name: "together", places: true, together: true}} {
		b.Run(scene.name, func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "copy.db")
			if err := copyFile(file, w.file); err != nil {
				b.Fatal(err)
			}
			if scene.together {
				standTogether(b, file)
			}
			if scene.flap {
				flap(b, file, w.devices)
			}
			seconds := closeLastDay(b, file, scene.places) / float64(n) * 1e6
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(seconds, "cpu-s/million")
			if !scene.places {
				devices = seconds
				return
			}
			b.ReportMetric(seconds/devices, "×devices")
			b.ReportMetric(seconds/60, "×limit")
		})
	}
}

// standTogether moves all hotspots to points 10 km apart, 2,000 to each, within 10 m.
func standTogether(b *testing.B, file string) {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	_, err = db.ExecContext(b.Context(), `WITH numbered AS (SELECT id AS hotspot, row_number() OVER (ORDER BY id) AS n FROM hotspots)
		UPDATE hotspots SET seal = 0, visits = '', lat = n / 2000 % 800 * 0.1 - 40 + n % 40 * 0.000002, lng = n / 2000 / 800 * 0.1 + n % 50 * 0.000002
		FROM numbered WHERE hotspot = id`)
	if err != nil {
		b.Fatal(err)
	}
}

// flap gives the last day records of hotspots that are on the air in most minutes, and
// seldom in the same ones.
func flap(b *testing.B, file string, devices []device) {
	b.Helper()
	db := open(b, file, monthEnds)
	defer db.Close()
	last := beacon.DayOf(monthEnds) - 1
	const kinds = 500
	keep(b, db, func(held lease.Lease) {
		for kind := range kinds {
			random := rand.New(rand.NewPCG(1, uint64(kind)))
			day := newSomeDay(monthEnds.AddDate(0, 0, -3))
			for at := last.Time(); at.Before(monthEnds); at = at.Add(time.Duration(4+random.IntN(6)) * time.Minute) {
				day.beat(at, at.Add(time.Minute))
			}
			record := day.record(b, last, monthEnds.Add(-10*time.Minute))
			var ids []beacon.HotspotID
			for i := kind; i < len(devices); i += kinds {
				ids = append(ids, devices[i].hotspot)
			}
			putRecords(b, db, held, ids, last, record)
		}
	})
}

// closeLastDay closes the last day, and returns the seconds of the processor that it took.
func closeLastDay(b *testing.B, file string, places bool) (seconds float64) {
	b.Helper()
	db := open(b, file, monthEnds)
	defer db.Close()
	last := beacon.DayOf(monthEnds) - 1
	if places {
		p := policy.BuiltIn()[1]
		p.From = last
		if _, err := db.Ledger.KeepPolicies(b.Context(), []ledger.Policy{{Version: p.Version, From: p.From, Text: p.Line()}}); err != nil {
			b.Fatal(err)
		}
	}
	keep(b, db, func(held lease.Lease) {
		t := &records{last}
		tables := db.Rewards()
		r := closing.New(closing.Config{
			Ledger: rewards.New(rewards.Config{
				Store: tables, Policies: policy.Devices(), Clock: clock.Of(func() time.Time { return monthEnds.Add(10 * time.Minute) }),
			}),
			Days: tables, Months: tables, Places: tables, Holds: tables, Telemetry: t,
			Lease: func() (lease.Lease, bool) { return held, true },
			Log:   slog.New(slog.DiscardHandler),
		})
		if err := r.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := r.Step(b.Context()); err != nil { // it counts the days served, which happens once
			b.Fatal(err)
		}
		t.before = last + 1
		before := processorTime(b)
		if err := r.Step(b.Context()); err != nil {
			b.Fatal(err)
		}
		seconds = processorTime(b) - before
	})
	err := db.Ledger.Books(b.Context(), func(books ledger.Books) error {
		closing, _, err := books.Closing(b.Context())
		if err == nil && (closing.Through() != last || closing.Earned.Total() == 0) {
			err = fmt.Errorf("closed through %s with %s", closing.Through(), closing.Earned.Total())
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return seconds
}

// processorTime returns how long this process has used the processor, in seconds.
func processorTime(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
