package spatial_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/beacon-wifi/beacon/internal/fleet/spatial"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

func TestNearest_AgainstLoop(t *testing.T) {
	level.Repeats(t)
	found := 0
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		all := randomSpots(random, random.IntN(1500))
		snapshot := filled(t, slices.Collect(maps.Values(all))).Snapshot()
		if snapshot.Len() != len(all) {
			t.Fatalf("Len() = %d; want %d", snapshot.Len(), len(all))
		}
		var out []spatial.Hit[*spot]
		for range 60 {
			q := randomQuery(random)
			var keep func(*spot) bool
			if random.IntN(2) == 0 {
				keep = func(s *spot) bool { return s.id[len(s.id)-1]%3 == 0 }
			}
			out = snapshot.Nearest(q, keep, out)
			check(t, all, q, keep, out)
			found += len(out)
		}
	}
	if found < 10_000 {
		t.Errorf("only %d hits: the test asks in the wrong places", found)
	}
}

// A point at the very distance that is asked for is within, also where the
// distance was computed the other way round.
func TestNearest_BorderIncluded(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	for range 20_000 {
		s := &spot{id: "a", at: randomPlace(random)}
		center := randomPlace(random)
		if random.IntN(2) == 0 {
			center = geo.Point{Lat: s.at.Lat * 0.99999, Lng: s.at.Lng * 0.99999}
		}
		snapshot := filled(t, []*spot{s}).Snapshot()
		border := geo.Distance(s.at, center)
		q := spatial.Query{Center: center, Radius: border, Limit: 1}
		hits := snapshot.Nearest(q, nil, nil)
		if len(hits) != 1 || hits[0].Meters != border {
			t.Fatalf("%v from %v: %v; want a hit at %v m", s.at, center, hits, border)
		}
		if q.Radius = border - 1e-6; q.Radius >= 0 && len(snapshot.Nearest(q, nil, nil)) != 0 {
			t.Fatalf("%v is within %v m of %v, and %v m away", s.at, q.Radius, center, border)
		}
	}
}

// Equally far, but in other directions, and at one place: both by ID.
func TestNearest_TiesByID(t *testing.T) {
	center := geo.Point{Lat: 40.7, Lng: -74}
	var spots []*spot
	for i := range 400 {
		at := geo.Point{Lat: center.Lat, Lng: center.Lng + 0.001}
		if i%2 == 0 {
			at.Lng = center.Lng - 0.001
		}
		spots = append(spots, &spot{id: fmt.Sprintf("hs_%03d", i*271%400), at: at})
	}
	hits := filled(t, spots).Snapshot().Nearest(spatial.Query{Center: center, Radius: 1000, Limit: 100}, nil, nil)
	if len(hits) != 100 {
		t.Fatalf("%d hits; want 100", len(hits))
	}
	for i, hit := range hits {
		if want := fmt.Sprintf("hs_%03d", i); hit.Item.id != want {
			t.Fatalf("hit %d is %s; want %s", i, hit.Item.id, want)
		}
	}
}

