package storetest

import (
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
}
