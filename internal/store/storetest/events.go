package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/store"
)

// event returns an event without a number.
func event(n int) beacon.Event {
	return beacon.Event{Kind: beacon.HotspotRegistered, Target: fmt.Sprint("hs_", n), User: "usr_é", At: Now.Add(time.Duration(n) * time.Second)}
}

func events(from, to int) (all []beacon.Event) {
	for n := from; n < to; n++ {
		all = append(all, event(n))
	}
	return all
}

// numbered assigns events the numbers from first on.
func numbered(first int64, all []beacon.Event) []beacon.Event {
	all = slices.Clone(all)
	for i := range all {
		all[i].Seq = first + int64(i)
	}
	return all
}

func publish(t testing.TB, db *store.DB, l lease.Lease, places map[string]int64, all []beacon.Event) {
	t.Helper()
	if err := db.Events.AppendEvents(t.Context(), l, places, all); err != nil {
		t.Fatal(err)
	}
}

func wantEventHead(t testing.TB, db *store.DB, oldest, newest int64) {
	t.Helper()
	gotOldest, gotNewest, err := db.Events.EventHead(t.Context())
	if gotOldest != oldest || gotNewest != newest || err != nil {
		t.Errorf("EventHead = %d, %d, %v; want %d, %d", gotOldest, gotNewest, err, oldest, newest)
	}
}

func appendEvents(t *testing.T, database Database) {
	db := database.open(t)
	l := lead(t, db, "sequencer")
	wantEventHead(t, db, 0, 0)
	if places := must(db.Events.EventPlaces(t.Context())); len(places) != 0 {
		t.Errorf("places of an empty database: %v", places)
	}
	const many = 300 // more than one statement
	publish(t, db, l, map[string]int64{"node_a": 2, "node_b": 1}, events(0, 3))
	publish(t, db, l, map[string]int64{"node_a": 300, "node_b": 0}, numbered(77, events(3, many))) // the caller's numbers are ignored
	publish(t, db, l, map[string]int64{"node_c": 5}, nil)
	equal(t, "the places", must(db.Events.EventPlaces(t.Context())), map[string]int64{"node_a": 300, "node_b": 1, "node_c": 5})
	want := numbered(1, events(0, many))
	equal(t, "the events", must(db.Events.Events(t.Context(), 0, 1000)), want)
	equal(t, "some of them", must(db.Events.Events(t.Context(), 128, 2)), want[128:130])
	if none := must(db.Events.Events(t.Context(), many, 10)); len(none) != 0 {
		t.Errorf("events behind the newest: %v", none)
	}
	wantEventHead(t, db, 1, many)
	err := db.Events.AppendEvents(t.Context(), l, map[string]int64{"node_a": 400}, []beacon.Event{event(0), {Target: "a\x00b"}})
	wantKind(t, "an event that cannot be stored", err, beacon.Internal)
	wantEventHead(t, db, 1, many)
	wantHead(t, db, 0)
	hotspot := Hotspot(1)
	insert(t, db, hotspot)
	publish(t, db, l, nil, []beacon.Event{{Kind: beacon.HotspotLinked, Target: string(hotspot.ID), At: Now}})
	if e := must(db.Events.Events(t.Context(), many, 10)); len(e) != 1 || e[0].User != hotspot.Operator {
		t.Errorf("an event of %s, which belongs to %s: %+v", hotspot.ID, hotspot.Operator, e)
	}
}

