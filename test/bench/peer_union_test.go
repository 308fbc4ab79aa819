package bench

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// flatGround is the name of a map of the same sphere that Beacon measures, which
// keeps areas, and hardly bends discs this near to its middle.
const flatGround = 990_001

var discTable = []string{
	fmt.Sprintf(`CREATE TABLE discs AS SELECT radius, ST_Transform(ST_SetSRID(ST_MakePoint(lng, lat), 4326), %d) AS place FROM staged ORDER BY 2`, flatGround),
	`DROP TABLE staged`,
	`CREATE INDEX ON discs USING gist (place)`,
	`VACUUM (FREEZE, ANALYZE) discs`,
}

// unionQuery adds up in one backend. The box is drawn so finely that its edges
// follow the parallels.
var unionQuery = fmt.Sprintf(`SELECT ST_Area(ST_Intersection(ST_Union(ST_Buffer(place, radius, $5::text)), box)) / 1e6
	FROM discs, (SELECT ST_Transform(ST_Segmentize(ST_MakeEnvelope($1, $2, $3, $4, 4326), 0.01), %d) AS box) AS asked
	WHERE place && ST_Expand(box, 100) GROUP BY box`, flatGround)

// draw puts the online discs of a ground on the map, in place of the last.
func (db *postgis) draw(b *testing.B, g *ground) {
	b.Helper()
	var lit []disc
	for _, d := range g.discs {
		if d.Online {
			lit = append(lit, d)
		}
	}
	db.exec(b, `DROP TABLE IF EXISTS discs`, `DELETE FROM spatial_ref_sys WHERE srid = `+fmt.Sprint(flatGround),
		fmt.Sprintf(`INSERT INTO spatial_ref_sys (srid, proj4text) VALUES (%d, '+proj=laea +lat_0=%v +lon_0=%v +R=%v +units=m +no_defs')`,
			flatGround, middle.Lat, middle.Lng, geo.EarthRadius))
	db.copy(b, `lat float8, lng float8, radius float8`, len(lit), func(i int) []any {
		return []any{lit[i].Place.Lat, lit[i].Place.Lng, lit[i].RadiusM}
	})
	db.exec(b, discTable...)
}

// union is the area with discs that are polygons of four times so many corners,
// in square kilometres. It reports false where that takes longer than it may.
func (db *postgis) union(b *testing.B, box geo.Box, quadSegs int) (u union, ok bool) {
	b.Helper()
	backend := process{pid: int(db.conn.PgConn().PID())}
	began, used := time.Now(), backend.cpu(b)
	row := db.conn.QueryRow(b.Context(), unionQuery, box.West, box.South, box.East, box.North, fmt.Sprintf("quad_segs=%d", quadSegs))
	err := row.Scan(&u.area)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "57014" { // statement_timeout
		return u, false
	} else if err != nil {
		b.Fatal(err)
	}
	u.cpu, u.wall = backend.cpu(b)-used, time.Since(began).Seconds()
	return u, true
}

type union struct {
	area      float64 // km²
	cpu, wall float64 // seconds
}

// lost is the share of a disc that a polygon of four times so many corners
// leaves out.
func lost(quadSegs int) float64 {
	angle := 2 * math.Pi / float64(4*quadSegs)
	return 1 - math.Sin(angle)/angle
}

// check compares the areas. A polygon lies in its disc, so theirs is the smaller;
// where discs overlap, a part of what it leaves out is covered by another. The
// map bends discs by no more than a few hundred-thousandths.
func (u union) check(b *testing.B, exact float64, quadSegs int) (difference float64) {
	b.Helper()
	difference = u.area/exact - 1
	if difference < -1.1*lost(quadSegs) || difference > 5e-5 {
		b.Fatalf("PostGIS says %.4f km², Beacon %.4f km²: %+.4f %%; polygons explain %.4f %%", u.area, exact, 100*difference, -100*lost(quadSegs))
	}
	return difference
}
