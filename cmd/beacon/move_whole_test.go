package main

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// ofNow matches what two requests for the same document do not have in common.
var ofNow = regexp.MustCompile(`"request_id": ?"[^"]*"|"(exported_at|timestamp)": ?"[^"]*"|"last_used_at": ?"[^"]*"|"metrics":\{[^}]*\}`)

// documents are what a server says of its network, byte by byte: statements as JSON and as
// CSV, the whole history of their users, and the archives of what is stored of them.
func documents(t *testing.T, db, key string) map[string]string {
	t.Helper()
	handle := harness.OpenSQL(t, db)
	type statement struct{ user, month string }
	statements, err := store.ReadRows(t.Context(), handle, func(s *statement) []any { return []any{&s.user, &s.month} },
		`SELECT user_id, CASE month WHEN 679 THEN '2026-08' WHEN 680 THEN '2026-09' END FROM statements ORDER BY user_id LIMIT 12`)
	if err != nil || len(statements) < 8 {
		t.Fatal(len(statements), err)
	}
	handle.Close()
	p := startServer(t, nil, "--db", db, "--clock-start", "2026-11-03T16:20:00Z", "--rate-limit", "off", "--log-level", "warn")
	defer p.stop(t)
	said := map[string]string{}
	get := func(path, accept string) string {
		t.Helper()
		status, body := fetch(t, p.url+"/v1"+path, "Authorization", "Bearer "+key, "Accept", accept)
		if status != 200 {
			t.Fatalf("%s: %d %s", path, status, body)
		}
		return body
	}
	for _, s := range statements {
		for _, accept := range []string{"application/json", "text/csv"} {
			path := "/users/" + s.user + "/rewards/statements/" + s.month
			said[path+" "+accept] = ofNow.ReplaceAllString(get(path, accept), "")
		}
		path := "/users/" + s.user + "/export"
		archive := get(path, "*/*")
		files, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files.File {
			if f.Name == "README.txt" { // says when it was made
				continue
			}
			in, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			said[path+" "+f.Name] = ofNow.ReplaceAllString(string(content), "")
		}
	}
	return said
}

// The statements and the archives of a network that is moved, and moved back, are the same
// bytes, and the doctor finds nothing.
func TestMove_Documents(t *testing.T) {
	level.Repeats(t)
	harness.Stores(t, func(t *testing.T, to string) {
		folder := t.TempDir()
		from, back := filepath.Join(folder, "from.db"), filepath.Join(folder, "back.db")
		d := startDemo(t, folder, "--db", from, "--clock-start", demoTime)
		d.stop(t, syscall.SIGTERM)
		want := documents(t, from, d.staff)
		first := beaconCommand(t, "move", "--from", from, "--to", to)
		for _, part := range []string{" rows of ", "both databases have the digest ", "ok     ledger ", "the database is sound"} {
			if !strings.Contains(first, part) {
				t.Errorf("beacon move says %s", first)
			}
		}
		second := beaconCommand(t, "move", "--from", to, "--to", back)
		if line, _, _ := strings.Cut(first, "\n"); !strings.HasPrefix(second, line) {
			t.Errorf("there %s\nand back %s", first, second)
		}
		for _, db := range []string{to, back} {
			got := documents(t, db, d.staff)
			for name, text := range want {
				if got[name] != text {
					t.Errorf("%s: %s", name, firstDifference(text, got[name]))
				}
			}
			if len(got) != len(want) || len(want) < 30 {
				t.Errorf("%d documents, and %d before", len(got), len(want))
			}
		}
	})
}

