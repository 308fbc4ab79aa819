package coverage_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// places are where histories happen: a town, ±180°, the poles, the end of the
// map, a corner of tiles.
var places = []geo.Point{
	newYork,
	{Lat: -17, Lng: 180},
	{Lat: 90, Lng: 12},
	{Lat: -89.9999, Lng: -50},
	{Lat: 85.0511, Lng: 33},
	{},
	{Lat: -85.0511, Lng: -180},
}

// history is where discs come and go.
type history struct {
	name   string
	places []geo.Point
	spread float64 // metres
	few    int     // below which more come than go
}

var histories = []history{
	{"everywhere", places, 300, 40},
	{"crowded", places[:1], 60, 150},
	{"at the pole", places[2:3], 1500, 80},
}

// mutate makes random changes of the discs, and gives what to put and remove.
func (h *history) mutate(random *rand.Rand, discs map[string]disc, next *int) (put, remove []disc) {
	key := func(d disc) string { return fmt.Sprint(d.Item, d.Place) }
	ids := make([]string, 0, len(discs))
	for id := range discs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	touched := map[string]bool{} // Apply removes first: a disc is changed once in it
	for range 1 + random.IntN(3)*random.IntN(10) {
		action := random.IntN(5)
		if len(ids) == 0 || action == 0 || (len(ids) < h.few && action < 3) {
			*next++
			at := h.places[random.IntN(len(h.places))]
			if random.IntN(4) > 0 {
				at = away(at, random.NormFloat64()*h.spread, random.NormFloat64()*h.spread)
			}
			d := disc{name(fmt.Sprint("d", *next)), at, radius(random), random.IntN(3) > 0}
			discs[key(d)] = d
			put = append(put, d)
			continue
		}
		id := ids[random.IntN(len(ids))]
		d, ok := discs[id]
		if !ok || touched[id] {
			continue
		}
		touched[id] = true
		switch action {
		case 1:
			delete(discs, id)
			remove = append(remove, d)
		case 2:
			delete(discs, id)
			remove = append(remove, d)
			d.Place = away(d.Place, 40, 40)
			discs[key(d)] = d
			put = append(put, d)
		case 3:
			d.RadiusM = radius(random)
			discs[id] = d
			put = append(put, d)
		default:
			d.Online = !d.Online
			discs[id] = d
			put = append(put, d)
		}
	}
	return put, remove
}

// After any history, the tree is to the bit the one made at once from what is
// left, in whatever order that is given.
func TestApply_LikeFromScratch(t *testing.T) {
	for _, h := range histories {
		t.Run(h.name, func(t *testing.T) {
			for seed := range 4 * *times {
				h.run(t, rand.New(rand.NewPCG(uint64(seed), 3)))
			}
		})
	}
}

func (h *history) run(t *testing.T, random *rand.Rand) {
	t.Helper()
	discs, next := map[string]disc{}, 0
	lived := coverage.New[name]()
	for step := range 120 {
		put, remove := h.mutate(random, discs, &next)
		apply(t, lived, put, remove)
		if step%10 != 9 {
			continue
		}
		fresh := planted(t, slices.Collect(maps(discs)))
		if text := coverage.Difference(lived.Snapshot(), fresh.Snapshot()); text != "" {
			t.Fatalf("step %d, %d discs: %s", step, len(discs), text)
		}
	}
	if len(discs) < h.few/2 {
		t.Errorf("only %d discs are left", len(discs))
	}
	// What is left, one by one, leaves nothing.
	for _, d := range discs {
		apply(t, lived, nil, []disc{d})
	}
	if nodes := lived.Snapshot().Nodes(); nodes != 0 {
		t.Fatalf("the empty tree has %d nodes", nodes)
	}
}

// Many changes at once, which all processors share, give the tree that few at a
// time give: when a city is built, loses its power and has it back.
func TestApply_ManyAtOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(14, 3))
	discs := append(city(15_000, newYork, 8000), city(6000, geo.Point{Lat: -17, Lng: 180}, 3000)...)
	for i := range discs {
		discs[i].Item = name(fmt.Sprint("d", i))
	}
	few, many := coverage.New[name](), coverage.New[name]()
	check := func(what string) {
		t.Helper()
		apply(t, many, discs, nil)
		random.Shuffle(len(discs), func(i, j int) { discs[i], discs[j] = discs[j], discs[i] })
		for rest := discs; len(rest) > 0; {
			n := min(len(rest), 1+random.IntN(1500))
			apply(t, few, rest[:n], nil)
			rest = rest[n:]
		}
		if text := coverage.Difference(few.Snapshot(), many.Snapshot()); text != "" {
			t.Fatalf("%s: %s", what, text)
		}
	}
	check("built")
	for i := range discs {
		discs[i].Online = discs[i].Place.Lng > newYork.Lng
	}
	check("without power")
	for i := range discs {
		discs[i].Online = i%10 != 0
	}
	check("with power again")
	apply(t, many, nil, discs)
	if nodes := many.Snapshot().Nodes(); nodes != 0 {
		t.Errorf("the empty tree has %d nodes", nodes)
	}
}

// maps gives the values of a map, in the map's own random order.
func maps(discs map[string]disc) func(yield func(disc) bool) {
	return func(yield func(disc) bool) {
		for _, d := range discs {
			if !yield(d) {
				return
			}
		}
	}
}

// A published snapshot stays what it was, whatever happens next.
func TestSnapshot_NeverChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	discs, next := map[string]disc{}, 0
	lived := coverage.New[name]()
	type moment struct {
		kept  *coverage.Snapshot[name]
		fresh *tree
	}
	var moments []moment
	for range 60 {
		put, remove := histories[0].mutate(random, discs, &next)
		apply(t, lived, put, remove)
		moments = append(moments, moment{lived.Snapshot(), planted(t, slices.Collect(maps(discs)))})
	}
	for i, m := range moments {
		if text := coverage.Difference(m.kept, m.fresh.Snapshot()); text != "" {
			t.Fatalf("snapshot %d: %s", i, text)
		}
	}
}

func TestApply_Invalid(t *testing.T) {
	tr := planted(t, []disc{{"a", newYork, 50, true}})
	before := tr.Snapshot()
	for _, bad := range []disc{
		{"b", geo.Point{Lat: 91}, 50, true},
		{"b", newYork, 0, true},
		{"b", newYork, -50, true},
		{"b", newYork, coverage.MaxRadiusM + 1, true},
	} {
		if err := tr.Apply([]disc{{"c", newYork, 50, true}, bad}, nil); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	if tr.Snapshot() != before {
		t.Error("a refused change left a trace")
	}
	// To remove what is not there is no error.
	apply(t, tr, nil, []disc{{"b", newYork, 50, true}, {"a", away(newYork, 1, 0), 50, true}, {"a", geo.Point{Lat: 91}, 50, true}})
	if text := coverage.Difference(before, tr.Snapshot()); text != "" {
		t.Error(text)
	}
}
