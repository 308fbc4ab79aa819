package ground

import (
	"math/bits"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// canvas is some of the squares, with the minutes in which nobody owns them yet.
type canvas struct {
	first  int64 // number of the first row
	rows   []window
	states []state
	left   []beacon.Minutes // of squares that are inUse
}

// window is the part of a row that is on the canvas.
type window struct {
	row
	from, to int64 // squares, counting on past the end of the row
	at       int64 // index of the first
}

// state says whether there are minutes left of a square.
type state byte

const (
	unused state = iota // all
	inUse               // as left says
	usedUp              // none
)

// fit makes the canvas so large that it holds all squares of the circles, and clears
// it.
func (v *canvas) fit(circles []circle) {
	v.first, v.rows = 0, v.rows[:0]
	if len(circles) == 0 {
		return
	}
	last := int64(0)
	v.first = allRows
	west, east := int64(0), int64(0) // of the first circle
	for i := range circles {
		c := &circles[i]
		from, to := c.rows()
		v.first, last = min(v.first, from), max(last, to)
		off, width := offset(c.lng, circles[0].lng), c.width()
		west, east = min(west, off-width), max(east, off+width)
	}
	west, east = west+circles[0].lng, east+circles[0].lng
	squares := int64(0)
	for i := v.first; i < last; i++ {
		w := window{row: rowAt(i), at: squares}
		w.from, w.to = floorDiv(w.n*west, fullTurn)-1, floorDiv(w.n*east, fullTurn)+2
		if w.to-w.from > w.n {
			w.from, w.to = 0, w.n
		}
		squares += w.to - w.from
		v.rows = append(v.rows, w)
	}
	v.states = zeroed(v.states, squares)
	if int64(len(v.left)) < squares {
		v.left = make([]beacon.Minutes, squares)
	}
}

// offset returns how far east a longitude is of another, from half a turn west to
// half a turn east.
func offset(lng, of int64) int64 {
	d := lng - of
	switch {
	case d > halfTurn:
		return d - fullTurn
	case d < -halfTurn:
		return d + fullTurn
	}
	return d
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func zeroed(s []state, n int64) []state {
	if int64(cap(s)) < n {
		return make([]state, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// taken is what a hotspot was given.
type taken struct {
	squares, owned int
	lost           beacon.Minutes // in which it served, and did not own one of its squares
}

// each calls fn with the squares of a circle that are on the canvas, as runs of
// indices.
func (v *canvas) each(c *circle, fn func(from, to int64)) {
	from, to := c.rows()
	from, to = max(from, v.first), min(to, v.first+int64(len(v.rows)))
	var e edges
	for i := from; i < to; i++ {
		w := &v.rows[i-v.first]
		west, east := e.in(c, &w.row)
		if west == east {
			continue
		}
		// The same squares, counted from another turn.
		for turn := floorDiv(w.from-west, w.n) * w.n; west+turn < w.to; turn += w.n {
			a, b := max(west+turn, w.from), min(east+turn, w.to)
			if a < b {
				fn(a-w.from+w.at, b-w.from+w.at)
			}
		}
	}
}

// take gives a hotspot what is left of its squares in the minutes that it served.
func (v *canvas) take(c *circle, served *beacon.Minutes, t *taken) {
	*t = taken{}
	minutes := count(served)
	v.each(c, func(from, to int64) {
		t.squares += int(to - from)
		if minutes == 0 {
			return
		}
		for i := from; i < to; i++ {
			switch v.states[i] {
			case unused:
				t.owned += minutes
				v.start(i, served, minutes)
			case inUse:
				t.owned += v.share(i, served, &t.lost)
			case usedUp:
				t.lost = *served
			}
		}
	})
}

// start takes the first minutes of a square.
func (v *canvas) start(i int64, served *beacon.Minutes, minutes int) {
	if minutes == beacon.MinutesADay {
		v.states[i] = usedUp
		return
	}
	v.states[i] = inUse
	left := &v.left[i]
	for w := range left {
		left[w] = wholeDay[w] &^ served[w]
	}
}

// share takes what is left of a square.
func (v *canvas) share(i int64, served, lost *beacon.Minutes) (owned int) {
	left, rest := &v.left[i], uint64(0)
	for w, s := range served {
		l := left[w]
		owned += bits.OnesCount64(l & s)
		lost[w] |= s &^ l
		l &^= s
		left[w] = l
		rest |= l
	}
	if rest == 0 {
		v.states[i] = usedUp
	}
	return owned
}

var wholeDay = func() (m beacon.Minutes) {
	for i := range beacon.MinutesADay {
		m[i/64] |= 1 << (i % 64)
	}
	return m
}()

func count(m *beacon.Minutes) (n int) {
	if m == nil {
		return 0
	}
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return n
}

// meet reports whether two sets have a minute in common.
func meet(a, b *beacon.Minutes) bool {
	if a == nil || b == nil {
		return false
	}
	for w := range a {
		if a[w]&b[w] != 0 {
			return true
		}
	}
	return false
}
