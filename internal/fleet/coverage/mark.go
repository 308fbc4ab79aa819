package coverage

import (
	"math"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// marks are the discs that came online and went; the cells that they reach are
// measured again.
type marks struct {
	discs   []mark
	strokes [zones][]stroke
}

// mark is a disc that came or went.
type mark struct {
	place  geo.Point
	radius float64 // metres
	gone   bool
}

// stroke is a mark on the grid of a zone: the deepest columns and rows between which
// its disc certainly lies.
type stroke struct {
	west, east, north, south uint32
	disc                     int32
}

func (m *marks) mark(place geo.Point, radius float64, gone bool) {
	m.discs = append(m.discs, mark{place, radius, gone})
	degrees := radius / geo.EarthRadius / radian
	for z := range zones {
		if zoneOf(min(place.Lat+degrees, 90)) == z || zoneOf(max(place.Lat-degrees, -90)) == z || zoneOf(place.Lat) == z {
			m.strike(z, place, radius)
		}
	}
}

// add adds the marks of another.
func (m *marks) add(o *marks) {
	first := int32(len(m.discs))
	m.discs = append(m.discs, o.discs...)
	for z := range m.strokes {
		for _, s := range o.strokes[z] {
			s.disc += first
			m.strokes[z] = append(m.strokes[z], s)
		}
	}
}

// strike adds the strokes of the last disc in a zone: two, if it crosses ±180°.
func (m *marks) strike(z zone, place geo.Point, radius float64) {
	const count, margin = 1 << deepest, 2
	at := rect{place.Lat, place.Lat, place.Lng, place.Lng}
	w := newWindow(z, &at, radius)
	column := func(part float64) uint32 { return clampedTo(count-1, part*count) }
	s := stroke{disc: int32(len(m.discs) - 1)}
	s.north = column(w.north - radius*w.perMeterY - margin*sizes[deepest])
	s.south = column(w.south + radius*w.perMeterY + margin*sizes[deepest])
	west, east := w.west-radius*w.perMeterX-margin*sizes[deepest], w.east+radius*w.perMeterX+margin*sizes[deepest]
	add := func(west, east float64) {
		s.west, s.east = column(west), column(east)
		m.strokes[z] = append(m.strokes[z], s)
	}
	switch {
	case east-west >= 1 || math.IsInf(east, 0):
		add(0, 1)
	case west < 0:
		add(0, east)
		add(west+1, 1)
	case east > 1:
		add(west, 1)
		add(0, east-1)
	default:
		add(west, east)
	}
}

// appendOwn appends the strokes that may reach the cell.
func (c cell) appendOwn(own, strokes []stroke) []stroke {
	down := deepest - c.level
	west, north := c.x<<down, c.y<<down
	size := uint32(1)<<down - 1
	for i := range strokes {
		s := &strokes[i]
		if s.west <= west+size && s.east >= west && s.north <= north+size && s.south >= north {
			own = append(own, *s)
		}
	}
	return own
}

// matter reports whether a cell with a known area must be measured again. A cell that
// a single disc covers stays so, unless such a disc is gone.
func (m *marks) matter(strokes []stroke, r *rect, sole bool) bool {
	middle := r.middle()
	for _, s := range strokes {
		d := &m.discs[s.disc]
		if sole && !d.gone {
			continue
		}
		disc := newSpotAt(middle.near(d.place.Lat), d.place.Lng, d.radius) // to the bit as measure has it
		if disc.reaches(r) && (!sole || disc.covers(r)) {
			return true
		}
	}
	return false
}
