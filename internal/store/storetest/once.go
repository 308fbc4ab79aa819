package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

// repeatedBy returns an actor whose request has an Idempotency-Key and a result.
func repeatedBy(key string, at time.Time, result string) beacon.Actor {
	by := Actor
	by.Once = &beacon.Once{
		Owner: "usr_tester", Key: key, Fingerprint: [32]byte{7, 0xff}, At: at, ExpiresAt: at.Add(24 * time.Hour), Result: []byte(result),
	}
	return by
}

// onceWrites are the writes that a request may repeat: of the n-th hotspot, or for it.
var onceWrites = map[string]func(ctx context.Context, db *store.DB, by beacon.Actor, n int) error{
	"registration": func(ctx context.Context, db *store.DB, by beacon.Actor, n int) error {
		return db.Hotspots.InsertHotspot(ctx, Hotspot(1000+n), by, nil)
	},
	"key": func(ctx context.Context, db *store.DB, by beacon.Actor, n int) error {
		return db.Keys.InsertKey(ctx, key(beacon.KeyID(fmt.Sprint("key_", n))), by, nil)
	},
	"link code": func(ctx context.Context, db *store.DB, by beacon.Actor, n int) error {
		return db.Hotspots.PutLinkCode(ctx, beacon.LinkCode{Hotspot: Hotspot(n).ID, Hash: codeHash(n), ExpiresAt: Now.Add(15 * time.Minute)}, by, Now)
	},
	"update": func(ctx context.Context, db *store.DB, by beacon.Actor, n int) error {
		result := by.Once.Result
		by.Once.Result = nil
		_, err := db.Hotspots.UpdateHotspot(ctx, Hotspot(n).ID, by, beacon.HotspotVerified, func(h *beacon.Hotspot) (bool, error) {
			h.Name, by.Once.Result = "changed", result
			return true, nil
		})
		return err
	},
	"link": func(ctx context.Context, db *store.DB, by beacon.Actor, n int) error {
		result := by.Once.Result
		by.Once.Result = nil
		_, err := db.Hotspots.LinkDevice(ctx, codeHash(100+n), by, Now, func(code *beacon.LinkCode, h *beacon.Hotspot) error {
			by.Once.Result = result
			return linkWith(1)(code, h)
		})
		return err
	},
}

// prepare makes what the writes of a few hotspots need.
func prepare(t *testing.T, db *store.DB, first, hotspots int) {
	t.Helper()
	for n := first; n < first+hotspots; n++ {
		insert(t, db, unlinked(n))
		putCode(t, db, n, 100+n)
	}
}

