package doctor

import (
	"fmt"
	"hash/maphash"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
)

// standings checks how long hotspots have served at their places, which decides who is paid
// for the ground, against the rows.
func standings(run *checkRun) error {
	return run.snapshot(func(s store.Snapshot) error {
		through, found, err := s.StandingsThrough(run.ctx)
		if err != nil {
			return err
		}
		reopened, err := s.Reopenings(run.ctx)
		if err != nil || !found || through.Revision != int64(len(reopened)) {
			run.lookedAt("no standings are counted: servers do that when places are paid")
			return err
		}
		places, err := placesOf(run, s)
		if err != nil {
			return err
		}
		var text []byte
		differ, err := compare(func(side sides) error {
			err := s.EachLedgerRow(run.ctx, func(r ledger.Row, bad error) error {
				if at, known := places.on(r.Hotspot, r.Day); known && bad == nil && r.Day <= through.Day && reopened.Valid(&r) {
					text = fmt.Appendf(text[:0], "%s %s", r.Hotspot, at.since)
					side(text, adds(&r, at.found, through.ADay))
				}
				return nil
			})
			if err != nil {
				return err
			}
			return s.EachStanding(run.ctx, func(one ledger.Standing) error {
				run.row()
				if _, known := places.on(one.Hotspot, one.Since); known {
					text = fmt.Appendf(text[:0], "%s %s", one.Hotspot, one.Since)
					side(text, -int64(one.On(through.Day+1)))
				}
				return nil
			})
		})
		unit := "days"
		if through.ADay > 0 {
			unit = "minutes"
		}
		run.tellDiffering(differ, "served for more "+unit+" at its place since %s than are counted", "is counted for "+unit+" at its place since %s that no row has")
		run.lookedAt("%d standings, through %s", run.rows.Load(), through.Day)
		return err
	})
}

// adds returns what a row adds to a standing that counts up to aDay minutes of a day, or, if
// that is 0, days. If its policy counted days, found says whether a visit had proven the place
// before; otherwise the row says so.
func adds(r *ledger.Row, found bool, aDay int) int64 {
	if r.Counts == beacon.InMinutes {
		found = r.Proof > 0
	}
	switch {
	case aDay == 0 && r.Served >= 60:
		return 1
	case found:
		return int64(min(r.Served, aDay))
	}
	return 0
}

// knownPlaces says where hotspots were at when. There may be millions, for most of which one
// visit says all.
type knownPlaces struct {
	seed     maphash.Seed
	once     map[uint64]knownPlace
	eventful map[uint64]*beacon.Hotspot
	former   map[uint64]beacon.Owners // of those that were handed over
}

// knownPlace is since when a hotspot is at its place, at all and without a break, and whether a
// visit has proven it.
type knownPlace struct {
	since, began beacon.Day
	found        bool
}

func placeOn(h *beacon.Hotspot, day beacon.Day) knownPlace {
	p := h.PlaceOn(day)
	return knownPlace{p.Since, p.Began, !p.ProvenAt.IsZero()}
}

// placesOf reads the places of all hotspots. Those that may have forgotten a visit are
// left out, and so are damaged ones, which another check reports.
func placesOf(run *checkRun, s store.Snapshot) (*knownPlaces, error) {
	p := &knownPlaces{maphash.MakeSeed(), map[uint64]knownPlace{}, map[uint64]*beacon.Hotspot{}, map[uint64]beacon.Owners{}}
	return p, s.EachHotspot(run.ctx, func(h beacon.Hotspot, bad error) error {
		if bad != nil || len(h.Visits) == beacon.MaxVisits {
			return nil
		}
		id := maphash.String(p.seed, string(h.ID))
		if len(h.Former) > 0 {
			p.former[id] = h.Owners()
		}
		p.once[id] = placeOn(&h, 0)
		for _, v := range h.Visits {
			if placeOn(&h, beacon.DayOf(v.At)+1) != p.once[id] {
				p.eventful[id] = &beacon.Hotspot{Location: h.Location, Visits: h.Visits}
				break
			}
		}
		return nil
	})
}

// on returns the place of a hotspot on a day.
func (p *knownPlaces) on(hotspot beacon.HotspotID, day beacon.Day) (at knownPlace, known bool) {
	id := maphash.String(p.seed, string(hotspot))
	if h := p.eventful[id]; h != nil {
		return placeOn(h, day), true
	}
	at, known = p.once[id]
	return at, known
}

// ownerOn returns whose the hotspot of a row was on another day.
func (p *knownPlaces) ownerOn(of beacon.Owned, day beacon.Day) beacon.UserID {
	if whose, handedOver := p.former[maphash.String(p.seed, string(of.Hotspot))]; handedOver {
		return whose.On(day)
	}
	return of.User
}
