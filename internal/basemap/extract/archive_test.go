package extract_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// What follows writes and reads PMTiles files by their specification, and shares no code
// with the packages that it tests.

type tile struct{ z, x, y int }

// number counts the quarters of the curve that lie before a tile.
func (t tile) number() int {
	before := 0
	for z := range t.z {
		before += 1 << (2 * z)
	}
	return before + along(t.z, t.x, t.y)
}

// along draws the curve of Hilbert: up, right, down; the first and the last quarter are
// mirrored.
func along(z, x, y int) int {
	if z == 0 {
		return 0
	}
	half := 1 << (z - 1)
	quarter := half * half
	switch {
	case x < half && y < half:
		return along(z-1, y, x)
	case x < half:
		return quarter + along(z-1, x, y-half)
	case y >= half:
		return 2*quarter + along(z-1, x-half, y-half)
	}
	return 3*quarter + along(z-1, half-1-y, 2*half-1-x)
}

// row is an entry of a directory.
type row struct{ id, run, length, offset int }

const about = `{"name":"Testland","attribution":"<a href=\"https://example.org/copyright\">© Testers</a>","vector_layers":[{"id":"earth"},{"id":"roads"}],"custom":{"b":1,"a":[2]}}`

// encode writes a file: a content that several tiles have is there once, but runs are
// shorter than they could be; directories have few entries, in two levels.
func encode(tiles map[tile][]byte, maxZoom, perLeaf int, metadata string) []byte {
	ids := map[int][]byte{}
	for t, body := range tiles {
		ids[t.number()] = body
	}
	var data []byte
	var rows []row
	known := map[string]int{}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		body := ids[id]
		at, twice := known[string(body)]
		if n := len(rows); twice && id%5 != 0 && n > 0 && rows[n-1].offset == at && rows[n-1].id+rows[n-1].run == id {
			rows[n-1].run++
			continue
		}
		if !twice {
			at = len(data)
			known[string(body)] = at
			data = append(data, body...)
		}
		rows = append(rows, row{id, 1, len(body), at})
	}
	var leaves []byte
	level := func(rows []row) (top []row) {
		for part := range slices.Chunk(rows, perLeaf) {
			leaf := zip(directory(part))
			top = append(top, row{part[0].id, 0, len(leaf), len(leaves)})
			leaves = append(leaves, leaf...)
		}
		return top
	}
	root := zip(directory(level(level(rows))))
	return file(root, zip([]byte(metadata)), leaves, data, len(tiles), maxZoom)
}

func file(root, metadata, leaves, data []byte, count, maxZoom int) []byte {
	out := []byte("PMTiles\x03")
	at := 127
	for _, part := range [][]byte{root, metadata, leaves, data} {
		out = binary.LittleEndian.AppendUint64(out, uint64(at))
		out = binary.LittleEndian.AppendUint64(out, uint64(len(part)))
		at += len(part)
	}
	for range 3 {
		out = binary.LittleEndian.AppendUint64(out, uint64(count))
	}
	out = append(out, 1, 2, 2, 1, 0, byte(maxZoom))
	for _, e7 := range []int32{-180e7, -85e7, 180e7, 85e7} {
		out = binary.LittleEndian.AppendUint32(out, uint32(e7))
	}
	out = append(out, 3, 0, 0, 0, 0, 0, 0, 0, 0)
	return slices.Concat(out, root, metadata, leaves, data)
}

func directory(rows []row) []byte {
	out := binary.AppendUvarint(nil, uint64(len(rows)))
	last := 0
	for _, r := range rows {
		out = binary.AppendUvarint(out, uint64(r.id-last))
		last = r.id
	}
	for _, r := range rows {
		out = binary.AppendUvarint(out, uint64(r.run))
	}
	for _, r := range rows {
		out = binary.AppendUvarint(out, uint64(r.length))
	}
	for _, r := range rows {
		out = binary.AppendUvarint(out, uint64(r.offset+1))
	}
	return out
}

func zip(body []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(body)
	z.Close()
	return out.Bytes()
}

