package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// TestCommit_NotCanceled: when the answer to a COMMIT does not come, the server is
// not asked to stop: it would stop waiting for its standby, and show what that does
// not have.
func TestCommit_NotCanceled(t *testing.T) {
	proxy, behind := throughProxy(t, storetest.Postgres(t))
	db := open(t, behind)
	if _, err := register(db, 1, nil); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		proxy.loseAnswer("COMMIT\x00")
		_, err := register(db, 2+n, nil)
		wantKind(t, "the answer to COMMIT is lost", err, beacon.Internal)
		proxy.loseAnswer("COMMIT\x00")
		_, err = db.AppendBeats(t.Context(), []byte("beat"))
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
