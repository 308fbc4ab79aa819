package pmtiles_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/basemap/pmtiles"
)

func varints(values ...uint64) (out []byte) {
	for _, v := range values {
		out = binary.AppendUvarint(out, v)
	}
	return out
}

func TestParseDirectory(t *testing.T) {
	// Two tiles that follow each other, a run that has the first one's content, a directory.
	body := varints(4, 5, 1, 1, 7, 1, 1, 3, 0, 10, 20, 10, 9, 1, 0, 1, 41)
	got, err := pmtiles.ParseDirectory(body)
	if want := []pmtiles.Entry{{5, 1, 0, 10}, {6, 1, 10, 20}, {7, 3, 0, 10}, {14, 0, 40, 9}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("parsed %v, %v, want %v", got, err, want)
	}
	const huge = 1 << 63
	for name, body := range map[string][]byte{
		"empty":                      nil,
		"cut":                        body[:len(body)-1],
		"more entries than bytes":    varints(1<<40, 1, 1, 1, 1),
		"a number of 11 bytes":       bytes.Repeat([]byte{0xff}, 20),
		"the same tile twice":        varints(2, 5, 0, 1, 1, 1, 1, 1, 1),
		"numbers that overflow":      varints(2, 5, huge, 1, 1, 1, 1, 1, 1),
		"numbers that come around":   varints(3, 5, 1<<61-1, 1<<61-1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
		"a tile beyond all zooms":    varints(1, 1<<61, 1, 1, 1),
		"runs that overlap":          varints(2, 5, 2, 3, 1, 1, 1, 1, 1),
		"a run without end":          varints(1, 5, huge-1, 1, 1),
		"a run beyond all zooms":     varints(1, 5, 1<<61-1, 1, 1),
		"a length that overflows":    varints(1, 5, 1, huge, 1),
		"an offset that overflows":   varints(1, 5, 1, 1, huge),
		"offsets that come around":   varints(3, 5, 1, 1, 1, 1, 1, 1<<61-1, 1<<61-1, 1<<61-1, 1<<61-1, 0, 0),
		"first offset after nothing": varints(1, 5, 1, 1, 0),
	} {
		if got, err := pmtiles.ParseDirectory(body); !errors.Is(err, pmtiles.ErrDirectory) {
			t.Errorf("%s: parsed %v, %v", name, got, err)
		}
	}
}

// What can be parsed is in order, does not overlap, and lies where a file may have it.
func FuzzParseDirectory(f *testing.F) {
	f.Add(varints(4, 5, 1, 1, 7, 1, 1, 3, 0, 10, 20, 10, 9, 1, 0, 1, 41))
	f.Add(varints(1, 0, 1<<60, 1<<60, 1<<60))
	f.Fuzz(func(t *testing.T, body []byte) {
		entries, err := pmtiles.ParseDirectory(body)
		if len(entries) > len(body)/4 {
			t.Fatalf("%d entries of %d bytes", len(entries), len(body))
		}
		if err != nil {
			return
		}
		end := int64(0)
		for _, e := range entries {
			if e.ID < end || e.Run < 0 || e.Offset < 0 || e.Length < 0 || e.Offset+e.Length < 0 {
				t.Fatalf("%+v", entries)
			}
			if end = e.ID + max(e.Run, 1); end <= e.ID || end > pmtiles.FirstOf(pmtiles.MaxZoom+1) {
				t.Fatalf("%+v", entries)
			}
		}
	})
}
