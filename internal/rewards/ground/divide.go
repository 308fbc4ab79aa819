package ground

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// The radius, in metres, that a policy may have. The largest keeps a hotspot within
// four tiles.
const (
	MinRadiusM = 10
	MaxRadiusM = 75
)

// maxOlder is how many older hotspots are counted at most.
const maxOlder = 20

// Hotspot is a hotspot on the day that is divided.
type Hotspot struct {
	Place Place
	// Served has the minutes of the UTC day that it served, or is nil if there are
	// none. Hotspots may share it; it is only read. Bits past the day are 0.
	Served *beacon.Minutes
}

// Share is what a hotspot got of the ground that it covers.
type Share struct {
	Squares int32 // that it covers
	Owned   int32 // square-minutes
	// Minutes counts those that it served and in which at least one of its squares
	// belonged to an older hotspot.
	Minutes int32
	// Older counts the hotspots before it, up to maxOlder, that are at most two radii
	// away and served in a minute in which it served too. It is 0 if Minutes is, and
	// else at least 1. Where more than a thousand stand within 500 m it may be lower
	// than that: see crowd.
	Older int32
}

// Weight returns ⌊10⁶ × Owned / Squares⌋: at most 10⁶ for each minute served.
func (s Share) Weight() int64 {
	if s.Squares == 0 {
		return 0
	}
	return 1_000_000 * int64(s.Owned) / int64(s.Squares)
}

// Divide divides a day among hotspots, the first of which has precedence. It returns
// their shares in the same order. It fails only if the radius is out of range, or with
// the error of the context.
func Divide(ctx context.Context, hotspots []Hotspot, radiusM int) ([]Share, error) {
	return divide(ctx, hotspots, radiusM, nil)
}

// divide divides a day, with what is remembered of others; nil: nothing is.
func divide(ctx context.Context, hotspots []Hotspot, radiusM int, memory *Memory) ([]Share, error) {
	if radiusM < MinRadiusM || radiusM > MaxRadiusM {
		return nil, fmt.Errorf("a radius of %d m: want %d to %d", radiusM, MinRadiusM, MaxRadiusM)
	}
	shares := make([]Share, len(hotspots))
	entries := tiled(hotspots, radiusM, memory)
	d := &divider{}
	if memory != nil {
		d = &memory.divider
		d.memory = memory
	}
	for len(entries) > 0 {
		n := 1
		for n < len(entries) && entries[n].tile() == entries[0].tile() {
			n++
		}
		if err := d.divideTile(ctx, entries[:n], hotspots, radiusM, shares); err != nil {
			return nil, err
		}
		entries = entries[n:]
	}
	return shares, nil
}

// divideTile sets the shares of the hotspots whose place is in a tile. Many have none.
func (d *divider) divideTile(ctx context.Context, tile []entry, hotspots []Hotspot, radiusM int, shares []Share) error {
	if !slices.ContainsFunc(tile, entry.isHome) {
		return ctx.Err()
	}
	var key [sha256.Size]byte
	if d.memory != nil {
		if key = d.memory.keyOf(tile, hotspots, radiusM); d.memory.known(key, tile, shares) {
			return ctx.Err()
		}
	}
	d.start(radiusM)
	for _, e := range tile {
		d.add(&hotspots[e.hotspot()], e.hotspot(), e.isHome())
	}
	if err := d.divide(ctx, shares); err != nil {
		return err
	}
	if d.memory != nil {
		d.memory.keep(key, tile, shares)
	}
	return nil
}

// divider divides the squares around a few hotspots. What belongs to a hotspot depends
// on the older ones within two radii alone, so it is right for each hotspot whose older
// neighbours are all there.
type divider struct {
	memory  *Memory // nil: none
	canvas  canvas
	radiusM int
	members []member
	homes   []circle
}

type member struct {
	circle  circle
	served  minutes
	hotspot int
	isHome  bool // its share is wanted
}

func (d *divider) start(radiusM int) {
	d.radiusM, d.members, d.homes = radiusM, d.members[:0], d.homes[:0]
}

// add adds the next hotspot in order.
func (d *divider) add(h *Hotspot, number int, isHome bool) {
	m := member{d.memory.circle(h.Place, d.radiusM), newMinutes(h.Served), number, isHome}
	d.members = append(d.members, m)
	if isHome {
		d.homes = append(d.homes, m.circle)
	}
}

// divide sets the shares of the members whose share is wanted.
func (d *divider) divide(ctx context.Context, shares []Share) error {
	d.canvas.fit(d.homes, d.memory)
	var t taken
	for i := range d.members {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		m := &d.members[i]
		if !m.isHome {
			d.canvas.paint(&m.circle, &m.served)
			continue
		}
		d.canvas.take(&m.circle, &m.served, &t)
		lost := newMinutes(&t.lost)
		s := Share{Squares: int32(t.squares), Owned: int32(t.owned), Minutes: int32(lost.count)}
		if s.Minutes > 0 {
			s.Older = int32(d.older(i))
		}
		shares[m.hotspot] = s
	}
	return nil
}

// older counts the members before one that are on the air with it nearby.
func (d *divider) older(i int) (n int) {
	m := &d.members[i]
	near := m.circle
	near.half *= 2
	for j := range d.members[:min(i, crowd)] {
		other := &d.members[j]
		left, ok := near.left(other.circle.lat)
		if !ok || !m.served.meet(&other.served) {
			continue
		}
		off := offset(other.circle.lng, near.lng)
		if near.contains(other.circle.cos, scaled(uint64(max(off, -off)), halfUnit), left) {
			if n++; n == maxOlder {
				break
			}
		}
	}
	return max(n, 1)
}

// crowd is how many members are looked at to count the older ones of a hotspot, so that
// the time for each hotspot has a limit.
const crowd = 1024

// entry is a hotspot in a tile that it can have an effect on: 16 bits for the band,
// 17 for the column, 30 for the hotspot and one that is set in the tile of its place.
// Sorted, entries are by tile and then in the order of hotspots.
type entry uint64

func (e entry) tile() uint64 { return uint64(e) >> 31 }
func (e entry) hotspot() int { return int(e >> 1 & (1<<30 - 1)) }
func (e entry) isHome() bool { return e&1 != 0 }

// rowsInBand is the height of a tile. It is about as wide. What hotspots
// get does not depend on tiles.
const rowsInBand = 64

// columns returns how many tiles a band has.
func columns(band int64, memory *Memory) int64 {
	r := memory.row(band * rowsInBand)
	return max(1, r.n/rowsInBand)
}

// tiled lists the tiles that hotspots are in or near: a circle of two radii reaches
// all places whose hotspots may share a square with them.
func tiled(hotspots []Hotspot, radiusM int, memory *Memory) []entry {
	entries := make([]entry, 0, 3*len(hotspots))
	for i := range hotspots {
		c := memory.circle(hotspots[i].Place, radiusM)
		c.half *= 2
		from, to := c.rows()
		width, homeBand := c.width(), rowOf(c.lat)/rowsInBand
		for band := from / rowsInBand; band <= (to-1)/rowsInBand; band++ {
			n := columns(band, memory)
			home := c.lng * n / fullTurn
			west, east := floorDiv((c.lng-width)*n, fullTurn), floorDiv((c.lng+width)*n, fullTurn)
			if east-west >= n {
				west, east = 0, n-1
			}
			for col := west; col <= east; col++ {
				column := (col + n) % n
				e := entry(band)<<48 | entry(column)<<31 | entry(i)<<1
				if band == homeBand && column == home {
					e |= 1
				}
				entries = append(entries, e)
			}
		}
	}
	slices.Sort(entries)
	return entries
}
