package vitals_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/vitals"
)

// someRecords are of a random history.
func someRecords(t testing.TB, seed uint64) [][]byte {
	t.Helper()
	h := newHistory(t, seed)
	table := vitals.NewTable(vitals.NewService())
	l := table.Place(nil, h.places[len(h.places)-1].hotspot)
	for _, b := range h.beats {
		table.Apply(l, &b)
	}
	var out [][]byte
	for _, r := range table.FoldNow(l, nil, h.end.Add(time.Hour)) {
		out = append(out, r.Append(nil))
	}
	return out
}

func TestRecord_RoundTrip(t *testing.T) {
	n := 0
	for seed := range uint64(50) {
		for _, data := range someRecords(t, seed) {
			r, err := vitals.DecodeRecord(data)
			if err != nil {
				t.Fatal(err)
			}
			if again := r.Append(nil); !bytes.Equal(again, data) {
				t.Fatalf("seed %d: %x became %x", seed, data, again)
			}
			n++
		}
	}
	if n < 50 {
		t.Errorf("only %d records", n)
	}
}

func TestDecodeRecord_RefusesDamage(t *testing.T) {
	data := someRecords(t, 1)[0]
	for i := range data {
		for bit := range 8 {
			damaged := append([]byte(nil), data...)
			damaged[i] ^= 1 << bit
			if _, err := vitals.DecodeRecord(damaged); err == nil {
				t.Fatalf("byte %d, bit %d: no error", i, bit)
			}
		}
		if _, err := vitals.DecodeRecord(data[:i]); err == nil {
			t.Fatalf("%d of %d bytes: no error", i, len(data))
		}
	}
	if _, err := vitals.DecodeRecord(append(data[:len(data):len(data)], 0)); err == nil {
		t.Error("one byte more: no error")
	}
}

// FuzzDecodeRecord forges records with a right checksum: whatever is accepted
// must be safe to go on from.
func FuzzDecodeRecord(f *testing.F) {
	for seed := range uint64(4) {
		for _, data := range someRecords(f, seed) {
			f.Add(data[1 : len(data)-4])
		}
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		data := append([]byte{2}, body...)
		data = binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
		r, err := vitals.DecodeRecord(data)
		if err != nil {
			return
		}
		f := r.Facts()
		if f.Served != r.Served() || f.Expected != r.Expected() || f.Served > f.Expected || f.Expected < 0 || f.Bytes != r.Bytes() {
			t.Errorf("facts %+v", f)
		}
		if r.Settled() && f.Expected+f.Closed+f.Excused+f.Outside != 1440 {
			t.Errorf("a whole day: %+v", f)
		}
		vitals.Series([]*vitals.Record{r}, r.Day().Time(), r.Day().Time().AddDate(0, 0, 2), 7*time.Hour)
		s := newSteady(1)
		table, l := s.table, s.lives[0]
		s.beats(0, 3)
		table.Restore(l, r)
		s.beats(2, 5)
		table.Refresh(s.at(100))
		table.Metrics(l, s.at(100))
		table.Peek(l, r, s.at(100))
		for _, r := range table.FoldNow(l, r, s.at(2000)) {
			if _, err := vitals.DecodeRecord(r.Append(nil)); err != nil {
				t.Errorf("a fold wrote what cannot be read: %v", err)
			}
		}
		table.Folded(l)
		table.ClockBack(s.at(5))
		table.Metrics(l, s.at(6))
	})
}
