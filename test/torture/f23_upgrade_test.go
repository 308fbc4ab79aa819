//go:build linux

package torture_test

import (
	"bufio"
	"compress/gzip"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// oldTime is when the databases of testdata were in use: version-N.jsonl.gz has the
// rows of a small network as the migrations up to N could hold them, one JSON
// object a line. They are from "beacon demo --hotspots 5 --clock-start" oldTime;
// what came with later migrations is left out, with the changes that tell of it. From 7
// on there are keys with restrictions, and in 8 two days were opened and closed again.
const oldTime = "2026-11-15T12:00:20Z"

// newest is the last of these files.
const newest = 8

// oldRow is a row of such a file.
type oldRow struct {
	Table string
	Row   map[string]any
}

func oldRows(t *testing.T, version int) (all []oldRow) {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", fmt.Sprintf("version-%d.jsonl.gz", version)))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r oldRow
		decoder := json.NewDecoder(strings.NewReader(lines.Text()))
		decoder.UseNumber()
		if err := decoder.Decode(&r); err != nil {
			t.Fatal(err)
		}
		for column, value := range r.Row {
			r.Row[column] = plain(t, value)
		}
		all = append(all, r)
	}
	if lines.Err() != nil || len(all) < 10 {
		t.Fatalf("%d rows, %v", len(all), lines.Err())
	}
	return all
}

// plain is a value as a driver takes it.
func plain(t *testing.T, value any) any {
	t.Helper()
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, err := v.Float64()
		if err != nil {
			t.Fatal(err)
		}
		return f
	case map[string]any:
		data, err := hex.DecodeString(v["hex"].(string))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	return value
}

// words are what an engine makes of the words of a migration.
func words(db string) *strings.Replacer {
	if harness.IsPostgres(db) {
		return strings.NewReplacer("{key}", `text COLLATE "C"`, "{clustered}", "", "{add column}", "ADD COLUMN IF NOT EXISTS")
	}
	return strings.NewReplacer("{key}", "text", "{clustered}", "WITHOUT ROWID", "{add column}", "ADD COLUMN")
}

// makeOld makes a database as an old program left it.
func makeOld(t *testing.T, db string, version int) {
	t.Helper()
	steps, err := store.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	handle := harness.OpenSQL(t, db)
	handle.SetMaxOpenConns(1) // all of it in one transaction
	defer handle.Close()
	mustExec(t, handle, store.SchemaTable)
	mustExec(t, handle, `BEGIN`)
	for _, step := range steps[:version] {
		for _, statement := range step.Statements {
			mustExec(t, handle, words(db).Replace(statement))
		}
		mustExec(t, handle, `INSERT INTO schema_versions (version, name, checksum, applied_at) VALUES ($1, $2, $3, 1)`, step.Version, step.Name, step.Checksum)
	}
	for _, r := range oldRows(t, version) {
		columns := slices.Sorted(maps.Keys(r.Row))
		marks, values := make([]string, len(columns)), make([]any, len(columns))
		for i, column := range columns {
			marks[i], values[i] = fmt.Sprintf("$%d", i+1), r.Row[column]
		}
		mustExec(t, handle, fmt.Sprintf(`INSERT INTO %s (%s) VALUES (%s)`, r.Table, strings.Join(columns, ", "), strings.Join(marks, ", ")), values...)
	}
	mustExec(t, handle, `COMMIT`)
}

func mustExec(t *testing.T, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// same compares what is in a database with what was in it, column by column.
func same(t *testing.T, db string, version int) {
	t.Helper()
	handle := harness.OpenSQL(t, db)
	defer handle.Close()
	want, columnsOf := map[string][]string{}, map[string][]string{}
	for _, r := range oldRows(t, version) {
		columnsOf[r.Table] = slices.Sorted(maps.Keys(r.Row))
		var line []string
		for _, column := range columnsOf[r.Table] {
			line = append(line, fmt.Sprint(r.Row[column]))
		}
		want[r.Table] = append(want[r.Table], strings.Join(line, "|"))
	}
	for table, columns := range columnsOf {
		got := linesOf(t, handle, table, columns)
		slices.Sort(want[table])
		if slices.Sort(got); !slices.Equal(got, want[table]) {
			t.Errorf("%s has %d rows, and had %d, or others", table, len(got), len(want[table]))
		}
	}
}

func linesOf(t *testing.T, db *sql.DB, table string, columns []string) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), fmt.Sprintf(`SELECT %s FROM %s`, strings.Join(columns, ", "), table))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		line := make([]string, len(values))
		for i, v := range values {
			line[i] = fmt.Sprint(v)
		}
		all = append(all, strings.Join(line, "|"))
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return all
}

