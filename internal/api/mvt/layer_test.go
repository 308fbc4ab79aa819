package mvt_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/beacon-wifi/beacon/internal/api/mvt"
	"github.com/beacon-wifi/beacon/internal/api/mvt/mvttest"
)

type (
	point = mvttest.Point
	facts = map[string]any
)

func TestLayer(t *testing.T) {
	l := mvt.NewLayer("places", "id", "kind", "reach", "count")
	l.Point(0, 4095)
	l.Unique(0, "a")
	l.Text(1, "café")
	l.Number(2, 50.5)
	l.Point(-1, 5000) // beyond the tile, as the specification allows
	l.Point(17, 2)
	l.Text(1, "café")
	l.Text(0, "")
	l.Number(2, 50.5)
	l.Whole(3, math.MaxUint64)
	want := []mvttest.Layer{{Name: "places", Version: 2, Extent: 4096, Points: []point{
		{X: 0, Y: 4095, Properties: facts{"id": "a", "kind": "café", "reach": 50.5}},
		{X: -1, Y: 5000, Properties: facts{}},
		{X: 17, Y: 2, Properties: facts{"kind": "café", "id": "", "reach": 50.5, "count": uint64(math.MaxUint64)}},
	}}}
	tile := l.AppendTile(nil)
	if diff := cmp.Diff(want, mvttest.Decode(t, tile)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := bytes.Count(tile, []byte("café")); n != 1 {
		t.Errorf("a text that two points have is there %d times", n)
	}
	if again := l.AppendTile([]byte("before")); string(again) != "before"+string(tile) {
		t.Errorf("written again, behind something: %x; want %x", again, tile)
	}
}

// The specification wants no layer without a feature.
func TestLayer_Empty(t *testing.T) {
	l := mvt.NewLayer("places", "id")
	if tile := l.AppendTile(nil); len(tile) != 0 {
		t.Errorf("a tile with nothing in it is %x", tile)
	}
	l.Point(1, 1)
	l.AppendTile(nil)
	l.Reset()
	if tile := l.AppendTile(nil); len(tile) != 0 {
		t.Errorf("a tile with nothing left in it is %x", tile)
	}
}

// Whatever is put in is read back, also in memory that was used before.
func TestLayer_ReadsBack(t *testing.T) {
	keys := []string{"id", "kind", "reach", "count"}
	l := mvt.NewLayer("places", keys...)
	rapid.Check(t, func(rt *rapid.T) {
		l.Reset()
		var want []point
		for i := range rapid.IntRange(1, 120).Draw(rt, "points") {
			p := point{
				X: rapid.IntRange(-10, mvt.Extent+10).Draw(rt, "x"), Y: rapid.IntRange(-10, mvt.Extent+10).Draw(rt, "y"),
				Properties: facts{
					"id": fmt.Sprint("p", i), "kind": rapid.SampledFrom([]string{"", "online", "offline", "pending"}).Draw(rt, "kind"),
					"reach": rapid.Float64Range(0, 600).Draw(rt, "reach"), "count": rapid.Uint64Range(0, 20).Draw(rt, "count"),
				},
			}
			l.Point(p.X, p.Y)
			l.Unique(0, p.Properties["id"].(string))
			l.Text(1, p.Properties["kind"].(string))
			l.Number(2, p.Properties["reach"].(float64))
			l.Whole(3, p.Properties["count"].(uint64))
			want = append(want, p)
		}
		tile := l.AppendTile(nil)
		got := mvttest.Decode(t, tile)
		if diff := cmp.Diff([]mvttest.Layer{{Name: "places", Version: 2, Extent: 4096, Points: want}}, got); diff != "" {
			rt.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func BenchmarkLayer(b *testing.B) {
	ids := make([]string, 1000)
	for i := range ids {
		ids[i] = fmt.Sprintf("hs_01kb3gzk00e9x8q6s5t4v3%04d", i)
	}
	l := mvt.NewLayer("hotspots", "id", "status", "radius_m")
	var tile []byte
	b.ReportAllocs()
	for b.Loop() {
		l.Reset()
		for i, id := range ids {
			l.Point(i*37%mvt.Extent, i*91%mvt.Extent)
			l.Unique(0, id)
			l.Text(1, "online")
			l.Number(2, float64(50+i%3*25))
		}
		tile = l.AppendTile(tile[:0])
	}
	b.SetBytes(int64(len(tile)))
}
