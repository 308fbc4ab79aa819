package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
)

// booksOfOneMoment: what others commit during a read is not visible to it, but to the
// next.
func booksOfOneMoment(t *testing.T, database Database) {
	reader, writer := database.open(t), database.open(t)
	l := lead(t, writer, "keeper")
	one, two := owned("usr_a", 1), owned("usr_a", 2)
	putPage(t, writer, l, page(rewardDay, beacon.Owned{}, one))
	calls := 0
	err := reader.Ledger.Books(t.Context(), func(b ledger.Books) error {
		calls++
		before, _, err := b.Closing(t.Context())
		if err != nil {
			return err
		}
		if calls == 1 {
			putPage(t, writer, l, last(page(rewardDay, one, two)))
			if n, err := writer.Ledger.Settle(t.Context(), Actor, 0, []ledger.Statement{statement(rewardMonth, "usr_a", 1, ledger.Hash{})}); n != 1 || err != nil {
				t.Errorf("Settle = %d, %v", n, err)
			}
			insert(t, writer, Hotspot(1))
		}
		after, _, err := b.Closing(t.Context())
		equal(t, "the closing", after, before)
		equal(t, "the sums", len(must(b.HotspotMonths(t.Context(), "usr_a", rewardMonth))), 1)
		equal(t, "the names", len(must(b.Names(t.Context(), Hotspot(1).Operator, time.Time{}))), 0)
		if _, found, err := b.Statement(t.Context(), "usr_a", rewardMonth); found || err != nil {
			t.Errorf("a statement of the future: %v, %v", found, err)
		}
		return err
	})
	if err != nil || calls != 1 {
		t.Fatalf("Books = %v after %d calls", err, calls)
	}
	equal(t, "the next closing", closing(t, reader).Value.Upto, two)
	equal(t, "the next statement", statementOf(t, reader, "usr_a", rewardMonth).Any, true)
}

// booksEnd: whatever read does, its connection is usable afterwards.
func booksEnd(t *testing.T, database Database) {
	db := database.open(t)
	insert(t, db, Hotspot(1))
	names := func(ctx context.Context, b ledger.Books) error {
		_, err := b.Names(ctx, Hotspot(1).Operator, time.Time{})
		return err
	}
	for range 20 { // more than there are connections
		if err := db.Ledger.Books(t.Context(), func(ledger.Books) error { return errVerdict }); !errors.Is(err, errVerdict) {
			t.Fatalf("Books = %v; want the verdict as it is", err)
		}
		func() {
			defer func() { _ = recover() }()
			_ = db.Ledger.Books(t.Context(), func(b ledger.Books) error {
				_ = names(t.Context(), b)
				panic("read")
			})
			t.Error("the panic is lost")
		}()
		ctx, cancel := context.WithCancel(t.Context())
		err := db.Ledger.Books(ctx, func(b ledger.Books) error {
			cancel()
			_ = names(ctx, b) // even if its error is ignored
			return nil
		})
		wantKind(t, "a cancelled read", err, beacon.Overloaded)
	}
	for range 20 {
		if err := db.Ledger.Books(t.Context(), func(b ledger.Books) error { return names(t.Context(), b) }); err != nil {
			t.Fatal(err)
		}
	}
	insert(t, db, Hotspot(2)) // nobody holds a snapshot: the new hotspot is visible
	equal(t, "the names", len(inBooks(t, db, func(ctx context.Context, b ledger.Books) ([]beacon.OwnedName, error) {
		return b.Names(ctx, Hotspot(1).Operator, time.Time{})
	})), 2)
}