// eventsOfTwoLeases: two jobs, each with its own lease and node, append to the one
// sequence, while a reader follows.
func eventsOfTwoLeases(t *testing.T, database Database) {
	nodes := []*store.DB{database.open(t), database.open(t)}
	const times = 40
	var all sync.WaitGroup
	for i, db := range nodes {
		l := lead(t, db, fmt.Sprint("job ", i))
		all.Go(func() {
			for n := range times {
				err := insist(func() error {
					return db.Events.AppendEvents(t.Context(), l, map[string]int64{db.Node(): int64(n + 1)}, events(3*n, 3*n+3))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	finished := make(chan struct{})
	go func() { all.Wait(); close(finished) }()
	seen := int64(0)
	for running := true; running; {
		select {
		case <-finished:
			running = false
		default:
		}
		for _, e := range must(nodes[0].Events.Events(t.Context(), seen, 1000)) {
			if seen++; e.Seq != seen {
				t.Fatalf("event %d comes where %d was due", e.Seq, seen)
			}
		}
	}
	if want := int64(2 * 3 * times); seen != want {
		t.Errorf("%d events; want %d", seen, want)
	}
}

func pruneEvents(t *testing.T, database Database) {
	db := database.open(t)
	l := lead(t, db, "sequencer")
	prune := func(before time.Time) {
		t.Helper()
		if err := db.Events.PruneEvents(t.Context(), l, before); err != nil {
			t.Fatal(err)
		}
	}
	prune(Now)
	const many = 1200 // more than two transactions
	all := events(0, many)
	all[700].At = Now.Add(-time.Hour) // out of order: it stays until those before it are pruned
	publish(t, db, l, nil, all)
	for _, step := range []struct {
		before int
		oldest int64
	}{{0, 1}, {1, 2}, {700, 702}, {many - 2, many - 1}, {many - 1, many}, {5 * many, many}, {5 * many, many}} {
		prune(event(step.before).At)
		wantEventHead(t, db, step.oldest, many)
	}
	publish(t, db, l, nil, events(0, 1))
	wantEventHead(t, db, many, many+1)
	equal(t, "those after the beginning", must(db.Events.Events(t.Context(), 0, 10)), []beacon.Event{
		numbered(many, all[many-1:])[0], numbered(many+1, events(0, 1))[0],
	})
}

func transition(n int, online bool, second int) beacon.Transition {
	return beacon.Transition{Hotspot: Hotspot(n).ID, User: "usr_tester", Online: online, At: Now.Add(time.Duration(second) * time.Second)}
}

// eventOf returns the event of a transition.
func eventOf(seq int64, tr beacon.Transition) beacon.Event {
	kind := beacon.HotspotOffline
	if tr.Online {
		kind = beacon.HotspotOnline
	}
	return beacon.Event{Seq: seq, Kind: kind, Target: string(tr.Hotspot), User: tr.User, At: tr.At}
}

func announce(t *testing.T, database Database) {
	db := database.open(t)
	l := lead(t, db, "keeper")
	say := func(all ...beacon.Transition) {
		t.Helper()
		if err := db.Events.Announce(t.Context(), l, all); err != nil {
			t.Fatal(err)
		}
	}
	say()
	say(transition(2, true, 1), transition(1, true, 1))
	say(transition(1, true, 2), transition(2, false, 2), transition(3, false, 2))
	say(transition(1, true, 3), transition(2, false, 3), transition(3, false, 3))
	say(transition(1, false, 4), transition(1, false, 5), transition(1, true, 6), transition(1, true, 7))
	equal(t, "the events", must(db.Events.Events(t.Context(), 0, 100)), []beacon.Event{
		eventOf(1, transition(2, true, 1)), eventOf(2, transition(1, true, 1)),
		eventOf(3, transition(2, false, 2)), eventOf(4, transition(3, false, 2)),
		eventOf(5, transition(1, false, 4)), eventOf(6, transition(1, true, 6)),
	})
	equal(t, "what was said last", statuses(t, db), map[beacon.HotspotID]bool{Hotspot(1).ID: true, Hotspot(2).ID: false, Hotspot(3).ID: false})
	publish(t, db, l, nil, events(0, 1))
	wantEventHead(t, db, 1, 7)

	var mass []beacon.Transition
	for n := range 900 { // more than one transaction
		mass = append(mass, transition(10+n, n%2 == 0, 10))
	}
	say(mass...)
	say(mass...)
	wantEventHead(t, db, 1, 7+900)
	wantHead(t, db, 0)
}

func statuses(t *testing.T, db *store.DB) map[beacon.HotspotID]bool {
	t.Helper()
	all := map[beacon.HotspotID]bool{}
	err := db.Events.EachStatus(t.Context(), func(hotspot beacon.HotspotID, online bool) error {
		all[hotspot] = online // no lock: calls are sequential
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// announceRace: all announce the same, at once and under leases of their own. Each
// transition becomes one event.
func announceRace(t *testing.T, database Database) {
	nodes := []*store.DB{database.open(t), database.open(t)}
	const racers, rounds, hotspots = 4, 8, 20
	var leases []lease.Lease
	for racer := range racers {
		leases = append(leases, lead(t, nodes[racer%2], fmt.Sprint("job ", racer)))
	}
	for round := range rounds {
		var all sync.WaitGroup
		for racer := range racers {
			all.Go(func() {
				var said []beacon.Transition
				for n := range hotspots {
					said = append(said, transition(n, round%2 == 0, round))
				}
				if err := insist(func() error { return nodes[racer%2].Events.Announce(t.Context(), leases[racer], said) }); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		wantEventHead(t, nodes[0], 1, int64(hotspots*(round+1)))
	}
}

func eachStatus(t *testing.T, database Database) {
	db := database.open(t)
	if none := statuses(t, db); len(none) != 0 {
		t.Errorf("statuses of an empty database: %v", none)
	}
	const many = 4_500 // more than two pages
	want := map[beacon.HotspotID]bool{}
	var all []beacon.Transition
	for n := range many {
		tr := transition(n, n%3 == 0, 1)
		all = append(all, tr)
		want[tr.Hotspot] = tr.Online
	}
	if err := db.Events.Announce(t.Context(), lead(t, db, "keeper"), all); err != nil {
		t.Fatal(err)
	}
	equal(t, "all of them", statuses(t, db), want)
	stop := errors.New("stop")
	if err := db.Events.EachStatus(t.Context(), func(beacon.HotspotID, bool) error { return stop }); err != stop { //nolint:errorlint // as it is
		t.Errorf("EachStatus = %v; want the error of its function", err)
	}
}
