package basemaptest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// shape is a point, a line along the compass, or a rectangle.
type shape struct {
	kind           int
	x0, y0, x1, y1 float64
}

func (s shape) middle() shape {
	x, y := (s.x0+s.x1)/2, (s.y0+s.y1)/2
	return shape{spot, x, y, x, y}
}

// The kinds of the specification of vector tiles.
const (
	spot = 1
	way  = 2
	area = 3
)

type feature struct {
	shape
	fromZoom   int
	properties [][2]string
}

type layer struct {
	name     string
	features []feature
}

const (
	extent = 4096
	buffer = 64 // around a tile, so that lines do not end at its edge
)

// encodeTile encodes what is in a tile.
func encodeTile(layers []*layer, z, x, y int) (tile []byte) {
	for _, l := range layers {
		var body, keys, values []byte
		known := map[string]uint64{}
		word := func(list *[]byte, field protowire.Number, text string, wrap bool) uint64 {
			kind := string(rune('0'+field)) + text
			if at, ok := known[kind]; ok {
				return at
			}
			at := known[string(rune('0'+field))]
			known[string(rune('0'+field))]++
			known[kind] = at
			content := []byte(text)
			if wrap {
				content = protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), text)
			}
			*list = protowire.AppendBytes(protowire.AppendTag(*list, field, protowire.BytesType), content)
			return at
		}
		for _, f := range l.features {
			geometry := f.within(z, x, y)
			if z < f.fromZoom || geometry == nil {
				continue
			}
			var tags, one []byte
			for _, p := range f.properties {
				tags = protowire.AppendVarint(tags, word(&keys, 3, p[0], false))
				tags = protowire.AppendVarint(tags, word(&values, 4, p[1], true))
			}
			if len(tags) > 0 {
				one = protowire.AppendBytes(protowire.AppendTag(one, 2, protowire.BytesType), tags)
			}
			one = protowire.AppendVarint(protowire.AppendTag(one, 3, protowire.VarintType), uint64(f.kind))
			one = protowire.AppendBytes(protowire.AppendTag(one, 4, protowire.BytesType), geometry)
			body = protowire.AppendBytes(protowire.AppendTag(body, 2, protowire.BytesType), one)
		}
		if len(body) == 0 {
			continue
		}
		head := protowire.AppendVarint(protowire.AppendTag(nil, 15, protowire.VarintType), 2)
		head = protowire.AppendString(protowire.AppendTag(head, 1, protowire.BytesType), l.name)
		whole := slices.Concat(head, body, keys, values)
		whole = protowire.AppendVarint(protowire.AppendTag(whole, 5, protowire.VarintType), extent)
		tile = protowire.AppendBytes(protowire.AppendTag(tile, 3, protowire.BytesType), whole)
	}
	return tile
}

// within returns the geometry of what is in a tile, or nil.
func (s shape) within(z, x, y int) []byte {
	n := math.Exp2(float64(z)) * extent
	units := func(part float64, tile int) int { return int(math.Round(part*n)) - tile*extent }
	x0, y0, x1, y1 := units(s.x0, x), units(s.y0, y), units(s.x1, x), units(s.y1, y)
	edge := buffer
	if s.kind == spot {
		edge = 0
	}
	if x1 < -edge || y1 < -edge || x0 >= extent+edge || y0 >= extent+edge {
		return nil
	}
	x0, y0, x1, y1 = max(x0, -edge), max(y0, -edge), min(x1, extent+edge), min(y1, extent+edge)
	var out []byte
	add := func(values ...int) {
		for _, v := range values {
			out = protowire.AppendVarint(out, protowire.EncodeZigZag(int64(v)))
		}
	}
	command := func(id, count uint64) { out = protowire.AppendVarint(out, id|count<<3) }
	command(1, 1)
	add(x0, y0)
	switch {
	case s.kind == way && (x0 != x1 || y0 != y1):
		command(2, 1)
		add(x1-x0, y1-y0)
	case s.kind == area && x0 < x1 && y0 < y1:
		command(2, 3)
		add(x1-x0, 0, 0, y1-y0, x0-x1, 0)
		command(7, 1)
	case s.kind != spot:
		return nil
	}
	return out
}

type tileID struct{ z, x, y int }

// number is the tile's place on the curve of Hilbert, which orders the tiles of a file.
func (t tileID) number() uint64 {
	var before uint64
	for z := range t.z {
		before += 1 << (2 * z)
	}
	x, y, d := t.x, t.y, 0
	for s := 1 << t.z / 2; s > 0; s /= 2 {
		rx, ry := 0, 0
		if x&s > 0 {
			rx = 1
		}
		if y&s > 0 {
			ry = 1
		}
		d += s * s * (3*rx ^ ry)
		if ry == 0 {
			if rx == 1 {
				x, y = s-1-x, s-1-y
			}
			x, y = y, x
		}
	}
	return before + uint64(d)
}

type entry struct{ id, run, length, offset uint64 }

// encodeFile writes a file whose closest zoom is in a directory of its own.
func encodeFile(tiles map[tileID][]byte, minZoom int, metadata string, bounds [4]float64) []byte {
	ids := slices.SortedFunc(maps.Keys(tiles), func(a, b tileID) int { return cmp.Compare(a.number(), b.number()) })
	var data []byte
	var root, leaf []entry
	for _, id := range ids {
		body := zip(tiles[id])
		e := entry{id.number(), 1, uint64(len(body)), uint64(len(data))}
		data = append(data, body...)
		if id.z < maxZoom {
			root = append(root, e)
		} else {
			leaf = append(leaf, e)
		}
	}
	leaves := zip(directory(leaf))
	root = append(root, entry{leaf[0].id, 0, uint64(len(leaves)), 0})
	first, about := zip(directory(root)), zip([]byte(metadata))
	const head = 127
	at := uint64(head)
	var out []byte
	out = append(out, "PMTiles\x03"...)
	for _, part := range [][]byte{first, about, leaves, data} {
		out = binary.LittleEndian.AppendUint64(out, at)
		out = binary.LittleEndian.AppendUint64(out, uint64(len(part)))
		at += uint64(len(part))
	}
	for range 3 {
		out = binary.LittleEndian.AppendUint64(out, uint64(len(tiles)))
	}
	out = append(out, 1, 2, 2, 1, byte(minZoom), maxZoom)
	degrees := func(d float64) { out = binary.LittleEndian.AppendUint32(out, uint32(int32(math.Round(d*1e7)))) }
	for _, d := range bounds {
		degrees(d)
	}
	out = append(out, 12)
	degrees((bounds[0] + bounds[2]) / 2)
	degrees((bounds[1] + bounds[3]) / 2)
	return slices.Concat(out, first, about, leaves, data)
}

func directory(entries []entry) []byte {
	out := binary.AppendUvarint(nil, uint64(len(entries)))
	var last uint64
	for _, e := range entries {
		out = binary.AppendUvarint(out, e.id-last)
		last = e.id
	}
	for _, e := range entries {
		out = binary.AppendUvarint(out, e.run)
	}
	for _, e := range entries {
		out = binary.AppendUvarint(out, e.length)
	}
	for i, e := range entries {
		if i > 0 && e.offset == entries[i-1].offset+entries[i-1].length {
			out = binary.AppendUvarint(out, 0)
		} else {
			out = binary.AppendUvarint(out, e.offset+1)
		}
	}
	return out
}

func zip(body []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(body); err != nil {
		panic(err) // never, into memory
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}
