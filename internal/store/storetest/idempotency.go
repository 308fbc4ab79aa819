package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

func onceRecord(key string) *beacon.Idempotency {
	return &beacon.Idempotency{
		Owner: "usr_tester", Key: key, Fingerprint: [32]byte{1, 2, 0xff},
		ExpiresAt: Now.Add(24 * time.Hour),
	}
}

func idempotencyReplay(t *testing.T, database Database) {
	db := database.open(t)
	first := onceRecord("key-1")
	if replay, err := db.InsertHotspot(t.Context(), Hotspot(1), Actor, first); replay != nil || err != nil {
		t.Fatalf("the first = %v, %v; want nil, nil", replay, err)
	}
	again := onceRecord("key-1")
	again.Fingerprint = [32]byte{9}
	for _, h := range []beacon.Hotspot{Hotspot(1), Hotspot(2)} { // the same MAC is no conflict here: the record comes first
		replay, err := db.InsertHotspot(t.Context(), h, Actor, again)
		if err != nil {
			t.Fatal(err)
		}
		wantReplay(t, replay, first, Hotspot(1))
	}
	wantHead(t, db, 1)

	other := onceRecord("KEY-1") // another key, and
	if replay, err := db.InsertHotspot(t.Context(), Hotspot(3), Actor, other); replay != nil || err != nil {
		t.Fatalf("another key = %v, %v; want nil, nil", replay, err)
	}
	other = onceRecord("key-1") // another owner
	other.Owner = "usr_other"
	if replay, err := db.InsertHotspot(t.Context(), Hotspot(4), Actor, other); replay != nil || err != nil {
		t.Fatalf("another owner = %v, %v; want nil, nil", replay, err)
	}

	late := Hotspot(5) // expired at exactly that time
	late.CreatedAt = first.ExpiresAt
	renewed := onceRecord("key-1")
	renewed.ExpiresAt = first.ExpiresAt.Add(time.Hour)
	if replay, err := db.InsertHotspot(t.Context(), late, Actor, renewed); replay != nil || err != nil {
		t.Fatalf("an expired record = %v, %v; want nil, nil", replay, err)
	}
	later := Hotspot(6)
	later.CreatedAt = late.CreatedAt.Add(time.Hour - time.Microsecond)
	wantReplay(t, must(db.InsertHotspot(t.Context(), later, Actor, again)), renewed, late)
	wantHead(t, db, 4)
}

// wantReplay wants the record of an earlier registration, with what was registered.
func wantReplay(t *testing.T, got, want *beacon.Idempotency, h beacon.Hotspot) {
	t.Helper()
	registered := beacon.Hotspot{
		ID: h.ID, Operator: h.Operator, Name: h.Name, Type: h.Type,
		Location: beacon.Location{Point: h.Location.Point, Address: h.Location.Address},
		Device:   beacon.Device{SSID: h.Device.SSID, MAC: h.Device.MAC},
		Settings: h.Settings, CreatedAt: h.CreatedAt, UpdatedAt: h.CreatedAt, Version: 1,
	}
	expected := *want
	expected.Hotspot = registered
	equal(t, "the replay", got, &expected)
}

// idempotencyAfterConflict: a request that failed leaves no record.
func idempotencyAfterConflict(t *testing.T, database Database) {
	db := database.open(t)
	insert(t, db, Hotspot(1))
	taken := Hotspot(2)
	taken.Device.MAC = Hotspot(1).Device.MAC
	for range 2 {
		_, err := db.InsertHotspot(t.Context(), taken, Actor, onceRecord("key-1"))
		wantKind(t, "a taken MAC", err, beacon.Conflict)
	}
	if replay, err := db.InsertHotspot(t.Context(), Hotspot(3), Actor, onceRecord("key-1")); replay != nil || err != nil {
		t.Errorf("after the conflict = %v, %v; want nil, nil", replay, err)
	}
	wantHead(t, db, 2)
}

// idempotencyRace: the same request arrives many times at once, at two nodes.
func idempotencyRace(t *testing.T, database Database) {
	nodes := []*store.DB{database.open(t), database.open(t)}
	const rounds, racers = 10, 8
	for round := range rounds {
		var all sync.WaitGroup
		replays := make([]*beacon.Idempotency, racers)
		errs := make([]error, racers)
		for racer := range racers {
			all.Go(func() {
				h := Hotspot(round*racers + racer)
				h.Device.MAC = mac(round)
				once := onceRecord(fmt.Sprint("key-", round))
				errs[racer] = insist(func() (err error) {
					replays[racer], err = nodes[racer%2].InsertHotspot(t.Context(), h, Actor, once)
					return err
				})
			})
		}
		all.Wait()
		winner := ""
		for racer := range racers {
			if errs[racer] != nil {
				t.Fatal(errs[racer])
			}
			if replays[racer] == nil {
				if winner != "" {
					t.Fatalf("round %d: two of them inserted", round)
				}
				winner = string(Hotspot(round*racers + racer).ID)
			}
		}
		for _, replay := range replays {
			if replay != nil && string(replay.Hotspot.ID) != winner {
				t.Errorf("round %d: the replay says %s; %s was inserted", round, replay.Hotspot.ID, winner)
			}
		}
	}
	_, total, err := nodes[0].HotspotsOf(t.Context(), "usr_tester", "", 0, 1)
	if err != nil || total != rounds {
		t.Errorf("%d hotspots, %v; want %d", total, err, rounds)
	}
}

func pruneIdempotency(t *testing.T, database Database) {
	db := database.open(t)
	const records = 7
	for n := range records {
		once := onceRecord(fmt.Sprint(n))
		once.ExpiresAt = Now.Add(time.Duration(n) * time.Hour)
		h := Hotspot(n)
		h.CreatedAt = Now.Add(-time.Hour)
		must(db.InsertHotspot(t.Context(), h, Actor, once))
	}
	for _, step := range []struct {
		hours, want int
	}{{-1, 0}, {2, 3}, {2, 0}, {records, records - 3}} {
		n, err := db.PruneIdempotency(t.Context(), Now.Add(time.Duration(step.hours)*time.Hour))
		if n != step.want || err != nil {
			t.Errorf("PruneIdempotency(+%d h) = %d, %v; want %d", step.hours, n, err, step.want)
		}
	}
	wantHead(t, db, records)
}
