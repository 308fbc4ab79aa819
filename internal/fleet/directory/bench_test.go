package directory_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/fleet/directory"
	"github.com/beacon-wifi/beacon/internal/id"
)

// million makes a directory of a network: of a hundred, one waits to be looked at.
func million(b *testing.B) (*directory.Directory[*item], []entry) {
	b.Helper()
	entries := make([]entry, 1_000_000)
	for n := range entries {
		name := id.New("hs_", time.UnixMilli(1_790_000_000_000+int64(n)))
		kind := directory.Kind(2)
		if n%100 == 0 {
			kind = 0
		}
		entries[n] = entryOf(name, fmt.Sprintf("corner of street %d and %d", n%977, n%1013), kind)
	}
	r := directory.New[*item]()
	r.Apply(entries, nil)
	return r, entries
}

// What a page of a million costs: counted, searched for, asked one by one.
func BenchmarkList(b *testing.B) {
	r, _ := million(b)
	page := make([]*item, 0, 100)
	for _, q := range []struct {
		name  string
		query query
	}{
		{"first", query{Kinds: directory.All, Limit: 100}},
		{"last", query{Kinds: directory.All, Offset: 999_900, Limit: 100}},
		{"waiting-last", query{Kinds: directory.SetOf(0), Offset: 9_900, Limit: 100}},
		{"found-nowhere", query{Kinds: directory.All, Text: "no such name", Limit: 100}},
		{"found-seldom", query{Kinds: directory.All, Text: "street 976 and 1012", Limit: 100}},
		{"found-everywhere", query{Kinds: directory.All, Text: "street", Limit: 100}},
		{"one-letter", query{Kinds: directory.All, Text: "e", Limit: 100}},
		{"kept", query{Kinds: directory.All, Limit: 100, Keep: func(i *item) bool { return i.id[len(i.id)-1] == 'x' }}},
	} {
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				page, _ = r.Snapshot().List(q.query, page[:0])
			}
		})
	}
}

// What a change of one item costs, among a million.
func BenchmarkApply(b *testing.B) {
	r, entries := million(b)
	b.ReportAllocs()
	for n := 0; b.Loop(); n += 7919 {
		r.Apply(entries[n%len(entries):n%len(entries)+1], nil)
	}
}
