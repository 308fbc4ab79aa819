package storetest

import (
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
)

// benchPage is how many hotspots are closed, and users settled, at once.
const benchPage = 1000

// BenchmarkRewards closes two days of all registered hotspots, the second of which has
// sums to add to, and settles their month. It reports the microseconds of each step per
// row.
func BenchmarkRewards(b *testing.B, db *store.DB) {
	w := &rewardWork{b: b, db: db, took: map[string]time.Duration{}, cpu: map[string]time.Duration{}, rows: map[string]int{}}
	day := rewardMonth.First()
	for b.Loop() {
		w.closeDay(day, "first-day")
		w.closeDay(day+1, "next-day")
		w.settle()
	}
	for what, took := range w.took {
		b.ReportMetric(float64(took.Microseconds())/float64(w.rows[what]), what+"-µs/row")
		b.ReportMetric(float64(w.cpu[what].Microseconds())/float64(w.rows[what]), what+"-cpu-µs/row")
	}
}

type rewardWork struct {
	b    *testing.B
	db   *store.DB
	took map[string]time.Duration
	cpu  map[string]time.Duration // of this process
	rows map[string]int
}

func (w *rewardWork) measure(what string, step func() (rows int, err error)) {
	start, cpu := time.Now(), cpuTime(w.b)
	n, err := step()
	if err != nil {
		w.b.Fatal(what, err)
	}
	w.took[what] += time.Since(start)
	w.cpu[what] += cpuTime(w.b) - cpu
	w.rows[what] += n
}

// cpuTime returns the CPU time that this process has used so far.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func (w *rewardWork) closeDay(day beacon.Day, what string) {
	w.fold(day)
	l := lead(w.b, w.db, "keeper")
	ctx := w.b.Context()
	var after beacon.Owned
	for more := true; more; {
		var records []beacon.OwnedRecord
		var hotspots []ledger.HotspotMonth
		var users []ledger.UserMonth
		from := after
		w.measure(what+"-records", func() (_ int, err error) {
			records, after, more, err = w.db.Records.OwnedRecords(ctx, day, after, benchPage)
			return len(records), err
		})
		w.measure(what+"-sums", func() (_ int, err error) {
			if hotspots, err = w.db.Ledger.HotspotMonths(ctx, day.Month(), records[0].Owned, after); err != nil {
				return 0, err
			}
			users, err = w.db.Ledger.UserMonths(ctx, day.Month(), records[0].User, after.User)
			return len(records), err
		})
		p := ledger.Page{Day: day, From: from, Upto: after, Hotspots: hotspots, Users: users, Basis: ledger.BasisOf(hotspots, users)}
		w.fill(&p, records)
		if !more {
			p.Done = Now
		}
		w.measure(what+"-put", func() (int, error) { return len(records), w.db.Ledger.PutPage(ctx, l, p) })
	}
}

// fill makes a page of records. Its numbers do not matter.
func (w *rewardWork) fill(p *ledger.Page, records []beacon.OwnedRecord) {
	fresh := len(p.Hotspots) == 0
	user := beacon.UserID("")
	if len(p.Users) > 0 {
		user = p.Users[0].User // may have begun on the previous page
	}
	for n, r := range records {
		p.Rows = append(p.Rows, ledgerRow(p.Day, r.Owned, 1_234_567))
		if fresh {
			p.Hotspots = append(p.Hotspots, hotspotMonth(p.Day.Month(), r.Owned, n))
		}
		if fresh && r.User != user {
			user = r.User
			p.Users = append(p.Users, userMonth(p.Day.Month(), user, n))
			p.Accounts = append(p.Accounts, ledger.Account{User: user, FirstDay: p.Day})
		}
	}
}

// fold writes a record of the day for every hotspot, ordered by id.
func (w *rewardWork) fold(day beacon.Day) {
	var mu sync.Mutex
	var ids []beacon.HotspotID
	err := w.db.Hotspots.EachHotspot(w.b.Context(), time.Time{}, func(h beacon.Hotspot) error {
		mu.Lock()
		defer mu.Unlock()
		ids = append(ids, h.ID)
		return nil
	})
	if err != nil {
		w.b.Fatal(err)
	}
	l := lead(w.b, w.db, "keeper")
	slices.Sort(ids)
	data := make([]byte, 250)
	for some := range slices.Chunk(ids, benchPage/2) {
		var rows []beacon.RecordRow
		for _, id := range some {
			rows = append(rows, beacon.RecordRow{Hotspot: id, Day: day, Data: data})
		}
		put(w.b, w.db, l, rows...)
	}
}

func (w *rewardWork) settle() {
	ctx := w.b.Context()
	var after beacon.Owned
	for more := true; more; {
		w.measure("totals", func() (int, error) {
			sums, err := w.db.Ledger.HotspotPage(ctx, rewardMonth, after, benchPage)
			if more = len(sums) == benchPage; err != nil || len(sums) == 0 {
				return 0, err
			}
			after = sums[len(sums)-1].Owned
			return len(sums), w.db.Ledger.AddTotals(ctx, 0, sums)
		})
	}
	var user beacon.UserID
	for more := true; more; {
		w.measure("statements", func() (int, error) {
			sums, err := w.db.Ledger.UserPage(ctx, rewardMonth, user, benchPage)
			if more = len(sums) == benchPage; err != nil || len(sums) == 0 {
				return 0, err
			}
			from := sums[0].User
			user = sums[len(sums)-1].User
			accounts, err := w.db.Ledger.Accounts(ctx, from, user)
			if err != nil {
				return 0, err
			}
			var statements []ledger.Statement
			for i, m := range sums {
				statements = append(statements, ledger.Statement{UserMonth: m, Previous: accounts[i].Hash, Hash: hash(i), SettledAt: Now})
			}
			n, err := w.db.Ledger.Settle(ctx, Actor, 0, statements)
			if n != len(sums) {
				w.b.Errorf("%d of %d statements", n, len(sums))
			}
			return n, err
		})
	}
}
