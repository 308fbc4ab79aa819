// Package basemap reads a PMTiles file with vector tiles of streets, water and places,
// and serves it to the console. The console reads ranges of bytes, so the server only
// reads what the map of a page shows. It draws nothing, and knows nothing of hotspots. The
// library of the format, protomaps/go-pmtiles, needs two hundred modules, because it reads
// from the stores of every cloud.
//
// Its one invariant: a damaged file is an error, never a panic or an allocation that the
// file's own numbers ask for.
package basemap

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
)

// Map is an open PMTiles file.
type Map struct {
	Info

	in   io.ReaderAt
	file *os.File
	head header
	tag  string

	index atomic.Pointer[index] // nil until Index has read the names
}

// Info says what a file holds.
type Info struct {
	Size             int64 // in bytes
	Schema           Schema
	Kind             string // of the tiles, such as vector
	Compression      string // of the tiles
	MinZoom, MaxZoom int
	Bounds           Bounds
	Tiles            int64 // how many the file has
	Layers           []string
	Name             string
	Attribution      string // as the file has it: may contain HTML
}

// Bounds is the part of the Earth that a file covers, in degrees.
type Bounds struct {
	West, South, East, North float64
}

// Schema is the set of layers and properties that tiles have.
type Schema string

// The schemas that the console can draw.
const (
	Protomaps     Schema = "protomaps"
	OpenMapTiles  Schema = "openmaptiles"
	UnknownSchema Schema = "unknown"
)

// maxPart is the most that metadata or a directory may have, since each is read into memory
// at once. Files of the whole Earth stay far below.
const maxPart = 16 << 20

// header is the fixed part at the start of a file, of version 3 of the specification.
type header struct {
	Magic                              [7]byte
	Version                            uint8
	Root, RootLength                   int64
	Metadata, MetadataLength           int64
	Leaves, LeavesLength               int64
	Data, DataLength                   int64
	Addressed, Entries, Contents       int64
	Clustered, Internal, Tiles, Kind   uint8
	MinZoom, MaxZoom                   uint8
	West, South, East, North           int32 // in 10⁻⁷ degrees
	CenterZoom                         uint8
	CenterLongitude, CenterLatitudeDeg int32
}

// Numbers of the specification.
const (
	uncompressed = 1
	gzipped      = 2
	vectorTiles  = 1
)

var (
	compressions = []string{"unknown compression", "not compressed", "gzip", "brotli", "zstd"}
	kinds        = []string{"unknown", "vector", "PNG", "JPEG", "WebP", "AVIF", "MapLibre"}
)

// Open opens a file. The caller closes it.
func Open(path string) (*Map, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	stat, err := file.Stat()
	if err == nil && !stat.Mode().IsRegular() {
		err = errors.New("not a file")
	}
	if err == nil {
		var m *Map
		if m, err = read(file, stat.Size()); err == nil {
			m.file = file
			return m, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
}

// Close closes the file.
func (m *Map) Close() error { return m.file.Close() }

func read(in io.ReaderAt, size int64) (*Map, error) {
	m := &Map{in: in}
	start := make([]byte, binary.Size(m.head))
	if _, err := in.ReadAt(start, 0); err != nil || string(start[:7]) != "PMTiles" {
		return nil, errors.New("not a PMTiles file")
	}
	if err := binary.Read(bytes.NewReader(start), binary.LittleEndian, &m.head); err != nil {
		return nil, err
	}
	h := &m.head
	if h.Version != 3 {
		return nil, fmt.Errorf("version %d of PMTiles; convert it to version 3", h.Version)
	}
	for _, part := range [][2]int64{{h.Root, h.RootLength}, {h.Metadata, h.MetadataLength}, {h.Leaves, h.LeavesLength}, {h.Data, h.DataLength}} {
		if part[0] < 0 || part[1] < 0 || part[0] > size || part[1] > size-part[0] {
			return nil, errors.New("the file is not complete; copy it again")
		}
	}
	m.Info = Info{
		Size: size, Kind: name(kinds, h.Kind), Compression: name(compressions, h.Tiles), MinZoom: int(h.MinZoom), MaxZoom: int(h.MaxZoom),
		Bounds: Bounds{degrees(h.West), degrees(h.South), degrees(h.East), degrees(h.North)}, Tiles: h.Addressed,
	}
	return m, m.readMetadata(start)
}

// metadata is what the JSON in a file may say; everything else in it is ignored.
type metadata struct {
	Name        string `json:"name"`
	Attribution string `json:"attribution"`
	Layers      []struct {
		ID string `json:"id"`
	} `json:"vector_layers"`
}

func (m *Map) readMetadata(start []byte) error {
	root, err := m.part(m.head.Root, m.head.RootLength)
	if err != nil {
		return fmt.Errorf("directory of tiles: %w", err)
	}
	text, err := m.part(m.head.Metadata, m.head.MetadataLength)
	if err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	var said metadata
	if err := json.Unmarshal(text, &said); len(text) > 0 && err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	for _, layer := range said.Layers {
		m.Layers = append(m.Layers, layer.ID)
	}
	m.Name, m.Attribution, m.Schema = said.Name, said.Attribution, schemaOf(m.Layers)
	// The directory names the size and place of each tile, so another file has another tag.
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %s %s %s", m.Size, start, root, text)
	m.tag = `"` + hex.EncodeToString(sum.Sum(nil)[:12]) + `"`
	return nil
}

// part reads a part of the file that is not a tile, and decompresses it.
func (m *Map) part(at, length int64) ([]byte, error) {
	if length > maxPart {
		return nil, fmt.Errorf("too large: %d bytes", length)
	}
	raw := make([]byte, length)
	if _, err := m.in.ReadAt(raw, at); err != nil {
		return nil, err
	}
	return decompress(raw, m.head.Internal, maxPart)
}

func decompress(raw []byte, how uint8, most int64) ([]byte, error) {
	switch {
	case how == uncompressed || len(raw) == 0:
		return raw, nil
	case how != gzipped:
		return nil, fmt.Errorf("compressed with %s; only gzip can be read", name(compressions, how))
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

// schemaOf goes by layers that only one of the schemas has.
func schemaOf(layers []string) Schema {
	switch {
	case slices.Contains(layers, "roads") && slices.Contains(layers, "earth"):
		return Protomaps
	case slices.Contains(layers, "transportation"):
		return OpenMapTiles
	}
	return UnknownSchema
}

// Check returns why the console cannot draw the file, or nil.
func (m *Map) Check() error {
	switch {
	case m.head.Kind != vectorTiles:
		return fmt.Errorf("its tiles are %s images or of an unknown kind; the map needs vector tiles", m.Kind)
	case m.head.Tiles != uncompressed && m.head.Tiles != gzipped:
		return fmt.Errorf("its tiles are compressed with %s; browsers read gzip only", m.Compression)
	case m.Schema == UnknownSchema:
		return errors.New("its layers are neither those of Protomaps nor those of OpenMapTiles")
	}
	return nil
}

func degrees(e7 int32) float64 { return float64(e7) / 1e7 }

func name(names []string, number uint8) string {
	if int(number) < len(names) {
		return names[number]
	}
	return names[0]
}
