package coverage

import "math"

// zone is a part of the Earth with its own grid.
type zone uint8

const (
	// mercator is the square web map, whose cells are its tiles.
	mercator zone = iota
	// north and south are what it omits around the poles. Their rows are equally
	// high.
	north
	south
	zones
)

// cell is a cell of a zone's grid. Each level has twice as many columns, counted from
// 180° W, and twice as many rows, counted from the north.
type cell struct {
	zone  zone
	level uint8
	x, y  uint32
}

// deepest is the level of the finest addresses: a cell there is a metre wide.
const deepest = 25

// kid returns one of the four cells of the next level: 0 and 1 in the north, 0 and 2
// in the west.
func (c cell) kid(n int) cell {
	return cell{c.zone, c.level + 1, c.x<<1 | uint32(n&1), c.y<<1 | uint32(n>>1)}
}

// kidToward returns which kid of the cell contains a smaller cell.
func (c cell) kidToward(o cell) int {
	down := o.level - 1 - c.level
	return int(o.x>>down&1 | o.y>>down&1<<1)
}

func (c cell) rect() rect {
	size := sizes[c.level]
	return rect{
		south: c.zone.latitude(float64(c.y+1) * size), north: c.zone.latitude(float64(c.y) * size),
		west: longitude(float64(c.x) * size), east: longitude(float64(c.x+1) * size),
	}
}

// kidRects returns the rectangles of the kids of a cell, given its own: only the
// lines between them are computed.
func (c cell) kidRects(r *rect) (kids [4]rect) {
	middle := c.kid(3)
	lat := middle.zone.latitude(float64(middle.y) * sizes[middle.level])
	lng := longitude(float64(middle.x) * sizes[middle.level])
	return [4]rect{
		{lat, r.north, r.west, lng},
		{lat, r.north, lng, r.east},
		{r.south, lat, r.west, lng},
		{r.south, lat, lng, r.east},
	}
}

// longitude returns the longitude with that part of the map to its west.
func longitude(part float64) float64 { return part*360 - 180 }

// latitude returns the latitude with that part of the zone to its north.
func (z zone) latitude(part float64) float64 {
	switch z {
	case north:
		return edge + (90-edge)*(1-part)
	case south:
		return -edge - (90-edge)*part
	default:
		return mercatorLatitude(part)
	}
}

func mercatorLatitude(part float64) float64 {
	return math.Atan(math.Sinh(math.Pi*(1-2*part))) / radian
}

// part is the inverse of latitude, except for rounding, also outside the zone.
func (z zone) part(lat float64) float64 {
	switch z {
	case north:
		return 1 - (lat-edge)/(90-edge)
	case south:
		return (-edge - lat) / (90 - edge)
	default:
		return (1 - math.Atanh(math.Sin(lat*radian))/math.Pi) / 2
	}
}

// edge is the latitude at which the web map ends: that of its first line.
var edge = mercatorLatitude(0)

// zoneOf returns the zone of a latitude. A line belongs to the zone to its north.
func zoneOf(lat float64) zone {
	switch {
	case lat >= edge:
		return north
	case lat < -edge:
		return south
	default:
		return mercator
	}
}

// address returns the deepest cell that contains a place. A place on a line is in the
// cell to its north and east; 180° E is 180° W. The lines are where rect has them:
// the formula for the row is only a first guess.
func address(lat, lng float64) cell {
	const count = 1 << deepest
	z := zoneOf(lat)
	y := deepestAt(z.part(lat))
	for y > 0 && lat >= z.latitude(float64(y)/count) {
		y--
	}
	for y < count-1 && lat < z.latitude(float64(y+1)/count) {
		y++
	}
	if lng >= 180 {
		lng = -180
	}
	x := deepestAt((lng + 180) / 360)
	for x > 0 && lng < longitude(float64(x)/count) {
		x--
	}
	for x < count-1 && lng >= longitude(float64(x+1)/count) {
		x++
	}
	return cell{z, deepest, x, y}
}

// deepestAt returns the deepest column or row with that part of the zone to its west
// or north: the first or last one, if that is beyond the zone.
func deepestAt(part float64) uint32 {
	const count = 1 << deepest
	return uint32(min(max(part*count, 0), count-1))
}

// up returns the cell of a level that contains a deepest address.
func (c cell) up(level uint8) cell {
	down := c.level - level
	return cell{c.zone, level, c.x >> down, c.y >> down}
}

var zoneRects = [zones]rect{
	mercator: cell{zone: mercator}.rect(), north: cell{zone: north}.rect(), south: cell{zone: south}.rect(),
}
