// Package basemap reads a PMTiles file with vector tiles of streets, water and places,
// and serves it to the console. The console reads ranges of bytes, so the server only
// reads what the map of a page shows. It draws nothing, and knows nothing of hotspots.
//
// Its one invariant: it shows what the file holds and nothing else; a damaged file has
// fewer names, or none.
package basemap

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"

	"github.com/beacon-wifi/beacon/internal/basemap/pmtiles"
)

// Map is an open PMTiles file.
type Map struct {
	Info

	archive *pmtiles.Archive
	in      io.ReaderAt
	file    *os.File // nil if it was opened by someone else
	tag     string

	index atomic.Pointer[index] // nil until Index has read the names
}

// Info says what a file holds.
type Info struct {
	Size             int64 // in bytes
	Schema           Schema
	Kind             string // of the tiles, such as vector
	Compression      string // of the tiles
	MinZoom, MaxZoom int
	Bounds           pmtiles.Bounds
	Tiles            int64 // how many the file has
	Layers           []string
	Name             string
	Attribution      string // as the file has it: may contain HTML
}

// Schema is the set of layers and properties that tiles have.
type Schema string

// The schemas that the console can draw.
const (
	Protomaps     Schema = "protomaps"
	OpenMapTiles  Schema = "openmaptiles"
	Plain         Schema = "plain" // layers roads, water, parks and places, with the class that OpenStreetMap has
	UnknownSchema Schema = "unknown"
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
		if m, err = Read(file, stat.Size()); err == nil {
			m.file = file
			return m, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
}

// Close closes the file.
func (m *Map) Close() error { return m.file.Close() }

// Read reads a file of a size from wherever it is. It needs no closing.
func Read(in io.ReaderAt, size int64) (*Map, error) {
	archive, err := pmtiles.Open(in, size)
	if err != nil {
		return nil, err
	}
	m := &Map{archive: archive, in: in}
	h := &archive.Header
	m.Info = Info{
		Size: size, Kind: pmtiles.KindName(h.Kind), Compression: pmtiles.CompressionName(h.Tiles), MinZoom: int(h.MinZoom), MaxZoom: int(h.MaxZoom),
		Bounds: h.Bounds(), Tiles: h.Addressed,
	}
	return m, m.readMetadata()
}

// metadata is what the JSON in a file may say; everything else in it is ignored.
type metadata struct {
	Name        string `json:"name"`
	Attribution string `json:"attribution"`
	Layers      []struct {
		ID     string         `json:"id"`
		Fields map[string]any `json:"fields"`
	} `json:"vector_layers"`
}

func (m *Map) readMetadata() error {
	root, err := m.archive.ReadRoot()
	if err != nil {
		return fmt.Errorf("directory of tiles: %w", err)
	}
	text, err := m.archive.ReadMetadata()
	if err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	var said metadata
	if err := json.Unmarshal(text, &said); len(text) > 0 && err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	classed := false // whether roads have a class
	for _, layer := range said.Layers {
		m.Layers = append(m.Layers, layer.ID)
		_, has := layer.Fields["class"]
		classed = classed || has && layer.ID == "roads"
	}
	m.Name, m.Attribution, m.Schema = said.Name, said.Attribution, schemaOf(m.Layers, classed)
	// The directory names the size and place of each tile, so another file has another tag.
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %v %s %s", m.Size, m.archive.Header, root, text)
	m.tag = `"` + hex.EncodeToString(sum.Sum(nil)[:12]) + `"`
	return nil
}

// schemaOf goes by layers that only one of the schemas has, and by what roads have.
func schemaOf(layers []string, classed bool) Schema {
	switch {
	case slices.Contains(layers, "roads") && slices.Contains(layers, "earth"):
		return Protomaps
	case slices.Contains(layers, "transportation"):
		return OpenMapTiles
	case classed:
		return Plain
	}
	return UnknownSchema
}

// Check returns why the console cannot draw the file, or nil.
func (m *Map) Check() error {
	switch {
	case m.archive.Kind != pmtiles.Vector:
		return fmt.Errorf("its tiles are %s images or of an unknown kind; the map needs vector tiles", m.Kind)
	case m.archive.Header.Tiles != pmtiles.Uncompressed && m.archive.Header.Tiles != pmtiles.Gzip:
		return fmt.Errorf("its tiles are compressed with %s; browsers read gzip only", m.Compression)
	case m.Schema == UnknownSchema:
		return errors.New("its layers are not those of Protomaps or OpenMapTiles, and it has no layer roads with a class")
	}
	return nil
}
