package ground

import (
	"math/bits"
	"slices"

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
func (v *canvas) fit(circles []circle, memory *Memory) {
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
		w := window{row: memory.row(i), at: squares}
		w.from, w.to = floorDiv(w.n*west, fullTurn)-1, floorDiv(w.n*east, fullTurn)+2
		if w.to-w.from > w.n {
			w.from, w.to = 0, w.n
		}
		squares += w.to - w.from
		v.rows = append(v.rows, w)
	}
	v.states = slices.Grow(v.states[:0], int(squares))[:squares]
	clear(v.states)
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

// taken is what a hotspot was given.
type taken struct {
	squares, owned int
	lost           beacon.Minutes // in which it served, and did not own one of its squares
	lostAll        bool           // all that it served
}

// each calls fn with the squares of a circle that are on the canvas, as runs of
// indices.
func (v *canvas) each(c *circle, fn func(from, to int64)) {
	first, end := c.rows()
	from, to := max(first, v.first), min(end, v.first+int64(len(v.rows)))
	var e edges
	for i := from; i < to; i++ {
		w := &v.rows[i-v.first]
		var west, east int64
		if c.runs != nil {
			west, east = c.runs[i-first].from, c.runs[i-first].to
		} else {
			west, east = e.in(c, &w.row)
		}
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
func (v *canvas) take(c *circle, m *minutes, t *taken) {
	*t = taken{}
	v.each(c, func(from, to int64) {
		t.squares += int(to - from)
		if m.count == 0 {
			return
		}
		for i := from; i < to; i++ {
			switch v.states[i] {
			case unused:
				t.owned += m.count
				v.start(i, m)
			case inUse:
				t.owned += v.share(i, m, &t.lost)
			case usedUp:
				t.lostAll = true
			}
		}
	})
	if t.lostAll {
		t.lost = *m.set
	}
}

// paint takes the same, for a hotspot whose share is not wanted.
func (v *canvas) paint(c *circle, m *minutes) {
	if m.count == 0 {
		return
	}
	v.each(c, func(from, to int64) {
		for i := from; i < to; i++ {
			switch v.states[i] {
			case unused:
				v.start(i, m)
			case inUse:
				v.remove(i, m)
			}
		}
	})
}

// start takes the first minutes of a square.
func (v *canvas) start(i int64, m *minutes) {
	if m.count == beacon.MinutesADay {
		v.states[i] = usedUp
		return
	}
	v.states[i] = inUse
	left := &v.left[i]
	for w := range left {
		left[w] = wholeDay[w] &^ m.set[w]
	}
}

// share takes some of what is left of a square.
func (v *canvas) share(i int64, m *minutes, lost *beacon.Minutes) (owned int) {
	served := m.set[m.first:m.end]
	left, gone := v.left[i][m.first:m.end][:len(served)], lost[m.first:m.end][:len(served)]
	for w, s := range served {
		owned += bits.OnesCount64(left[w] & s)
		gone[w] |= s &^ left[w]
	}
	if owned > 0 {
		v.remove(i, m)
	}
	return owned
}

// remove removes minutes from what is left of a square.
func (v *canvas) remove(i int64, m *minutes) {
	served, rest := m.set[m.first:m.end], uint64(0)
	left := v.left[i][m.first:m.end][:len(served)]
	for w, s := range served {
		left[w] &^= s
		rest |= left[w]
	}
	if rest == 0 && v.left[i] == (beacon.Minutes{}) {
		v.states[i] = usedUp
	}
}

// minutes is those that a hotspot served.
type minutes struct {
	set        *beacon.Minutes
	count      int
	first, end int // words that are not 0 are between these
}

func newMinutes(set *beacon.Minutes) minutes {
	m := minutes{set: set}
	if set == nil {
		return m
	}
	for w, word := range set {
		if word == 0 {
			continue
		}
		if m.count == 0 {
			m.first = w
		}
		m.end = w + 1
		m.count += bits.OnesCount64(word)
	}
	return m
}

// meet reports whether two sets have a minute in common.
func (m *minutes) meet(other *minutes) bool {
	for w := max(m.first, other.first); w < min(m.end, other.end); w++ {
		if m.set[w]&other.set[w] != 0 {
			return true
		}
	}
	return false
}

var wholeDay = func() (day beacon.Minutes) {
	for i := range beacon.MinutesADay {
		day[i/64] |= 1 << (i % 64)
	}
	return day
}()