// once: a write with an Idempotency-Key leaves its result, and a second one nothing.
func once(t *testing.T, database Database) {
	n := -10
	for name, write := range onceWrites {
		n += 10
		t.Run(name, func(t *testing.T) {
			db := database.open(t)
			prepare(t, db, n, 2)
			const head = 4
			own := "k " + name
			first := repeatedBy(own, Now, "first")
			if err := write(t.Context(), db, first, n); err != nil {
				t.Fatal(err)
			}
			wantHead(t, db, head+1)
			for i := range 2 { // the same request, or another
				wantErr(t, "a repeated request", write(t.Context(), db, repeatedBy(own, Now.Add(time.Hour), "second"), n+i), beacon.ErrRepeated)
			}
			wantHead(t, db, head+1)
			want := &beacon.Once{Owner: "usr_tester", Key: own, Fingerprint: [32]byte{7, 0xff}, ExpiresAt: Now.Add(24 * time.Hour), Result: []byte("first")}
			equal(t, "what is remembered", must(db.Requests.Once(t.Context(), "usr_tester", own, Now.Add(24*time.Hour-time.Microsecond))), want)
			for what, nothing := range map[string]*beacon.Once{
				"after a day":   must(db.Requests.Once(t.Context(), "usr_tester", own, Now.Add(24*time.Hour))),
				"another key":   must(db.Requests.Once(t.Context(), "usr_tester", "K "+name, Now)),
				"another owner": must(db.Requests.Once(t.Context(), "usr_other", own, Now)),
			} {
				if nothing != nil {
					t.Errorf("%s: %+v", what, nothing)
				}
			}
			late := Now.Add(24 * time.Hour) // the record has expired
			if err := write(t.Context(), db, repeatedBy(own, late, "third"), n+1); err != nil {
				t.Fatal(err)
			}
			if got := must(db.Requests.Once(t.Context(), "usr_tester", own, late)); got == nil || string(got.Result) != "third" {
				t.Errorf("a day later: %+v", got)
			}

			// What fails, or has no result, is not remembered.
			failed := repeatedBy("f "+name, Now, "failed")
			if name == "key" || name == "registration" {
				return // they need no hotspot
			}
			if err := write(t.Context(), db, failed, 77); err == nil {
				t.Error("no error for a hotspot that does not exist")
			}
			if got := must(db.Requests.Once(t.Context(), "usr_tester", "f "+name, Now)); got != nil {
				t.Errorf("after a failure: %+v", got)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		db := database.open(t)
		prepare(t, db, 50, 1)
		by := repeatedBy("k", Now, "")
		if _, err := db.Hotspots.LinkDevice(t.Context(), codeHash(150), by, Now, wrongMAC); err != errVerdict { //nolint:errorlint // as it is
			t.Errorf("LinkDevice = %v", err)
		}
		_, err := db.Hotspots.UpdateHotspot(t.Context(), Hotspot(50).ID, by, beacon.HotspotVerified, func(*beacon.Hotspot) (bool, error) { return false, errVerdict })
		if err != errVerdict { //nolint:errorlint // as it is
			t.Errorf("UpdateHotspot = %v", err)
		}
		taken := Hotspot(51)
		taken.Device.MAC = Hotspot(50).Device.MAC
		wantKind(t, "a taken MAC", db.Hotspots.InsertHotspot(t.Context(), taken, repeatedBy("k", Now, "made"), nil), beacon.Conflict)
		if got := must(db.Requests.Once(t.Context(), "usr_tester", "k", Now)); got != nil {
			t.Errorf("after refusals: %+v", got)
		}
	})
}

// onceRace: the same request arrives many times at once, at two nodes.
func onceRace(t *testing.T, database Database) {
	nodes := []*store.DB{database.open(t), database.open(t)}
	const rounds, racers = 5, 8
	first := 0
	for name, write := range onceWrites {
		prepare(t, nodes[0], first, rounds)
		for round := range rounds {
			errs := make([]error, racers)
			var all sync.WaitGroup
			for racer := range racers {
				all.Go(func() {
					by := repeatedBy(fmt.Sprint(name, round), Now, fmt.Sprint(racer))
					errs[racer] = insist(func() error { return write(t.Context(), nodes[racer%2], by, first+round) })
				})
			}
			all.Wait()
			winner := -1
			for racer, err := range errs {
				switch {
				case err != nil:
					wantErr(t, name, err, beacon.ErrRepeated)
				case winner >= 0:
					t.Errorf("%s: both %d and %d were done", name, winner, racer)
				default:
					winner = racer
				}
			}
			got := must(nodes[0].Requests.Once(t.Context(), "usr_tester", fmt.Sprint(name, round), Now))
			if got == nil || string(got.Result) != fmt.Sprint(winner) {
				t.Errorf("%s: %d was done, and %+v is remembered", name, winner, got)
			}
		}
		first += rounds
	}
}

// onceTooMany: a user whose quota matters has a limited number of records.
func onceTooMany(t *testing.T, database Database) {
	db := database.open(t)
	prepare(t, db, 0, 1)
	const most, writers = 1000, 50
	put := func(key string, at time.Time, limited bool) error {
		by := repeatedBy(key, at, "made")
		if by.Once.Most = 0; limited {
			by.Once.Most = most
		}
		return onceWrites["link code"](t.Context(), db, by, 0)
	}
	var all sync.WaitGroup
	for writer := range writers {
		all.Go(func() {
			for i := range most / writers {
				if err := insist(func() error { return put(fmt.Sprint(writer, "/", i), Now, true) }); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	wantErr(t, "one more", put("more", Now, true), beacon.ErrTooManyOnce)
	wantErr(t, "a repeated one", put("0/0", Now, true), beacon.ErrRepeated)
	if err := put("of staff", Now, false); err != nil {
		t.Error(err)
	}
	late := Now.Add(24 * time.Hour)
	wantErr(t, "before expired ones are deleted", put("0/0", late, true), beacon.ErrTooManyOnce)
	if n := must(db.Requests.PruneIdempotency(t.Context(), late)); n != most+1 {
		t.Errorf("%d were deleted", n)
	}
	if err := put("more", late, true); err != nil {
		t.Error(err)
	}
}

func pruneIdempotency(t *testing.T, database Database) {
	db := database.open(t)
	const records = 7
	for n := range records {
		by := repeatedBy(fmt.Sprint(n), Now.Add(-time.Hour), "made")
		by.Once.ExpiresAt = Now.Add(time.Duration(n) * time.Hour)
		if err := db.Hotspots.InsertHotspot(t.Context(), Hotspot(n), by, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		hours, want int
	}{{-1, 0}, {2, 3}, {2, 0}, {records, records - 3}} {
		n, err := db.Requests.PruneIdempotency(t.Context(), Now.Add(time.Duration(step.hours)*time.Hour))
		if n != step.want || err != nil {
			t.Errorf("PruneIdempotency(+%d h) = %d, %v; want %d", step.hours, n, err, step.want)
		}
	}
	wantHead(t, db, records)
}
