package storetest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

func record(n int, day beacon.Day, data string) beacon.RecordRow {
	return beacon.RecordRow{Hotspot: Hotspot(n).ID, Day: day, Data: []byte(data)}
}

func records(t *testing.T, database Database) {
	db := database.open(t)
	l := lead(t, db, "keeper")
	first := record(1, 100, "one\x00\xff")
	given := []beacon.RecordRow{record(2, 100, "two"), first, record(2, 101, "two later"), record(3, 60, ""), {Hotspot: Hotspot(4).ID, Day: 60}}
	put(t, db, l, given...)
	clear(given[1].Data) // no memory is shared

	ids := []beacon.HotspotID{Hotspot(1).ID, Hotspot(2).ID, Hotspot(3).ID, "hs_unknown"}
	equal(t, "those of day 100", must(db.Records.Records(t.Context(), 100, ids)),
		map[beacon.HotspotID][]byte{ids[0]: []byte("one\x00\xff"), ids[1]: []byte("two")})
	equal(t, "those of day 101", must(db.Records.Records(t.Context(), 101, ids)), map[beacon.HotspotID][]byte{ids[1]: []byte("two later")})
	empty := must(db.Records.Records(t.Context(), 60, ids))
	if data, ok := empty[ids[2]]; !ok || len(data) != 0 || len(empty) != 1 {
		t.Errorf("those of day 60: %v; want one, empty", empty)
	}
	if none := must(db.Records.Records(t.Context(), 100, nil)); len(none) != 0 {
		t.Errorf("records of nobody: %v", none)
	}

	put(t, db, l, record(2, 100, "two again"), record(2, 99, "two earlier"), record(2, 40, "long ago"))
	want := []beacon.RecordRow{record(2, 40, "long ago"), record(2, 99, "two earlier"), record(2, 100, "two again"), record(2, 101, "two later")}
	for _, part := range []struct{ from, to, first, end beacon.Day }{
		{0, 1000, 0, 4},
		{40, 101, 0, 4},
		{41, 100, 1, 3},
		{99, 99, 1, 2},
		{72, 98, 1, 1},
		{102, 50, 1, 1},
	} {
		got := must(db.Records.RecordsOf(t.Context(), Hotspot(2).ID, part.from, part.to))
		equal(t, fmt.Sprintf("from day %d to %d", part.from, part.to), append([]beacon.RecordRow{}, got...), append([]beacon.RecordRow{}, want[part.first:part.end]...))
	}
	if none := must(db.Records.RecordsOf(t.Context(), "hs_unknown", 0, 1000)); len(none) != 0 {
		t.Errorf("records of an unknown one: %v", none)
	}
	var long []beacon.RecordRow // each day of more than two months
	for day := beacon.Day(300); day < 370; day++ {
		long = append(long, record(5, day, fmt.Sprint("day ", day)))
	}
	put(t, db, l, long...)
	equal(t, "more than two months", must(db.Records.RecordsOf(t.Context(), Hotspot(5).ID, 300, 369)), long)
	wantHead(t, db, 0) // they are not changes
}

// eachRecord writes at random over a few days, in calls of all sizes, and compares with
// a map.
// Records of days that have not come are forgotten, of hotspots that have one of today.
func forgetRecords(t *testing.T, database Database) {
	db := database.open(t)
	l := lead(t, db, "keeper")
	put(t, db, l, record(1, 200, "today"), record(1, 201, "ahead"), record(1, 565, "far ahead"),
		record(2, 199, "before"), record(2, 202, "ahead"), record(3, 200, "another"))
	if err := db.Records.ForgetRecords(t.Context(), l, 200); err != nil {
		t.Fatal(err)
	}
	want := map[beacon.HotspotID]beacon.RecordRow{}
	for _, r := range []beacon.RecordRow{record(1, 200, "today"), record(2, 202, "ahead"), record(3, 200, "another")} {
		want[r.Hotspot] = r
	}
	equal(t, "the newest of each", newestRecords(t, db), want)
	for _, day := range []beacon.Day{201, 565} {
		rows, err := db.Records.Records(t.Context(), day, []beacon.HotspotID{Hotspot(1).ID})
		if err != nil || len(rows) > 0 {
			t.Errorf("records of day %d: %v, %v", day, rows, err)
		}
	}
	put(t, db, l, record(1, 201, "tomorrow"))
	if got := newestRecords(t, db)[Hotspot(1).ID]; string(got.Data) != "tomorrow" {
		t.Errorf("the newest record is %s", got.Data)
	}
	l.Token--
	if err := db.Records.ForgetRecords(t.Context(), l, 200); err == nil {
		t.Error("records were forgotten under a lease that was lost")
	}
}

