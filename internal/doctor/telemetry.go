package doctor

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
)

// journal checks that every batch of heartbeats is readable, and none is missing.
func journal(run *checkRun) error {
	beats := 0
	err := run.snapshot(func(s store.Snapshot) error {
		nodes, err := s.Nodes(run.ctx)
		if err != nil {
			return err
		}
		last := map[string]int64{}
		for _, n := range nodes {
			last[n.Node] = n.Trimmed
		}
		return s.EachBatch(run.ctx, func(node string, row beacon.JournalRow) error {
			run.row()
			if row.Seq != last[node]+1 {
				run.wrong(node, "batch %d of its journal is followed by batch %d", last[node], row.Seq)
			}
			last[node] = row.Seq
			found, err := heartbeat.DecodeBatch(nil, row.Batch)
			if err != nil {
				run.wrong(node, "batch %d of its journal: %v", row.Seq, err)
			}
			beats += len(found)
			return nil
		})
	})
	run.lookedAt("%d heartbeats in %d batches", beats, run.rows.Load())
	return err
}

// records checks that each day's records are readable, and that for closed days the
// ledger agrees with them.
func records(run *checkRun) error {
	closed := map[beacon.Day]bool{}
	err := run.snapshot(func(s store.Snapshot) error {
		days, err := s.Closings(run.ctx)
		if err != nil {
			return err
		}
		for _, d := range days {
			closed[d.Day] = !d.ClosedAt.IsZero()
		}
		reopened, err := s.Reopenings(run.ctx)
		if err != nil {
			return err
		}
		rules, err := run.policies(s)
		if err != nil {
			return err
		}
		placesFrom, found := rules.PlacesFrom()
		var visited *speeds
		if !found {
			placesFrom = math.MaxInt32
		} else if visited, err = speedsOf(run, s); err != nil {
			return err
		}
		first := true // report the faults of a record only once
		var text []byte
		differ, err := compare(func(side sides) error {
			err := s.EachRecord(run.ctx, placesFrom, func(r beacon.RecordRow, before []byte) error {
				facts, ok := run.facts(r, first)
				if ok && closed[r.Day] && !facts.None() {
					if rules.On(r.Day).PaysPlaces() {
						facts.Tier = visited.limit(r.Hotspot, r.Day, tierOf(before))
					}
					facts.Outside = beacon.MinutesADay - facts.Expected - facts.Closed - facts.Excused
					text = appendFacts(text[:0], r.Day, r.Hotspot, &facts)
					side(text, 1)
				}
				return nil
			})
			first = false
			if err != nil {
				return err
			}
			return s.EachLedgerRow(run.ctx, func(r ledger.Row, bad error) error {
				if bad == nil && closed[r.Day] && reopened.Valid(&r) {
					if rules.On(r.Day).PaysPlaces() && visited.unknown(r.Hotspot) {
						r.Tier = beacon.Standard
					}
					text = appendFacts(text[:0], r.Day, r.Hotspot, &r.Facts)
					side(text, -1)
				}
				return nil
			})
		})
		run.tellDiffering(differ, "its record says %s, but the ledger does not", "the ledger says %s, but its record does not")
		return err
	})
	run.lookedAt("%d records, compared with the ledger of %d closed days", run.rows.Load(), len(closed))
	return err
}

// tierOf returns the tier at the end of the day of a record, by which places are paid on
// the next one. It is the lowest if there is no record.
func tierOf(record []byte) beacon.Tier {
	facts, err := heartbeat.RecordFacts(record)
	if err != nil {
		return beacon.Standard
	}
	return facts.Tier
}

// speeds is what visits measured of hotspots that are slower than the best tier: that
// limits what is paid for their places. A nil hotspot stands for one of which it is no
// longer known: its place was erased, it may have forgotten a visit, or it is damaged,
// which another check reports.
type speeds struct {
	seed     maphash.Seed
	hotspots map[uint64]*beacon.Hotspot
}

func speedsOf(run *checkRun, s store.Snapshot) (*speeds, error) {
	v := &speeds{maphash.MakeSeed(), map[uint64]*beacon.Hotspot{}}
	return v, s.EachHotspot(run.ctx, func(h beacon.Hotspot, bad error) error {
		id := maphash.String(v.seed, string(h.ID))
		slower := func(visit beacon.Visit) bool { return visit.Test.AtMost() < beacon.Premium }
		if bad != nil || h.PlaceErased() || len(h.Visits) == beacon.MaxVisits {
			v.hotspots[id] = nil
		} else if slices.ContainsFunc(h.Visits, slower) {
			v.hotspots[id] = &beacon.Hotspot{Location: h.Location, Visits: h.Visits}
		}
		return nil
	})
}

// unknown reports whether the tiers of a hotspot cannot be compared.
func (v *speeds) unknown(hotspot beacon.HotspotID) bool {
	h, found := v.hotspots[maphash.String(v.seed, string(hotspot))]
	return found && h == nil
}

// limit returns the tier that is paid on a day: the lowest if it cannot be compared.
func (v *speeds) limit(hotspot beacon.HotspotID, day beacon.Day, tier beacon.Tier) beacon.Tier {
	h, found := v.hotspots[maphash.String(v.seed, string(hotspot))]
	switch {
	case !found:
		return tier
	case h == nil:
		return beacon.Standard
	default:
		return min(tier, h.PlaceOn(day).Test.AtMost())
	}
}

// facts decodes a record. If tell is set, it reports faults.
func (run *checkRun) facts(r beacon.RecordRow, tell bool) (facts beacon.Facts, ok bool) {
	record, err := heartbeat.DecodeRecord(r.Data)
	if tell {
		run.row()
		switch {
		case err != nil:
			run.wrong(string(r.Hotspot), "its record for %s: %v", r.Day, err)
		case record.Day() != r.Day:
			run.wrong(string(r.Hotspot), "its record for %s is dated %s", r.Day, record.Day())
		}
	}
	if err != nil {
		return facts, false
	}
	return record.Facts(), true
}

func appendFacts(text []byte, day beacon.Day, id beacon.HotspotID, f *beacon.Facts) []byte {
	return fmt.Appendf(text, "%s %s: %d of %d minutes served, %d closed, %d excused, %d outside, %d bytes, %s",
		id, day, f.Served, f.Expected, f.Closed, f.Excused, f.Outside, f.Bytes, f.Tier)
}
