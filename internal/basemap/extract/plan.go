// Package extract cuts a region out of a PMTiles file on another server, such as a build of
// the whole Earth, into a file of its own. It reads ranges of the build: its directories,
// then the tiles of the region, and hardly anything else.
//
// Its one invariant: a file has its name only when all of it is on disk, and all of it is
// from one build. A server's numbers never decide how much memory is taken.
package extract

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/basemap"
	"github.com/beacon-wifi/beacon/internal/basemap/pmtiles"
)

// Order says what is wanted.
type Order struct {
	From    string // the address of a build; {date} in it is the day of the newest one
	Box     pmtiles.Bounds
	MaxZoom int // at most; the build may have less, and Finest is the most
	File    string
	Replace bool // the file may exist
	Now     time.Time

	pause func(context.Context, time.Duration) bool // of tests, instead of waiting
	quiet time.Duration                             // of tests, with pause
}

// Finest is the closest zoom that a file may have: the numbers of a build must not decide
// how many tiles a box has.
const Finest = 18

// Limits of a region, and of a tile. A large country has a million tiles at zoom 15.
const (
	maxTiles = 4_000_000
	maxTile  = 8 << 20
)

// Plan is what there is to do for an order.
type Plan struct {
	basemap.Info                // of the build
	From         string         // without what may be secret in it
	Box          pmtiles.Bounds // of the file
	MaxZoom      int            // of the file
	Tiles        int64          // of the file
	Size         int64          // of the file
	Kept         int64          // how much of it is here, from a download that was cut
	Download     int64          // how much is read for the rest
	Drawable     error          // why the console cannot draw it, or nil

	order  Order
	source *source
	start  []byte // what stands before the tiles
	blobs  []blob
	part   *part
}

// blob is the content of a tile: where it is in the build, and in the file.
type blob struct{ from, to, length int64 }

// Make looks into the build, and finds out what there is to do. The caller closes the plan.
func Make(ctx context.Context, o Order) (p *Plan, err error) {
	part, err := openPart(o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, part.Close())
		}
	}()
	s, err := find(ctx, o, part.begun())
	if err != nil {
		return nil, err
	}
	p = &Plan{order: o, source: s, From: public(s.url), Box: o.Box, part: part}
	if err := p.read(); err != nil {
		return nil, fmt.Errorf("%s: %w", p.From, err)
	}
	if p.Kept, err = part.kept(p); err != nil {
		return nil, err
	}
	for piece := range p.pieces(p.Kept) {
		for _, r := range requests(piece) {
			p.Download += r.to - r.from
		}
	}
	return p, nil
}

// Close gives the file up for others. What was downloaded stays, to go on with.
func (p *Plan) Close() error { return p.part.Close() }

// read reads the directories of the build.
func (p *Plan) read() error {
	m, err := basemap.Read(p.source, p.source.size)
	if err != nil {
		return err
	}
	p.Info, p.Drawable = m.Info, m.Check()
	archive, err := pmtiles.Open(p.source, p.source.size)
	if err != nil {
		return err
	}
	p.MaxZoom = min(p.order.MaxZoom, m.MaxZoom, Finest)
	if p.MaxZoom < m.MinZoom {
		return fmt.Errorf("its zooms begin at %d", m.MinZoom)
	}
	entries, err := region(archive, pmtiles.Cover(p.Box, m.MinZoom, p.MaxZoom))
	if err != nil {
		return err
	}
	if bounds, some := within(p.Box, m.Bounds); some && len(entries) > 0 {
		p.Box = bounds
	} else {
		b := m.Bounds
		return fmt.Errorf("it has no tiles there: it covers %.5g,%.5g,%.5g,%.5g (west,south,east,north)", b.West, b.South, b.East, b.North)
	}
	text, err := archive.ReadMetadata()
	if err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	if text, err = p.credit(text); err != nil {
		return err
	}
	if p.blobs, err = place(entries, archive.DataLength); err != nil {
		return err
	}
	h := archive.Header
	h.MaxZoom = uint8(p.MaxZoom)
	h.SetBounds(p.Box)
	h.CenterZoom = max(min(h.CenterZoom, h.MaxZoom), h.MinZoom)
	if p.start, err = pmtiles.Start(h, entries, text); err != nil {
		return err
	}
	p.Size = int64(len(p.start))
	for i := range p.blobs {
		p.blobs[i].to += int64(len(p.start))
		p.Size += p.blobs[i].length
	}
	for _, e := range entries {
		p.Tiles += e.Run
	}
	return nil
}

// within returns what two boxes share, if it is something. A file without bounds covers
// the Earth.
func within(box, other pmtiles.Bounds) (in pmtiles.Bounds, some bool) {
	if other == (pmtiles.Bounds{}) {
		return box, true
	}
	in = pmtiles.Bounds{West: max(box.West, other.West), South: max(box.South, other.South), East: min(box.East, other.East), North: min(box.North, other.North)}
	return in, in.West < in.East && in.South < in.North
}

// region returns the entries of the tiles in some ranges. Neighbours with the same content
// are one.
func region(archive *pmtiles.Archive, wanted []pmtiles.Range) (entries []pmtiles.Entry, err error) {
	for e, err := range archive.Tiles(wanted) {
		switch {
		case err != nil:
			return nil, err
		case e.Length > maxTile:
			return nil, fmt.Errorf("a tile has %d bytes; at most %d can be", e.Length, maxTile)
		case e.Length == 0: // the same as none
			continue
		}
		if n := len(entries); n > 0 {
			last := &entries[n-1]
			if last.Offset == e.Offset && last.Length == e.Length && last.ID+last.Run == e.ID {
				last.Run += e.Run
				continue
			}
		}
		if len(entries) == maxTiles {
			return nil, fmt.Errorf("the region has more than %d tiles: make it smaller, or give a --max-zoom", maxTiles)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// place gives each content its place in the file, in the order in which tiles first have
// it, and the entries the offset from the first one. What several tiles have is there once.
func place(entries []pmtiles.Entry, most int64) (blobs []blob, err error) {
	order := make([]int, len(entries)) // by place in the build
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(entries[a].Offset, entries[b].Offset), cmp.Compare(a, b))
	})
	first := make([]int, len(entries)) // the first entry of the same content
	for i, at := range order {
		if first[at] = at; i == 0 || entries[order[i-1]].Offset != entries[at].Offset {
			continue
		}
		if entries[order[i-1]].Length != entries[at].Length {
			return nil, pmtiles.ErrDirectory
		}
		first[at] = first[order[i-1]]
	}
	var to int64
	for i := range entries {
		e := &entries[i]
		if first[i] != i {
			e.Offset = entries[first[i]].Offset
			continue
		}
		blobs = append(blobs, blob{e.Offset, to, e.Length})
		e.Offset = to
		if to += e.Length; to > most { // they would overlap
			return nil, pmtiles.ErrDirectory
		}
	}
	return blobs, nil
}

// sourceKey is the name under which the metadata of a file says which build it is of.
const sourceKey = "beacon:source"

// build tells builds apart.
type build struct {
	URL  string `json:"url"`
	Tag  string `json:"tag"`
	Size int64  `json:"size"`
}

// credit returns the metadata of the build, with which build it is.
func (p *Plan) credit(text []byte) ([]byte, error) {
	said := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &said); len(text) > 0 && err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	from, err := json.Marshal(build{p.From, p.source.tag, p.source.size})
	if err != nil {
		return nil, err
	}
	if said == nil { // the metadata is null
		said = map[string]json.RawMessage{}
	}
	said[sourceKey] = from
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(said)
	return bytes.TrimSpace(out.Bytes()), err
}
