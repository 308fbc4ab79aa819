package postgres_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store/postgres"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/jackc/pgx/v5"
)

// with adds a setting to the URL of a database.
func with(t *testing.T, database, setting, value string) string {
	t.Helper()
	address, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	settings := address.Query()
	settings.Set(setting, value)
	address.RawQuery = settings.Encode()
	return address.String()
}

// TestOpen_Durability: a server that may lose what it acknowledged is refused,
// with a word on how to change that.
func TestOpen_Durability(t *testing.T) {
	database := storetest.Postgres(t)
	for setting, fine := range map[string]bool{
		"on": true, "remote_apply": true, "remote_write": true, "local": false, "off": false,
	} {
		db, err := postgres.Open(t.Context(), with(t, database, "synchronous_commit", setting), postgres.Options{Now: storetest.Now})
		if err == nil {
			db.Close()
		}
		if fine != (err == nil) || !fine && !strings.Contains(err.Error(), "synchronous_commit = on") {
			t.Errorf("synchronous_commit = %s: %v; want success %v", setting, err, fine)
		}
	}
}

func TestOpen_Refuses(t *testing.T) {
	database := storetest.Postgres(t)
	for url, want := range map[string]string{
		"postgres://tester:secret@127.0.0.1:1/x":                   "connect",
		"postgres://tester:secret@127.0.0.1:70000/x":               "port",
		"postgres://tester:top@secret@127.0.0.1:1/x":               "%40",
		"postgres://tester:top@secret,x@127.0.0.1:1/x":             "%40",
		"postgres://tester:top%zzsecret@127.0.0.1:1/x":             "password",
		"postgres://tester:top/secret@127.0.0.1:1/x":               "port",
		"postgres://tester:top secret@127.0.0.1:1/x":               "password",
		"postgres://tester:secret@127.0.0.1:1/x?sslmode=maybe":     "sslmode",
		"postgres://127.0.0.1:1/x?user=tester&password=secret":     "connect",
		strings.Replace(database, "/beacon_test_", "/no_such_", 1): "does not exist",
	} {
		db, err := postgres.Open(t.Context(), url, postgres.Options{Now: storetest.Now})
		if err == nil {
			db.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("Open(%s) = %v; want %q in it, and no password", url, err, want)
		}
		x, err := postgres.Examine(t.Context(), url, postgres.PoolerAuto)
		if err == nil {
			x.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("Examine(%s) = %v; want %q in it, and no password", url, err, want)
		}
	}
}

func TestOpen_RefusesADatabaseItDoesNotKnow(t *testing.T) {
	for change, want := range map[string]string{
		`INSERT INTO schema_versions VALUES (9000, '9000_future.sql', 'x', 0)`: "use a newer beacon",
		`UPDATE schema_versions SET checksum = 'deadbeef' WHERE version = 1`:   "different contents",
		`DELETE FROM schema_versions WHERE version = 1`:                        "no record of migration 0001",
	} {
		database := storetest.Postgres(t)
		open(t, database).Close()
		conn, err := pgx.Connect(t.Context(), database)
		if err != nil {
			t.Fatal(err)
		}
		execute(t, conn, change)
		conn.Close(context.Background())
		_, err = postgres.Open(t.Context(), database, postgres.Options{Now: storetest.Now})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Open = %v; want %q", change, err, want)
		}
	}
}

// TestOpen_WithoutRightsOnTheSchema: the server's user need not be the one who
// may change tables, once they are up to date.
func TestOpen_WithoutRightsOnTheSchema(t *testing.T) {
	database := storetest.Postgres(t)
	open(t, database).Close()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	role := strings.Replace(conn.Config().Database, "test", "role", 1)
	execute(t, conn, `CREATE ROLE `+role+` LOGIN`)
	execute(t, conn, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO `+role)
	defer func() {
		execute(t, conn, `DROP OWNED BY `+role)
		execute(t, conn, `DROP ROLE `+role)
	}()
	address, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.User(role)
	db := open(t, address.String())
	if err := register(db, 1); err != nil {
		t.Error(err)
	}
	db.Close()
}

// TestCommit_NotCanceled: when the answer to a COMMIT does not come, the server is
// not asked to stop: it would stop waiting for its standby, and show what that does
// not have.
func TestCommit_NotCanceled(t *testing.T) {
	proxy, behind := throughProxy(t, storetest.Postgres(t))
	db := open(t, behind)
	if err := register(db, 1); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		proxy.loseAnswer("COMMIT\x00")
		err := register(db, 2+n)
		wantKind(t, "the answer to COMMIT is lost", err, beacon.Internal)
		proxy.loseAnswer("COMMIT\x00")
		_, err = db.Journal.AppendBeats(t.Context(), []byte("beat"))
		wantKind(t, "the answer to COMMIT is lost", err, beacon.Internal)
		if asked := cancellations(t, proxy, behind); asked != 1 {
			t.Fatalf("%d cancellations were asked for; want that of the other connection alone", asked)
		}
	}
}

// cancellations loses the answer of a connection as the driver makes it, which
// asks for a cancellation, and counts those that were asked for up to then.
func cancellations(t *testing.T, proxy *proxy, behind string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), behind)
	if err != nil {
		t.Fatal(err)
	}
	proxy.loseAnswer("lose this")
	if _, err := conn.Exec(t.Context(), "SELECT 'lose this'"); err == nil {
		t.Fatal("the answer came")
	}
	for deadline := time.Now().Add(5 * time.Minute); n == 0; {
		if n = int(proxy.canceled.Swap(0)); time.Now().After(deadline) {
			t.Fatal("the driver asks for no cancellation: this test shows nothing")
		}
	}
	return n
}
