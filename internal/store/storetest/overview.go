package storetest

import (
	"maps"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// overview checks what staff read of the whole network, where there is nothing.
func overview(t *testing.T, database Database) {
	db := database.open(t)
	if all, err := db.Users.Operators(t.Context(), "", beacon.MonthOf(Now), Now, 10); err != nil || len(all) != 0 {
		t.Errorf("the operators of a new database are %v, %v", all, err)
	}
	if totals, err := db.Ledger.MonthTotals(t.Context(), beacon.MonthOf(Now)); err != nil || totals != (ledger.MonthTotals{}) {
		t.Errorf("a month of a new database is %v, %v", totals, err)
	}
	if closed, err := db.Ledger.Carried(t.Context(), 0, nil); closed || err != nil {
		t.Errorf("a day of a new database is closed: %v, %v", closed, err)
	}
}

// carried: what hotspots carried on a day is known once it is closed for everyone.
func carried(t *testing.T, database Database) {
	db := database.open(t)
	l := lead(t, db, "keeper")
	day := rewardDay
	one, two := page(day, beacon.Owned{}, owned("usr_a", 1), owned("usr_a", 2)), page(day, owned("usr_a", 2), owned("usr_b", 3))
	look := func() (closed bool, bytes map[beacon.HotspotID]uint64) {
		bytes = map[beacon.HotspotID]uint64{}
		closed, err := db.Ledger.Carried(t.Context(), day, func(id beacon.HotspotID, n uint64) { bytes[id] = n })
		if err != nil {
			t.Fatal(err)
		}
		return closed, bytes
	}
	putPage(t, db, l, one)
	if closed, _ := look(); closed {
		t.Error("a day is closed after its first page")
	}
	putPage(t, db, l, last(two))
	closed, got := look()
	want := map[beacon.HotspotID]uint64{}
	for _, row := range slices.Concat(one.Rows, two.Rows) {
		want[row.Hotspot] = row.Bytes
	}
	if !closed || len(want) != 3 || !maps.Equal(got, want) {
		t.Errorf("closed: %v, with %v; want %v", closed, got, want)
	}
}
