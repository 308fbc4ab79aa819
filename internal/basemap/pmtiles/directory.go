package pmtiles

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrDirectory is returned for a damaged directory.
var ErrDirectory = errors.New("a directory of tiles is damaged")

// Entry is a run of tiles with the same content, or, if the run is 0, a directory of tiles
// from a number on.
type Entry struct {
	ID, Run        int64
	Offset, Length int64
}

// end returns the number after those that the entry claims.
func (e Entry) end() int64 { return e.ID + max(e.Run, 1) }

// ParseDirectory decodes a directory. Its entries are in order, and do not overlap.
func ParseDirectory(body []byte) ([]Entry, error) {
	next := func() int64 {
		v, n := binary.Uvarint(body)
		if n <= 0 || v > math.MaxInt64/4 { // beyond any file, and any tile
			body = nil
			return -1
		}
		body = body[n:]
		return int64(v)
	}
	count := next()
	if count < 0 || count > int64(len(body)/4) { // each entry has four numbers, of at least one byte
		return nil, ErrDirectory
	}
	all := make([]Entry, count)
	var id int64
	for i := range all {
		step := next()
		if id += step; step < 0 || id >= FirstOf(MaxZoom+1) {
			return nil, ErrDirectory
		}
		all[i].ID = id
	}
	for i := range all {
		all[i].Run = next()
	}
	for i := range all {
		all[i].Length = next()
	}
	for i := range all {
		e := &all[i]
		if v := next(); v > 0 {
			e.Offset = v - 1
		} else if v == 0 && i > 0 {
			e.Offset = all[i-1].Offset + all[i-1].Length
		} else {
			return nil, ErrDirectory
		}
		limit := FirstOf(MaxZoom + 1)
		if i+1 < len(all) {
			limit = all[i+1].ID
		}
		if e.Run < 0 || e.Length < 0 || e.Offset > math.MaxInt64/4 || e.end() > limit {
			return nil, ErrDirectory
		}
	}
	return all, nil
}

// encodeDirectory encodes a directory.
func encodeDirectory(entries []Entry) []byte {
	out := binary.AppendUvarint(nil, uint64(len(entries)))
	add := func(v int64) { out = binary.AppendUvarint(out, uint64(v)) }
	var last int64
	for _, e := range entries {
		add(e.ID - last)
		last = e.ID
	}
	for _, e := range entries {
		add(e.Run)
	}
	for _, e := range entries {
		add(e.Length)
	}
	for i, e := range entries {
		if i > 0 && e.Offset == entries[i-1].Offset+entries[i-1].Length {
			add(0)
		} else {
			add(e.Offset + 1)
		}
	}
	return out
}
