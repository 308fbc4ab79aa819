package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/beacon-wifi/beacon/internal/basemap"
	"github.com/beacon-wifi/beacon/internal/node"
)

type basemapCmd struct {
	Get     basemapGetCmd     `cmd:"" help:"Download the streets of a region from a build of OpenStreetMap."`
	Inspect basemapInspectCmd `cmd:"" help:"Say what a file of streets holds, and whether the console can draw it."`
}

type basemapInspectCmd struct {
	File string `arg:"" help:"A PMTiles file."`
}

func (basemapInspectCmd) Examples() string { return "  beacon basemap inspect berlin.pmtiles\n" }

// Run prints what the file holds.
func (c basemapInspectCmd) Run(out *console) (err error) {
	m, err := basemap.Open(c.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	b := m.Bounds
	for _, line := range [][2]string{
		{"name", m.Name},
		{"size", megabytes(m.Size)},
		{"bounds", fmt.Sprintf("%.5f to %.5f north, %.5f to %.5f east", b.South, b.North, b.West, b.East)},
		{"zooms", fmt.Sprintf("%d to %d", m.MinZoom, m.MaxZoom)},
		{"tiles", fmt.Sprintf("%d, %s, %s", m.Tiles, m.Kind, m.Compression)},
		{"schema", string(m.Schema)},
		{"layers", strings.Join(m.Layers, ", ")},
		{"attribution", cmp.Or(m.Attribution, noAttribution)},
	} {
		if _, err := fmt.Fprintf(out.stdout, "%-12s %s\n", line[0]+":", line[1]); err != nil {
			return err
		}
	}
	if err := m.Check(); err != nil {
		return fmt.Errorf("the console cannot draw %s: %w", c.File, err)
	}
	return nil
}

const noAttribution = "none; see what the licence of its data asks for"

func megabytes(bytes int64) string {
	if bytes < 1_000_000 {
		return fmt.Sprintf("%.1f KB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// streets is what the map shows below the hotspots.
type streets struct {
	Basemap string `placeholder:"FILE|URL" help:"A PMTiles file with streets, or the URL of a map style on another server. Default: none; the map shows outlines."`
}

// openBasemap opens the basemap. The caller closes its file, if there is one.
func (s streets) openBasemap() (node.Basemap, error) {
	if s.Basemap == "" {
		return node.Basemap{}, nil
	}
	if strings.HasPrefix(s.Basemap, "https://") || strings.HasPrefix(s.Basemap, "http://") {
		return node.Basemap{Style: s.Basemap}, nil
	}
	m, err := basemap.Open(s.Basemap)
	if err != nil {
		return node.Basemap{}, fmt.Errorf("--basemap: %w", err)
	}
	if err := m.Check(); err != nil {
		return node.Basemap{}, errors.Join(fmt.Errorf("--basemap: %s: %w", s.Basemap, err), m.Close())
	}
	return node.Basemap{File: m}, nil
}
