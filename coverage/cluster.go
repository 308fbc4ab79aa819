package coverage

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/beacon-wifi/beacon/geo"
)

// Cluster stands for the discs of one cell of the map that are in a box.
type Cluster struct {
	ID     string    // names the cell, so it is the same in every answer
	Center geo.Point // the mean of the places; the place, if there is but one
	// RadiusM reaches around the center to the end of each disc, and may reach
	// farther: it is that of the discs' bounds.
	RadiusM       float64
	Count, Online int
}

// MaxClusters is how many clusters there are at most.
const MaxClusters = 1000

// finer is by how many levels the cells of clusters are below the tiles of a
// zoom: on the screen they are an eighth of a tile.
const finer = 3

// MaxZoom is the deepest zoom of a map.
const MaxZoom = deepest - finer

// Clusters sums up the discs with their middle in a valid box for a map at a zoom
// from 0 to MaxZoom. If there were more than MaxClusters, the cells are larger.
// The counts add up to Count at every zoom.
func (s *Snapshot[T]) Clusters(box geo.Box, zoom int) []Cluster {
	g := grouping[T]{field: newField(box)}
	// Finer cells make no fewer clusters: the finest level that fits is between one
	// that does and one that does not.
	low, high, fits := 0, min(max(zoom, 0), MaxZoom)+finer, false
	for level := high; low < high; level = (low + high + 1) / 2 {
		if fits = g.group(s, level); fits {
			low = level
		} else {
			high = level - 1
		}
	}
	if !fits {
		g.group(s, low)
	}
	clusters := make([]Cluster, 0, len(g.groups))
	for i := range g.groups {
		clusters = append(clusters, g.groups[i].cluster())
	}
	return clusters
}

// grouping makes groups of the discs in each cell of a level.
type grouping[T Item] struct {
	*field
	level  uint8
	groups []group[T]
}

type group[T Item] struct {
	cell  cell
	total summary
	only  Disc[T] // if there is but one
}

// group reports whether there are not too many groups. If so, it has them all.
func (g *grouping[T]) group(s *Snapshot[T], level int) bool {
	g.level, g.groups = uint8(level), g.groups[:0]
	for z, root := range s.world {
		c := cell{zone: zone(z)}
		if !g.visit(root, c, c.rect()) {
			return false
		}
	}
	return true
}

func (g *grouping[T]) visit(n *node[T], c cell, r rect) bool {
	if n.count() == 0 || g.holds(&r) == none {
		return true
	}
	if c.level == g.level {
		return g.whole(n, c, r)
	}
	if n.fork == nil {
		return g.part(n.discs)
	}
	rects := c.kidRects(&r)
	for i, kid := range n.fork.kids {
		if !g.visit(kid, c.kid(i), rects[i]) {
			return false
		}
	}
	return true
}

// whole makes one group of a node.
func (g *grouping[T]) whole(n *node[T], c cell, r rect) bool {
	made := group[T]{cell: c, total: summaryIn(g.field, n, c, r)}
	if made.total.count == 1 {
		eachIn(g.field, n, c, r, func(d Disc[T]) bool {
			made.only = d
			return false
		})
	}
	return made.total.count == 0 || g.add(made)
}

// part makes groups of a leaf that is larger than the cells asked for.
func (g *grouping[T]) part(discs []entry[T]) bool {
	type member struct {
		cell cell
		disc *entry[T]
	}
	var members []member
	for i := range discs {
		if g.box.Contains(discs[i].place()) {
			members = append(members, member{address(discs[i].lat, discs[i].lng).up(g.level), &discs[i]})
		}
	}
	slices.SortStableFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.cell.y, b.cell.y), cmp.Compare(a.cell.x, b.cell.x))
	})
	for len(members) > 0 {
		made := group[T]{cell: members[0].cell, only: members[0].disc.disc()}
		n := 0
		for ; n < len(members) && members[n].cell == made.cell; n++ {
			made.total.add(summarize(members[n].disc))
		}
		if !g.add(made) {
			return false
		}
		members = members[n:]
	}
	return true
}

func (g *grouping[T]) add(made group[T]) bool {
	g.groups = append(g.groups, made)
	return len(g.groups) <= MaxClusters
}

func (g *group[T]) cluster() Cluster {
	c := Cluster{ID: g.cell.clusterID(), Count: int(g.total.count), Online: int(g.total.online)}
	if c.Count == 1 {
		c.Center, c.RadiusM = g.only.Place, g.only.RadiusM
		return c
	}
	c.Center = g.total.center()
	c.RadiusM = g.total.radiusAround(c.Center)
	return c
}

// clusterID is made of the tile's address: zoom, column and row, with a letter
// before the zoom around the poles.
func (c cell) clusterID() string {
	return fmt.Sprintf("cl_%s%d_%d_%d", [zones]string{"", "n", "s"}[c.zone], c.level, c.x, c.y)
}
