package pmtiles

import "math"

// MaxZoom is the closest zoom of a file. Numbers of tiles have 64 bits up to there.
const MaxZoom = 30

// FirstOf returns the number of the first tile of a zoom. Numbers begin with the one tile
// of zoom 0, and follow the curve of Hilbert within each zoom.
func FirstOf(zoom int) int64 { return (1<<(2*zoom) - 1) / 3 }

// Place returns the zoom, column and row of a tile by its number.
func Place(id int64) (z int, x, y int64) {
	for id >= FirstOf(z+1) {
		z++
	}
	x, y = place(z, id-FirstOf(z))
	return z, x, y
}

// place returns the column and row of the tile at a distance along the curve of a zoom.
func place(z int, d int64) (x, y int64) {
	for s := int64(1); s < 1<<z; s *= 2 {
		rx := 1 & (d / 2)
		ry := 1 & (d ^ rx)
		if ry == 0 {
			if rx == 1 {
				x, y = s-1-x, s-1-y
			}
			x, y = y, x
		}
		x, y = x+s*rx, y+s*ry
		d /= 4
	}
	return x, y
}

// Range is the tiles whose numbers are From and more, and less than To.
type Range struct{ From, To int64 }

// maxLatitude is where the map ends, in the north and in the south.
const maxLatitude = 85.0511287798066

// Cover returns the tiles of some zooms that a box touches, in order. It takes as many
// ranges as the box has tiles at its edges, or fewer.
func Cover(box Bounds, minZoom, maxZoom int) (all []Range) {
	for z := minZoom; z <= maxZoom; z++ {
		n := math.Exp2(float64(z))
		column := func(lng float64) float64 { return (lng + 180) / 360 * n }
		row := func(lat float64) float64 {
			phi := max(min(lat, maxLatitude), -maxLatitude) * math.Pi / 180
			return (1 - math.Asinh(math.Tan(phi))/math.Pi) / 2 * n
		}
		west, east := span(column(box.West), column(box.East), n)
		north, south := span(row(box.North), row(box.South), n)
		c := cover{zoom: z, west: west, east: east, north: north, south: south, ranges: all}
		c.add(0, 0)
		all = c.ranges
	}
	return all
}

// span returns the first and the last of n columns or rows that touch what lies between
// two places. One that only begins where it ends is not touched.
func span(from, to, n float64) (first, last int64) {
	first = int64(max(0, min(math.Floor(from), n-1)))
	return first, max(first, int64(min(math.Ceil(to), n))-1)
}

// cover collects the tiles of a zoom in a box of columns and rows.
type cover struct {
	zoom                     int
	west, east, north, south int64
	ranges                   []Range
}

// add adds those of the square at a distance along the curve of a zoom farther out. What a
// square has follows itself on the curve.
func (c *cover) add(zoom int, d int64) {
	x, y := place(zoom, d)
	inner := c.zoom - zoom
	west, north := x<<inner, y<<inner
	east, south := west+1<<inner-1, north+1<<inner-1
	switch {
	case west > c.east || east < c.west || north > c.south || south < c.north:
	case west >= c.west && east <= c.east && north >= c.north && south <= c.south:
		from := FirstOf(c.zoom) + d<<(2*inner)
		to := from + 1<<(2*inner)
		if n := len(c.ranges); n > 0 && c.ranges[n-1].To == from {
			c.ranges[n-1].To = to
		} else {
			c.ranges = append(c.ranges, Range{from, to})
		}
	default:
		for i := range int64(4) {
			c.add(zoom+1, 4*d+i)
		}
	}
}
