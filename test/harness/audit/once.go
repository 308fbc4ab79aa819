//go:build linux

package audit

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// SettledOnce holds a settled month to I6: everyone has one statement of it, and
// to settle it once more changes nothing at all. Flags are those of the clock.
func SettledOnce(t testing.TB, db, month string, flags ...string) {
	t.Helper()
	handle := harness.OpenSQL(t, db)
	defer handle.Close() // who uses a database is in the way of copying it
	if twice := Lines(t, handle, `SELECT user_id, month, count(*) FROM statements GROUP BY user_id, month HAVING count(*) > 1`); len(twice) > 0 {
		t.Errorf("there are several statements of %v", twice)
	}
	before := Fingerprint(t, handle)
	said := harness.Command(t, append([]string{"rewards", "settle", "--month", month, "--force", "--db", db}, flags...)...)
	if !strings.Contains(said, "nothing to do") {
		t.Errorf("to settle %s once more says: %s", month, said)
	}
	if Fingerprint(t, handle) != before {
		t.Errorf("to settle %s once more changed something", month)
	}
}

// Sealed is a hash of all that belongs to settled months, by month: whatever
// happens, it stays as it is (I6).
func Sealed(t testing.TB, db *sql.DB) map[Month]string {
	t.Helper()
	sealed := map[Month]string{}
	each(t, db, func(scan func(...any) error, _ int) error {
		var m Month
		err := scan(&m)
		sealed[m] = ""
		return err
	}, `SELECT month FROM reward_months`)
	for month := range sealed {
		hash := sha256.New()
		first, end := DayOf(month.Start()), DayOf((month + 1).Start())
		for _, lines := range [][]string{
			Lines(t, db, `SELECT * FROM ledger WHERE day >= $1 AND day < $2`, int64(first), int64(end)),
			Lines(t, db, `SELECT * FROM reward_days WHERE day >= $1 AND day < $2`, int64(first), int64(end)),
			Lines(t, db, `SELECT * FROM hotspot_months WHERE month = $1`, int64(month)),
			Lines(t, db, `SELECT * FROM user_months WHERE month = $1`, int64(month)),
			Lines(t, db, `SELECT * FROM statements WHERE month = $1`, int64(month)),
		} {
			fmt.Fprintf(hash, "%s\n\n", strings.Join(Sorted(lines), "\n"))
		}
		sealed[month] = hex.EncodeToString(hash.Sum(nil))
	}
	return sealed
}

// StillSealed wants all months that were settled once as they were then.
func StillSealed(t testing.TB, before, after map[Month]string) {
	t.Helper()
	for month, hash := range before {
		if after[month] != hash {
			t.Errorf("%s was settled, and has changed since", month)
		}
	}
}