func eachRecord(t *testing.T, database Database) {
	db := database.open(t)
	l := lead(t, db, "keeper")
	if all := newestRecords(t, db); len(all) != 0 {
		t.Errorf("EachRecord of none = %v", all)
	}
	const hotspots, rounds = 4_500, 12 // more than two pages
	random := rand.New(rand.NewPCG(4, 2))
	want := map[beacon.HotspotID]beacon.RecordRow{}
	all := map[beacon.HotspotID]map[beacon.Day]string{}
	for round := range rounds {
		var rows []beacon.RecordRow
		for n := random.IntN(8); n < hotspots; n += 1 + random.IntN(8) {
			if round == rounds-1 && n > hotspots/2 {
				break
			}
			r := record(n, 200+beacon.Day(round/4+random.IntN(2)), fmt.Sprint("record ", round, " of ", n))
			rows = append(rows, r)
			if random.IntN(5) == 0 {
				rows = append(rows, record(n, r.Day-1-beacon.Day(random.IntN(3)), fmt.Sprint("older ", round, " of ", n)))
			}
		}
		for _, r := range rows {
			if r.Day >= want[r.Hotspot].Day {
				want[r.Hotspot] = r
			}
			if all[r.Hotspot] == nil {
				all[r.Hotspot] = map[beacon.Day]string{}
			}
			all[r.Hotspot][r.Day] = string(r.Data)
		}
		for len(rows) > 0 {
			n := min(len(rows), 1+random.IntN(700))
			put(t, db, l, rows[:n]...)
			rows = rows[n:]
		}
	}
	equal(t, "the newest of each", newestRecords(t, db), want)
	compareByDay(t, db, all, random)

	stop := errors.New("stop")
	err := db.Records.EachRecord(t.Context(), func(beacon.HotspotID, beacon.Day, []byte) error { return stop })
	if err != stop { //nolint:errorlint // as it is
		t.Errorf("EachRecord = %v; want the error of its function", err)
	}
}

// compareByDay requests some of the hotspots, sorted, and some without records.
func compareByDay(t *testing.T, db *store.DB, all map[beacon.HotspotID]map[beacon.Day]string, random *rand.Rand) {
	ids := slices.Sorted(maps.Keys(all))
	asked := 0
	for day := beacon.Day(195); day < 206; day++ {
		first := random.IntN(len(ids) / 2)
		some := []beacon.HotspotID{}
		want := map[beacon.HotspotID][]byte{}
		for i := first; i < len(ids) && len(some) < 500; i += 1 + random.IntN(3) + int(day%2)*10 { // dense, or sparse
			some = append(some, ids[i])
			if data, ok := all[ids[i]][day]; ok {
				want[ids[i]] = []byte(data)
			}
			if random.IntN(10) == 0 {
				some = append(some, ids[i]+"x")
			}
		}
		asked += len(want)
		equal(t, fmt.Sprint("those of day ", day), must(db.Records.Records(t.Context(), day, some)), want)
	}
	if asked < 500 {
		t.Errorf("only %d records were asked for", asked)
	}
}

func newestRecords(t *testing.T, db *store.DB) map[beacon.HotspotID]beacon.RecordRow {
	t.Helper()
	all := map[beacon.HotspotID]beacon.RecordRow{}
	var mu sync.Mutex
	err := db.Records.EachRecord(t.Context(), func(hotspot beacon.HotspotID, day beacon.Day, data []byte) error {
		mu.Lock()
		defer mu.Unlock()
		if _, twice := all[hotspot]; twice {
			t.Errorf("%s is met twice", hotspot)
		}
		all[hotspot] = beacon.RecordRow{Hotspot: hotspot, Day: day, Data: data}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
