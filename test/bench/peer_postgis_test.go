package bench

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// postgis is a database with the extension.
type postgis struct {
	url  string
	conn *pgx.Conn
}

func newPostGIS(b *testing.B) *postgis {
	b.Helper()
	db := &postgis{url: storetest.Postgres(b)}
	db.conn = db.dial(b)
	db.exec(b, `CREATE EXTENSION postgis`)
	return db
}

func (db *postgis) dial(b *testing.B, settings ...string) *pgx.Conn {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), db.url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(context.Background()) })
	for _, setting := range settings {
		if _, err := conn.Exec(b.Context(), setting); err != nil {
			b.Fatal(err)
		}
	}
	return conn
}

// copy fills the table staged.
func (db *postgis) copy(b *testing.B, columns string, n int, row func(i int) []any) {
	b.Helper()
	db.exec(b, `CREATE UNLOGGED TABLE staged (`+columns+`)`)
	rows := pgx.CopyFromSlice(n, func(i int) ([]any, error) { return row(i), nil })
	var names []string
	for column := range strings.SplitSeq(columns, ", ") {
		name, _, _ := strings.Cut(column, " ")
		names = append(names, name)
	}
	if _, err := db.conn.CopyFrom(b.Context(), pgx.Identifier{"staged"}, names, rows); err != nil {
		b.Fatal(err)
	}
}

func (db *postgis) exec(b *testing.B, statements ...string) {
	b.Helper()
	for _, statement := range statements {
		if _, err := db.conn.Exec(b.Context(), statement); err != nil {
			b.Fatalf("%s: %v", statement, err)
		}
	}
}

// The rows lie on disk as they lie on the ground: the order of points is that of
// a Hilbert curve.
var nearbyTable = []string{
	`CREATE TABLE hotspots AS SELECT id, item, ST_SetSRID(ST_MakePoint(lng, lat), 4326)::geography(Point) AS place
		FROM staged ORDER BY ST_SetSRID(ST_MakePoint(lng, lat), 4326)`,
	`DROP TABLE staged`,
	`ALTER TABLE hotspots ADD PRIMARY KEY (id)`,
	`CREATE INDEX ON hotspots USING gist (place)`,
	`VACUUM (FREEZE, ANALYZE) hotspots`,
	`CHECKPOINT`,
}

// The point is spelled three times: as a row of a subquery it would keep the
// planner from reading the index in the order of the distance. Ordered by
// ST_Distance it reads, measures and sorts all who are within the radius.
const (
	center        = `ST_SetSRID(ST_MakePoint($1, $2), 4326)::geography`
	nearbyByIndex = `SELECT id, item, place <-> ` + center + ` FROM hotspots
		WHERE ST_DWithin(place, ` + center + `, $3) ORDER BY place <-> ` + center + ` LIMIT $4`
	nearbyBySort = `SELECT id, item, ST_Distance(place, ` + center + `) AS meters FROM hotspots
		WHERE ST_DWithin(place, ` + center + `, $3) ORDER BY meters LIMIT $4`
)

// onPostGIS keeps places as geography, with an index, and is asked in the ways
// that people ask it.
func onPostGIS(b *testing.B, w *peerWorld, items []item) []*contestant {
	b.Helper()
	db := newPostGIS(b)
	db.copy(b, `id text, item text, lat float8, lng float8`, len(items), func(i int) []any {
		return []any{items[i].id, items[i].json, items[i].at.Lat, items[i].at.Lng}
	})
	db.exec(b, nearbyTable...)
	var size float64
	if err := db.conn.QueryRow(b.Context(), `SELECT pg_total_relation_size('hotspots')::float8`).Scan(&size); err != nil {
		b.Fatal(err)
	}
	const name = "PostgreSQL with PostGIS"
	sorted := db.asked(b, w, nearbyBySort, "auto")
	sorted.name, sorted.does = name, "`WHERE ST_DWithin(…) ORDER BY ST_Distance(…) LIMIT`, prepared, GiST index on `geography`"
	sorted.size = fmt.Sprintf("%.0f B on disk", size/float64(len(items)))
	indexed := db.asked(b, w, nearbyByIndex, "auto")
	indexed.name, indexed.does = name+", nearest first from the index", "`WHERE ST_DWithin(…) ORDER BY place <-> $1 LIMIT`"
	kept := db.asked(b, w, nearbyByIndex, "force_generic_plan")
	kept.name, kept.does = name+", and with one plan kept", "the same with `plan_cache_mode = force_generic_plan`"
	return []*contestant{sorted, indexed, kept}
}

// asked asks over connections of their own, whose backends are what is measured.
func (db *postgis) asked(b *testing.B, w *peerWorld, query, planCacheMode string) *contestant {
	b.Helper()
	clients, backends := make([]*pgx.Conn, connections), make([]process, connections)
	for c := range clients {
		clients[c] = db.dial(b, `SET plan_cache_mode = `+planCacheMode)
		backends[c] = process{pid: int(clients[c].PgConn().PID())}
	}
	ask := func(client *pgx.Conn, at geo.Point) ([]neighbour, error) {
		rows, err := client.Query(b.Context(), query, at.Lng, at.Lat, float64(nearbyRadius), nearbyLimit)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, func(row pgx.CollectableRow) (n neighbour, err error) {
			return n, row.Scan(&n.id, &n.item, &n.meters)
		})
	}
	return &contestant{
		ask: func(at geo.Point) ([]neighbour, error) { return ask(clients[0], at) },
		drive: func(c, first, n int) error {
			for i := range n {
				if _, err := ask(clients[c], w.places[(first+i)%len(w.places)]); err != nil {
					return err
				}
			}
			return nil
		},
		cpu: func() (sum float64) {
			for _, backend := range backends {
				sum += backend.cpu(b)
			}
			return sum
		},
		perTurn: perTurn / 10,
		target:  "1/25",
	}
}
