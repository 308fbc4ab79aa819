package demo

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/review"
	"github.com/beacon-wifi/beacon/internal/store"
)

// plannedHold is a hold on a hotspot that is unusual. Its times are before now.
type plannedHold struct {
	on               oddity
	reason, evidence string
	placed           time.Duration
	answer           string
	answered         time.Duration // 0: never
	outcome          string
	released         time.Duration // 0: it is active
}

const day = 24 * time.Hour

var plannedHolds = []plannedHold{
	{
		on: restless, placed: 44 * day,
		reason:   "The device starts again every few minutes. Please tell us what is wrong with it.",
		evidence: "More than a hundred boots on each of the last three days.",
		answered: 43 * day, answer: "The power supply is failing. A new one is ordered.",
		released: 38 * day, outcome: "Explained: a broken power supply, and no gain from it.",
	},
	{
		on: far, placed: 6*day + 5*time.Hour,
		reason:   "A radius of 450 m is claimed. Visitors lose the signal after about 80 m.",
		evidence: "Measured on foot in three directions.",
		answered: 5*day + 3*time.Hour, answer: "There is a directional antenna on the roof. I can show it to you any afternoon.",
	},
	{
		on: uncounted, placed: 2*day + 4*time.Hour,
		reason:   "The device reports much traffic for hours, and no clients at all. Please check what it counts.",
		evidence: "Flagged for traffic without clients, several days in a row.",
	},
}

// holdLasts is how long a hold is placed for.
const holdLasts = 14 * day

// deed is something that someone does about a hold.
type deed struct {
	of   beacon.UserID // the operator
	kind beacon.ChangeKind
	act  beacon.HoldAct
	edit func(all []beacon.Hold, act beacon.HoldAct) (beacon.Hold, error)
}

