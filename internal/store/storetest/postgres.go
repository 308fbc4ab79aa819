package storetest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/beacon-wifi/beacon/internal/id"
)

// PostgresVariable names the environment variable with the address of a PostgreSQL
// server whose user may create databases.
const PostgresVariable = "BEACON_TEST_POSTGRES"

// Postgres creates a database for one test, drops it when the test ends, and returns
// its URL. It fails if there is no server: these tests are never skipped.
//
// The database sorts text by language, not by bytes, so that code which relies on the
// default order fails.
func Postgres(t testing.TB) string {
	t.Helper()
	return fresh(t, `LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C.UTF-8'`).String()
}

// Serializable creates a database as Postgres does, but similar to distributed engines:
// every transaction is serializable, and text sorts by its bytes.
func Serializable(t testing.TB) string {
	t.Helper()
	database := fresh(t, `LOCALE 'C'`)
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

func fresh(t testing.TB, locale string) *url.URL {
	t.Helper()
	server := os.Getenv(PostgresVariable)
	if server == "" {
		t.Fatalf("%s is not set: run make test, or scripts/with-postgres go test ./…", PostgresVariable)
	}
	database, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s: %v", PostgresVariable, err)
	}
	name := id.New("beacon_test_", time.Now())
	onServer(t, server, fmt.Sprintf(`CREATE DATABASE %s TEMPLATE template0 ENCODING 'UTF8' %s`, name, locale))
	t.Cleanup(func() { onServer(t, server, `DROP DATABASE `+name+` WITH (FORCE)`) })
	database.Path = "/" + name
	settings := database.Query()
	settings.Set("connect_timeout", fmt.Sprint(int(Patience.Seconds()))) // a server may be slow to begin a session
	database.RawQuery = settings.Encode()
	return database
}

func onServer(t testing.TB, server, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience) // t.Context has ended during cleanup
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("%s: %v", PostgresVariable, err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
