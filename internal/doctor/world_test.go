//go:build linux

package doctor_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/doctor"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/postgres"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
)

func TestMain(m *testing.M) {
	code := harness.Main(m)
	if made.file != "" {
		_ = os.RemoveAll(filepath.Dir(made.file))
	}
	os.Exit(code)
}

// began is when the network of these tests starts. It is in the middle of a month,
// so that there are always days that were closed in the current month and others in
// months that were settled.
var began = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// demonstrate makes a network with a past, and lets devices beat in it for as long
// as while runs. It returns the file, which nobody uses any more. The clock runs
// fast, so that there is soon something of everything.
func demonstrate(t *testing.T, while func(file string)) string {
	t.Helper()
	d := harness.Demonstrate(t, 30, "--clock-start", began.Format(time.RFC3339), "--clock-rate", "20")
	while(d.File)
	d.Stop(t)
	return d.File
}

// made is one database with everything in it, made once for all tests.
var made = struct {
	sync.Once
	file string
}{}

// sound returns the file of a sound database, in which there is something of
// everything.
func sound(t *testing.T) string {
	t.Helper()
	made.Do(func() {
		file := demonstrate(t, func(file string) {
			db := harness.OpenSQL(t, file)
			defer db.Close() // the server is to be the last, and to fold the log into the file
			harness.Eventually(t, "heartbeats and events, and a time that is certain", func() bool {
				return number(t, db, `SELECT count(*) FROM clock_certain`) > 0 && number(t, db, `SELECT count(*) FROM journal`) >= 5 && number(t, db, `SELECT count(*) FROM events WHERE kind = 'hotspot.verified'`) > 0
			})
		})
		kept, err := os.MkdirTemp("", "beacon-doctor")
		if err == nil {
			made.file = filepath.Join(kept, "sound.db")
			err = os.Rename(file, made.file)
		}
		if err != nil {
			t.Fatal(err)
		}
		handOverSome(t, made.file)
		holdSome(t, made.file)
	})
	if made.file == "" {
		t.Fatal("there is no sound database")
	}
	return made.file
}

// heir is who takes a hotspot over in handOverSome.
const heir = "usr_01kb3gzk00e9x8q6s5t4v3w2y1"