// TestF23_Upgrade opens the database of each version that was ever released: it is
// brought up to date, nothing in it changes, and it is sound then.
func TestF23_Upgrade(t *testing.T) {
	harness.Stores(t, func(t *testing.T, _ string) {
		kind := t.Name()[strings.LastIndex(t.Name(), "/")+1:]
		for version := 1; version <= newest; version++ {
			// The first needs the most migrations, and the last the fewest. Where time is short,
			// there is no other: the steps are the same.
			if level.Now() == level.Test && version > 1 && version < newest {
				continue
			}
			t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
				db := harness.NewDatabase(t, kind)
				makeOld(t, db, version)
				harness.Command(t, "migrate", "--db", db)
				same(t, db, version)
				soundHere(t, db)

				key := harness.CreateKey(t, db, "admin")
				server := harness.Start(t, db, "--clock-start", oldTime)
				checkOld(t, harness.NewClient(t, key.Key), server, version)
				server.Stop(t)
				soundHere(t, db)
			})
		}
		t.Run("newer", func(t *testing.T) {
			db := harness.NewDatabase(t, kind)
			harness.CreateKey(t, db, "admin") // makes the database, with all migrations there are
			handle := harness.OpenSQL(t, db)
			mustExec(t, handle, `INSERT INTO schema_versions (version, name, checksum, applied_at) VALUES (99, '0099_future.sql', 'x', 1)`)
			for _, command := range []string{"serve", "doctor"} {
				args := []string{command, "--db", db}
				if command == "serve" {
					args = append(args, "--addr", "127.0.0.1:0", "--admin-addr", "off")
				}
				out, err := exec.CommandContext(t.Context(), harness.Binary, args...).CombinedOutput()
				if err == nil || !strings.Contains(string(out), "the database is at version 99") || !strings.Contains(string(out), "use a newer beacon") {
					t.Errorf("beacon %s: %v, %s; want that it refuses", command, err, out)
				}
			}
		})
	})
}

// checkOld asks a server about each hotspot that was there, and about what was earned.
func checkOld(t *testing.T, client *harness.Client, server *harness.Server, version int) {
	t.Helper()
	asked := 0
	users := map[string]bool{}
	for _, r := range oldRows(t, version) {
		if r.Table == "statements" {
			users[r.Row["user_id"].(string)] = true
		}
		if r.Table != "hotspots" || r.Row["deleted_at"].(int64) != 0 {
			continue
		}
		asked++
		h := client.Ask(t, "GET", server.URL+"/v1/hotspots/"+r.Row["id"].(string), nil)
		device, _ := h["device"].(harness.Fields)
		if h["name"] != r.Row["name"] || h["operator_id"] != r.Row["operator_id"] || device["mac_address"] != r.Row["mac"] {
			t.Errorf("%s is answered as %v", r.Row["id"], h)
		}
	}
	for user := range users {
		last := client.Ask(t, "GET", server.URL+"/v1/users/"+user+"/rewards?period=last", nil)
		if period, _ := last["period"].(harness.Fields); period["status"] != "settled" {
			t.Errorf("the last month of %s is %v", user, last["period"])
		}
	}
	restricted := 0
	var keys []harness.Fields
	if err := json.Unmarshal(client.Do(t.Context(), "GET", server.URL+"/v1/keys", nil).Data, &keys); err != nil {
		t.Error(err)
	}
	for _, k := range keys {
		if origins, _ := k["origins"].([]any); len(origins) > 0 || k["publishable"] == true {
			restricted++
		}
	}
	if want := map[bool]int{true: 2}[version >= 7]; restricted != want {
		t.Errorf("%d keys are restricted; want %d", restricted, want)
	}
	if asked < 3 || version >= 3 && len(users) == 0 {
		t.Errorf("%d hotspots and %d users were asked for", asked, len(users))
	}
}
