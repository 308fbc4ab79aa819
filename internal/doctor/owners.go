package doctor

import (
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
)

// owners checks whose hotspots were that were handed over: that each former owner has days of
// their own, that hotspots are found by who had them, and that each row of the ledger is of who
// owned its hotspot on its day.
func owners(run *checkRun) error {
	return run.snapshot(func(s store.Snapshot) error {
		of, err := run.former(s)
		if err != nil {
			return err
		}
		err = s.EachSumOfOthers(run.ctx, func(of beacon.Owned) error {
			run.wrong(string(of.Hotspot), "has a monthly sum of %s, whose it never was", of.User)
			return nil
		})
		run.lookedAt("%d hotspots that were handed over", len(of))
		if err != nil || len(of) == 0 {
			return err
		}
		reopened, err := s.Reopenings(run.ctx)
		if err != nil {
			return err
		}
		return s.EachLedgerRow(run.ctx, func(r ledger.Row, bad error) error {
			run.row()
			if whose, known := of[r.Hotspot]; known && bad == nil && reopened.Valid(&r) && whose.On(r.Day) != r.User {
				run.wrong(fmt.Sprintf("%s on %s", r.Hotspot, r.Day), "its row is of %s, but on that day it was of %s", r.User, whose.On(r.Day))
			}
			return nil
		})
	})
}

// former returns the hotspots that were handed over, with whose they are and were. Damaged ones
// are left out: another check reports them.
func (run *checkRun) former(s store.Snapshot) (map[beacon.HotspotID]beacon.Owners, error) {
	of := map[beacon.HotspotID]beacon.Owners{}
	damaged := map[beacon.HotspotID]bool{}
	err := s.EachHotspot(run.ctx, func(h beacon.Hotspot, bad error) error {
		switch {
		case bad != nil:
			damaged[h.ID] = true
		case len(h.Former) > 0:
			of[h.ID] = h.Owners()
			run.tenures(&h)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	type end struct {
		hotspot beacon.HotspotID
		through beacon.Day
	}
	found := map[end]beacon.UserID{}
	err = s.EachFormer(run.ctx, func(h beacon.HotspotID, t beacon.Tenure) error {
		found[end{h, t.Through}] = t.User
		return nil
	})
	if err != nil {
		return nil, err
	}
	for h, whose := range of {
		for _, t := range whose.Former {
			if found[end{h, t.Through}] != t.User {
				run.wrong(string(h), "was of %s through %s, but is not found by that", t.User, t.Through)
			}
			delete(found, end{h, t.Through})
		}
	}
	for at, user := range found {
		if !damaged[at.hotspot] {
			run.wrong(string(at.hotspot), "is found as one of %s through %s, which it was not", user, at.through)
		}
	}
	return of, nil
}

// tenures checks that the former owners of a hotspot follow each other.
func (run *checkRun) tenures(h *beacon.Hotspot) {
	for i, t := range h.Former {
		switch {
		case !id.Valid(beacon.UserPrefix, string(t.User)):
			run.wrong(string(h.ID), "has %.60q as a former owner", t.User)
		case i > 0 && t.Through <= h.Former[i-1].Through:
			run.wrong(string(h.ID), "was of %s through %s, but not on any day", t.User, t.Through)
		}
	}
}
