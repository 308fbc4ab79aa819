package api

import (
	"math"
	"strconv"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// bounds reads a box from a query (decision N20).
func (q *query) bounds() (box geo.Box) {
	side := func(name string, most float64) (n float64, ok bool) {
		if !q.need(name) {
			return 0, false
		}
		n = q.number(name, -most, most, math.NaN())
		return positiveZero(n), n >= -most && n <= most
	}
	return readBox(side, "", &q.faults)
}

// boundsForm is a box as the client sent it.
type boundsForm struct{ North, South, East, West beacon.Opt[float64] }

func readBounds(o *object) boundsForm {
	return boundsForm{North: o.number("north"), South: o.number("south"), East: o.number("east"), West: o.number("west")}
}

// validate returns the box, or adds its faults. Field names are prefixed with path.
func (form boundsForm) validate(path string, f *beacon.Faults) geo.Box {
	sides := map[string]beacon.Opt[float64]{"north": form.North, "south": form.South, "east": form.East, "west": form.West}
	side := func(name string, most float64) (n float64, ok bool) {
		return required(sides[name], path+name, -most, most, f)
	}
	return readBox(side, path, f)
}

// required returns a number that must be present, from least to most.
func required(value beacon.Opt[float64], field string, least, most float64, f *beacon.Faults) (n float64, ok bool) {
	n, ok = beacon.Required(value, field, f)
	if ok && !(n >= least && n <= most) {
		f.Add(field, "must be "+shortest(least)+" to "+shortest(most))
		ok = false
	}
	return positiveZero(n), ok
}

// readBox assembles a box from its sides. side adds the faults of a single side; a
// faulty side is not compared with the opposite one.
func readBox(side func(name string, most float64) (n float64, ok bool), path string, f *beacon.Faults) (box geo.Box) {
	var known [4]bool
	box.North, known[0] = side("north", 90)
	box.South, known[1] = side("south", 90)
	box.East, known[2] = side("east", 180)
	box.West, known[3] = side("west", 180)
	if known[0] && known[1] && box.North <= box.South {
		f.Add(path+"north", "must be north of south")
	}
	if known[2] && known[3] && box.Width() == 0 {
		f.Add(path+"east", "must differ from west")
	}
	return box
}

// positiveZero turns -0 into 0: it is the same place, and must look the same.
func positiveZero(n float64) float64 {
	if n == 0 {
		return 0
	}
	return n
}

// appendBounds writes a box as responses show it.
func appendBounds(out []byte, box geo.Box) []byte {
	out = strconv.AppendFloat(append(out, `{"north":`...), box.North, 'f', -1, 64)
	out = strconv.AppendFloat(append(out, `,"south":`...), box.South, 'f', -1, 64)
	out = strconv.AppendFloat(append(out, `,"east":`...), box.East, 'f', -1, 64)
	out = strconv.AppendFloat(append(out, `,"west":`...), box.West, 'f', -1, 64)
	return append(out, '}')
}
