package pmtiles

import (
	"errors"
	"fmt"
	"io"
	"iter"
)

// Archive is a file that is read.
type Archive struct {
	Header
	in io.ReaderAt
}

// Open reads the header of a file of a size.
func Open(in io.ReaderAt, size int64) (*Archive, error) {
	start := make([]byte, HeaderSize)
	if size < HeaderSize {
		return nil, ErrNotPMTiles
	}
	if _, err := in.ReadAt(start, 0); err != nil {
		return nil, err
	}
	h, err := ParseHeader(start)
	if err != nil {
		return nil, err
	}
	if !h.within(size) {
		return nil, errors.New("the file is not complete; copy it again")
	}
	return &Archive{h, in}, nil
}

// ReadRoot reads the first directory, as it is stored in the file but decompressed.
func (a *Archive) ReadRoot() ([]byte, error) { return a.part(a.Root, a.RootLength) }

// ReadMetadata reads the metadata, which is JSON.
func (a *Archive) ReadMetadata() ([]byte, error) { return a.part(a.Metadata, a.MetadataLength) }

// part reads a part of the file that is not a tile, and decompresses it.
func (a *Archive) part(at, length int64) ([]byte, error) {
	if length > MaxPart {
		return nil, fmt.Errorf("too large: %d bytes", length)
	}
	raw := make([]byte, length)
	if _, err := a.in.ReadAt(raw, at); err != nil {
		return nil, err
	}
	return Decompress(raw, a.Internal, MaxPart)
}

// Limits of the directories that are read, as against one that names itself.
const (
	maxDepth       = 4 // as the specification has it
	maxDirectories = 20_000
)

// Tiles returns the entries of the tiles in some ranges, which are in order and do not
// overlap. A run ends where its range ends. Offsets are those in the file.
func (a *Archive) Tiles(wanted []Range) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		w := walk{Archive: a, wanted: wanted, yield: yield}
		if _, err := w.directory(a.Root, a.RootLength, Range{0, FirstOf(MaxZoom + 1)}, 0); err != nil {
			yield(Entry{}, err)
		}
	}
}

// walk is one pass through the directories of a file.
type walk struct {
	*Archive
	wanted []Range // those that are still to come
	yield  func(Entry, error) bool
	read   int // directories
}

// directory visits a directory of tiles in a range. It reports whether there is more to do.
func (w *walk) directory(at, length int64, of Range, depth int) (more bool, err error) {
	if w.read++; depth == maxDepth || w.read > maxDirectories {
		return false, ErrDirectory
	}
	body, err := w.part(at, length)
	if err != nil {
		return false, err
	}
	entries, err := ParseDirectory(body)
	if err != nil {
		return false, err
	}
	for i, e := range entries {
		to := of.To // of what is in the entry
		if e.Run > 0 {
			to = e.end()
		} else if i+1 < len(entries) {
			to = entries[i+1].ID
		}
		if e.ID < of.From || to > of.To {
			return false, ErrDirectory
		}
		for len(w.wanted) > 0 && w.wanted[0].To <= e.ID {
			w.wanted = w.wanted[1:]
		}
		if len(w.wanted) == 0 {
			return false, nil
		}
		more := true
		switch {
		case w.wanted[0].From >= to: // nothing of it
		case e.Run > 0:
			more, err = w.tiles(e)
		case e.Length > w.LeavesLength || e.Offset > w.LeavesLength-e.Length:
			return false, ErrDirectory
		default:
			more, err = w.directory(w.Leaves+e.Offset, e.Length, Range{e.ID, to}, depth+1)
		}
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// tiles visits the wanted ones of a run of tiles.
func (w *walk) tiles(run Entry) (more bool, err error) {
	if run.Length > w.DataLength || run.Offset > w.DataLength-run.Length {
		return false, ErrDirectory
	}
	for _, r := range w.wanted {
		if r.From >= run.end() {
			break
		}
		from, to := max(r.From, run.ID), min(r.To, run.end())
		if !w.yield(Entry{from, to - from, w.Data + run.Offset, run.Length}, nil) {
			return false, nil
		}
	}
	return true, nil
}
