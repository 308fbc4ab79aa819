package extract

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"

	"github.com/beacon-wifi/beacon/internal/basemap"
	"github.com/beacon-wifi/beacon/internal/basemap/pmtiles"
)

const (
	// pieceSize is how much is downloaded before it is written to disk for good.
	pieceSize = 4 << 20
	// near is how much is read in vain rather than to send another request.
	near = 32 << 10
	// connections is how many requests are sent at once.
	connections = 4
)

// request is a range of the build, and what is wanted of it.
type request struct {
	from, to int64
	blobs    []blob
}

// pieces returns the contents from a place in the file on, piece by piece.
func (p *Plan) pieces(from int64) iter.Seq[[]blob] {
	return func(yield func([]blob) bool) {
		rest := p.blobs[p.at(from):]
		for len(rest) > 0 {
			n, size := 1, rest[0].length
			for n < len(rest) && size+rest[n].length <= pieceSize {
				size += rest[n].length
				n++
			}
			if !yield(rest[:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}

// at returns the number of the first content at a place in the file or after it.
func (p *Plan) at(place int64) int {
	return sort.Search(len(p.blobs), func(i int) bool { return p.blobs[i].to >= place })
}

// requests returns the ranges of the build that have the contents of a piece.
func requests(piece []blob) (all []request) {
	piece = slices.SortedFunc(slices.Values(piece), func(a, b blob) int { return cmp.Compare(a.from, b.from) })
	for _, b := range piece {
		if n := len(all); n > 0 && b.from-all[n-1].to <= near && b.from+b.length-all[n-1].from <= pieceSize {
			r := &all[n-1]
			r.to, r.blobs = max(r.to, b.from+b.length), append(r.blobs, b)
			continue
		}
		all = append(all, request{b.from, b.from + b.length, []blob{b}})
	}
	return all
}

// Run downloads what is missing, and gives the file its name. Progress is called with how
// much of the file is there.
func (p *Plan) Run(ctx context.Context, progress func(done int64)) error {
	if p.Kept == 0 {
		if err := p.part.begin(p.start); err != nil {
			return err
		}
	}
	done := max(p.Kept, int64(len(p.start)))
	for piece := range p.pieces(done) {
		progress(done)
		body, err := p.fetch(ctx, piece)
		if err != nil {
			return err
		}
		if err := p.part.write(body, done); err != nil {
			return err
		}
		done += int64(len(body))
	}
	progress(done)
	return p.part.finish(p.order, p.Size)
}

// fetch reads the contents of a piece.
func (p *Plan) fetch(ctx context.Context, piece []blob) ([]byte, error) {
	last := piece[len(piece)-1]
	body := make([]byte, last.to+last.length-piece[0].to)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := *p.source
	s.ctx = ctx
	slots := make(chan struct{}, connections)
	var running sync.WaitGroup
	for _, r := range requests(piece) {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			raw := make([]byte, r.to-r.from)
			if _, err := s.ReadAt(raw, r.from); err != nil {
				cancel(err)
				return
			}
			for _, b := range r.blobs {
				copy(body[b.to-piece[0].to:][:b.length], raw[b.from-r.from:])
			}
		})
	}
	running.Wait()
	return body, context.Cause(ctx)
}

// part is the file while it is not complete. What was written for good is whole: it ends
// where a piece ends.
type part struct{ *os.File }

// openPart opens what there is of the file, and keeps others from writing it.
func openPart(o Order) (*part, error) {
	if _, err := os.Lstat(o.File); err == nil && !o.Replace {
		return nil, os.ErrExist
	}
	file, err := os.OpenFile(o.File+".part", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	mine, err := file.Stat()
	if named, lost := os.Stat(file.Name()); err != nil || !lockFile(file) || lost != nil || !os.SameFile(mine, named) {
		return nil, errors.Join(fmt.Errorf("another command is writing %s", o.File), err, file.Close())
	}
	return &part{file}, nil
}

// Close closes the file. An empty one is removed.
func (f *part) Close() error {
	if info, err := f.Stat(); err == nil && info.Size() == 0 {
		return errors.Join(os.Remove(f.Name()), f.File.Close())
	}
	if err := f.File.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// begun returns the address of the build that a download was begun with, or nothing.
func (f *part) begun() string {
	archive, err := pmtiles.Open(f.File, math.MaxInt64) // it is not complete
	if err != nil {
		return ""
	}
	text, err := archive.ReadMetadata()
	if err != nil {
		return ""
	}
	var said struct {
		Source build `json:"beacon:source"`
	}
	if json.Unmarshal(text, &said) != nil {
		return ""
	}
	return said.Source.URL
}

// kept returns how much of the file is there, from the same build and for the same order.
// The last piece may not be on disk, if the machine stopped: it is not counted.
func (f *part) kept(p *Plan) (int64, error) {
	info, err := f.Stat()
	if err != nil || info.Size() < int64(len(p.start)) || info.Size() > p.Size {
		return 0, err
	}
	start := make([]byte, len(p.start))
	if _, err := f.ReadAt(start, 0); err != nil || string(start) != string(p.start) {
		return 0, err
	}
	kept := int64(len(p.start))
	for piece := range p.pieces(0) {
		last := piece[len(piece)-1]
		if last.to+last.length >= info.Size() {
			break
		}
		kept = last.to + last.length
	}
	return kept, nil
}

// begin writes what stands before the tiles, and nothing else stays.
func (f *part) begin(start []byte) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	return f.write(start, 0)
}

// write writes to disk for good.
func (f *part) write(body []byte, at int64) error {
	if _, err := f.WriteAt(body, at); err != nil {
		return err
	}
	return f.Sync()
}

// finish checks the file, and gives it its name.
func (f *part) finish(o Order, size int64) error {
	if err := f.Truncate(size); err != nil {
		return err
	}
	if _, err := basemap.Read(f.File, size); err != nil {
		return fmt.Errorf("%s was not written as it should be: %w", f.Name(), err)
	}
	if _, err := os.Lstat(o.File); err == nil && !o.Replace {
		return os.ErrExist
	}
	if err := errors.Join(f.Sync(), os.Rename(f.Name(), o.File), f.File.Close()); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(o.File))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
