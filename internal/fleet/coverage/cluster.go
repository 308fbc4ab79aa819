package coverage

import (
	"strconv"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// Cluster stands for the discs of one cell of the map that are in a box.
type Cluster struct {
	ID     string    // names the cell, so it is the same in every response
	Center geo.Point // the mean of the places; the place, if there is only one
	// RadiusM reaches from the center to the end of each disc, and may reach farther:
	// it is that of the discs' bounds.
	RadiusM       float64
	Count, Online int
	Pending       bool // all discs are
}

// MaxClusters is the most clusters of a result.
const MaxClusters = 1000

// finer is how many levels the cells of clusters are below the tiles of a zoom: on
// the screen they are an eighth of a tile.
const finer = 3

// MaxZoom is the deepest zoom of a map.
const MaxZoom = deepest - finer

// Clusters groups the discs with their middle in a valid box for a map at a zoom from
// 0 to MaxZoom. If there would be more than MaxClusters, the cells are larger. The
// counts add up to Count at every zoom.
func (s *Snapshot[T]) Clusters(box geo.Box, zoom int) []Cluster {
	g := grouping[T]{field: newField(box)}
	for z, root := range s.world {
		c := cell{zone: zone(z)}
		g.groups = g.addNode(g.groups, root, c, c.rect())
	}
	return g.clusters(min(max(zoom, 0), MaxZoom) + finer)
}

// grouping groups the discs by cell, from one level to the next.
type grouping[T Item] struct {
	*field
	groups []group[T] // none is empty
}

// group is the content of one cell: a node or, where a leaf is larger than the cell,
// some of its discs.
type group[T Item] struct {
	node  *node[T]
	cell  cell
	rect  rect
	discs []located[T]
}

// located is a disc with its deepest address.
type located[T Item] struct {
	at   cell
	disc *entry[T]
}

// clusters descends to a level, or until there would be too many groups.
func (g *grouping[T]) clusters(finest int) []Cluster {
	level := 0
	if len(g.groups) > 0 {
		level = int(g.groups[0].cell.level)
	}
	for level < finest && g.refine() {
		level++
	}
	clusters := make([]Cluster, len(g.groups))
	for i := range g.groups {
		clusters[i] = g.cluster(&g.groups[i])
	}
	return clusters
}

// refine descends by one level, unless there would be too many groups.
func (g *grouping[T]) refine() bool {
	finer := make([]group[T], 0, min(4*len(g.groups), MaxClusters+4))
	for i := range g.groups {
		if finer = g.part(finer, &g.groups[i]); len(finer) > MaxClusters {
			return false
		}
	}
	g.groups = finer
	return true
}

// part splits a group into those of the next level.
func (g *grouping[T]) part(into []group[T], whole *group[T]) []group[T] {
	switch {
	case whole.node == nil:
		return partDiscs(into, whole.cell, whole.discs)
	case whole.node.fork == nil:
		return partDiscs(into, whole.cell, g.locate(whole.node.discs))
	}
	rects := whole.cell.kidRects(&whole.rect)
	for i, kid := range whole.node.fork.kids {
		into = g.addNode(into, kid, whole.cell.kid(i), rects[i])
	}
	return into
}

// addNode adds a group for a node, if some of its discs are in the field.
func (g *grouping[T]) addNode(into []group[T], n *node[T], c cell, r rect) []group[T] {
	if !anyIn(g.field, n, c, r) {
		return into
	}
	return append(into, group[T]{node: n, cell: c, rect: r})
}

// locate returns the discs that are in the field, with their addresses.
func (g *grouping[T]) locate(discs []entry[T]) []located[T] {
	found := make([]located[T], 0, len(discs))
	for i := range discs {
		if g.box.Contains(discs[i].place()) {
			found = append(found, located[T]{address(discs[i].lat, discs[i].lng), &discs[i]})
		}
	}
	return found
}

func partDiscs[T Item](into []group[T], c cell, discs []located[T]) []group[T] {
	if len(discs) == 1 { // as most are, some levels down
		kid := c.kid(c.kidToward(discs[0].at))
		return append(into, group[T]{cell: kid, discs: discs})
	}
	var parts [4][]located[T]
	for _, d := range discs {
		kid := c.kidToward(d.at)
		parts[kid] = append(parts[kid], d)
	}
	for i, part := range parts {
		if len(part) > 0 {
			into = append(into, group[T]{cell: c.kid(i), discs: part})
		}
	}
	return into
}

func (g *grouping[T]) cluster(of *group[T]) Cluster {
	var total summary
	if of.node != nil {
		total = summaryIn(g.field, of.node, of.cell, of.rect)
	}
	for _, d := range of.discs {
		total.add(summarize(d.disc))
	}
	c := Cluster{ID: of.cell.clusterID(), Count: int(total.count), Online: int(total.online), Pending: total.pending}
	if c.Count == 1 {
		only := g.only(of)
		c.Center, c.RadiusM = only.Place, only.RadiusM
		return c
	}
	c.Center = total.center()
	c.RadiusM = total.radiusAround(c.Center)
	return c
}

// only returns the disc of a group that has just one.
func (g *grouping[T]) only(of *group[T]) (only Disc[T]) {
	if of.node == nil {
		return of.discs[0].disc.disc()
	}
	eachIn(g.field, of.node, of.cell, of.rect, func(d Disc[T]) bool {
		only = d
		return false
	})
	return only
}

// clusterID returns the tile's address: zoom, column and row, with a letter before
// the zoom around the poles.
func (c cell) clusterID() string {
	var buffer [len("cl_n25_33554431_33554431")]byte
	id := append(append(buffer[:0], "cl_"...), [zones]string{"", "n", "s"}[c.zone]...)
	id = append(strconv.AppendUint(id, uint64(c.level), 10), '_')
	id = append(strconv.AppendUint(id, uint64(c.x), 10), '_')
	return string(strconv.AppendUint(id, uint64(c.y), 10))
}

// Tile is a square of the web map, which has 2^Z columns, counted from 180° W, and as
// many rows, counted from the north. A place on a line belongs to the tile to its
// north and east, so every place on the map is in exactly one tile of a zoom. Places
// beyond ±85.05° are in none.
type Tile struct{ Z, X, Y int }

// Valid reports whether the tile exists, up to MaxZoom.
func (t Tile) Valid() bool {
	return t.Z >= 0 && t.Z <= MaxZoom && t.X >= 0 && t.X < 1<<t.Z && t.Y >= 0 && t.Y < 1<<t.Z
}

// Position returns where in the tile a place is shown: 0 is its west and north, 1 its
// east and south.
func (t Tile) Position(p geo.Point) (x, y float64) {
	count := float64(int(1) << t.Z)
	lng := p.Lng
	if lng == 180 {
		lng = -180
	}
	return (lng+180)/360*count - float64(t.X), mercator.part(p.Lat)*count - float64(t.Y)
}

func (t Tile) cell() cell { return cell{mercator, uint8(t.Z), uint32(t.X), uint32(t.Y)} }

// everywhere contains every disc.
var everywhere = newField(geo.Box{North: 90, South: -90, East: 180, West: -180})

// TileCount returns how many discs have their middle in a valid tile.
func (s *Snapshot[T]) TileCount(t Tile) int {
	n, within := s.at(t)
	if n != nil {
		return n.count()
	}
	return len(within)
}

// TileEach calls yield for every disc with its middle in a valid tile, in an
// order that depends on the discs alone, until it returns false.
func (s *Snapshot[T]) TileEach(t Tile, yield func(Disc[T]) bool) {
	n, within := s.at(t)
	if n != nil {
		c := t.cell()
		eachIn(everywhere, n, c, c.rect(), yield)
		return
	}
	for i := range within {
		if !yield(within[i].disc()) {
			return
		}
	}
}

// TileClusters groups the discs with their middle in a valid tile, as Clusters does
// at its zoom: into 64 at most.
func (s *Snapshot[T]) TileClusters(t Tile) []Cluster {
	g := grouping[T]{field: everywhere}
	c := t.cell()
	if n, within := s.at(t); n != nil {
		g.groups = g.addNode(nil, n, c, c.rect())
	} else if len(within) > 0 {
		g.groups = []group[T]{{cell: c, discs: g.locate(within)}}
	}
	return g.clusters(t.Z + finer)
}

// at returns the node of a tile or, where a leaf is larger than the tile, those of
// its discs that are in the tile.
func (s *Snapshot[T]) at(t Tile) (n *node[T], within []entry[T]) {
	to := t.cell()
	n = s.world[mercator]
	for c := (cell{}); n != nil && c.level < to.level; {
		if n.fork == nil {
			return nil, entriesIn(n.discs, to)
		}
		kid := c.kidToward(to)
		n, c = n.fork.kids[kid], c.kid(kid)
	}
	return n, nil
}

func entriesIn[T Item](discs []entry[T], c cell) (within []entry[T]) {
	for i := range discs {
		if address(discs[i].lat, discs[i].lng).up(c.level) == c {
			within = append(within, discs[i])
		}
	}
	return within
}
