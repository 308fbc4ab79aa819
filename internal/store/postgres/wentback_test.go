package postgres_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// forget makes a database what a standby is that did not have everything.
func forget(t *testing.T, url, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	execute(t, conn, statement)
}

func wantBroken(t *testing.T, db *store.DB) {
	t.Helper()
	if err := db.Breakage(); err == nil || !strings.Contains(err.Error(), "are gone") {
		t.Errorf("the store says %v; want that changes are gone", err)
	}
	err := register(db, 99)
	wantKind(t, "a write", err, beacon.Overloaded)
}

// TestWentBack_Follower: who has seen changes that are gone must not follow on.
func TestWentBack_Follower(t *testing.T) {
	url := storetest.Postgres(t)
	writer, reader, late := open(t, url), open(t, url), open(t, url)
	for n := range 3 {
		if err := register(writer, n); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := reader.Changes.Heads(t.Context()); err != nil {
		t.Fatal(err)
	}
	forget(t, url, `DELETE FROM changes WHERE seq = 3`)
	_, err := reader.Changes.Heads(t.Context())
	wantKind(t, "the heads", err, beacon.Overloaded)
	wantBroken(t, reader)
	if _, err := late.Changes.Heads(t.Context()); err != nil || late.Breakage() != nil {
		t.Errorf("who had not seen them: %v, %v; want nothing", err, late.Breakage())
	}
}

// TestWentBack_Writer: who has written changes that are gone must not write on,
// or nobody would notice.
func TestWentBack_Writer(t *testing.T) {
	for name, statement := range map[string]string{
		"changes": `DELETE FROM changes WHERE seq = 2`,
		"beats":   `DELETE FROM journal WHERE seq = 2`,
	} {
		t.Run(name, func(t *testing.T) {
			url := storetest.Postgres(t)
			proxy, behind := throughProxy(t, url)
			db := open(t, behind)
			write := func(n int) (err error) {
				if name == "beats" {
					_, err = db.Journal.AppendBeats(t.Context(), []byte("beat"))
				} else {
					err = register(db, n)
				}
				return err
			}
			for n := range 2 {
				proxy.setDown(true) // a change of the server that loses nothing
				proxy.setDown(false)
				if err := write(n); err != nil {
					t.Fatal(err)
				}
			}
			proxy.setDown(true)
			forget(t, url, statement)
			proxy.setDown(false)
			wantKind(t, "a write", write(2), beacon.Overloaded)
			wantBroken(t, db)
		})
	}
}
