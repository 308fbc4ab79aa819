package coverage

import "math"

// span is a part of a line that runs from one point to another: of the rim of a disc,
// counterclockwise, or of a side of a rectangle. Its start and end on the line are
// measured in turns.
type span struct {
	start, end float64 // start < end
	from, to   point
}

// spans are parts of a line that closes upon itself after a full turn, all of them
// within one turn from base on.
type spans struct {
	base  float64
	parts []span
}

// remove removes a part.
func (s *spans) remove(part *span) {
	shift := 0.0
	for part.start+shift < s.base {
		shift += fullTurn
	}
	for part.start+shift >= s.base+fullTurn {
		shift -= fullTurn
	}
	s.removeAt(part, shift)
	if part.end+shift > s.base+fullTurn { // it wraps around to the beginning
		s.removeAt(part, shift-fullTurn)
	}
}

func (s *spans) removeAt(part *span, shift float64) {
	start, end := part.start+shift, part.end+shift
	for i := 0; i < len(s.parts); i++ {
		p := &s.parts[i]
		if start >= p.end || end <= p.start {
			continue
		}
		switch isAfter, isBefore := start > p.start, end < p.end; {
		case isAfter && isBefore:
			rest := span{end, p.end, part.to, p.to}
			p.end, p.to = start, part.from
			s.parts = append(s.parts, rest)
		case isAfter:
			p.end, p.to = start, part.from
		case isBefore:
			p.start, p.from = end, part.to
		default:
			last := len(s.parts) - 1
			*p = s.parts[last]
			s.parts = s.parts[:last]
			i--
		}
	}
}

// fullTurn is the period of turn.
const fullTurn = 4

// turn grows with the direction of a vector as its angle does, but from 0 to 4, and
// costs a tenth of an arc tangent. The ends of spans only need to be in order.
func turn(v point) float64 {
	sum := math.Abs(v.x) + math.Abs(v.y)
	switch {
	case v.y >= 0 && v.x >= 0:
		return v.y / sum
	case v.y >= 0:
		return 1 - v.x/sum
	case v.x < 0:
		return 2 - v.y/sum
	default:
		return 3 + v.x/sum
	}
}
