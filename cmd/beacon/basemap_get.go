package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/basemap/extract"
)

type basemapGetCmd struct {
	Region  string `arg:"" placeholder:"BBOX|PLACE" help:"The region: west,south,east,north in degrees, or a city, such as berlin."`
	File    string `arg:"" placeholder:"FILE" help:"The file to write."`
	From    string `default:"${basemap_builds}" placeholder:"URL" help:"The PMTiles file to cut it out of; {date} is the day of the newest build. Default ${default}."`
	MaxZoom int    `default:"15" placeholder:"ZOOM" help:"Leave closer zooms out; one less makes the file less than half. Default ${default}."`
	DryRun  bool   `help:"Say how large it is without downloading it."`
	Force   bool   `help:"Replace FILE if it exists."`
}

func (basemapGetCmd) Help() string {
	return `Only the tiles of the region are downloaded, and nothing else of the file. How many
tiles and megabytes they are is printed first. The default is Protomaps' daily build of
OpenStreetMap: the newest of the last ten days that is there.

FILE appears when all of it is on disk. Until then it is FILE.part: the same command
goes on with it after an interruption, and begins again if the build has changed.`
}

func (basemapGetCmd) Examples() string {
	return `  beacon basemap get berlin berlin.pmtiles
  beacon basemap get 36.65,-1.45,37.10,-1.15 nairobi.pmtiles --max-zoom 14
  beacon basemap get "new york" new-york.pmtiles --dry-run
  beacon serve --basemap berlin.pmtiles
`
}

// Run downloads a region.
func (c basemapGetCmd) Run(out *console) (err error) {
	box, err := extract.Region(c.Region)
	if err != nil {
		return usageError(err.Error())
	}
	if c.MaxZoom < 0 || c.MaxZoom > extract.Finest {
		return usageError(fmt.Sprintf("--max-zoom must be 0 to %d", extract.Finest))
	}
	p, err := extract.Make(out.ctx, extract.Order{From: c.From, Box: box, MaxZoom: c.MaxZoom, File: c.File, Replace: c.Force, Now: time.Now()})
	if err != nil {
		return c.explained(out, err)
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := c.announce(out, p); err != nil || c.DryRun {
		return err
	}
	var done atomic.Int64
	stop := showProgress(out.stderr, func() string { return bar("MB", done.Load()/1e6, (p.Size+1e6-1)/1e6) })
	err = p.Run(out.ctx, done.Store)
	stop()
	if err != nil {
		return c.explained(out, err)
	}
	return said(out, c.File, "the file", "is complete")
}

// announce prints what will be downloaded.
func (c basemapGetCmd) announce(out *console, p *extract.Plan) error {
	missing := megabytes(p.Download)
	if p.Kept > 0 {
		missing += fmt.Sprintf("; %s are in %s.part", megabytes(p.Kept), c.File)
	}
	b := p.Box
	for _, line := range [][2]string{
		{"from", p.From},
		{"bounds", fmt.Sprintf("%.5f to %.5f north, %.5f to %.5f east", b.South, b.North, b.West, b.East)},
		{"zooms", fmt.Sprintf("%d to %d", p.MinZoom, p.MaxZoom)},
		{"tiles", fmt.Sprint(p.Tiles)},
		{"size", megabytes(p.Size)},
		{"to download", missing},
		{"attribution", cmp.Or(p.Attribution, noAttribution)},
	} {
		if _, err := fmt.Fprintf(out.stdout, "%-12s %s\n", line[0]+":", line[1]); err != nil {
			return err
		}
	}
	if p.Drawable != nil {
		fmt.Fprintf(out.stderr, "beacon: the console cannot draw it: %v\n", p.Drawable)
	}
	return nil
}

// explained says what to do about an error.
func (c basemapGetCmd) explained(out *console, err error) error {
	switch {
	case out.ctx.Err() != nil:
		return errors.New("interrupted; run it again to go on")
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("the file %s already exists; choose another name, or replace it with --force", c.File)
	}
	return err
}
