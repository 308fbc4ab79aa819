package api_test

import (
	"context"
	"errors"

	"github.com/beacon-wifi/beacon/internal/api/payments"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// october is settled, with one day of two hotspots.
var october = beacon.MonthOf(noon) - 1

// books are what the examples of the document speak of, whoever asks: the
// amounts are written down here, not computed.
type books struct {
	payments.Rewards
	rows     int   // that the statement has; 0: the two of the example
	fail     error // after them
	endless  bool  // the rows come again and again
	hotspots int   // that the summary has; 0: the same two
}

func hotspotRow(n byte, f beacon.Facts, e beacon.Earned) ledger.Row {
	hotspot := []byte("hs_01kb3gzk00e9x8q6s5t4v3w2y0")
	hotspot[len(hotspot)-1] += n
	return ledger.Row{Day: october.Last(), Owned: beacon.Owned{Hotspot: beacon.HotspotID(hotspot)}, Policy: 1, Facts: f, Earned: e}
}

var (
	readingRoomRow = hotspotRow(1,
		beacon.Facts{Served: 1439, Expected: 1440, Bytes: 75_000_000_000, Tier: beacon.Enhanced},
		beacon.Earned{Availability: 999_305, Performance: 249_826, Utilization: 1_000_000})
	secondRow = hotspotRow(2, beacon.Facts{Served: 1440, Expected: 1440}, beacon.Earned{Availability: 1_000_000})
)

func sumOf(r ledger.Row) ledger.Sum {
	return ledger.Sum{Served: int64(r.Served), Expected: int64(r.Expected), Earned: r.Earned}
}

func paid(s ledger.Sum) earnings.Payment { return earnings.Payment{Settled: s.Total()} }

func (b books) Summary(_ context.Context, p beacon.Principal, _ earnings.SummaryQuery) (earnings.Summary, error) {
	if b.hotspots > 0 {
		many := earnings.Summary{User: p.User, Start: october.Start(), End: (october + 1).Start(), Status: rewards.Finalizing}
		for range b.hotspots {
			many.Total = many.Total.Plus(sumOf(secondRow))
			many.Hotspots = append(many.Hotspots, earnings.HotspotSum{
				HotspotName: beacon.HotspotName{ID: secondRow.Hotspot, Name: "Hotspot"}, Sum: sumOf(secondRow),
			})
		}
		return many, nil
	}
	total := sumOf(readingRoomRow).Plus(sumOf(secondRow))
	return earnings.Summary{
		User: p.User, Start: october.Start(), End: (october + 1).Start(), Status: rewards.Settled, Total: total, Payment: paid(total),
		Hotspots: []earnings.HotspotSum{
			{HotspotName: beacon.HotspotName{ID: readingRoomRow.Hotspot, Name: "Bryant Park Reading Room"}, Tier: beacon.Enhanced, Sum: sumOf(readingRoomRow), Payment: paid(sumOf(readingRoomRow))},
			{HotspotName: beacon.HotspotName{ID: secondRow.Hotspot, Name: "=SUM(1+1)"}, Tier: beacon.Standard, Sum: sumOf(secondRow), Payment: paid(sumOf(secondRow))},
		},
	}, nil
}

func (books) History(_ context.Context, _ beacon.Principal, q earnings.HistoryQuery) (beacon.Listed[earnings.MonthSum], error) {
	total := sumOf(readingRoomRow).Plus(sumOf(secondRow))
	return beacon.Listed[earnings.MonthSum]{
		Items: []earnings.MonthSum{
			{Month: october + 1, Hotspots: 1, Sum: ledger.Sum{Served: 720, Expected: 1440, Earned: beacon.Earned{Availability: 500_000}}},
			{Month: october, Hotspots: 2, Sum: total, Payment: paid(total)},
		},
		Total: 2, Page: q.Page,
	}, nil
}

func (b books) Days(_ context.Context, p beacon.Principal, q earnings.DaysQuery) (earnings.Days, error) {
	if err := q.Charge(b.rows); err != nil {
		return earnings.Days{}, err
	}
	month := october + 1
	if q.Month != nil {
		month = *q.Month
	}
	half := ledger.Sum{Served: 720, Expected: 1440, Earned: beacon.Earned{Availability: 500_000}}
	return earnings.Days{User: p.User, Month: month, Days: []earnings.DaySum{
		{Day: month.First(), Hotspots: 2, Sum: sumOf(readingRoomRow).Plus(sumOf(secondRow))},
		{Day: month.First() + 1, Open: true, Hotspots: 1, Sum: half},
	}}, nil
}

func (books) Explain(_ context.Context, _ beacon.Principal, q earnings.ExplainQuery) (earnings.Explanation, error) {
	terms := policy.Devices().On(*q.Day)
	return earnings.Explanation{
		Hotspot: q.Hotspot, Day: *q.Day, Status: rewards.Settled, Policy: terms, Facts: readingRoomRow.Facts, Account: terms.Explain(readingRoomRow.Facts),
		Payment: earnings.IsSettled,
	}, nil
}

func (b books) Statement(_ context.Context, p beacon.Principal, q earnings.StatementQuery) (earnings.Statement, error) {
	rows := []ledger.Row{readingRoomRow, secondRow}
	if b.rows > 0 {
		rows = make([]ledger.Row, b.rows)
		for i := range rows {
			rows[i] = secondRow
		}
	}
	s := earnings.Statement{Policies: policy.Devices().In(q.Month)}
	s.User, s.Month, s.Rows, s.Hotspots = p.User, q.Month, len(rows), 2
	s.SettledAt = (q.Month + 1).Start().Add(rewards.Grace + 1e9)
	s.Chain = ledger.Seed(p.User, q.Month)
	for i := range rows {
		rows[i].User = p.User
		s.Chain = s.Chain.Next(&rows[i])
		s.Sum = s.Plus(sumOf(rows[i]))
	}
	s.Each = func(ctx context.Context, fn func(ledger.Row, ledger.Hash) error) error {
		chain := ledger.Seed(p.User, q.Month)
		for i := range rows {
			chain = chain.Next(&rows[i])
			if err := fn(rows[i], chain); err != nil {
				return err
			}
		}
		for b.endless {
			if err := errors.Join(ctx.Err(), fn(rows[0], chain)); err != nil {
				return err
			}
		}
		return b.fail
	}
	return s, nil
}

func (books) Rows(_ context.Context, p beacon.Principal, _ beacon.UserID, fn func(ledger.Row, ledger.Hash) error) error {
	chain := ledger.Seed(p.User, october)
	for _, row := range []ledger.Row{readingRoomRow, secondRow} {
		row.User = p.User
		if chain = chain.Next(&row); fn(row, chain) != nil {
			return errors.New("a row was refused")
		}
	}
	return nil
}
