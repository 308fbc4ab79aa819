package postgres_test

import (
	"context"
	"os"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

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
	url := storetest.Postgres(b)
	db, err := database(b, url)(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.Background())
	_, err = conn.Exec(b.Context(), `INSERT INTO hotspots SELECT 'hs_' || lpad(i::text, 26, '0'),
		'usr_' || lpad(((i * 611953::bigint % $1) / 3)::text, 26, '0'), 'Corner Café ' || i, 'home', 40.5, -74.0,
		i || ' Main Street, New York', 0, 'Beacon ' || i, '02:00:5e:00:00:01', i::text, 0, 16, 50, '', 0,
		1794744000000000 + i, 1794744000000000 + i, 0, 1, lpad(to_hex(i), 64, '0'), '', '', 0 FROM generate_series(1, $1::int) AS i`, hotspots)
	if err != nil {
		b.Fatal(err)
	}
	storetest.BenchmarkRewards(b, db)
}
