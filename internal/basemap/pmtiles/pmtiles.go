// Package pmtiles is the format of PMTiles files, version 3: a header, directories that say
// where each tile is, metadata, and tiles. It reads them from anything that can be read at
// an offset, and writes all that stands before the tiles. It does not know what tiles hold.
// The library of the format, protomaps/go-pmtiles, needs two hundred modules, because it
// reads from the stores of every cloud.
//
// Its one invariant: a damaged file is an error, never a panic or an allocation that the
// file's own numbers ask for.
package pmtiles

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Header is the fixed part at the start of a file, as it is stored.
type Header struct {
	Magic                            [7]byte
	Version                          uint8
	Root, RootLength                 int64
	Metadata, MetadataLength         int64
	Leaves, LeavesLength             int64
	Data, DataLength                 int64
	Addressed, Entries, Contents     int64
	Clustered, Internal, Tiles, Kind uint8 // Internal and Tiles are compressions
	MinZoom, MaxZoom                 uint8
	West, South, East, North         int32 // in 10⁻⁷ degrees
	CenterZoom                       uint8
	CenterLongitude, CenterLatitude  int32
}

// HeaderSize is how many bytes a header has.
const HeaderSize = 127

// Compressions and kinds of tiles, by their numbers.
const (
	Uncompressed = 1
	Gzip         = 2
	Vector       = 1
)

var (
	compressions = []string{"unknown compression", "not compressed", "gzip", "brotli", "zstd"}
	kinds        = []string{"unknown", "vector", "PNG", "JPEG", "WebP", "AVIF", "MapLibre"}
	magic        = [7]byte([]byte("PMTiles"))
)

// CompressionName names a compression.
func CompressionName(number uint8) string { return name(compressions, number) }

// KindName names a kind of tiles.
func KindName(number uint8) string { return name(kinds, number) }

func name(names []string, number uint8) string {
	if int(number) < len(names) {
		return names[number]
	}
	return names[0]
}

// ErrNotPMTiles is returned for a file that is something else.
var ErrNotPMTiles = errors.New("not a PMTiles file")

// ParseHeader decodes a header.
func ParseHeader(start []byte) (h Header, err error) {
	if len(start) < HeaderSize || [7]byte(start[:7]) != magic {
		return h, ErrNotPMTiles
	}
	if err := binary.Read(bytes.NewReader(start), binary.LittleEndian, &h); err != nil {
		return h, err
	}
	if h.Version != 3 {
		return h, fmt.Errorf("version %d of PMTiles; convert it to version 3", h.Version)
	}
	if h.MinZoom > h.MaxZoom || h.MaxZoom > MaxZoom {
		return h, fmt.Errorf("its header is damaged: zooms %d to %d", h.MinZoom, h.MaxZoom)
	}
	return h, nil
}

// within reports whether all parts lie in a file of that size.
func (h *Header) within(size int64) bool {
	for _, part := range [][2]int64{{h.Root, h.RootLength}, {h.Metadata, h.MetadataLength}, {h.Leaves, h.LeavesLength}, {h.Data, h.DataLength}} {
		if part[0] < 0 || part[1] < 0 || part[0] > size || part[1] > size-part[0] {
			return false
		}
	}
	return true
}

// Bounds is a part of the Earth, in degrees.
type Bounds struct {
	West, South, East, North float64
}

// Bounds returns the part of the Earth that the file covers.
func (h *Header) Bounds() Bounds {
	degrees := func(e7 int32) float64 { return float64(e7) / 1e7 }
	return Bounds{degrees(h.West), degrees(h.South), degrees(h.East), degrees(h.North)}
}

// SetBounds sets the part of the Earth that the file covers, and its middle.
func (h *Header) SetBounds(b Bounds) {
	e7 := func(degrees float64) int32 { return int32(math.Round(degrees * 1e7)) }
	h.West, h.South, h.East, h.North = e7(b.West), e7(b.South), e7(b.East), e7(b.North)
	h.CenterLongitude, h.CenterLatitude = e7((b.West+b.East)/2), e7((b.South+b.North)/2)
}

// MaxPart is the most that metadata or a directory may have, since each is read into memory
// at once. Files of the whole Earth stay far below.
const MaxPart = 16 << 20

// Decompress returns what was compressed, or an error if that is more than most.
func Decompress(raw []byte, how uint8, most int64) ([]byte, error) {
	switch {
	case how == Uncompressed || len(raw) == 0:
		return raw, nil
	case how != Gzip:
		return nil, fmt.Errorf("compressed with %s; only gzip can be read", CompressionName(how))
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(z, most+1))
	if err == nil && int64(len(plain)) > most {
		err = fmt.Errorf("too large: more than %d bytes", most)
	}
	return plain, err
}

func compress(body []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(body)
	if err = errors.Join(err, z.Close()); err != nil {
		panic(err) // memory takes everything
	}
	return out.Bytes()
}

func (h *Header) encode() []byte {
	out, err := binary.Append(nil, binary.LittleEndian, h)
	if err != nil {
		panic(err) // all fields have a fixed size
	}
	return out
}
