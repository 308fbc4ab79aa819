package storetest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/store"
)

// PostgresVariable names the environment variable with the address of a PostgreSQL
// server whose user may create databases.
const PostgresVariable = "BEACON_TEST_POSTGRES"

// Postgres creates a database for one test, drops it when the test ends, and returns
// its URL. It skips the test if no server is named; make test always names one.
//
// The database sorts text by language, not by bytes, so that code which relies on the
// default order fails.
func Postgres(t testing.TB) string {
	t.Helper()
	return fresh(t, inEnglish).String()
}

const (
	inEnglish = `TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C.UTF-8' STRATEGY file_copy`
	inBytes   = `TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C' STRATEGY file_copy`
)

// Serializable creates a database as Postgres does, but similar to distributed engines:
// every transaction is serializable, and text sorts by its bytes.
func Serializable(t testing.TB) string {
	t.Helper()
	database := fresh(t, inBytes)
	settings := database.Query()
	settings.Set("default_transaction_isolation", "serializable")
	database.RawQuery = settings.Encode()
	return database.String()
}

// Patient returns the URL of a database with limits of minutes, for tests that are not
// about limits: on a slow machine, a statement may take longer than a server waits.
func Patient(t testing.TB, database string) string {
	t.Helper()
	address, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	settings := address.Query()
	settings.Set("connect_timeout", fmt.Sprint(int(Patience.Seconds())))
	settings.Set("statement_timeout", fmt.Sprint(Patience.Milliseconds()))
	settings.Set("idle_in_transaction_session_timeout", fmt.Sprint(Patience.Milliseconds()))
	address.RawQuery = settings.Encode()
	return address.String()
}

// template is the database that Prepared copies, while tests use such copies.
var template struct {
	sync.Mutex
	name  string
	users int
}

// Prepared creates a database as Postgres does, which has its schema already: a copy of
// one that open has opened before. Creating a schema takes longer than most tests.
func Prepared(t testing.TB, open func(ctx context.Context, url string) (*store.DB, error)) string {
	t.Helper()
	template.Lock()
	defer template.Unlock()
	if template.users == 0 {
		database := create(t, inEnglish)
		db, err := open(t.Context(), database.String())
		if err == nil {
			err = db.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		template.name = strings.TrimPrefix(database.Path, "/")
		untilIdle(t, template.name)
	}
	template.users++
	t.Cleanup(func() {
		template.Lock()
		defer template.Unlock()
		if template.users--; template.users == 0 {
			drop(t, template.name)
		}
	})
	return fresh(t, `TEMPLATE `+template.name+` STRATEGY file_copy`).String()
}

// untilIdle waits until no session uses a database: only such a one can be copied.
func untilIdle(t testing.TB, name string) {
	t.Helper()
	onServer(t, func(ctx context.Context, conn *pgx.Conn) error {
		for {
			var busy int
			err := conn.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`, name).Scan(&busy)
			if err != nil || busy == 0 {
				return err
			}
			time.Sleep(time.Millisecond)
		}
	})
}

// fresh creates a database that is dropped when the test ends.
func fresh(t testing.TB, how string) *url.URL {
	t.Helper()
	database := create(t, how)
	t.Cleanup(func() { drop(t, strings.TrimPrefix(database.Path, "/")) })
	return database
}

func create(t testing.TB, how string) *url.URL {
	t.Helper()
	name := id.New("beacon_test_", time.Now())
	onServer(t, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `CREATE DATABASE `+name+` `+how)
		return err
	})
	database, err := url.Parse(os.Getenv(PostgresVariable))
	if err != nil {
		t.Fatalf("%s: %v", PostgresVariable, err)
	}
	database.Path = "/" + name
	settings := database.Query()
	settings.Set("connect_timeout", fmt.Sprint(int(Patience.Seconds()))) // a server may be slow to begin a session
	database.RawQuery = settings.Encode()
	return database
}

func drop(t testing.TB, name string) {
	t.Helper()
	onServer(t, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `DROP DATABASE `+name+` WITH (FORCE)`)
		return err
	})
}

func onServer(t testing.TB, do func(context.Context, *pgx.Conn) error) {
	t.Helper()
	server := os.Getenv(PostgresVariable)
	if server == "" {
		t.Skip("this needs PostgreSQL: run make test, or scripts/with-postgres go test ./…")
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience) // t.Context has ended during cleanup
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("%s: %v", PostgresVariable, err)
	}
	defer conn.Close(ctx)
	if err := do(ctx, conn); err != nil {
		t.Fatalf("%s: %v", PostgresVariable, err)
	}
}
