package review

import (
	"math"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// groupings are what several hotspots of one operator are flagged for: others of them so
// near. Policy 2 pays hotspots within its radius for ground that is mostly the same; ten
// of them are usual in a large library, for example. A ring is hotspots that visits found
// at one place, though they are registered ringM or more away from it.
var groupings = []struct {
	kind   beacon.FlagKind
	within float64
	others int
	apart  bool
}{
	{beacon.CloseTogether, 50, 10, false},
	{beacon.RingAroundVisit, 30, ringOthers, true},
}

const (
	cellM      = 50 // the largest of any grouping
	ringM      = 50
	ringOthers = 4 // the least of any grouping

	// sameLineM is how far one line to the Internet reaches, and farOthers how many others
	// that are farther away send from the address of a hotspot.
	sameLineM = 200
	farOthers = 2
)

// estate is the places of one operator.
type estate struct {
	operator beacon.UserID
	sites    []site
	cells    map[cell][]int // indexes of sites
}

// site is where a hotspot is found, and whether it is registered elsewhere.
type site struct {
	hotspot beacon.HotspotID
	place   geo.Point
	apart   bool
	from    int64 // the address that its device sends from; 0: not known
}

// add adds a hotspot that is in service.
func (e *estate) add(c *Case, day beacon.Day) {
	h := &c.Hotspot
	if h.Deleted() || h.ActiveSince().IsZero() {
		return
	}
	place := h.PlaceOn(day + 1).Point
	e.sites = append(e.sites, site{hotspot: h.ID, place: place, apart: geo.Distance(place, h.Location.Point) > ringM, from: c.From})
}

// cell is a part of the Earth.
type cell struct{ row, column int32 }

// cellOf returns the cell of a point. Cells are at least that wide and high, below
// the polar circles.
func cellOf(p geo.Point, metres float64) cell {
	size := 0.0012 * metres / 50 // degrees; at 66° of latitude 0.0012° of longitude are 54 m
	return cell{int32(math.Floor(p.Lat / size)), int32(math.Floor(p.Lng / size))}
}

// flags returns one flag for each group of hotspots: for the first of them.
func (e *estate) flags(day beacon.Day) (flags []beacon.Flag) {
	flags = e.sameAddress(day)
	if len(e.sites) <= ringOthers {
		return flags
	}
	e.cells = make(map[cell][]int, len(e.sites))
	for i := range e.sites {
		at := cellOf(e.sites[i].place, cellM)
		e.cells[at] = append(e.cells[at], i)
	}
	for _, g := range groupings {
		told := make([]bool, len(e.sites))
		for i := range e.sites {
			if told[i] || g.apart && !e.sites[i].apart {
				continue
			}
			others := e.near(i, g.within, g.apart)
			if len(others) < g.others {
				continue
			}
			for _, j := range others {
				told[j] = true
			}
			about := facts{"others": int64(len(others)), "within_m": int64(g.within)}
			flags = append(flags, flag(e.sites[i].hotspot, e.operator, day, g.kind, about))
		}
	}
	return flags
}

// near returns the other sites within a distance of one, or only those that are apart.
func (e *estate) near(i int, within float64, apart bool) (others []int) {
	s := &e.sites[i]
	at := cellOf(s.place, cellM)
	for row := at.row - 1; row <= at.row+1; row++ {
		for column := at.column - 1; column <= at.column+1; column++ {
			for _, j := range e.cells[cell{row, column}] {
				if o := &e.sites[j]; j != i && (o.apart || !apart) && geo.Distance(s.place, o.place) <= within {
					others = append(others, j)
				}
			}
		}
	}
	return others
}

// sameAddress returns one flag for each address that hotspots far from each other send from.
// One of them may honestly be far from the rest: it was carried to them and is not yet
// registered there. So distances are measured from the first or the second, whichever has
// fewer hotspots far away.
func (e *estate) sameAddress(day beacon.Day) (flags []beacon.Flag) {
	lines := map[int64][]*site{}
	var order []int64
	for i := range e.sites {
		s := &e.sites[i]
		if s.from == 0 {
			continue
		}
		if lines[s.from] == nil {
			order = append(order, s.from)
		}
		lines[s.from] = append(lines[s.from], s)
	}
	for _, from := range order {
		line := lines[from]
		if len(line) <= farOthers {
			continue
		}
		is := line[0]
		far, farthest := is.farFrom(line)
		if n, m := line[1].farFrom(line); n < far {
			is, far, farthest = line[1], n, m
		}
		if far < farOthers {
			continue
		}
		about := facts{"others": int64(far), "within_m": int64(math.Ceil(farthest))}
		flags = append(flags, flag(is.hotspot, e.operator, day, beacon.OneAddress, about))
	}
	return flags
}

// farFrom returns how many of some sites are farther from one than a line reaches, and how
// far the farthest is.
func (s *site) farFrom(others []*site) (far int, farthest float64) {
	for _, o := range others {
		if d := geo.Distance(s.place, o.place); d > sameLineM {
			far++
			farthest = max(farthest, d)
		}
	}
	return far, farthest
}
