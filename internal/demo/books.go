package demo

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
)

// books is the store of rewards while a history is written. The days are closed as on
// every server, but most of what that reads is in memory, and what it writes is written
// some days at a time: sums and standings change with every day, and only the last of
// them count. A transaction has whole days with their sums, so readers of the
// database find figures that agree.
type books struct {
	store.RewardTables
	held lease.Lease

	hotspots map[beacon.HotspotID]beacon.Hotspot
	found    []beacon.Hotspot
	owned    []beacon.Owned // all of them, by user and then hotspot
	at       map[beacon.Owned]int
	users    []beacon.UserID                   // in order
	records  map[beacon.Day][]beacon.RecordRow // of the last days, by hotspot
	recorded []beacon.RecordRow                // those that wait
	first    beacon.Day                        // with records; 0: none

	sums, onDisk sums
	waiting      []ledger.Page // without sums
	closing      ledger.Closing
	begun        bool

	mu   sync.Mutex                    // since a page is made while one is put
	rows map[beacon.Day][][]ledger.Row // of the last days, those that wait included; under mu

	standings map[beacon.HotspotID][]ledger.Standing // one for each place
	through   ledger.StandingsThrough
	counted   bool
}

// sums is those of a month: of each hotspot, as in books.owned, and of each user. Those of
// another month count as none.
type sums struct {
	hotspots []ledger.HotspotMonth
	users    []ledger.UserMonth
}

// newBooks reads the hotspots. They must not change from then on.
func newBooks(ctx context.Context, db *store.DB, held lease.Lease, ids []beacon.HotspotID) (*books, error) {
	all, err := db.Hotspots.HotspotsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	b := &books{
		RewardTables: db.Rewards(), held: held, hotspots: map[beacon.HotspotID]beacon.Hotspot{}, at: map[beacon.Owned]int{},
		records: map[beacon.Day][]beacon.RecordRow{}, rows: map[beacon.Day][][]ledger.Row{}, standings: map[beacon.HotspotID][]ledger.Standing{},
	}
	for _, h := range all {
		b.hotspots[h.ID] = h
		b.owned = append(b.owned, beacon.Owned{User: h.Operator, Hotspot: h.ID})
		b.users = append(b.users, h.Operator)
	}
	slices.SortFunc(b.owned, beacon.Owned.Compare)
	slices.Sort(b.users)
	b.users = slices.Compact(b.users)
	for i, o := range b.owned {
		b.at[o] = i
	}
	for _, s := range []*sums{&b.sums, &b.onDisk} {
		s.hotspots, s.users = make([]ledger.HotspotMonth, len(b.owned)), make([]ledger.UserMonth, len(b.users))
	}
	return b, nil
}

// record takes the records of a day, and forgets and returns old ones. A day is divided by
// those of the day before and, on the day of an outage, of a week.
func (b *books) record(day beacon.Day, records []beacon.RecordRow) (gone []beacon.RecordRow) {
	if b.first == 0 && len(records) > 0 {
		b.first = day
	}
	b.recorded = append(b.recorded, records...)
	b.records[day] = records
	old := day - daysAtOnce
	gone = b.records[old]
	delete(b.records, old)
	return gone
}

// find returns where a hotspot is, or would be, among the records of a day.
func (b *books) find(day beacon.Day, id beacon.HotspotID) (int, bool) {
	return slices.BinarySearchFunc(b.records[day], id, func(r beacon.RecordRow, id beacon.HotspotID) int { return cmp.Compare(r.Hotspot, id) })
}

// RecordPage implements places.Store, like the methods below.
func (b *books) RecordPage(_ context.Context, day beacon.Day, after beacon.HotspotID, limit int) ([]beacon.RecordRow, error) {
	from, found := b.find(day, after)
	if found {
		from++
	}
	rest := b.records[day][from:]
	return rest[:min(limit, len(rest))], nil
}

// Records returns the records of a day.
func (b *books) Records(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID][]byte, error) {
	if _, inMemory := b.records[day]; !inMemory {
		if err := b.flush(ctx); err != nil {
			return nil, err
		}
		return b.RewardTables.Records(ctx, day, ids)
	}
	found := make(map[beacon.HotspotID][]byte, len(ids))
	for _, id := range ids {
		if at, ok := b.find(day, id); ok {
			found[id] = b.records[day][at].Data
		}
	}
	return found, nil
}