// deeds returns what is done about holds, in order.
func (n *Network) deeds() (all []deed) {
	for _, plan := range plannedHolds {
		at := slices.IndexFunc(n.Hotspots, func(s *Hotspot) bool { return s.odd == plan.on })
		if at < 0 || n.Now.Add(-plan.placed).Before(n.Began().Add(2*day)) {
			continue
		}
		of := n.Hotspots[at]
		hold := beacon.Hold{
			ID: beacon.HoldID(idOf(n.Seed, beacon.HoldPrefix, string(of.ID), n.Now.Add(-plan.placed))), User: of.Operator, Hotspot: of.ID,
			Reason: plan.reason, Evidence: plan.evidence, Until: n.Now.Add(holdLasts - plan.placed).Truncate(time.Millisecond),
		}
		later := func(do func(*beacon.Hold, beacon.HoldAct) error) func([]beacon.Hold, beacon.HoldAct) (beacon.Hold, error) {
			return func(all []beacon.Hold, act beacon.HoldAct) (beacon.Hold, error) {
				at := slices.IndexFunc(all, func(h beacon.Hold) bool { return h.ID == hold.ID })
				return all[at], do(&all[at], act)
			}
		}
		for _, step := range []struct {
			ago  time.Duration
			by   beacon.UserID
			kind beacon.ChangeKind
			note string
			edit func([]beacon.Hold, beacon.HoldAct) (beacon.Hold, error)
		}{
			{plan.placed, n.Staff, beacon.HoldPlaced, plan.reason, func(all []beacon.Hold, act beacon.HoldAct) (beacon.Hold, error) {
				hold.Placed = act
				return hold.Place(all)
			}},
			{plan.answered, of.Operator, beacon.HoldAnswered, plan.answer, later((*beacon.Hold).Respond)},
			{plan.released, n.colleague, beacon.HoldReleased, plan.outcome, later((*beacon.Hold).Release)},
		} {
			if step.ago > 0 {
				act := beacon.HoldAct{By: step.by, At: n.Now.Add(-step.ago).Truncate(time.Millisecond), Note: step.note}
				all = append(all, deed{of.Operator, step.kind, act, step.edit})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b deed) int { return a.act.At.Compare(b.act.At) })
	return all
}

// decide does what is done about holds before a time, by the rules of holds.
func (w *writer) decide(ctx context.Context, before time.Time) error {
	for ; len(w.ahead) > 0 && w.ahead[0].act.At.Before(before); w.ahead = w.ahead[1:] {
		d := w.ahead[0]
		by := beacon.Actor{User: d.act.By, Request: byDemo.Request, Note: d.act.Note}
		_, err := w.db.Holds.EditHolds(ctx, d.of, by, d.act.At, func(all []beacon.Hold) (beacon.Hold, beacon.ChangeKind, error) {
			h, err := d.edit(all, d.act)
			return h, d.kind, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// review flags what is unusual on the last day, by the rules of every server. A server would
// not do it in the first minutes.
func (w *writer) review(ctx context.Context) error {
	return review.New(review.Config{
		Store: struct {
			store.FlagTable
			store.HotspotTable
			store.RecordTable
			store.CheckInTable
			store.LedgerTable
			store.PeopleTable
		}{w.db.Flags, w.db.Hotspots, w.db.Records, w.db.CheckIns, w.db.Ledger, w.db.People},
		Final: w.FinalBefore, Lease: func() (lease.Lease, bool) { return w.held, true },
		Addresses: func(beacon.HotspotID, beacon.Day) int { return 0 }, // no device has sent anything yet
		Now:       func() time.Time { return w.network.Now }, Log: slog.New(slog.DiscardHandler),
	}).Step(ctx)
}

const (
	// phones is how many phones check in, each checksEach times in the last checkDays days.
	phones     = 30
	checksEach = 12
	checkDays  = 28
	// elsewhere is at how many hotspots of others than the featured operator they do so.
	elsewhere = 8
	// worksOften is how often in a hundred times a hotspot works for a phone, and one that is
	// weak worksSeldom times.
	worksOften, worksSeldom = 96, 60
)

// checkIn lets phones check in, by the rules of check-ins: each begins at hotspots of other
// operators, so that what it says of the rest is evidence.
func (w *writer) checkIn(ctx context.Context) error {
	n := w.network
	key, _ := access.Mint(n.Began(), beacon.Key{User: userOf(n.Seed, "app", n.founded()), Name: "Wi-Fi finder", Scopes: []beacon.Scope{beacon.CheckInsWrite}})
	if err := w.db.Keys.InsertKey(ctx, key, byDemo, nil); err != nil {
		return err
	}
	own, others := n.busy()
	if len(own) == 0 || len(others) <= beacon.VouchedAtOthers {
		return nil
	}
	numbers := make([]int, phones)
	for i := range numbers {
		numbers[i] = i
	}
	return together(ctx, numbers, func(ctx context.Context, number int) error {
		random := sourceOf(n.Seed, "phone "+string(rune('A'+number)))
		c := beacon.CheckIn{User: key.User}
		for i := range c.Install {
			c.Install[i] = byte(random.Uint32())
		}
		from, every := n.Now.Add(-checkDays*day), checkDays*day/checksEach
		for i := range checksEach {
			s := own[random.IntN(len(own))]
			if i <= beacon.VouchedAtOthers || random.IntN(5) == 0 {
				s = others[(number+i)%len(others)]
			}
			works := worksOften
			if s.odd == weak {
				works = worksSeldom
			}
			c.Hotspot, c.Operator, c.Works = s.ID, s.Operator, random.IntN(100) < works
			c.At = from.Add(every*time.Duration(i) + time.Duration(random.Int64N(int64(every)))).Truncate(time.Millisecond)
			c.Measured = beacon.Measured{}
			if c.Works {
				c.Measured = beacon.Measured{DownMbps: float32(15 + random.IntN(60)), UpMbps: float32(4 + random.IntN(12)), RSSI: -50 - random.IntN(30)}
			}
			if err := w.putCheckIn(ctx, s, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// putCheckIn writes a check-in of a phone that was there.
func (w *writer) putCheckIn(ctx context.Context, s *Hotspot, c beacon.CheckIn) error {
	today := beacon.DayOf(c.At)
	operators, err := w.db.CheckIns.CheckedInAt(ctx, c.Install, today-beacon.CheckInDays+1, c.Operator)
	if err != nil {
		return err
	}
	c.Visited, c.Evidence = s.PlaceOn(today).Visited(today), operators >= beacon.VouchedAtOthers
	_, err = w.db.CheckIns.PutCheckIn(ctx, c, byDemo, nil)
	return err
}

// busy returns hotspots at which phones check in: the featured operator's, and one of each of
// some others. All of them were there from the first day, and stayed.
func (n *Network) busy() (own, others []*Hotspot) {
	of := map[beacon.UserID]bool{n.Operator: true}
	for _, s := range n.Hotspots {
		if s.Type == beacon.Home || s.Device == nil || s.CreatedAt.After(n.Began()) || !s.dark.IsZero() || s.Deleted() || s.Moved() || s.odd != usual && s.odd != weak {
			continue
		}
		if s.Operator == n.Operator {
			own = append(own, s)
		} else if !of[s.Operator] && len(others) < elsewhere {
			of[s.Operator] = true
			others = append(others, s)
		}
	}
	return own, others
}