// A hundred thousand at one place (forgotten coordinates, say) neither make
// changes slow nor a search that wants twenty of them.
func TestNearest_ManyAtOnePlace(t *testing.T) {
	pile := geo.Point{Lat: 10, Lng: 20}
	looks := 0
	put := func(ix *spatial.Index[watched], spots ...*spot) {
		items := make([]watched, len(spots))
		for i, s := range spots {
			items[i] = watched{s, &looks}
		}
		if err := ix.Apply(items, nil); err != nil {
			t.Fatal(err)
		}
	}
	spots := make([]*spot, 100_000)
	for i := range spots {
		spots[i] = &spot{id: fmt.Sprintf("hs_%06d", i*7919%100_000), at: pile}
	}
	ix := spatial.New[watched]()
	put(ix, spots...)
	for i := range 100 {
		looks = 0
		put(ix, &spot{id: fmt.Sprintf("hs_%06dx", i*997), at: pile})
		if looks > 500 {
			t.Fatalf("one change looked at %d of 100,000", looks)
		}
	}
	searchPile := func(others int) {
		t.Helper()
		for _, off := range [][2]float64{{0, 0}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
			center := geo.Point{Lat: pile.Lat + off[0]*1e-3, Lng: pile.Lng + off[1]*1e-3}
			looks = 0
			hits := ix.Snapshot().Nearest(spatial.Query{Center: center, Radius: 1000, Limit: 20}, nil, nil)
			if looks > 10_000 {
				t.Errorf("the search from %v looked at %d of 100,000", center, looks)
			}
			want := []string{"hs_000000", "hs_000000x", "hs_000001", "hs_000002", "hs_000003"}
			if others > 0 && off[0] < 0 { // it is south of the pile
				want = append([]string{"zz_beside"}, want...)
			}
			for i, id := range want {
				if hits[i].Item.id != id {
					t.Errorf("from %v, hit %d is %s; want %s", center, i, hits[i].Item.id, id)
				}
			}
		}
	}
	searchPile(0)
	put(ix, &spot{id: "zz_beside", at: geo.Point{Lat: 9.9999, Lng: 20}})
	searchPile(1)
}

// watched counts how often an index asks an item for its ID or its tags.
type watched struct {
	*spot
	looks *int
}

func (w watched) Tags() spatial.Tags {
	*w.looks++
	return w.tags
}

func (w watched) ID() string {
	*w.looks++
	return w.id
}

// Of two piles the nearer comes first, though the other has the lower IDs and
// may be found before it.
func TestNearest_TwoPiles(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	for range 300 {
		all := map[string]*spot{}
		middle := geo.Point{Lat: random.Float64()*120 - 60, Lng: random.Float64()*300 - 150}
		beside := func() geo.Point {
			return geo.Point{Lat: middle.Lat + random.NormFloat64()*1e-3, Lng: middle.Lng + random.NormFloat64()*1e-3}
		}
		for pile, at := range []geo.Point{beside(), beside()} {
			for i := range 20 + random.IntN(200) {
				id := fmt.Sprintf("hs_%d_%03d", pile, i)
				all[id] = &spot{id: id, at: at}
			}
		}
		q := spatial.Query{Center: beside(), Radius: 10_000, Limit: 1 + random.IntN(100)}
		check(t, all, q, nil, filled(t, slices.Collect(maps.Values(all))).Snapshot().Nearest(q, nil, nil))
	}
}

func TestNearest_InvalidQuery(t *testing.T) {
	snapshot := filled(t, []*spot{{id: "a"}}).Snapshot()
	nan := math.NaN()
	for _, q := range []spatial.Query{
		{Center: geo.Point{Lat: nan}, Radius: 1, Limit: 1},
		{Center: geo.Point{Lng: 181}, Radius: 1, Limit: 1},
		{Radius: nan, Limit: 1},
		{Radius: -1, Limit: 1},
		{Radius: 1, Limit: 0},
		{Radius: 1, Limit: -1},
	} {
		if hits := snapshot.Nearest(q, nil, nil); len(hits) != 0 {
			t.Errorf("%+v has %d hits; want none", q, len(hits))
		}
	}
	if hits := snapshot.Nearest(spatial.Query{Radius: math.Inf(1), Limit: 1}, nil, nil); len(hits) != 1 {
		t.Errorf("%d hits within an infinite radius; want 1", len(hits))
	}
}

func TestApply_RefusesNoPlace(t *testing.T) {
	ix := filled(t, []*spot{{id: "a"}})
	err := ix.Apply([]*spot{{id: "b"}, {id: "c", at: geo.Point{Lat: math.NaN()}}}, []string{"a"})
	if err == nil || ix.Snapshot().Len() != 1 {
		t.Errorf("err %v, %d items; want an error and the one item", err, ix.Snapshot().Len())
	}
}

