package doctor

import (
	"fmt"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
)

const (
	enoughDays   = 7
	daysBack     = 30
	wholeMinutes = 1_000_000
)

// excused checks what rows say of the time in which the service was down, where it is paid by
// what the hotspot did in the same minutes of other days, against the records and rows of those
// days. Rows of days that were opened again are left out: beacon rewards replay has all.
func excused(run *checkRun) error {
	return run.snapshot(func(s store.Snapshot) error {
		rules, err := run.policies(s)
		if err != nil {
			return err
		}
		reopened, err := s.Reopenings(run.ctx)
		if err != nil {
			return err
		}
		days, err := s.Closings(run.ctx)
		if err != nil {
			return err
		}
		places, err := placesOf(run, s)
		if err != nil {
			return err
		}
		for _, closing := range days {
			if rules.On(closing.Day).Counts() != beacon.InMinutes || reopened.Again(closing.Day) {
				continue
			}
			for after := (beacon.Owned{}); ; {
				rows, err := s.LedgerAfter(run.ctx, closing.Day, after)
				if err != nil {
					return err
				}
				if len(rows) == 0 {
					break
				}
				after = rows[len(rows)-1].Owned
				if err := run.excusedRows(s, places, reopened, rows); err != nil {
					return err
				}
			}
		}
		run.lookedAt("%d rows with excused minutes", run.rows.Load())
		return nil
	})
}

// pastDays is what is known of the days before a row.
type pastDays struct {
	row           *ledger.Row
	began         beacon.Day
	excused       beacon.Minutes
	days, served  [beacon.MinutesADay]int64
	open          int // excused minutes that have too few days
	rows          int
	own, onTheAir int64
}

// excusedRows checks a page of rows of one day.
func (run *checkRun) excusedRows(s store.Snapshot, places *knownPlaces, reopened ledger.Reopenings, rows []ledger.Row) error {
	past := map[beacon.HotspotID]*pastDays{}
	var ids []beacon.HotspotID
	for i := range rows {
		if r := &rows[i]; r.Excused > 0 && r.Proof > 0 {
			if at, known := places.on(r.Hotspot, r.Day); known {
				past[r.Hotspot] = &pastDays{row: r, began: at.began}
				ids = append(ids, r.Hotspot)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	day := rows[0].Day
	of, err := s.Records(run.ctx, day, ids)
	if err != nil {
		return err
	}
	for id, p := range past {
		did, err := heartbeat.RecordDid(of[id])
		if err != nil || did.Facts.Excused != p.row.Excused {
			delete(past, id) // the check of records reports it
			continue
		}
		p.excused, p.open = did.ExcusedMinutes, did.Facts.Excused
	}
	for back := day - 1; back >= day-daysBack; back-- {
		if of, err = s.Records(run.ctx, back, ids); err != nil {
			return err
		}
		then, err := s.ValidRows(run.ctx, back, rows[0].Owned, rows[len(rows)-1].Owned, reopened)
		if err != nil {
			return err
		}
		then = slices.DeleteFunc(then, func(r ledger.Row) bool { // of others by the day of rows
			p := past[r.Hotspot]
			return p == nil || p.row.User != r.User
		})
		for id, p := range past {
			owner := places.ownerOn(p.row.Owned, back)
			if owner == p.row.User {
				continue
			}
			of := beacon.Owned{User: owner, Hotspot: id}
			others, err := s.ValidRows(run.ctx, back, of, of, reopened)
			if err != nil {
				return err
			}
			then = append(then, others...)
		}
		for id, p := range past {
			did, _ := heartbeat.RecordDid(of[id]) // a damaged one says nothing
			p.add(back, &did)
		}
		for i := range then {
			if p := past[then[i].Hotspot]; p != nil {
				p.earned(&then[i])
			}
		}
	}
	for id, p := range past {
		run.row()
		if due, share := p.due(), p.share(); due != p.row.Due || share != p.row.Recent {
			run.wrong(fmt.Sprintf("%s on %s", id, day), "its excused minutes count as %s, of which it owned %s; by the days before that is %s and %s",
				beacon.Amount(p.row.Due), beacon.Amount(p.row.Recent), beacon.Amount(due), beacon.Amount(share))
		}
	}
	return nil
}

func isSet(minutes *beacon.Minutes, minute int) bool { return minutes[minute/64]>>(minute%64)&1 == 1 }

// add counts a day for each minute that has too few.
func (p *pastDays) add(day beacon.Day, did *beacon.Did) {
	if day < p.began || p.open == 0 {
		return
	}
	for m := range beacon.MinutesADay {
		if !isSet(&p.excused, m) || p.days[m] == enoughDays || isSet(&did.ExcusedMinutes, m) {
			continue
		}
		if p.days[m]++; p.days[m] == enoughDays {
			p.open--
		}
		if isSet(&did.Minutes, m) {
			p.served[m]++
		}
	}
}

// earned counts the ground of a day on which it served.
func (p *pastDays) earned(r *ledger.Row) {
	if r.Day < p.began || r.Served == 0 || p.rows == enoughDays {
		return
	}
	p.rows++
	p.onTheAir += int64(r.Served)
	if r.Counts == beacon.NoStanding {
		p.own += wholeMinutes * int64(r.Served)
	} else {
		p.own += r.Own
	}
}

func (p *pastDays) due() (sum int64) {
	for m := range p.days {
		if p.days[m] > 0 {
			sum += wholeMinutes * p.served[m] / p.days[m]
		}
	}
	return sum
}

func (p *pastDays) share() int64 {
	if p.onTheAir == 0 {
		return 0
	}
	return p.own / p.onTheAir
}
