package postgres_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/postgres"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
)

func open(t *testing.T, url string) *store.DB {
	t.Helper()
	db, err := database(t, url)(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func register(db *store.DB, n int) error {
	return db.Hotspots.InsertHotspot(context.Background(), storetest.Hotspot(n), storetest.Actor, nil)
}

func wantKind(t *testing.T, what string, err error, kind beacon.Kind) {
	t.Helper()
	e, ok := errors.AsType[*beacon.Error](err)
	if !ok || e.Kind != kind {
		t.Errorf("%s: %v; want kind %d", what, err, kind)
	}
	if ok && kind == beacon.Overloaded && e.RetryAfter <= 0 {
		t.Errorf("%s: no time to wait is given", what)
	}
}

// wantStream checks that the changes of a node are these hotspots, in order.
func wantStream(t *testing.T, db *store.DB, hotspots ...int) {
	t.Helper()
	changes, err := db.Changes.Changes(t.Context(), db.Node(), 0, 100)
	if err != nil || len(changes) != len(hotspots) {
		t.Fatalf("changes %v, %v; want %v", changes, err, hotspots)
	}
	for i, c := range changes {
		if c.Seq != int64(i)+1 || c.Target != string(storetest.Hotspot(hotspots[i]).ID) {
			t.Errorf("change %d has number %d and is of %s; want that of hotspot %d", i+1, c.Seq, c.Target, hotspots[i])
		}
	}
}

// TestCommit_AnswerLost: COMMIT succeeds and its answer never arrives. The
// store must not say no, must not repeat it, and must go on counting rightly.
func TestCommit_AnswerLost(t *testing.T) {
	url := storetest.Postgres(t)
	proxy, behind := throughProxy(t, url)
	db := open(t, behind)
	if err := register(db, 1); err != nil {
		t.Fatal(err)
	}
	by := storetest.Actor
	by.Once = &beacon.Once{Owner: "usr_tester", Key: "k", ExpiresAt: storetest.Now.Add(time.Hour), Result: []byte("made")}
	proxy.loseAnswer("COMMIT\x00")
	err := db.Hotspots.InsertHotspot(t.Context(), storetest.Hotspot(2), by, nil)
	wantKind(t, "the answer to COMMIT is lost", err, beacon.Internal)

	if err := register(db, 3); err != nil {
		t.Fatalf("the next write: %v", err)
	}
	if err := db.Hotspots.InsertHotspot(t.Context(), storetest.Hotspot(2), by, nil); !errors.Is(err, beacon.ErrRepeated) {
		t.Errorf("the client repeats its request: %v", err)
	}
	if first, err := db.Requests.Once(t.Context(), "usr_tester", "k", storetest.Now); err != nil || first == nil || string(first.Result) != "made" {
		t.Errorf("the client repeats its request: %+v, %v; want the record of the first", first, err)
	}
	wantStream(t, db, 1, 2, 3)
}

// TestBeats_AnswerLost: the same for heartbeats. Who appended them can find out
// by reading the journal, also where its rows are trimmed by then.
func TestBeats_AnswerLost(t *testing.T) {
	for _, trimmed := range []bool{false, true} {
		url := storetest.Postgres(t)
		proxy, behind := throughProxy(t, url)
		db, other := open(t, behind), open(t, url)
		beat := func(text string, want int64) {
			t.Helper()
			if seq, err := db.Journal.AppendBeats(t.Context(), []byte(text)); seq != want || err != nil {
				t.Fatalf("AppendBeats(%s) = %d, %v; want %d", text, seq, err, want)
			}
		}
		beat("one", 1)
		proxy.loseAnswer("COMMIT\x00")
		_, err := db.Journal.AppendBeats(t.Context(), []byte("two"))
		wantKind(t, "the answer to COMMIT is lost", err, beacon.Internal)
		rows := []beacon.JournalRow{{Seq: 2, Batch: []byte("two")}}
		if trimmed {
			l, _, err := other.Leases.TakeLease(t.Context(), "keeper", "other", storetest.Now, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			if err := other.Journal.TrimJournal(t.Context(), l, db.Node(), 2); err != nil {
				t.Fatal(err)
			}
			rows = nil
		}
		beat("three", 3)
		rows = append(rows, beacon.JournalRow{Seq: 3, Batch: []byte("three")})
		got, err := other.Journal.Journal(t.Context(), db.Node(), 1, 10)
		if err != nil || !reflect.DeepEqual(got, rows) {
			t.Errorf("trimmed %v: the journal after 1 is %v, %v; want %v", trimmed, got, err, rows)
		}
	}
}

// TestBeats_BesideALock: someone holds a row that a write waits for. Heartbeats
// do not wait with it.
func TestBeats_BesideALock(t *testing.T) {
	url := storetest.Postgres(t)
	db := open(t, url)
	if err := register(db, 1); err != nil {
		t.Fatal(err)
	}
	holder, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close(context.Background())
	execute(t, holder, "BEGIN")
	execute(t, holder, "UPDATE hotspots SET name = name")
	result := make(chan error, 1)
	go func() {
		_, err := db.Hotspots.UpdateHotspot(context.Background(), storetest.Hotspot(1).ID, storetest.Actor, beacon.HotspotUpdated,
			func(h *beacon.Hotspot) (bool, error) { h.Name = "other"; return true, nil })
		result <- err
	}()
	awaitBlocked(t, url)
	for n := range int64(20) {
		if seq, err := db.Journal.AppendBeats(t.Context(), []byte("beats")); seq != n+1 || err != nil {
			t.Fatalf("AppendBeats = %d, %v; want %d", seq, err, n+1)
		}
	}
	select {
	case err := <-result:
		t.Fatalf("the update did not wait: %v", err)
	default:
	}
	execute(t, holder, "ROLLBACK")
	if err := <-result; err != nil {
		t.Errorf("the update: %v", err)
	}
}

// TestCommit_OldOneLingers: a transaction of ours, given up for lost, still
// lives in the server with the next number. The next write waits for it, and
// whichever way it ends, the numbers have no gap and no double.
func TestCommit_OldOneLingers(t *testing.T) {
	for _, end := range []string{"COMMIT", "ROLLBACK"} {
		t.Run(end, func(t *testing.T) {
			url := storetest.Postgres(t)
			db := open(t, url)
			if err := register(db, 1); err != nil {
				t.Fatal(err)
			}
			old, err := pgx.Connect(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer old.Close(context.Background())
			execute(t, old, "BEGIN")
			execute(t, old, `INSERT INTO changes (node, seq, kind, target, version, key_id, user_id, request_id, at)
				VALUES ($1, 2, 'hotspot.registered', $2, 1, '', '', '', 0)`, db.Node(), string(storetest.Hotspot(2).ID))
			result := make(chan error, 1)
			go func() {
				err := register(db, 3)
				result <- err
			}()
			awaitBlocked(t, url)
			execute(t, old, end)
			if err := <-result; err != nil {
				t.Fatalf("the next write: %v", err)
			}
			if end == "COMMIT" {
				wantStream(t, db, 1, 2, 3)
			} else {
				wantStream(t, db, 1, 3)
			}
		})
	}
}

// A caller that leaves while its lease is being taken gets an error at once, and the write
// goes on without it.
func TestTakeLease_CallerLeaves(t *testing.T) {
	url := storetest.Postgres(t)
	db := open(t, url)
	if _, taken, err := db.Leases.TakeLease(t.Context(), "job", "first", storetest.Now, time.Hour); err != nil || !taken {
		t.Fatal(taken, err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	execute(t, conn, `BEGIN`)
	execute(t, conn, `SELECT * FROM leases FOR UPDATE`)
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, _, err := db.Leases.TakeLease(ctx, "job", "first", storetest.Now, 2*time.Hour)
		left <- err
	}()
	awaitBlocked(t, url)
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that left got %v", err)
	}
	execute(t, conn, `ROLLBACK`)
	if l, taken, err := db.Leases.TakeLease(t.Context(), "job", "second", storetest.Now, time.Hour); err != nil || taken || l.Holder != "first" {
		t.Errorf("TakeLease = %+v, %v, %v; want the first to hold it", l, taken, err)
	}
}

func execute(t *testing.T, conn *pgx.Conn, statement string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// awaitBlocked waits until someone in the database waits for a lock.
func awaitBlocked(t *testing.T, url string) {
	t.Helper()
	await(t, url, "someone waits for a lock", `SELECT EXISTS (SELECT FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock')`)
}

// await waits until a query returns true.
func await(t *testing.T, url, what, query string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	harness.Eventually(t, what, func() (holds bool) {
		if err := conn.QueryRow(t.Context(), query).Scan(&holds); err != nil {
			t.Fatal(err)
		}
		return holds
	})
}

// TestAway: the database goes away and comes back.
func TestAway(t *testing.T) {
	proxy, behind := throughProxy(t, storetest.Postgres(t))
	db := open(t, behind)
	if err := register(db, 1); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		proxy.setDown(true)
		err := register(db, 2)
		wantKind(t, "a write", err, beacon.Overloaded)
		_, err = db.Hotspots.Hotspot(t.Context(), storetest.Hotspot(1).ID)
		wantKind(t, "a read", err, beacon.Overloaded)
		err = db.Hotspots.EachHotspot(t.Context(), time.Time{}, func(beacon.Hotspot) error { return nil })
		wantKind(t, "reading all", err, beacon.Overloaded)
		wantKind(t, "Ping", db.Ping(t.Context()), beacon.Overloaded)
		proxy.setDown(false)
		if err := db.Ping(t.Context()); err != nil {
			t.Errorf("Ping, after it is back: %v", err)
		}
	}
	if err := register(db, 2); err != nil {
		t.Errorf("a write, after it is back: %v", err)
	}
	wantStream(t, db, 1, 2)
}

// TestRestart: the server was restarted while nobody asked for it. The
// connections are dead, and nobody notices.
func TestRestart(t *testing.T) {
	proxy, behind := throughProxy(t, storetest.Postgres(t))
	db := open(t, behind)
	for n := range 3 {
		if err := register(db, n); err != nil {
			t.Errorf("a write: %v", err)
		}
		if _, err := db.Hotspots.Hotspot(t.Context(), storetest.Hotspot(n).ID); err != nil {
			t.Errorf("a read: %v", err)
		}
		proxy.setDown(true)
		proxy.setDown(false)
	}
	wantStream(t, db, 0, 1, 2)
}

// TestStandby: the server that we are connected to takes no writes, as after a
// change of primary. We must not cling to it.
func TestStandby(t *testing.T) {
	url := storetest.Postgres(t)
	proxy, behind := throughProxy(t, url)
	db := open(t, behind)
	if err := register(db, 1); err != nil {
		t.Fatal(err)
	}
	server, err := pgx.Connect(t.Context(), os.Getenv(storetest.PostgresVariable))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close(context.Background())
	alter := "ALTER DATABASE " + url[strings.LastIndex(url, "/")+1:strings.LastIndex(url, "?")]
	execute(t, server, alter+" SET default_transaction_read_only = on") // for new sessions
	proxy.setDown(true)
	proxy.setDown(false)
	err = register(db, 2)
	wantKind(t, "a write to a standby", err, beacon.Overloaded)
	execute(t, server, alter+" RESET default_transaction_read_only")
	if err := register(db, 2); err != nil {
		t.Errorf("a write, after there is a primary: %v", err)
	}
	wantStream(t, db, 1, 2)
}

// TestFrozen: this process stood still in a transaction for longer than the database lets
// it. Nothing was written, and the caller is told to try again.
func TestFrozen(t *testing.T) {
	url := storetest.Postgres(t)
	db := open(t, url)
	if err := register(db, 1); err != nil {
		t.Fatal(err)
	}
	var frozen *store.DB
	limited := with(t, storetest.Patient(t, url), "idle_in_transaction_session_timeout", "1000")
	harness.Eventually(t, "the store is opened, which may be too late too", func() bool {
		var err error
		frozen, err = postgres.Open(t.Context(), limited, postgres.Options{Now: storetest.Now})
		return err == nil
	})
	defer frozen.Close()
	_, err := frozen.Hotspots.UpdateHotspot(t.Context(), storetest.Hotspot(1).ID, storetest.Actor, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
		await(t, url, "the transaction is ended", `SELECT NOT EXISTS (SELECT FROM pg_stat_activity
			WHERE datname = current_database() AND state LIKE 'idle in transaction%')`)
		h.Name = "Too late"
		return true, nil
	})
	wantKind(t, "a write that took too long", err, beacon.Overloaded)
	if h, err := db.Hotspots.Hotspot(t.Context(), storetest.Hotspot(1).ID); err != nil || h.Name == "Too late" {
		t.Errorf("%q, %v; want it as before", h.Name, err)
	}
	wantStream(t, db, 1)
}

// TestStalled: the network swallows everything. Who waits no longer is answered,
// before the store loses its own patience, and nothing stays broken.
func TestStalled(t *testing.T) {
	proxy, behind := throughProxy(t, storetest.Postgres(t))
	db := open(t, behind)
	if err := register(db, 1); err != nil {
		t.Fatal(err)
	}
	proxy.stall()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	time.AfterFunc(50*time.Millisecond, cancel)
	err := db.Hotspots.InsertHotspot(ctx, storetest.Hotspot(2), storetest.Actor, nil)
	if !errors.Is(err, context.Canceled) { // and not the store's deadline
		t.Errorf("a write: %v; want that it was called off", err)
	}
	wantKind(t, "a write that was not begun, and now never is", err, beacon.Overloaded)
	_, err = db.Hotspots.Hotspot(ctx, storetest.Hotspot(1).ID)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a read: %v; want that it was called off", err)
	}
	wantKind(t, "a read", err, beacon.Overloaded)
	proxy.goOn()
	if err := register(db, 3); err != nil {
		t.Errorf("the next write: %v", err)
	}
	wantStream(t, db, 1, 3)
}

// TestInsertTicket_BesideAnEdit: anyone can begin to sign in, so that waits for no edit of
// people on another server.
func TestInsertTicket_BesideAnEdit(t *testing.T) {
	url := storetest.Postgres(t)
	db := open(t, url)
	holder, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close(context.Background())
	execute(t, holder, "BEGIN")
	execute(t, holder, "INSERT INTO account_names (user_id, name) VALUES ('', '') ON CONFLICT (user_id) DO UPDATE SET name = account_names.name")
	ticket := beacon.Ticket{Hash: [32]byte{1}, Kind: beacon.PasskeyTicket, Data: "x", CreatedAt: storetest.Now, ExpiresAt: storetest.Now.Add(time.Minute)}
	if err := db.People.InsertTicket(t.Context(), ticket); err != nil {
		t.Fatal(err)
	}
	if got, found, err := db.People.Ticket(t.Context(), ticket.Hash); err != nil || !found || !reflect.DeepEqual(got, ticket) {
		t.Errorf("the ticket is %+v, %t, %v", got, found, err)
	}
}