func TestNearest_AllocatesNothing(t *testing.T) {
	spots := towns(20_000, 20_000)
	snapshot := filled(t, spots).Snapshot()
	out := make([]spatial.Hit[*spot], 0, 20)
	rejected := 0
	keep := func(s *spot) bool { rejected++; return s.tags == 2 }
	q := spatial.Query{Center: spots[0].at, Radius: 10_000, Limit: 20}
	allocs := testing.AllocsPerRun(10, func() {
		out = snapshot.Nearest(q, nil, out)
		if len(out) != 20 {
			t.Errorf("%d hits; want 20", len(out))
		}
		out = snapshot.Nearest(q, keep, out)
	})
	if allocs != 0 || rejected < 10_000 {
		t.Errorf("%v allocations with %d rejected; want none with many", allocs, rejected)
	}
}

// A search by tag passes over the rest of the tree.
func TestNearest_TagsBoundTheWork(t *testing.T) {
	spots := towns(100_000, 100_000)
	for i := range 5 {
		spots[i].tags = 2
	}
	looks := 0
	items := make([]watched, len(spots))
	for i, s := range spots {
		items[i] = watched{s, &looks}
	}
	ix := spatial.New[watched]()
	search := func(want int) {
		t.Helper()
		looks = 0
		q := spatial.Query{Center: spots[0].at, Radius: 50_000, Limit: 20, Tags: 2}
		if hits := ix.Snapshot().Nearest(q, nil, nil); len(hits) != want || looks > 500 {
			t.Errorf("%d hits, %d looks at 100,000 items; want %d hits", len(hits), looks, want)
		}
	}
	if err := ix.Apply(items, nil); err != nil {
		t.Fatal(err)
	}
	search(5)
	changed := *spots[0]
	changed.tags = 1
	if err := ix.Apply([]watched{{&changed, &looks}}, []string{spots[1].id}); err != nil {
		t.Fatal(err)
	}
	search(3)
}

// Any sequence of changes leaves what a map would hold, and old snapshots as
// they were.
func TestApply_Sequences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		ix, all := spatial.New[*spot](), map[string]*spot{}
		ids := 1 + rapid.IntRange(0, 600).Draw(t, "ids")
		steps := rapid.IntRange(1, 40).Draw(t, "steps")
		oldAll, old := maps.Clone(all), ix.Snapshot()
		for range steps {
			puts, deletes := randomBatch(random, all, ids)
			if err := ix.Apply(puts, deletes); err != nil {
				t.Fatal(err)
			}
			checkSame(t, all, ix.Snapshot())
			if got := ix.TableLen(); got != len(all) {
				t.Fatalf("the table holds %d; want %d", got, len(all))
			}
			for range 3 {
				q := randomQuery(random)
				check(t, all, q, nil, ix.Snapshot().Nearest(q, nil, nil))
			}
			if random.IntN(5) == 0 {
				checkSame(t, oldAll, old)
				oldAll, old = maps.Clone(all), ix.Snapshot()
			}
		}
		checkSame(t, oldAll, old)
	})
}

// randomBatch changes all, and gives what an index must be told.
func randomBatch(random *rand.Rand, all map[string]*spot, ids int) (puts []*spot, deletes []string) {
	size := 1 + random.IntN(1+random.IntN(100))
	deleting := random.IntN(3) == 0
	for range size {
		id := fmt.Sprintf("hs_%05d", random.IntN(ids))
		if deleting && random.IntN(4) != 0 {
			deletes = append(deletes, id)
			delete(all, id)
		}
	}
	for range size {
		id := fmt.Sprintf("hs_%05d", random.IntN(ids))
		next := &spot{id, randomPlace(random), randomTags(random)}
		if was, ok := all[id]; ok && random.IntN(2) == 0 {
			next.at = was.at
		}
		if !deleting || random.IntN(4) == 0 {
			puts = append(puts, next)
			all[id] = next
		}
	}
	return puts, deletes
}