// What cannot be moved, and what cannot be moved to, is refused with what to do.
func TestMove_Refuses(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		folder := t.TempDir()
		file := func(name string) string { return filepath.Join(folder, name) }
		beaconCommand(t, "keys", "create", "--user", "new", "--db", db)
		refused := func(what, want, from, to string) {
			t.Helper()
			var out bytes.Buffer
			if code := run(t.Context(), []string{"move", "--from", from, "--to", to}, &out, &out); code == exitDone || !strings.Contains(out.String(), want) {
				t.Errorf("%s: it ends with %d and says %s; want %s", what, code, &out, want)
			}
		}
		refused("no source", "--from: there is no database", file("none.db"), file("x.db"))
		refused("a target with a password in a file's place", "--to looks like a server, maybe with a password", db, "user:secret@host")
		p := startServer(t, nil, "--db", db)
		harness.Eventually(t, "the server leads", func() bool { return holds(t, db) })
		refused("a source in use", map[bool]string{false: " open: stop it first", true: "a server uses the database: stop it"}[harness.IsPostgres(db)], db, file("x.db"))
		p.stop(t)
		if _, err := os.Stat(file("x.db")); err == nil {
			t.Error("there is a target of a move that was refused")
		}

		beaconCommand(t, "keys", "create", "--user", "new", "--db", file("other.db"))
		refused("a target with a key", "the database to move to is not empty: move to a new one", db, file("other.db"))
		refused("a target that is the source", "the database to move to is not empty: move to a new one", db, db)

		half := file("half.db")
		stop := func(from string) {
			t.Helper()
			if _, err := moveBetween(t.Context(), from, half, store.Moving{Batch: 1, Progress: func(string, int64, int64) { panic("stopped") }}); err == nil {
				t.Fatal("it was not stopped")
			}
		}
		func() {
			defer func() { _ = recover() }()
			stop(db)
		}()
		refused("half of another source", "is a half moved copy of another database", file("other.db"), half)
		refused("a half moved source", "--from: this database is a half moved copy of another one", half, file("y.db"))
		beaconCommand(t, "keys", "create", "--user", "new", "--db", db)
		refused("a source that was used since", "or of this one before somebody used it again: drop it", db, half)

		known := undoLast(t, harness.OpenSQL(t, db))
		refused("an older source", fmt.Sprintf("the database is at version %d of %d: run beacon migrate on it first", known-1, known), db, file("z.db"))
	})
}

// holds reports whether a server holds the lease.
func holds(t *testing.T, db string) bool {
	t.Helper()
	handle := harness.OpenSQL(t, db)
	defer handle.Close()
	var n int
	if err := handle.QueryRowContext(t.Context(), `SELECT count(*) FROM leases`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// A source that is used while it is moved is noticed, also if what changed was not yet copied.
func TestMove_UsedMeanwhile(t *testing.T) {
	harness.Stores(t, func(t *testing.T, from string) {
		beaconCommand(t, "keys", "create", "--user", "new", "--db", from)
		for _, when := range []string{"rows copied", "rows compared"} {
			to := filepath.Join(t.TempDir(), "to.db")
			used := false
			_, err := moveBetween(t.Context(), from, to, store.Moving{Progress: func(what string, _, _ int64) {
				if what == when && !used {
					used = true
					beaconCommand(t, "keys", "create", "--user", "new", "--db", from)
				}
			}})
			if err == nil || !used {
				t.Errorf("used when %s: %v", when, err)
			}
			var out bytes.Buffer
			if code := run(t.Context(), []string{"keys", "list", "--db", to}, &out, &out); code != exitFailed || !strings.Contains(out.String(), "half moved") {
				t.Errorf("keys list ends with %d: %s", code, &out)
			}
		}
	})
}

// A row that somebody changed in what a move left is found when it continues.
func TestMove_Differs(t *testing.T) {
	harness.Stores(t, func(t *testing.T, to string) {
		from := filepath.Join(t.TempDir(), "from.db")
		everyColumn(t, from, 2)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := moveBetween(ctx, from, to, store.Moving{Progress: func(what string, _, _ int64) {
			if what == "rows compared" {
				cancel()
			}
		}})
		if err == nil {
			t.Fatal("it was not interrupted")
		}
		if _, err := harness.OpenSQL(t, to).ExecContext(t.Context(), `UPDATE flags SET members = 'changed' WHERE weight = (SELECT min(weight) FROM flags)`); err != nil {
			t.Fatal(err)
		}
		if _, err := moveBetween(t.Context(), from, to, store.Moving{}); err == nil || !strings.Contains(err.Error(), "table flags differs: 2 rows and 2") {
			t.Errorf("with a row that was changed: %v", err)
		}
	})
}
