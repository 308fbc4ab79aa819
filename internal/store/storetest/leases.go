package storetest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/store"
)

// lead takes a lease that must be free.
func lead(t testing.TB, db *store.DB, name string) lease.Lease {
	t.Helper()
	l, taken, err := db.Leases.TakeLease(t.Context(), name, db.Node(), Now, time.Hour)
	if err != nil || !taken {
		t.Fatalf("TakeLease = %v, %v", taken, err)
	}
	return l
}

func put(t testing.TB, db *store.DB, l lease.Lease, rows ...beacon.RecordRow) {
	t.Helper()
	if err := db.Records.PutRecords(t.Context(), l, rows); err != nil {
		t.Fatal(err)
	}
}

func takeLease(t *testing.T, database Database) {
	db := database.open(t)
	at := func(seconds int) time.Time { return Now.Add(time.Duration(seconds) * time.Second) }
	standing := map[string]lease.Lease{} // by name: the stored leases
	for i, step := range []struct {
		name, holder string
		now, ttl     int
		token        int64 // 0: refused
	}{
		{"keeper", "a", 0, 10, 1},
		{"keeper", "b", 0, 10, 0},
		{"keeper", "b", 9, 10, 0},
		{"keeper", "a", 5, 10, 1}, // renewed until 15
		{"keeper", "b", 14, 10, 0},
		{"other", "b", 0, 10, 1}, // another job
		{"keeper", "b", 15, 10, 2},
		{"keeper", "a", 16, 10, 0},
		{"keeper", "b", 40, 10, 2}, // expired, but nobody took it: renewed until 50
		{"keeper", "a", 49, 10, 0},
		{"keeper", "b", 45, 0, 2}, // released
		{"keeper", "a", 45, 10, 3},
		{"keeper", "a", 60, 10, 3},
		{"keeper", "b", 70, 10, 4},
	} {
		l, taken, err := db.Leases.TakeLease(t.Context(), step.name, step.holder, at(step.now), time.Duration(step.ttl)*time.Second)
		if step.token > 0 {
			standing[step.name] = lease.Lease{Name: step.name, Holder: step.holder, Token: step.token, Until: at(step.now + step.ttl)}
		}
		want := standing[step.name]
		if err != nil || taken != (step.token > 0) || l != want {
			t.Errorf("step %d, %s at %d: %v, %v, %v; want %v", i, step.holder, step.now, l, taken, err, want)
		}
	}
	wantHead(t, db, 0)
}