func checkSame(tb failer, want map[string]*spot, snapshot *spatial.Snapshot[*spot]) {
	tb.Helper()
	if err := snapshot.Check(); err != nil {
		tb.Fatalf("the tree is wrong: %v", err)
	}
	count := 0
	for s := range snapshot.All {
		count++
		if want[s.id] != s {
			tb.Fatalf("the snapshot holds %v; want %v", *s, want[s.id])
		}
	}
	if count != len(want) || snapshot.Len() != len(want) {
		tb.Fatalf("the snapshot holds %d and says %d; want %d", count, snapshot.Len(), len(want))
	}
}

// Items that come one by one in the worst order, along a line, still make a
// shallow tree.
func TestApply_StaysShallow(t *testing.T) {
	ix := spatial.New[*spot]()
	const n = 20_000
	for i := range n {
		apply(t, ix, []*spot{{id: fmt.Sprint(i), at: geo.Point{Lng: float64(i) * 1e-4}}}, nil)
	}
	snapshot := ix.Snapshot()
	if got, most := snapshot.Depth(), spatial.MaxDepth(n); got > most || most > 20 {
		t.Errorf("%d deep with %d items; want at most %d", got, n, most)
	}
	if err := snapshot.Check(); err != nil || snapshot.Len() != n {
		t.Errorf("%d items, and %v", snapshot.Len(), err)
	}
}

// Items that leave one by one, along a line or here and there, leave no empty
// parts behind.
func TestApply_ShrinksAway(t *testing.T) {
	level.Repeats(t)
	const n = 1000
	for _, stride := range []int{1, 387} {
		all := map[string]*spot{}
		for i := range n {
			s := &spot{id: fmt.Sprint(i), at: geo.Point{Lng: float64(i) * 1e-4}}
			all[s.id] = s
		}
		ix := filled(t, slices.Collect(maps.Values(all)))
		for i := range n {
			id := fmt.Sprint(i * stride % n)
			delete(all, id)
			apply(t, ix, nil, []string{id, "unknown"})
			checkSame(t, all, ix.Snapshot())
		}
		if hits := ix.Snapshot().Nearest(spatial.Query{Radius: 1e7, Limit: 5}, nil, nil); len(hits) != 0 {
			t.Errorf("%d hits in an empty index", len(hits))
		}
	}
}

func FuzzNearest(f *testing.F) {
	f.Add(uint64(1), 0.0, 180.0, 1000.0, 20)
	f.Add(uint64(2), 90.0, 0.0, 100.0, 5)
	f.Add(uint64(3), 40.7, -74.0, 2e7, 100)
	f.Fuzz(func(t *testing.T, seed uint64, lat, lng, radius float64, limit int) {
		q := spatial.Query{Center: geo.Point{Lat: lat, Lng: lng}, Radius: radius, Limit: limit % 1000}
		if !q.Center.Valid() || !(radius >= 0) || q.Limit <= 0 {
			t.Skip()
		}
		all := randomSpots(rand.New(rand.NewPCG(seed, 3)), int(seed%700))
		check(t, all, q, nil, filled(t, slices.Collect(maps.Values(all))).Snapshot().Nearest(q, nil, nil))
	})
}

// Get finds by ID what the latest snapshot holds, and nothing else.
func TestGet(t *testing.T) {
	ix := spatial.New[*spot]()
	if _, ok := ix.Get("a"); ok {
		t.Error("an empty index has an item")
	}
	first := &spot{id: "a", at: geo.Point{Lat: 1, Lng: 2}}
	if err := ix.Apply([]*spot{first}, nil); err != nil {
		t.Fatal(err)
	}
	if got, ok := ix.Get("a"); !ok || got != first {
		t.Errorf("Get = %v, %v; want the item that was put", got, ok)
	}
	moved := &spot{id: "a", at: geo.Point{Lat: 3, Lng: 4}}
	if err := ix.Apply([]*spot{moved}, nil); err != nil {
		t.Fatal(err)
	}
	if got, _ := ix.Get("a"); got != moved {
		t.Errorf("Get = %v; want the item that took its place", got)
	}
	if err := ix.Apply(nil, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	if got, ok := ix.Get("a"); ok {
		t.Errorf("Get = %v after it was deleted", got)
	}
}