// HotspotsByID returns hotspots, in memory that it reuses.
func (b *books) HotspotsByID(_ context.Context, ids []beacon.HotspotID) ([]beacon.Hotspot, error) {
	b.found = b.found[:0]
	for _, id := range ids {
		if h, ok := b.hotspots[id]; ok {
			b.found = append(b.found, h)
		}
	}
	return b.found, nil
}

// OwnedOn returns hotspots after one. None was handed over.
func (b *books) OwnedOn(_ context.Context, _ beacon.Day, after beacon.Owned, limit int) ([]beacon.Owned, error) {
	from, found := slices.BinarySearchFunc(b.owned, after, beacon.Owned.Compare)
	if found {
		from++
	}
	return b.owned[from:min(from+limit, len(b.owned))], nil
}

// HotspotMonths returns sums, those that wait included.
func (b *books) HotspotMonths(_ context.Context, month beacon.Month, from, to beacon.Owned) ([]ledger.HotspotMonth, error) {
	return b.sums.ofHotspots(month, b.at[from], b.at[to]), nil
}

// UserMonths returns sums, those that wait included.
func (b *books) UserMonths(_ context.Context, month beacon.Month, from, to beacon.UserID) ([]ledger.UserMonth, error) {
	return b.sums.ofUsers(month, b.user(from), b.user(to)), nil
}

func (b *books) user(id beacon.UserID) int {
	at, _ := slices.BinarySearch(b.users, id)
	return at
}

// ofHotspots returns the sums of a month from one hotspot to another.
func (s *sums) ofHotspots(month beacon.Month, from, to int) []ledger.HotspotMonth {
	found := make([]ledger.HotspotMonth, 0, to+1-from)
	for _, sum := range s.hotspots[from : to+1] {
		if sum.Month == month && sum.Hotspot != "" {
			found = append(found, sum)
		}
	}
	return found
}

func (s *sums) ofUsers(month beacon.Month, from, to int) (found []ledger.UserMonth) {
	for _, sum := range s.users[from : to+1] {
		if sum.Month == month && sum.User != "" {
			found = append(found, sum)
		}
	}
	return found
}

// daysAtOnce is how many days are written in one transaction, and how many are kept in
// memory.
const daysAtOnce = 10

// PutPage keeps a page until enough days wait, or the month ends.
func (b *books) PutPage(ctx context.Context, _ lease.Lease, page ledger.Page) error {
	if page.From == (beacon.Owned{}) {
		b.closing, b.begun = ledger.Closing{Day: page.Day}, true
	}
	for _, row := range page.Rows {
		b.closing.Earned = b.closing.Plus(row.Earned)
	}
	b.closing.Upto, b.closing.Hotspots, b.closing.ClosedAt = page.Upto, b.closing.Hotspots+len(page.Rows), page.Done
	for _, sum := range page.Hotspots {
		b.sums.hotspots[b.at[sum.Owned]] = sum
	}
	for _, sum := range page.Users {
		b.sums.users[b.user(sum.User)] = sum
	}
	month := page.Day.Month()
	if n := len(page.Rows); n > 0 {
		first, last := page.Rows[0].Owned, page.Rows[n-1].Owned
		page.Basis = ledger.BasisOf(
			b.onDisk.ofHotspots(month, b.at[first], b.at[last]), b.onDisk.ofUsers(month, b.user(first.User), b.user(last.User)))
	}
	if page.Places && !page.Done.IsZero() {
		b.through = ledger.StandingsThrough{Day: page.Day, Revision: page.Revision, ADay: page.StandingADay}
	}
	page.Hotspots, page.Users, page.Places = nil, nil, false
	b.waiting = append(b.waiting, page)
	b.mu.Lock()
	b.rows[page.Day] = append(b.rows[page.Day], page.Rows)
	delete(b.rows, page.Day-daysAtOnce)
	b.mu.Unlock()
	if page.Done.IsZero() || page.Day != month.Last() && page.Day < b.waiting[0].Day+daysAtOnce-1 {
		return nil
	}
	return b.flush(ctx)
}

