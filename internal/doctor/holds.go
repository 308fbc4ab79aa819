package doctor

import (
	"cmp"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
)

// holds checks that every hold came about as the rules allow, by people who may decide
// about it, and that held days name a hold of theirs.
func holds(run *checkRun) error {
	return run.snapshot(func(s store.Snapshot) error {
		var earlier []beacon.Hold // of the same operator
		about := map[beacon.HoldID]beacon.Owned{}
		err := s.EachHold(run.ctx, func(h beacon.Hold, damage error) error {
			run.row()
			if len(earlier) > 0 && earlier[0].User != h.User {
				earlier = nil
			}
			if damage != nil {
				run.wrong("", "%v", damage)
			} else if run.hold(&h, earlier); h.Hotspot != "" {
				about[h.ID] = beacon.Owned{User: h.User, Hotspot: h.Hotspot}
			}
			earlier = append(earlier, h)
			return nil
		})
		if err != nil {
			return err
		}
		for id, of := range about {
			if whose, found, err := s.Whose(run.ctx, of.Hotspot); err != nil {
				return err
			} else if !found || !whose.Ever(of.User) {
				run.wrong(string(id), "holds %s, which is not a hotspot of %s", of.Hotspot, of.User)
			}
		}
		stray, err := s.StrayHeld(run.ctx)
		for _, id := range stray {
			run.wrong(id, "days are held by it, but there is no such hold of their hotspots")
		}
		run.lookedAt("%d holds", run.rows.Load())
		return err
	})
}

// hold checks a hold, given the earlier ones of its operator. It does not use the code that
// makes holds.
func (run *checkRun) hold(h *beacon.Hold, earlier []beacon.Hold) {
	id := string(h.ID)
	if h.Number != len(earlier)+1 {
		run.wrong(id, "is number %d of %s, but comes after %d others", h.Number, h.User, len(earlier))
	}
	set := &h.Placed
	run.person(h, "placed", h.Placed)
	for i := range h.Extended {
		e := &h.Extended[i]
		if run.person(h, "extended", *e); e.MayBeOf(set) {
			run.wrong(id, "was extended by %s, who had set its end before: that needs a second person", doer(e))
		}
		set = e
	}
	if h.Until.Sub(set.At) > beacon.HoldAtMost || !h.Until.After(set.At) {
		run.wrong(id, "ends on %s, but its end was set on %s, for at most 30 days", beacon.FormatTime(h.Until), beacon.FormatTime(set.At))
	}
	if before := related(h, earlier); before != nil && h.Placed.MayBeOf(&before.Placed) && len(before.Extended) == 0 {
		run.wrong(id, "was placed by %s, like %s before it: that needs a second person", doer(&h.Placed), before.ID)
	}
	over := !h.Ended.IsZero()
	switch h.State {
	case beacon.HoldIsActive:
		if over {
			run.wrong(id, "is active, and has ended")
		}
	case beacon.HoldIsReleased:
		if !over || h.Ended.By == h.User {
			run.wrong(id, "was released, but not by staff or the clock")
		}
	case beacon.HoldIsVoided:
		run.person(h, "confirmed", h.Ended)
		if run.person(h, "visited", h.Visit); h.Ended.MayBeOf(&h.Visit) || h.Ended.At.Before(h.Visit.At) {
			run.wrong(id, "was voided, but no second person confirmed the visit")
		}
	default:
		run.wrong(id, "has the unknown state %q", h.State)
	}
}

// related returns the last hold before one that is about the same hotspot.
func related(h *beacon.Hold, earlier []beacon.Hold) *beacon.Hold {
	for i := len(earlier) - 1; i >= 0; i-- {
		if e := &earlier[i]; e.Hotspot == "" || h.Hotspot == "" || e.Hotspot == h.Hotspot {
			return e
		}
	}
	return nil
}

// doer names the person or the account that did something.
func doer(act *beacon.HoldAct) string { return cmp.Or(string(act.Person), string(act.By)) }

// person checks that someone other than the operator did something about a hold, while it
// lasted.
func (run *checkRun) person(h *beacon.Hold, did string, act beacon.HoldAct) {
	switch {
	case doer(&act) == "" || act.At.IsZero() || act.At.Equal(time.UnixMicro(0)):
		run.wrong(string(h.ID), "nobody has %s it", did)
	case act.By == h.User:
		run.wrong(string(h.ID), "%s has %s it, who is its operator", act.By, did)
	case act.At.Before(h.Placed.At) || !act.At.Before(h.Until):
		run.wrong(string(h.ID), "%s has %s it on %s, when it was not active", act.By, did, beacon.FormatTime(act.At))
	}
}

// appendHeld appends a row if it is held.
func appendHeld(held []ledger.HeldDay, r *ledger.Row, hash ledger.Hash) []ledger.HeldDay {
	if !r.IsHeld() {
		return held
	}
	return append(held, ledger.HeldDay{Day: r.Day, Owned: r.Owned, Hold: r.Hold, Hash: hash, Amount: r.Total()})
}

// held compares the held days of a user's month with the rows.
func (b *ledgerCheck) held(is *ledger.UserMonth, rows []ledger.HeldDay) {
	want := map[ledger.HeldDay]bool{}
	for _, d := range rows {
		want[d] = true
	}
	if !b.holds && len(rows) == 0 {
		return
	}
	err := b.s.HeldDays(b.ctx, is.User, func(d ledger.HeldDay) error {
		if d.Day.Month() != is.Month {
			return nil
		}
		id := fmt.Sprintf("%s on %s", d.Hotspot, d.Day)
		if d.Listed != ledger.NoMonth && (d.State == beacon.HoldIsActive || d.Listed < is.Month) {
			b.wrong(id, "its hold is %s, but the statement of %s says what became of it", d.State, d.Listed)
		}
		d.State, d.Listed = "", 0
		if !want[d] {
			b.wrong(id, "is held by %s with %s, but its row says otherwise", d.Hold, d.Amount)
		}
		delete(want, d)
		return nil
	})
	if err != nil {
		b.wrong(fmt.Sprintf("%s in %s", is.User, is.Month), "its held days cannot be read: %v", err)
	}
	for d := range want {
		b.wrong(fmt.Sprintf("%s on %s", d.Hotspot, d.Day), "its row is held by %s, but it is not listed as held", d.Hold)
	}
}