// handOverSome hands a hotspot over.
func handOverSome(t *testing.T, file string) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), file, sqlite.Options{Now: began})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	owned, err := db.Hotspots.OwnedPage(t.Context(), beacon.Owned{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range owned {
		h, err := db.Hotspots.Hotspot(t.Context(), o.Hotspot)
		if err != nil || h.ActiveSince().IsZero() || h.ActiveSince().After(began.AddDate(0, 0, -30)) {
			continue
		}
		offer := beacon.Offer{Hotspot: h.ID, By: h.Operator, To: heir, OfferedAt: began, ExpiresAt: began.Add(time.Hour)}
		err = db.Hotspots.PutOffer(t.Context(), offer, beacon.Actor{}, func(h *beacon.Hotspot, _ beacon.Giving) (beacon.UserID, error) { return h.Operator, nil })
		if err == nil {
			_, err = db.Hotspots.TakeOver(t.Context(), h.ID, heir, beacon.Actor{}, began, func(h *beacon.Hotspot, known beacon.Taking) error {
				h.Touch(began)
				return h.HandOver(beacon.Behind{User: heir}, known.Closing, began)
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatal("no hotspot can be handed over")
}

// heldFirst and heldNext are the holds of holdSome.
const heldFirst, heldNext = "hld_01kb3gzk00e9x8q6s5t4v3w2y1", "hld_01kb3gzk00e9x8q6s5t4v3w2y2"

// holdSome places two holds of a hotspot: one that is voided, and one that is extended.
func holdSome(t *testing.T, file string) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), file, sqlite.Options{Now: began})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	owned, err := db.Hotspots.OwnedPage(t.Context(), beacon.Owned{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	held, _, err := db.Holds.Holds(t.Context(), "", "", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	owned = slices.DeleteFunc(owned, func(o beacon.Owned) bool {
		return slices.ContainsFunc(held, func(h beacon.Hold) bool { return h.Hotspot == o.Hotspot })
	})
	if len(owned) == 0 {
		t.Fatal("each hotspot has a hold already")
	}
	act := func(staff, hours int) beacon.HoldAct {
		return beacon.HoldAct{By: beacon.UserID(fmt.Sprintf("usr_0000000000000000000000000%d", staff)), At: began.Add(time.Duration(hours) * time.Hour), Note: "n"}
	}
	write := func(hours int, kind beacon.ChangeKind, edit func(all []beacon.Hold) (beacon.Hold, error)) {
		t.Helper()
		_, err := db.Holds.EditHolds(t.Context(), owned[0].User, beacon.Actor{}, began.Add(time.Duration(hours)*time.Hour), func(all []beacon.Hold) (beacon.Hold, beacon.ChangeKind, error) {
			h, err := edit(all)
			return h, kind, err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	place := func(id string, staff, hours int) {
		write(hours, beacon.HoldPlaced, func(all []beacon.Hold) (beacon.Hold, error) {
			return beacon.Hold{
				ID: beacon.HoldID(id), User: owned[0].User, Hotspot: owned[0].Hotspot, Reason: "r", Evidence: "e", Placed: act(staff, hours), Until: began.Add(200 * time.Hour),
			}.Place(all)
		})
	}
	change := func(id string, hours int, kind beacon.ChangeKind, do func(h *beacon.Hold) error) {
		write(hours, kind, func(all []beacon.Hold) (beacon.Hold, error) {
			i := slices.IndexFunc(all, func(h beacon.Hold) bool { return string(h.ID) == id })
			err := do(&all[i])
			return all[i], err
		})
	}
	fail := func(staff, hours int, kind beacon.ChangeKind) {
		change(heldFirst, hours, kind, func(h *beacon.Hold) error {
			_, err := h.FailVisit(act(staff, hours))
			return err
		})
	}
	place(heldFirst, 1, 1)
	fail(1, 2, beacon.HoldVisitFailed)
	fail(2, 3, beacon.HoldVoided)
	place(heldNext, 2, 4)
	change(heldNext, 5, beacon.HoldExtended, func(h *beacon.Hold) error { return h.Extend(act(3, 5), began.Add(300*time.Hour)) })
}

func number(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// copyOf gives a database of a kind that has all that the sound one has.
func copyOf(t *testing.T, kind string) string {
	t.Helper()
	if kind == "postgres" {
		address := storetest.Patient(t, storetest.Postgres(t))
		fill(t, sound(t), address)
		return address
	}
	file := filepath.Join(t.TempDir(), "copy.db")
	content, err := os.ReadFile(sound(t))
	if err == nil {
		err = os.WriteFile(file, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// fill copies every row of a file into PostgreSQL.
func fill(t *testing.T, file, address string) {
	t.Helper()
	made, err := postgres.Open(t.Context(), address, postgres.Options{Now: time.Now()}) // and its tables
	if err == nil {
		err = made.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	from, to := harness.OpenSQL(t, file), harness.OpenSQL(t, address)
	defer to.Close() // of a database that is in use, no copy can be made
	names, err := from.QueryContext(t.Context(), `SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'schema_versions'`)
	if err != nil {
		t.Fatal(err)
	}
	defer names.Close()
	for names.Next() {
		var table string
		if err := names.Scan(&table); err != nil {
			t.Fatal(err)
		}
		copyTable(t, from, to, table)
	}
	if err := names.Err(); err != nil {
		t.Fatal(err)
	}
}

func copyTable(t *testing.T, from, to *sql.DB, table string) {
	t.Helper()
	rows, err := from.QueryContext(t.Context(), `SELECT * FROM `+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	marks := make([]string, len(columns))
	for i := range marks {
		marks[i] = fmt.Sprintf("$%d", i+1)
	}
	tx, err := to.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	insert, err := tx.PrepareContext(t.Context(), fmt.Sprintf(`INSERT INTO %s (%s) VALUES (%s)`, table, strings.Join(columns, ", "), strings.Join(marks, ", ")))
	if err != nil {
		t.Fatal(err)
	}
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		if _, err := insert.ExecContext(t.Context(), values...); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

func exec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// examine makes all checks, and returns their results by name.
func examine(t *testing.T, db string, quick bool) map[string]doctor.Result {
	t.Helper()
	var x *store.Examination
	var err error
	if harness.IsPostgres(db) {
		x, err = postgres.Examine(t.Context(), db, postgres.PoolerAuto)
	} else {
		x, err = sqlite.Examine(db)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	results := map[string]doctor.Result{}
	now := began.AddDate(0, 0, 1) // later than anything in the database
	if machine := time.Now(); machine.After(now) {
		now = machine // by which leases are taken
	}
	healthy, err := doctor.Examine(t.Context(), x, doctor.Options{
		Quick: quick, Now: now, Done: func(r doctor.Result) { results[r.Check] = r },
	})
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for _, r := range results {
		wrong += r.Wrong
	}
	if healthy != (wrong == 0) || len(results) != len(doctor.Names()) {
		t.Errorf("it says %v, with %d faults in %d checks", healthy, wrong, len(results))
	}
	return results
}

// clone makes a database of PostgreSQL like another, which nobody is using.
func clone(t *testing.T, address string) string {
	t.Helper()
	server := harness.OpenSQL(t, os.Getenv(storetest.PostgresVariable))
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(u.Path, "/")
	copied := fmt.Sprintf("%s_%d", name, time.Now().UnixNano())
	harness.Eventually(t, "nobody uses the database that is to be copied", func() bool {
		_, err = server.ExecContext(t.Context(), fmt.Sprintf(`CREATE DATABASE %s TEMPLATE %s`, copied, name))
		return err == nil
	})
	t.Cleanup(func() {
		if _, err := server.ExecContext(context.Background(), `DROP DATABASE `+copied+` WITH (FORCE)`); err != nil {
			t.Error(err)
		}
	})
	u.Path = "/" + copied
	return u.String()
}
