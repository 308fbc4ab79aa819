package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/test/harness"
)

// foreign are statements that make what is not ours and drop it again, and its name.
var foreign = map[string][][3]string{
	"sqlite": {
		{`CREATE TRIGGER skim AFTER UPDATE ON accounts BEGIN UPDATE api_keys SET scopes = 'admin'; END`, `DROP TRIGGER skim`, "trigger skim on accounts"},
		{`CREATE VIEW totals AS SELECT 1 AS one`, `DROP VIEW totals`, "view totals"},
	},
	"postgres": {
		{`CREATE TRIGGER skim BEFORE UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()`, `DROP TRIGGER skim ON accounts`, "trigger skim on accounts"},
		{`CREATE RULE hush AS ON DELETE TO accounts DO INSTEAD NOTHING`, `DROP RULE hush ON accounts`, "rule hush on accounts"},
		{`CREATE VIEW totals AS SELECT 1 AS one`, `DROP VIEW totals`, "view totals"},
		{`CREATE MATERIALIZED VIEW sums AS SELECT 1 AS one`, `DROP MATERIALIZED VIEW sums`, "materialized view sums"},
	},
}

// untilListening is what a command prints; a server is stopped as soon as it serves.
type untilListening struct {
	lockedBuffer
	stop func()
}

func (u *untilListening) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("listening on")) {
		u.stop()
	}
	return u.lockedBuffer.Write(p)
}

// A database in which somebody left a trigger, a rule or a view is not used, backed up or
// restored, and the doctor names it. What an extension makes is an administrator's, and
// what is in another schema touches nothing of ours.
func TestForeign(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		beaconCommand(t, "keys", "create", "--db", db, "--user", "new")
		try := func(args ...string) (said string, code int) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			out := &untilListening{stop: stop}
			code = run(ctx, args, out, out)
			return out.String(), code
		}
		examined := func() (string, bool) {
			said, code := try("doctor", "--db", db)
			return said, code == 0 || strings.Contains(said, "fsync is off") && strings.Contains(said, "ok     schema")
		}
		handle := harness.OpenSQL(t, db)
		exec := func(statements ...string) {
			t.Helper()
			for _, statement := range statements {
				if _, err := handle.ExecContext(t.Context(), statement); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
		}
		kind := "sqlite"
		if harness.IsPostgres(db) {
			kind = "postgres"
			exec(`CREATE SCHEMA elsewhere`, `CREATE VIEW elsewhere.totals AS SELECT 1 AS one`)
			exec(`CREATE VIEW extended AS SELECT 1 AS one`, `INSERT INTO pg_depend (classid, objid, objsubid, refclassid, refobjid, refobjsubid, deptype)
				SELECT 'pg_class'::regclass, 'extended'::regclass, 0, 'pg_extension'::regclass, oid, 0, 'e' FROM pg_extension WHERE extname = 'plpgsql'`)
		}
		for _, f := range foreign[kind] {
			if said, sound := examined(); !sound {
				t.Fatalf("before there is %s, the doctor says %s", f[2], said)
			}
			exec(f[0])
			if said, code := try("doctor", "--db", db); code != exitFailed || !strings.Contains(said, "\n         "+f[2]+" is not made by beacon") {
				t.Errorf("the doctor exits with %d and says %s", code, said)
			}
			uses := map[string][]string{
				"serve": {"serve", "--db", db, "--addr", "127.0.0.1:0"},
				"keys":  {"keys", "list", "--db", db},
			}
			if kind == "sqlite" {
				uses["backup"] = []string{"backup", filepath.Join(t.TempDir(), "copy.db"), "--db", db}
			}
			for name, args := range uses {
				if said, code := try(args...); code != exitFailed || !strings.Contains(said, "what no version of beacon makes, and what may change or hide rows: "+f[2]+". ") {
					t.Errorf("%s exits with %d and says %s", name, code, said)
				}
			}
			exec(f[1])
		}
		if kind == "postgres" {
			return // its own tools copy everything, and serve refuses the copy
		}
		copied := filepath.Join(t.TempDir(), "copy.db")
		if err := sqlite.Backup(t.Context(), db, copied, sqlite.Copying{}); err != nil {
			t.Fatal(err)
		}
		handle = harness.OpenSQL(t, copied)
		exec(foreign[kind][0][0], `PRAGMA wal_checkpoint(TRUNCATE)`)
		handle.Close()
		restored := filepath.Join(t.TempDir(), "restored.db")
		if said, code := try("restore", copied, "--db", restored); code != exitFailed || !strings.Contains(said, foreign[kind][0][2]) || strings.Contains(said, "damaged") {
			t.Errorf("restore exits with %d and says %s", code, said)
		}
	})
}
