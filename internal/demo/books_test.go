package demo_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/demo"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// closed are the tables that closing and settling write. How far a day was closed depends
// on hotspots that were registered later, so that is left out.
var closed = map[string]string{
	"ledger": "*", "hotspot_months": "*", "user_months": "*", "accounts": "*", "hotspot_totals": "*", "held_days": "*",
	"standings": "*", "standings_through": "*", "statements": "*", "reward_months": "*",
	"reward_days": "day, hotspots, availability, performance, utilization, closed_at",
}

func dump(t *testing.T, file string) map[string][]string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tables := map[string][]string{}
	for table, columns := range closed {
		rows, err := db.Query("SELECT " + columns + " FROM " + table)
		if err != nil {
			t.Fatal(err)
		}
		names, _ := rows.Columns()
		for rows.Next() {
			values := make([]any, len(names))
			for i := range values {
				values[i] = new(any)
			}
			if err := rows.Scan(values...); err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for _, v := range values {
				fmt.Fprintf(&text, "%v ", *v.(*any))
			}
			tables[table] = append(tables[table], text.String())
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
		slices.Sort(tables[table])
	}
	return tables
}

// over is the telemetry of a server on which all days before one are over.
type over struct {
	before beacon.Day
}

func (o *over) FinalBefore() (beacon.Day, bool) { return o.before, true }

func (*over) DidOf(record []byte) (beacon.Did, error) { return heartbeat.RecordDid(record) }

// closeAgain empties the books of a network, and closes each day as a server does.
func closeAgain(t *testing.T, file string, first, end beacon.Day) {
	t.Helper()
	raw, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	for table := range closed {
		if _, err := raw.Exec("DELETE FROM " + table); err != nil {
			t.Fatal(err)
		}
	}
	db := openFile(t, file)
	defer func() {
		if err := errors.Join(raw.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	}()
	held, _, err := db.Leases.TakeLease(t.Context(), store.HolderLease, "test", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	days := &over{}
	at := now
	tables := db.Rewards()
	books := closing.New(closing.Config{
		Ledger: rewards.New(rewards.Config{
			Store: tables, Policies: policy.Devices(), Founding: policy.BuiltIn(),
			Clock: clock.New(clock.Config{Store: db.Clocks, Now: func() time.Time { return at }}),
		}),
		Days: tables, Months: tables, Places: tables, Holds: tables, Telemetry: days,
		Lease: func() (lease.Lease, bool) { return held, true }, Log: slog.New(slog.DiscardHandler),
	})
	for _, step := range []func(context.Context) error{books.Start, books.Reload} {
		if err := step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for day := first; day < end; day++ {
		days.before, at = day+1, (day + 1).Time().Add(7*time.Minute)
		if err := books.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// What is written of the closed days is what a server writes, which reads and writes the
// database day by day: of two months, and of more hotspots than are closed at once.
func TestCreate_ClosesAsServersDo(t *testing.T) {
	level.Repeats(t)
	t.Parallel()
	for _, c := range []struct{ hotspots, days, rows, statements int }{{150, 50, 4000, 1}, {2100, 12, 20_000, 0}} {
		t.Run(fmt.Sprint(c.hotspots), func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "demo.db")
			cfg := demo.Config{Seed: 1, Hotspots: c.hotspots, Days: c.days, Now: now}
			if err := create(t, file, cfg).WriteHistory(t.Context(), func() {}, nothing); err != nil {
				t.Fatal(err)
			}
			got := dump(t, file)
			network := newNetwork(t, cfg)
			closeAgain(t, file, beacon.DayOf(network.Began()), network.Final())
			want := dump(t, file)
			for table := range closed {
				if !slices.Equal(got[table], want[table]) {
					t.Errorf("%s has %d rows; a server writes %d others", table, len(got[table]), len(want[table]))
				}
			}
			if len(want["ledger"]) < c.rows || len(want["statements"]) < c.statements {
				t.Errorf("a server writes only %d rows and %d statements", len(want["ledger"]), len(want["statements"]))
			}
		})
	}
}