// leaseRace: racers at three nodes want one lease that keeps expiring, by the test's
// own clock. The holder writes, fenced, one number higher than it read. Holders never
// overlap, tokens never repeat, and no write is lost: nobody wrote after another had
// taken over.
func leaseRace(t *testing.T, database Database) {
	nodes := []*store.DB{database.open(t), database.open(t), database.open(t)}
	const racers, rounds = 9, 40
	var clock ticker
	var mu sync.Mutex
	holderOf := map[int64]string{} // by token
	written, refused := 0, 0
	enough := func() bool { // on a busy machine nearly all may be too late for a while
		mu.Lock()
		defer mu.Unlock()
		return written >= rounds/2
	}
	deadline := time.Now().Add(Patience)
	var all sync.WaitGroup
	for racer := range racers {
		all.Go(func() {
			db, holder := nodes[racer%3], fmt.Sprint("racer ", racer)
			random := rand.New(rand.NewPCG(1, uint64(racer)))
			for round := 0; round < rounds || !enough() && time.Now().Before(deadline); round++ {
				var l lease.Lease
				var taken bool
				err := insist(func() (err error) {
					l, taken, err = db.Leases.TakeLease(t.Context(), "keeper", holder, clock.now(), 3*time.Second)
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
				if !taken {
					continue
				}
				mu.Lock()
				if before, ok := holderOf[l.Token]; ok && before != holder {
					t.Errorf("token %d was given to %s and to %s", l.Token, before, holder)
				}
				holderOf[l.Token] = holder
				mu.Unlock()
				for range random.IntN(3) { // a delay, in which others may take over
					clock.now()
				}
				err = insist(func() error { return countUp(t, db, l) })
				mu.Lock()
				if err == nil {
					written++
				} else {
					wantKind(t, "a holder that was replaced", err, beacon.Conflict)
					refused++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	rows := must(nodes[0].Records.RecordsOf(t.Context(), Hotspot(1).ID, 1, 1))
	if len(rows) != 1 || string(rows[0].Data) != fmt.Sprint(written) {
		t.Errorf("counted to %v with %d writes (%d refused, %d holders)", rows, written, refused, len(holderOf))
	}
	if written < rounds/2 || len(holderOf) < 2 {
		t.Errorf("%d writes by %d holders, %d refused: no race", written, len(holderOf), refused)
	}
}

// countUp reads a number and writes the next, which is safe only with the lease. The
// read is before the fence, so a holder that was replaced in between would write an old
// number if it were not refused.
func countUp(t *testing.T, db *store.DB, l lease.Lease) error {
	n := 0
	for _, data := range must(db.Records.Records(t.Context(), 1, []beacon.HotspotID{Hotspot(1).ID})) {
		_, _ = fmt.Sscan(string(data), &n) // 0 if there is none
	}
	return db.Records.PutRecords(t.Context(), l, []beacon.RecordRow{record(1, 1, fmt.Sprint(n+1))})
}

// ticker is a clock that advances by a second at each reading.
type ticker struct {
	mu      sync.Mutex
	seconds int
}

func (c *ticker) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seconds++
	return Now.Add(time.Duration(c.seconds) * time.Second)
}

// recordsFenced: a holder may continue after its lease expired until another takes
// over; after that it writes nothing.
func recordsFenced(t *testing.T, database Database) {
	one, two := database.open(t), database.open(t)
	old := lead(t, one, "keeper")
	put(t, one, old, record(1, 1, "in time"))
	if _, taken, err := two.Leases.TakeLease(t.Context(), "keeper", "two", Now, time.Hour); taken || err != nil {
		t.Fatalf("TakeLease = %v, %v; want false", taken, err)
	}
	put(t, one, old, record(1, 1, "still"))
	next, taken, err := two.Leases.TakeLease(t.Context(), "keeper", "two", Now.Add(time.Hour), time.Hour)
	if !taken || err != nil || next.Token <= old.Token {
		t.Fatalf("TakeLease = %v, %v, %v; want a token above %d", next, taken, err, old.Token)
	}
	forged := next
	forged.Holder = old.Holder
	for what, l := range map[string]lease.Lease{
		"the old holder": old, "another holder": forged, "none": {}, "an unknown name": {Name: "x", Holder: old.Holder, Token: 1},
	} {
		for call, err := range map[string]error{
			"PutRecords":   one.Records.PutRecords(t.Context(), l, []beacon.RecordRow{record(1, 1, "late"), record(2, 1, "late")}),
			"TrimJournal":  one.Journal.TrimJournal(t.Context(), l, one.Node(), 1),
			"AppendEvents": one.Events.AppendEvents(t.Context(), l, map[string]int64{"node_a": 1}, []beacon.Event{{Kind: beacon.HotspotLinked}}),
			"Announce":     one.Events.Announce(t.Context(), l, []beacon.Transition{{Hotspot: "hs_1", Online: true}}),
			"PruneEvents":  one.Events.PruneEvents(t.Context(), l, Now),
		} {
			wantKind(t, call+" by "+what, err, beacon.Conflict)
		}
	}
	equal(t, "the records", newestRecords(t, one), map[beacon.HotspotID]beacon.RecordRow{Hotspot(1).ID: record(1, 1, "still")})
	if _, newest, err := one.Events.EventHead(t.Context()); newest != 0 || err != nil {
		t.Errorf("newest event %d, %v; want none", newest, err)
	}
	put(t, two, next, record(1, 1, "taken over"))
}

func spans(t *testing.T, database Database) {
	one, two := database.open(t), database.open(t)
	extend := func(db *store.DB, from, to int64) {
		t.Helper()
		if err := db.Clocks.ExtendSpan(t.Context(), from, to); err != nil {
			t.Fatal(err)
		}
	}
	if none := must(one.Clocks.Spans(t.Context(), 0)); len(none) != 0 {
		t.Errorf("spans of an empty database: %v", none)
	}
	extend(one, 100, 100)
	extend(one, 100, 105)
	extend(one, 100, 103) // never shrinks
	extend(two, 100, 101)
	extend(one, 200, 210)
	extend(two, 90, 300)
	equal(t, "all spans", must(two.Clocks.Spans(t.Context(), 0)), []beacon.ServiceSpan{{From: 90, To: 300}, {From: 100, To: 101}, {From: 100, To: 105}, {From: 200, To: 210}})
	equal(t, "since 105", must(two.Clocks.Spans(t.Context(), 105)), []beacon.ServiceSpan{{From: 90, To: 300}, {From: 100, To: 105}, {From: 200, To: 210}})
	if err := one.Clocks.ForgetSpans(t.Context(), 100); err != nil { // of any node
		t.Fatal(err)
	}
	equal(t, "those that had begun by then", must(two.Clocks.Spans(t.Context(), 0)), []beacon.ServiceSpan{{From: 90, To: 300}, {From: 100, To: 101}, {From: 100, To: 105}})
	wantHead(t, one, 0)
}
