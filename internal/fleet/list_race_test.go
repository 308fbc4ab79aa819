package fleet_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/id"
)

// crowd is hotspots as those know them who change them.
type crowd map[beacon.HotspotID]beacon.Hotspot

// list looks at each hotspot. Nobody is online: there are no beats.
func (c crowd) list(in fleet.ListQuery) (lines []string) {
	for _, h := range c {
		verified, linked := !h.Location.VerifiedAt.IsZero(), !h.Device.LinkedAt.IsZero()
		status := beacon.Pending
		if verified && linked {
			status = beacon.Offline
		}
		if !h.Deleted() && (in.Status == "" || in.Status == status) && (!in.Verified.Set || in.Verified.V == verified) &&
			strings.Contains(strings.ToLower(h.Name), in.Text) {
			lines = append(lines, spell(h, nil))
		}
	}
	slices.Sort(lines) // they begin with the id
	if in.Newest {
		slices.Reverse(lines)
	}
	return lines
}

// listings are all that can be asked of some names.
func listings() (all []fleet.ListQuery) {
	for _, status := range []beacon.Status{"", beacon.Pending, beacon.Online, beacon.Offline} {
		for _, verified := range []beacon.Opt[bool]{{}, beacon.Some(true), beacon.Some(false)} {
			for _, text := range []string{"", "café", "strand 2", " 1", "d", "zzz"} {
				for _, newest := range []bool{false, true} {
					all = append(all, fleet.ListQuery{Status: status, Verified: verified, Text: text, Newest: newest})
				}
			}
		}
	}
	return all
}

// lines spells a list, page by page, but for hotspots that are not among some.
func lines(t testing.TB, f *fleet.Fleet, in fleet.ListQuery, size int, mine crowd) (all []string, total int) {
	in.Now, in.Charge = noon, free
	for in.Page = (beacon.Page{Number: 1, Size: size}); ; in.Page.Number++ {
		page, err := f.List(in)
		if err != nil {
			t.Error(err)
		}
		for _, s := range page.Items {
			if _, is := mine[beacon.HotspotID(s.ID())]; is {
				all = append(all, s.Encoded())
			}
		}
		if len(page.Items) < in.Page.Size {
			return all, page.Total
		}
	}
}

// change is what one person does next: to one of their hotspots, or to a new one.
func (c crowd) change(random *rand.Rand, fresh beacon.HotspotID) beacon.Hotspot {
	known := slices.Sorted(maps.Keys(c))
	h := beacon.Hotspot{Name: fmt.Sprint("Café ", random.IntN(3))}
	if len(known) > 0 && random.IntN(4) > 0 {
		h = c[known[random.IntN(len(known))]]
	}
	if h.ID == "" || h.Deleted() {
		h = beacon.Hotspot{ID: fresh, Name: h.Name}
	}
	switch random.IntN(8) {
	case 0:
		h.DeletedAt = noon
	case 1, 2:
		h.Location.VerifiedAt = noon
	case 3, 4:
		h.Device.LinkedAt = noon
	case 5:
		h.Device.LinkedAt = time.Time{}
	default:
		h.Name = fmt.Sprint([]string{"Café ", "STRAND ", "Strandcafé "}[random.IntN(3)], random.IntN(3))
	}
	h.Version++
	c[h.ID] = h
	return h
}

// person changes their own hotspots, some times in a row, and looks for them.
type person struct {
	random *rand.Rand
	mine   crowd
	fresh  []int // numbers of hotspots to come
}

const changesOfEach, others = 400, 600 // more than a block of the directory

func (p *person) work(t *testing.T, f *fleet.Fleet, heard chan<- beacon.Hotspot) {
	all := listings()
	for n := range p.fresh {
		h := p.mine.change(p.random, numbered(p.fresh[n]))
		heard <- h
		apply(t, f, h)
		if p.random.IntN(4) > 0 {
			continue
		}
		in := all[p.random.IntN(len(all))*p.random.IntN(2)] // the first shows all
		got, _ := lines(t, f, in, 10_000, p.mine)           // one page: the next would be of another moment
		if want := p.mine.list(in); !slices.Equal(got, want) {
			t.Errorf("after %s%+v shows\n%q; want\n%q", spell(h, nil), in, got, want)
			return
		}
	}
}

// echo brings what it hears, as a follower does: at the same moment, and later again,
// out of order. It revives the hotspots too.
func echo(t *testing.T, f *fleet.Fleet, random *rand.Rand, heard <-chan beacon.Hotspot) {
	var old []beacon.Hotspot
	for h := range heard {
		f.Revive(h.ID)
		apply(t, f, h)
		f.Revive(h.ID)
		old = append(old, h)
		from := random.IntN(len(old))
		apply(t, f, old[from:min(from+20, len(old))]...)
	}
}

func numbered(n int) beacon.HotspotID {
	return beacon.HotspotID(id.New(beacon.HotspotPrefix, noon.Add(time.Duration(n)*time.Millisecond)))
}

func apply(t *testing.T, f *fleet.Fleet, some ...beacon.Hotspot) {
	if err := f.Apply(some...); err != nil {
		t.Error(err)
	}
}

// A change that was acknowledged is in every list, whatever else arrives meanwhile. In the
// end, each list is what reading everything gives.
func TestList_Race(t *testing.T) {
	f, whole := newFleet(), crowd{}
	people := make([]person, 4)
	numbers := rand.New(rand.NewPCG(1, 1)).Perm(len(people)*changesOfEach + others)
	for _, n := range numbers[:others] {
		h := beacon.Hotspot{ID: numbered(n), Name: "Strand 2", Version: 1}
		whole[h.ID] = h
		apply(t, f, h)
	}
	heard := make(chan beacon.Hotspot)
	var working, echoing sync.WaitGroup
	for n := range people {
		people[n] = person{rand.New(rand.NewPCG(uint64(n), 2)), crowd{}, numbers[others+n*changesOfEach:][:changesOfEach]}
		working.Go(func() { people[n].work(t, f, heard) })
	}
	for n := range 2 {
		echoing.Go(func() { echo(t, f, rand.New(rand.NewPCG(uint64(n), 3)), heard) })
	}
	working.Wait()
	close(heard)
	echoing.Wait()
	for _, p := range people {
		maps.Copy(whole, p.mine)
	}
	for _, in := range listings() {
		got, total := lines(t, f, in, 100, whole)
		if want := whole.list(in); !slices.Equal(got, want) || total != len(want) {
			t.Errorf("in the end %+v shows %d of %d; want %d:\n%q; want\n%q", in, len(got), total, len(want), got, want)
		}
	}
	if n := len(whole.list(fleet.ListQuery{})); n < others+200 {
		t.Errorf("only %d hotspots were left", n)
	}
}
