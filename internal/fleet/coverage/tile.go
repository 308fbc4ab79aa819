package coverage

import "github.com/beacon-wifi/beacon/internal/geo"

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
	c := t.cell()
	n = s.world[mercator]
	for level := uint8(0); n != nil && level < c.level; level++ {
		if n.fork == nil {
			return nil, entriesIn(n.discs, c)
		}
		down := c.level - 1 - level
		n = n.fork.kids[c.x>>down&1|c.y>>down&1<<1]
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
