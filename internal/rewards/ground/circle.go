package ground

import "math/bits"

// circle is the ground within a radius of a place.
type circle struct {
	lat, lng int64
	cos      uint64
	half     uint64 // half of the radius, as an angle

	runs []run // its squares, row by row; nil: not known
}

// run is squares of a row, from one to before another. They count on past either end of
// the row.
type run struct{ from, to int64 }

func newCircle(p Place, radiusM int) circle {
	c := circle{lat: p.fromSouth(), lng: p.fromWest(), half: uint64(radiusM) * halfMeter}
	c.cos = cosine(c.lat)
	return c
}

// contains reports whether a point lies within the circle, given the cosine of the
// point's latitude, half of the difference in longitude, and what is left of the
// radius: with d for the difference in latitude,
//
//	cos φ₁ cos φ₂ sin²(Δλ/2) ≤ sin²(r/2) − sin²(d/2) = sin((r+d)/2) sin((r−d)/2)
func (c *circle) contains(cos, halfLng uint64, left product) bool {
	s := sine(halfLng)
	return !left.isLess(multiply(times(c.cos, s), times(cos, s)))
}

// left returns what is left of the radius after the difference in latitude, or false
// if nothing is.
func (c *circle) left(lat int64) (product, bool) {
	d := scaled(uint64(max(lat-c.lat, c.lat-lat)), halfUnit)
	if d > c.half {
		return product{}, false
	}
	return multiply(sine(c.half+d), sine(c.half-d)), true
}

// product is what two fractions multiply to.
type product struct{ hi, lo uint64 }

func multiply(a, b uint64) product {
	hi, lo := bits.Mul64(a, b)
	return product{hi, lo}
}

func (p product) isLess(q product) bool { return p.hi < q.hi || p.hi == q.hi && p.lo < q.lo }

// rows returns the rows that the circle may reach: from one to before another.
func (c *circle) rows() (from, to int64) {
	units := int64(c.half/(halfUnit>>31)) + 1
	return rowOf(max(c.lat-units, 0)), rowOf(min(c.lat+units, halfTurn)) + 1
}

// width returns how far the circle reaches east and west, in units, or half a turn if
// it may be close to a pole. It is up to 5 % more than the truth, because
// arcsin x ≤ 1.05 x for x ≤ 1/2.
func (c *circle) width() int64 {
	if c.cos <= 4*c.half {
		return halfTurn
	}
	q, _ := bits.Div64(c.half>>1, c.half<<63, c.cos) // sin r / cos φ, at most 1/2
	return int64(q/(halfUnit>>31)/40*21) + 1
}

// find finds the squares of the circle.
func (c *circle) find(memory *Memory) {
	var e edges
	first, end := c.rows()
	c.runs = make([]run, 0, end-first)
	for i := first; i < end; i++ {
		r := memory.row(i)
		from, to := e.in(c, &r)
		c.runs = append(c.runs, run{from, to})
	}
}

// edges finds the squares of a circle, row after row. Neighbouring rows differ by a
// few squares, so each starts where the one before ended.
type edges struct{ west, east int64 }

// in returns the squares of a row that the circle covers: from one to before another.
// They count on past either end of the row, and are at most as many as the row has.
func (e *edges) in(c *circle, r *row) (from, to int64) {
	left, ok := c.left(r.lat)
	if !ok {
		return 0, 0
	}
	middle := r.n * c.lng / fullTurn // the square whose middle is nearest
	covers := func(square int64) bool {
		half := r.halfAngle(square, c.lng)
		return half <= quarter && c.contains(r.cos, half, left)
	}
	for covers(middle + e.east) {
		e.east++
	}
	for e.east > 0 && !covers(middle+e.east-1) {
		e.east--
	}
	if e.east == 0 {
		e.west = 0
		return 0, 0
	}
	for covers(middle - e.west - 1) {
		e.west++
	}
	for e.west > 0 && !covers(middle-e.west) {
		e.west--
	}
	return middle - e.west, middle - e.west + min(e.west+e.east, r.n)
}