// booksAtOnce: many read at once, and each makes another query to the store meanwhile.
// They must not deadlock.
func booksAtOnce(t *testing.T, database Database) {
	db := database.open(t)
	insert(t, db, Hotspot(1))
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			err := db.Ledger.Books(ctx, func(b ledger.Books) error {
				_, err := b.Names(ctx, Hotspot(1).Operator, time.Time{})
				_, errOther := db.Hotspots.Hotspot(ctx, Hotspot(1).ID)
				return errors.Join(err, errOther)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// booksOfHotspots: names and owners remain after a hotspot is deleted.
func booksOfHotspots(t *testing.T, database Database) {
	db := database.open(t)
	stranger := Hotspot(3)
	stranger.Operator += "x"
	insert(t, db, Hotspot(2), Hotspot(1), stranger)
	remove(t, db, Hotspot(1).ID)
	gone := beacon.HotspotName{ID: Hotspot(1).ID, Name: Hotspot(1).Name, DeletedAt: Now.Add(time.Hour)}
	err := db.Ledger.Books(t.Context(), func(b ledger.Books) error {
		whose := beacon.Owners{Operator: Hotspot(1).Operator, Former: Hotspot(1).Former}
		equal(t, "the names", must(b.Names(t.Context(), Hotspot(1).Operator, time.Time{})), []beacon.OwnedName{
			{HotspotName: gone, Owners: whose}, {HotspotName: beacon.HotspotName{ID: Hotspot(2).ID, Name: Hotspot(2).Name}, Owners: whose},
		})
		for since, want := range map[time.Time]int{gone.DeletedAt: 2, gone.DeletedAt.Add(time.Millisecond): 1} {
			equal(t, "the names since "+since.String(), len(must(b.Names(t.Context(), Hotspot(1).Operator, since))), want)
		}
		equal(t, "names by id", must(b.NamesOf(t.Context(), []beacon.HotspotID{gone.ID, "hs_unknown"})), []beacon.HotspotName{gone})
		equal(t, "names of none", len(must(b.NamesOf(t.Context(), nil))), 0)
		for id, want := range map[beacon.HotspotID]beacon.UserID{
			Hotspot(1).ID: Hotspot(1).Operator, stranger.ID: stranger.Operator, "hs_unknown": "",
		} {
			if whose, found, err := b.Whose(t.Context(), id); whose.Operator != want || found != (want != "") || err != nil {
				t.Errorf("Whose(%s) = %+v, %v, %v; want %s", id, whose, found, err, want)
			}
		}
		if day, found, err := b.FirstRecord(t.Context()); day != 0 || found || err != nil {
			t.Errorf("FirstRecord of none = %v, %v, %v", day, found, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	put(t, db, lead(t, db, "keeper"), record(1, 101, "b"), record(2, 100, "a"))
	equal(t, "the first record", inBooks(t, db, func(ctx context.Context, b ledger.Books) (f found[beacon.Day], err error) {
		f.Value, f.Any, err = b.FirstRecord(ctx)
		return f, err
	}), found[beacon.Day]{100, true})
	longRows(t, db)
}

// longRows: more rows than are read at once arrive in order; the callback may make
// queries and may stop.
func longRows(t *testing.T, db *store.DB) {
	t.Helper()
	const many = 4_500
	var all []beacon.Owned
	for n := range many {
		all = append(all, owned("usr_many", n))
	}
	p := page(rewardDay, beacon.Owned{}, all...)
	putPage(t, db, lead(t, db, "keeper"), p)
	got := 0
	err := db.Ledger.Books(t.Context(), func(b ledger.Books) error {
		return b.Rows(t.Context(), "usr_many", rewardDay, func(r ledger.Row) error {
			if r != p.Rows[got] {
				t.Fatalf("row %d is %+v; want %+v", got, r, p.Rows[got])
			}
			if got++; got%1000 == 1 {
				equal(t, "a row", must2(b.Row(t.Context(), r.Day, r.Owned)), r)
			}
			if got == many {
				return errVerdict
			}
			return nil
		})
	})
	if !errors.Is(err, errVerdict) || got != many {
		t.Errorf("%d rows, %v; want %d", got, err, many)
	}
}

// must2 returns a value that must exist.
func must2[T any](v T, found bool, err error) T {
	if err != nil || !found {
		panic(err)
	}
	return v
}