// flush writes what waits: records, and then days with their sums.
func (b *books) flush(ctx context.Context) error {
	if err := b.RewardTables.PutRecords(ctx, b.held, b.recorded); err != nil {
		return err
	}
	if b.recorded = b.recorded[:0]; len(b.waiting) == 0 {
		return nil
	}
	last := &b.waiting[len(b.waiting)-1]
	for i, sum := range b.sums.hotspots {
		if sum != b.onDisk.hotspots[i] {
			last.Hotspots = append(last.Hotspots, sum)
		}
	}
	for i, sum := range b.sums.users {
		if sum != b.onDisk.users[i] {
			last.Users = append(last.Users, sum)
		}
	}
	if err := b.RewardTables.PutPages(ctx, b.held, b.waiting); err != nil {
		return err
	}
	b.onDisk = sums{slices.Clone(b.sums.hotspots), slices.Clone(b.sums.users)}
	b.waiting = b.waiting[:0]
	return nil
}

// UserPage returns sums for a settlement, which reads and writes the database alone.
func (b *books) UserPage(ctx context.Context, month beacon.Month, after beacon.UserID, limit int) ([]ledger.UserMonth, error) {
	if err := b.flush(ctx); err != nil {
		return nil, err
	}
	return b.RewardTables.UserPage(ctx, month, after, limit)
}

// ValidRows returns rows of a closed day. None was opened again.
func (b *books) ValidRows(ctx context.Context, day beacon.Day, from, to beacon.Owned, reopened ledger.Reopenings) (rows []ledger.Row, _ error) {
	b.mu.Lock()
	pages, kept := b.rows[day]
	b.mu.Unlock()
	if !kept {
		return b.RewardTables.ValidRows(ctx, day, from, to, reopened)
	}
	for _, page := range pages {
		for i := range page {
			if page[i].Compare(from) >= 0 && page[i].Compare(to) <= 0 {
				rows = append(rows, page[i])
			}
		}
	}
	return rows, nil
}

// Books reads a snapshot.
func (b *books) Books(ctx context.Context, read func(ledger.Books) error) error {
	return b.RewardTables.Books(ctx, func(on ledger.Books) error {
		on.Progress = snapshot{on.Progress, b}
		return read(on)
	})
}

// snapshot is what is on disk, but for which days have records and are closed.
type snapshot struct {
	ledger.Progress
	in *books
}

func (s snapshot) Closing(context.Context) (ledger.Closing, bool, error) {
	return s.in.closing, s.in.begun, nil
}

func (s snapshot) FirstRecord(context.Context) (beacon.Day, bool, error) {
	return s.in.first, s.in.first != 0, nil
}

// Standings returns standings of some hotspots.
func (b *books) Standings(_ context.Context, ids []beacon.HotspotID) (found []ledger.Standing, _ error) {
	for _, id := range ids {
		found = append(found, b.standings[id]...)
	}
	return found, nil
}

// StandingsThrough returns through which day they are complete.
func (b *books) StandingsThrough(context.Context) (ledger.StandingsThrough, bool, error) {
	return b.through, b.counted, nil
}

// ForgetStandings forgets them.
func (b *books) ForgetStandings(context.Context, lease.Lease) error {
	clear(b.standings)
	return nil
}

// PutStandings keeps standings until putStandings.
func (b *books) PutStandings(_ context.Context, _ lease.Lease, standings []ledger.Standing) error {
	for _, s := range standings {
		of := b.standings[s.Hotspot]
		if at := slices.IndexFunc(of, func(o ledger.Standing) bool { return o.Since == s.Since }); at >= 0 {
			of[at] = s
		} else {
			b.standings[s.Hotspot] = append(of, s)
		}
	}
	return nil
}

// FinishStandings keeps through which day they are complete.
func (b *books) FinishStandings(_ context.Context, _ lease.Lease, through ledger.StandingsThrough) error {
	b.through, b.counted = through, true
	return nil
}

// putStandings writes the standings, which are complete then.
func (b *books) putStandings(ctx context.Context) error {
	if !b.counted {
		return nil
	}
	var all []ledger.Standing
	for _, o := range b.owned {
		all = append(all, b.standings[o.Hotspot]...)
	}
	slices.SortFunc(all, func(x, y ledger.Standing) int {
		return cmp.Or(cmp.Compare(x.Hotspot, y.Hotspot), cmp.Compare(x.Since, y.Since))
	})
	if err := b.RewardTables.PutStandings(ctx, b.held, all); err != nil {
		return err
	}
	return b.RewardTables.FinishStandings(ctx, b.held, b.through)
}
