package doctor

import (
	"fmt"
	"hash/maphash"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
)

// standings checks on how many days hotspots have served at their places, which decides
// who is paid for the ground, against the rows.
func standings(run *checkRun) error {
	return run.snapshot(func(s store.Snapshot) error {
		through, any, err := s.StandingsThrough(run.ctx)
		if err != nil {
			return err
		}
		reopened, err := s.Reopenings(run.ctx)
		if err != nil || !any || through.Revision != int64(len(reopened)) {
			run.lookedAt("no days are counted: servers do that when places are paid")
			return err
		}
		places, err := sinceWhen(run, s)
		if err != nil {
			return err
		}
		var text []byte
		differ, err := compare(func(side sides) error {
			err := s.EachLedgerRow(run.ctx, func(r ledger.Row, bad error) error {
				if since, known := places.on(r.Hotspot, r.Day); known && bad == nil && r.Served >= ledger.ServedADay && r.Day <= through.Day && reopened.Holds(&r) {
					text = fmt.Appendf(text[:0], "%s %s", r.Hotspot, since)
					side(text, 1)
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
		run.tellDiffering(differ, "served on more days at its place since %s than are counted", "is counted for days at its place since %s that have no row")
		run.lookedAt("%d standings, through %s", run.rows.Load(), through.Day)
		return err
	})
}

// knownPlaces says since when hotspots are at their places. There may be millions, of
// which few have moved.
type knownPlaces struct {
	seed  maphash.Seed
	since map[uint64]beacon.Day
	moved map[uint64]*beacon.Hotspot
}

// sinceWhen reads the places of all hotspots. Those that may have forgotten a visit are
// left out, and so are damaged ones, which another check reports.
func sinceWhen(run *checkRun, s store.Snapshot) (*knownPlaces, error) {
	p := &knownPlaces{maphash.MakeSeed(), map[uint64]beacon.Day{}, map[uint64]*beacon.Hotspot{}}
	return p, s.EachHotspot(run.ctx, func(h beacon.Hotspot, bad error) error {
		if bad != nil || len(h.Visits) == beacon.MaxVisits {
			return nil
		}
		id := maphash.String(p.seed, string(h.ID))
		p.since[id] = h.PlaceOn(0).Since
		for _, v := range h.Visits {
			if h.PlaceOn(beacon.DayOf(v.At)+1).Since != p.since[id] {
				p.moved[id] = &beacon.Hotspot{Location: h.Location, Visits: h.Visits}
				break
			}
		}
		return nil
	})
}

// on returns since when a hotspot is at its place of a day.
func (p *knownPlaces) on(hotspot beacon.HotspotID, day beacon.Day) (since beacon.Day, known bool) {
	id := maphash.String(p.seed, string(hotspot))
	if h := p.moved[id]; h != nil {
		return h.PlaceOn(day).Since, true
	}
	since, known = p.since[id]
	return since, known
}
