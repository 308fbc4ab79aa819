package demo

import (
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// move is how a hotspot came to its place from another one. Its operator carries it, and
// registers the new place before that or after; then staff visit it there.
type move struct {
	from              geo.Point
	off, on           time.Time // the device is carried in between
	registered, found time.Time // found is zero if staff have not been there yet
	again             bool      // it was deleted and registered again, with the same device
}

// movesAMonth is which part of the hotspots moves in 30 days.
const movesAMonth = 0.02

// moveOf decides whether a hotspot has moved to its place, or returns nil. The featured
// operator's stay where they are.
func (n *Network) moveOf(p place, l life) *move {
	if n.Lively && p.odd != usual {
		return l.move
	}
	random := sourceOf(n.Seed, "move "+p.key())
	first, days := beacon.DayOf(l.linked)+1, int(beacon.DayOf(n.Now)-beacon.DayOf(l.linked))-1
	if p.provider == featured || days <= 0 || random.Float64() >= movesAMonth*float64(days)/30 {
		return nil
	}
	upTo := func(most time.Duration) time.Duration { return time.Duration(random.Int64N(int64(most))) }
	m := move{off: n.atWork(random, first+beacon.Day(random.IntN(days)))}
	m.on = m.off.Add(20*time.Minute + upTo(5*time.Hour))
	m.registered = m.off.Add(upTo(40*time.Hour) - 10*time.Hour).Truncate(time.Millisecond)
	metres := 40 + 560*random.Float64()
	switch random.IntN(5) {
	case 0: // across the street
		metres = 8 + 20*random.Float64()
	case 1: // to another part of the city
		metres = 600 + 4400*random.Float64()
	case 2:
		m.again, m.registered = true, m.on.Add(24*time.Hour).Truncate(time.Millisecond)
	}
	m.from = p.point.Toward(360*random.Float64(), metres)
	there := slices.MaxFunc([]time.Time{m.on, m.registered}, time.Time.Compare)
	m.found = there.Add(time.Hour + upTo(70*time.Hour)).Truncate(time.Millisecond)
	if n.passed(there).IsZero() || !l.dark.IsZero() && l.dark.Before(there) {
		return nil
	}
	return &m
}

// again is the life of a hotspot that is deleted before it moves, and registered again.
func (l life) again() life {
	l.created, l.verified, l.linked = l.move.registered, l.move.found, l.move.found.Add(time.Hour)
	l.move, l.late = nil, false
	return l
}

// carry lets the hotspot stand elsewhere until it moves to its place.
func (s *Hotspot) carry(m *move, staff beacon.UserID) error {
	to := s.Location.Point
	s.Location.Point = m.from
	s.move, s.before = m, s.Hotspot
	s.cuts = append(s.cuts, beacon.Period{From: m.off.Truncate(time.Minute), Until: m.on.Truncate(time.Minute)})
	slices.SortFunc(s.cuts, func(a, b beacon.Period) int { return a.From.Compare(b.From) })
	if err := register(&s.Hotspot, to, m.registered); err != nil {
		return err
	}
	if s.moved = s.Hotspot; m.found.IsZero() {
		return nil
	}
	return find(&s.Hotspot, staff, m.found)
}

// register registers another place of a hotspot.
func register(h *beacon.Hotspot, to geo.Point, at time.Time) error {
	_, err := beacon.Patch{Location: beacon.Some(beacon.LocationForm{Lat: beacon.Some(to.Lat), Lng: beacon.Some(to.Lng)})}.ApplyAt(h, at)
	h.UpdatedAt = at
	return err
}

// find lets staff find a hotspot where it is registered.
func find(h *beacon.Hotspot, staff beacon.UserID, at time.Time) error {
	if _, err := h.RecordVisit(beacon.Verification{Point: h.Location.Point, AccuracyM: measuredWithinM, Moved: true}, beacon.Behind{User: staff}, at); err != nil {
		return err
	}
	h.UpdatedAt = at
	return h.Verify(at)
}

// At returns the hotspot as it was at a time, once it was registered.
func (s *Hotspot) At(t time.Time) beacon.Hotspot {
	h := s.Hotspot
	if m := s.move; m != nil && t.Before(m.registered) {
		h = s.before
	} else if m != nil && (m.found.IsZero() || t.Before(m.found)) {
		h = s.moved
	}
	if !h.Device.LinkedAt.Before(t) {
		h.Device.Agent = beacon.Agent{}
	}
	for _, at := range []*time.Time{&h.Location.VerifiedAt, &h.Device.LinkedAt, &h.DeletedAt} {
		if !at.Before(t) {
			*at = time.Time{}
		}
	}
	return h
}

// Stands returns where the device was at a time, whatever is registered.
func (s *Hotspot) Stands(t time.Time) geo.Point {
	if s.move != nil && t.Before(s.move.on) {
		return s.move.from
	}
	return s.Location.Point
}

// Moved reports whether the hotspot has stood elsewhere.
func (s *Hotspot) Moved() bool { return s.move != nil }
