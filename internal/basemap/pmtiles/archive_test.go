package pmtiles_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/basemap/pmtiles"
)

// archive writes a file without compression: a first directory, others, and 100 bytes of
// tiles.
func archive(root, leaves []byte) []byte {
	out := []byte("PMTiles\x03")
	at := pmtiles.HeaderSize
	for _, size := range []int{len(root), 0, len(leaves), 100} {
		out = binary.LittleEndian.AppendUint64(out, uint64(at))
		out = binary.LittleEndian.AppendUint64(out, uint64(size))
		at += size
	}
	out = append(out, make([]byte, 24)...)
	out = append(out, 1, 1, 1, 1, 0, 3)
	out = append(out, make([]byte, pmtiles.HeaderSize-len(out))...)
	return slices.Concat(out, root, leaves, make([]byte, 100))
}

func tilesOf(t *testing.T, body []byte, wanted ...pmtiles.Range) (found []pmtiles.Entry, err error) {
	t.Helper()
	a, err := pmtiles.Open(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range a.Tiles(wanted) {
		if err != nil {
			return found, err
		}
		e.Offset -= a.Data
		found = append(found, e)
	}
	return found, nil
}

// Runs end where what is wanted ends, in whichever directory they are.
func TestTiles(t *testing.T) {
	leaf := varints(2, 10, 10, 5, 3, 7, 8, 1, 0) // tiles 10 to 14, and 20 to 22
	body := archive(varints(3, 0, 2, 8, 1, 4, 0, 9, 6, uint64(len(leaf)), 1, 31, 1), leaf)
	for _, tc := range []struct {
		wanted []pmtiles.Range
		want   []pmtiles.Entry
	}{
		{[]pmtiles.Range{{0, 100}}, []pmtiles.Entry{{0, 1, 0, 9}, {2, 4, 30, 6}, {10, 5, 0, 7}, {20, 3, 7, 8}}},
		{[]pmtiles.Range{{3, 4}, {5, 11}, {12, 13}, {21, 30}}, []pmtiles.Entry{{3, 1, 30, 6}, {5, 1, 30, 6}, {10, 1, 0, 7}, {12, 1, 0, 7}, {21, 2, 7, 8}}},
		{[]pmtiles.Range{{6, 10}, {15, 20}, {23, 24}}, nil},
		{nil, nil},
	} {
		if found, err := tilesOf(t, body, tc.wanted...); err != nil || !slices.Equal(found, tc.want) {
			t.Errorf("%v has %v, %v, want %v", tc.wanted, found, err, tc.want)
		}
	}
}

// A directory has nothing of what others have, and does not name itself.
func TestTiles_Damaged(t *testing.T) {
	itself := varints(1, 10, 0, 5, 1)
	for name, tc := range map[string]struct{ root, leaves []byte }{
		"a directory in itself":      {varints(1, 10, 0, uint64(len(itself)), 1), itself},
		"a tile of one before":       {varints(1, 10, 0, 4, 1), varints(1, 5, 1, 7, 1)[:4]},
		"tiles of the one after":     {varints(2, 10, 20, 0, 0, 5, 5, 1, 1), varints(1, 15, 16, 7, 1)},
		"a tile beyond the others":   {varints(1, 10, 1, 90, 20), nil},
		"a directory beyond others":  {varints(1, 10, 0, 5, 3), itself},
		"a directory that is cut":    {varints(1, 10, 0, 3, 1), itself},
		"an entry without an offset": {varints(1, 10, 1, 1, 0), nil},
	} {
		if found, err := tilesOf(t, archive(tc.root, tc.leaves), pmtiles.Range{From: 0, To: 1000}); !errors.Is(err, pmtiles.ErrDirectory) {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}
