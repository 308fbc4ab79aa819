//go:build linux

package harness

import (
	"io"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// CopyDatabase makes a copy of a database that nobody uses.
func CopyDatabase(t *testing.T, db string) string {
	t.Helper()
	if !IsPostgres(db) {
		file := NewDatabase(t, "sqlite")
		for _, suffix := range []string{"", "-wal", "-shm"} {
			copyFile(t, db+suffix, file+suffix)
		}
		return file
	}
	fresh := storetest.Postgres(t)
	address, err := url.Parse(fresh)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(address.Path, "/")
	source, err := url.Parse(db)
	if err != nil {
		t.Fatal(err)
	}
	server := OpenSQL(t, os.Getenv(storetest.PostgresVariable))
	defer server.Close()
	if _, err := server.ExecContext(t.Context(), `DROP DATABASE `+name); err != nil { // an empty one
		t.Fatal(err)
	}
	Eventually(t, "nobody uses the database that is to be copied", func() bool {
		_, err = server.ExecContext(t.Context(), `CREATE DATABASE `+name+` TEMPLATE `+strings.TrimPrefix(source.Path, "/"))
		return err == nil
	})
	return fresh
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
}
