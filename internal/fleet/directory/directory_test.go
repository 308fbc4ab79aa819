package directory_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/fleet/directory"
)

type item struct{ id string }

func (i *item) ID() string { return i.id }

type (
	entry = directory.Entry[*item]
	query = directory.Query[*item]
)

func entryOf(id, text string, kind directory.Kind) entry {
	return entry{Item: &item{id}, Text: text, Kind: kind}
}

// model is a directory that looks at everything, every time.
type model map[string]entry

func (m model) list(q query) (page []*item, total int) {
	var all []entry
	for _, e := range m {
		wanted := q.Kinds&directory.SetOf(e.Kind) != 0 && strings.Contains(e.Text, q.Text)
		if wanted && (q.Keep == nil || q.Keep(e.Item)) {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.Item.id, b.Item.id) })
	if q.Newest {
		slices.Reverse(all)
	}
	for n, e := range all {
		if n >= q.Offset && n < q.Offset+q.Limit {
			page = append(page, e.Item)
		}
	}
	return page, len(all)
}

// Whatever is put in and taken out, in small steps and large ones, every list is
// the one that a look at everything gives.
func TestDirectory_ListsAsAModelDoes(t *testing.T) {
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 1))
		r, m := directory.New[*item](), model{}
		span := []int{40, 3000}[seed%2] // below a block, and several
		compared := 0
		for range 30 {
			var puts []entry
			var deletes []string
			for range 1 + random.IntN([]int{3, 900}[random.IntN(2)]) {
				id := fmt.Sprintf("id_%05d", random.IntN(span))
				if random.IntN(3) == 0 {
					deletes = append(deletes, id)
				} else {
					puts = append(puts, entryOf(id, wordsOf(random), directory.Kind(random.IntN(directory.Kinds))))
				}
			}
			before, old := r.Snapshot(), query{Kinds: directory.All, Limit: span}
			was, _ := before.List(old, nil)
			r.Apply(puts, deletes)
			for _, id := range deletes {
				delete(m, id)
			}
			for _, e := range puts {
				m[e.Item.id] = e
			}
			if is, _ := before.List(old, nil); !slices.Equal(is, was) {
				t.Fatalf("seed %d: a snapshot changed", seed)
			}
			for n := range span {
				id := fmt.Sprintf("id_%05d", n)
				got, ok := r.Snapshot().Get(id)
				if want, stands := m[id]; ok != stands || got != want {
					t.Fatalf("seed %d: %s is %+v, %t; want %+v, %t", seed, id, got, ok, want, stands)
				}
			}
			for range 10 {
				compared += compare(t, r.Snapshot(), m, queryOf(random, span))
			}
		}
		if compared < 500 {
			t.Errorf("seed %d: only %d items were on pages", seed, compared)
		}
	}
}

func wordsOf(random *rand.Rand) string {
	words := []string{"", "a", "ab", "aab", "straße", "b a", "日本", "aa"}
	return words[random.IntN(len(words))] + words[random.IntN(len(words))]
}

func queryOf(random *rand.Rand, span int) query {
	q := query{
		Kinds: directory.Set(random.IntN(int(directory.All) + 1)), Newest: random.IntN(2) == 0,
		Offset: random.IntN(span), Limit: 1 + random.IntN(100),
	}
	if random.IntN(2) == 0 {
		q.Offset = 0
	}
	if random.IntN(2) == 0 {
		q.Text = []string{"a", "aa", "ab", "ß", "本", "ba", "zzz"}[random.IntN(7)]
	}
	if random.IntN(3) == 0 {
		q.Keep = func(i *item) bool { return i.id[len(i.id)-1]%3 == 0 }
	}
	return q
}

func compare(t *testing.T, s *directory.Snapshot[*item], m model, q query) (items int) {
	t.Helper()
	page, total := s.List(q, nil)
	want, all := m.list(q)
	if !slices.Equal(page, want) || total != all {
		t.Fatalf("%+v: %d items of %d; want %d of %d", q, len(page), total, len(want), all)
	}
	if scans := s.Scans(q); scans > len(m) || q.Text == "" && q.Keep == nil && scans != 0 {
		t.Fatalf("%+v scans %d items of %d", q, scans, len(m))
	}
	return len(page)
}

func TestDirectory_PagesPastTheEnd(t *testing.T) {
	r := directory.New[*item]()
	if page, total := r.Snapshot().List(query{Kinds: directory.All, Limit: 1}, nil); len(page)+total != 0 {
		t.Errorf("an empty directory lists %d of %d", len(page), total)
	}
	r.Apply([]entry{entryOf("a", "x", 0), entryOf("b", "y", 1)}, nil)
	for _, q := range []query{
		{Kinds: directory.All, Offset: 2, Limit: 100},
		{Kinds: directory.All, Offset: math.MaxInt - 100, Limit: 100},
		{Kinds: directory.All, Offset: math.MaxInt - 100, Limit: 100, Keep: func(*item) bool { return true }},
	} {
		if page, total := r.Snapshot().List(q, nil); len(page) != 0 || total != 2 {
			t.Errorf("%+v: %d items of %d; want none of 2", q, len(page), total)
		}
	}
}

// What is looked for is never found across two texts, nor twice in one.
func TestDirectory_TextsStandApart(t *testing.T) {
	r := directory.New[*item]()
	r.Apply([]entry{entryOf("a", "coffee", 0), entryOf("b", "ee bar bar", 0), entryOf("c", "", 0)}, nil)
	for text, want := range map[string]int{"ee": 2, "eee": 0, "bar": 1, "eebar": 0, "coffeeee": 0, "f": 1, "r": 1} {
		if _, total := r.Snapshot().List(query{Kinds: directory.All, Text: text, Limit: 9}, nil); total != want {
			t.Errorf("%q is found %d times; want %d", text, total, want)
		}
	}
}

// Readers and writers at once; for the race detector, and each answer is whole.
func TestDirectory_AtOnce(t *testing.T) {
	r := directory.New[*item]()
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for n := range 200 {
				a, b := fmt.Sprintf("%d_%03d_a", w, n), fmt.Sprintf("%d_%03d_b", w, n)
				r.Apply([]entry{entryOf(a, "x", 0), entryOf(b, "x", 1)}, nil)
				if _, total := r.Snapshot().List(query{Kinds: directory.All, Text: "x", Limit: 1}, nil); total%2 != 0 {
					t.Errorf("%d items: half of a step is seen", total)
				}
			}
		})
	}
	all.Wait()
	if _, total := r.Snapshot().List(query{Kinds: directory.SetOf(1), Limit: 1}, nil); total != 800 {
		t.Errorf("%d items; want 800", total)
	}
}

// What is changed again and again while nobody asks takes no more and more memory.
func TestDirectory_ForgetsWhatNobodyAskedFor(t *testing.T) {
	const changes, kept = 20_000, 5_000
	r := directory.New[*item]()
	var freed atomic.Int64
	for range changes {
		it := &item{"the same"}
		runtime.AddCleanup(it, func(int) { freed.Add(1) }, 0)
		r.Apply([]entry{{Item: it}}, nil)
	}
	for deadline := time.Now().Add(5 * time.Minute); freed.Load() < changes-kept; {
		if time.Now().After(deadline) {
			t.Fatalf("of %d items that were replaced, %d were given back", changes, freed.Load())
		}
		runtime.GC()
	}
	if _, total := r.Snapshot().List(query{Kinds: directory.SetOf(0), Limit: 10}, nil); total != 1 {
		t.Errorf("there are %d items", total)
	}
}