func unzip(t *testing.T, body []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// decoded is a file as it was read.
type decoded struct {
	tiles    map[int][]byte // by number
	metadata map[string]any
	minZoom  int
	maxZoom  int
	bounds   [4]float64
	contents int // different ones
	leaves   int // directories beside the root
}

// decode reads a file, and checks that it is as a clustered file has to be.
func decode(t *testing.T, path string) decoded {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	u64 := func(at int) int { return int(binary.LittleEndian.Uint64(body[at:])) }
	part := func(at int) []byte { return body[u64(at):][:u64(at+8)] }
	if string(body[:8]) != "PMTiles\x03" || body[96] != 1 || body[97] != 2 || body[98] != 2 || body[99] != 1 {
		t.Fatalf("the file begins with %q", body[:127])
	}
	if u64(8)+u64(16) > 16<<10 {
		t.Fatalf("the root ends at %d", u64(8)+u64(16))
	}
	if u64(56)+u64(64) != len(body) {
		t.Fatalf("the file has %d bytes, and says %d", len(body), u64(56)+u64(64))
	}
	d := decoded{tiles: map[int][]byte{}, minZoom: int(body[100]), maxZoom: int(body[101])}
	for i := range d.bounds {
		d.bounds[i] = float64(int32(binary.LittleEndian.Uint32(body[102+4*i:]))) / 1e7
	}
	if err := json.Unmarshal(unzip(t, part(24)), &d.metadata); err != nil {
		t.Fatal(err)
	}
	data, leaves := part(56), part(40)
	entries, end := 0, 0
	var read func(body []byte)
	read = func(body []byte) {
		next := func() int {
			v, n := binary.Uvarint(body)
			if n <= 0 {
				t.Fatal("a directory is cut")
			}
			body = body[n:]
			return int(v)
		}
		rows := make([]row, next())
		for i, id := 0, 0; i < len(rows); i++ {
			id += next()
			rows[i].id = id
		}
		for i := range rows {
			rows[i].run = next()
		}
		for i := range rows {
			rows[i].length = next()
		}
		for i := range rows {
			if rows[i].offset = next() - 1; rows[i].offset < 0 {
				rows[i].offset = rows[i-1].offset + rows[i-1].length
			}
		}
		for i, r := range rows {
			if i > 0 && rows[i-1].id+rows[i-1].run > r.id {
				t.Fatalf("tile %d comes after %d", r.id, rows[i-1].id)
			}
			if r.run == 0 {
				d.leaves++
				read(unzip(t, leaves[r.offset:][:r.length]))
				continue
			}
			if i > 0 && rows[i-1].offset == r.offset && rows[i-1].id+rows[i-1].run == r.id {
				t.Errorf("tiles %d and %d are not one run", rows[i-1].id, r.id)
			}
			entries++
			if r.offset == end {
				end += r.length
				d.contents++
			} else if r.offset > end {
				t.Fatalf("tile %d is at %d, want at most %d", r.id, r.offset, end)
			}
			for id := r.id; id < r.id+r.run; id++ {
				d.tiles[id] = data[r.offset:][:r.length]
			}
		}
	}
	read(unzip(t, part(8)))
	if end != len(data) || u64(72) != len(d.tiles) || u64(80) != entries || u64(88) != d.contents {
		t.Errorf("the file has %d tiles, %d entries, %d contents of %d bytes, and says %d, %d, %d, %d", len(d.tiles), entries, d.contents, end, u64(72), u64(80), u64(88), len(data))
	}
	return d
}

// world makes tiles: much of them is sea, which is the same everywhere, or of two sorts.
func world(maxZoom, size int) map[tile][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	fill := func(n int) []byte {
		body := make([]byte, n)
		for i := range body {
			body[i] = byte(random.Uint32())
		}
		return body
	}
	seas := [][]byte{fill(60), fill(70)}
	tiles := map[tile][]byte{}
	for z := 0; z <= maxZoom; z++ {
		for x := range 1 << z {
			for y := range 1 << z {
				switch n := math.Exp2(float64(z)); {
				case float64(x) < 0.1*n: // nothing
				case float64(x) < 0.45*n:
					tiles[tile{z, x, y}] = seas[0]
				case (x+y)%7 == 3:
					tiles[tile{z, x, y}] = seas[1]
				default:
					tiles[tile{z, x, y}] = append(fill(size/2+random.IntN(size)), fmt.Sprint(z, x, y)...)
				}
			}
		}
	}
	return tiles
}

// in reports whether a box touches a tile.
func (t tile) in(west, south, east, north float64) bool {
	n := math.Exp2(float64(t.z))
	lng := func(x int) float64 { return float64(x)/n*360 - 180 }
	lat := func(y int) float64 { return math.Atan(math.Sinh(math.Pi*(1-2*float64(y)/n))) * 180 / math.Pi }
	return lng(t.x) < east && lng(t.x+1) > west && lat(t.y) > south && lat(t.y+1) < north
}
