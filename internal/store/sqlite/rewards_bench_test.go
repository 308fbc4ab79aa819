package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// BenchmarkRewards closes days and settles the month of as many hotspots as
// BEACON_BENCH_HOTSPOTS says, once: -benchtime 1x. The hotspots of a user stand
// far from each other, as those of most users do.
func BenchmarkRewards(b *testing.B) {
	hotspots := 100_000
	if n, err := strconv.Atoi(os.Getenv("BEACON_BENCH_HOTSPOTS")); err == nil {
		hotspots = n
	}
	path := filepath.Join(b.TempDir(), "rewards.db")
	db := open(b, path)
	fill(b, path, hotspots)
	raw(b, path, fmt.Sprintf(`UPDATE hotspots SET operator_id =
		printf('usr_01k%%022d', (CAST(substr(id, 7) AS integer) * 611953 %% %d) / 3)`, hotspots))
	storetest.BenchmarkRewards(b, db)
}
