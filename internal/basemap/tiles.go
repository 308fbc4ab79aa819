package basemap

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

var errDirectory = errors.New("a directory of tiles is damaged")

// entry is a run of tiles with the same content, or, if the run is 0, a directory.
type entry struct {
	id, run        uint64
	offset, length int64
}

// directory decodes a directory.
func directory(body []byte) ([]entry, error) {
	next := func() uint64 {
		v, n := binary.Uvarint(body)
		if n <= 0 {
			body = nil
			return math.MaxUint64
		}
		body = body[n:]
		return v
	}
	count := next()
	if count > uint64(len(body)/4) { // each entry has four numbers, of at least one byte
		return nil, errDirectory
	}
	all := make([]entry, count)
	var id uint64
	for i := range all {
		id += next()
		all[i].id = id
	}
	for i := range all {
		all[i].run = next()
	}
	for i := range all {
		all[i].length = whole(next())
	}
	for i := range all {
		if v := next(); v > 0 {
			all[i].offset = whole(v) - 1
		} else if i > 0 {
			all[i].offset = all[i-1].offset + all[i-1].length
		}
		if all[i].offset < 0 || all[i].length < 0 || all[i].run == math.MaxUint64 {
			return nil, errDirectory
		}
	}
	return all, nil
}

// whole converts a number of the file; those beyond any file become -1.
func whole(v uint64) int64 {
	if v > math.MaxInt64/4 {
		return -1
	}
	return int64(v)
}

// firstOf returns the number of the first tile of a zoom.
func firstOf(zoom int) uint64 { return (1<<(2*zoom) - 1) / 3 }

// each calls visit with the number and the place in the file of each tile from one number
// up to another, until visit returns false. Tiles with the same content are visited once.
func (m *Map) each(from, to uint64, visit func(id uint64, at, length int64) bool) error {
	_, err := m.eachBelow(m.head.Root, m.head.RootLength, from, to, maxDepth, visit)
	return err
}

const maxDepth = 4 // of directories, as the specification has it

func (m *Map) eachBelow(at, length int64, from, to uint64, depth int, visit func(id uint64, at, length int64) bool) (more bool, err error) {
	body, err := m.part(at, length)
	if err != nil {
		return false, err
	}
	entries, err := directory(body)
	if err != nil {
		return false, err
	}
	for i, e := range entries {
		last := uint64(math.MaxUint64) // number in a directory, or in a run
		if e.run > 0 {
			last = e.id + e.run - 1
		} else if i+1 < len(entries) {
			last = entries[i+1].id - 1
		}
		switch {
		case last < from:
		case e.id >= to:
			return true, nil
		case e.run > 0:
			if e.length > m.head.DataLength || e.offset > m.head.DataLength-e.length {
				return false, errDirectory
			}
			if !visit(max(e.id, from), m.head.Data+e.offset, e.length) {
				return false, nil
			}
		default:
			if depth == 0 || e.length > m.head.LeavesLength || e.offset > m.head.LeavesLength-e.length {
				return false, errDirectory
			}
			if more, err := m.eachBelow(m.head.Leaves+e.offset, e.length, from, to, depth-1, visit); err != nil || !more {
				return more, err
			}
		}
	}
	return true, nil
}

// placeOf returns the zoom, column and row of a tile by its number.
func placeOf(id uint64) (z int, x, y uint64) {
	z = (bits.Len64(3*id+1) - 1) / 2
	d := id - firstOf(z)
	for s := uint64(1); s < 1<<z; s *= 2 { // along the curve of Hilbert
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
	return z, x, y
}
