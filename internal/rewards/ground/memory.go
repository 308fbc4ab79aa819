package ground

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Memory divides days as Divide does, and remembers rows, circles and what tiles came to: most
// of them come out the same on most days. It is for dividing many days of one small network. The zero value is ready for use, by one goroutine.
type Memory struct {
	tiles   map[[sha256.Size]byte][]Share
	circles map[Place]circle // of one radius
	radiusM int
	rows    map[int64]row
	divider divider
	text    []byte
}

// maxRemembered is how many tiles, circles and rows are remembered, of some 500 bytes each.
const maxRemembered = 100_000

// Divide divides a day as the function does.
func (m *Memory) Divide(ctx context.Context, hotspots []Hotspot, radiusM int) ([]Share, error) {
	return divide(ctx, hotspots, radiusM, m)
}

// circle returns a circle, with its squares if there is a memory.
func (m *Memory) circle(p Place, radiusM int) circle {
	if m == nil {
		return newCircle(p, radiusM)
	}
	if m.circles == nil || m.radiusM != radiusM || len(m.circles) >= maxRemembered {
		m.circles, m.radiusM = map[Place]circle{}, radiusM
	}
	c, known := m.circles[p]
	if !known {
		c = newCircle(p, radiusM)
		c.find(m)
		m.circles[p] = c
	}
	return c
}

// row returns a row.
func (m *Memory) row(i int64) row {
	if m == nil {
		return rowAt(i)
	}
	r, known := m.rows[i]
	if !known {
		if m.rows == nil || len(m.rows) >= maxRemembered {
			m.rows = map[int64]row{}
		}
		r = rowAt(i)
		m.rows[i] = r
	}
	return r
}

// known sets the shares of a tile that was divided before, and reports whether it was.
// Otherwise the caller divides it and calls keep.
func (m *Memory) known(key [sha256.Size]byte, tile []entry, shares []Share) bool {
	kept, known := m.tiles[key]
	if !known {
		return false
	}
	for _, e := range tile {
		if e.isHome() {
			shares[e.hotspot()], kept = kept[0], kept[1:]
		}
	}
	return true
}

func (m *Memory) keep(key [sha256.Size]byte, tile []entry, shares []Share) {
	if m.tiles == nil || len(m.tiles) >= maxRemembered {
		m.tiles = map[[sha256.Size]byte][]Share{}
	}
	var kept []Share
	for _, e := range tile {
		if e.isHome() {
			kept = append(kept, shares[e.hotspot()])
		}
	}
	m.tiles[key] = kept
}

// keyOf returns a key of all that the shares of a tile depend on.
func (m *Memory) keyOf(tile []entry, hotspots []Hotspot, radiusM int) [sha256.Size]byte {
	text := append(m.text[:0], byte(radiusM))
	for _, e := range tile {
		h, kind := &hotspots[e.hotspot()], byte(0)
		if e.isHome() {
			kind = 1
		}
		all := h.Served != nil && *h.Served == wholeDay
		if all {
			kind |= 2
		}
		text = append(text, kind)
		text = binary.LittleEndian.AppendUint32(text, uint32(h.Place.Lat))
		text = binary.LittleEndian.AppendUint32(text, uint32(h.Place.Lng))
		if all {
			continue
		}
		served := h.Served
		if served == nil {
			served = &beacon.Minutes{}
		}
		for _, word := range served {
			text = binary.LittleEndian.AppendUint64(text, word)
		}
	}
	m.text = text
	return sha256.Sum256(text)
}
