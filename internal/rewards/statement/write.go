// Package statement writes and verifies the document of a settled month: every row
// with its facts and its policy, chained by hash. It needs no database and no clock.
// Package policy decides what a row should say, and package ledger how it is hashed.
//
// Its one invariant: a document that was written completely verifies, and one in
// which anything that affects money was changed does not.
package statement

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// Rows calls fn for every row of a statement, by day and then by hotspot, and from an
// earlier day again after a correction, with the hash of the chain up to and including the row.
type Rows func(fn func(row ledger.Row, chain ledger.Hash) error) error

// settled is the only state of a month that has a statement.
const settled = "settled"

// WriteJSON writes a statement as one JSON object, without a newline. It keeps only a
// few rows in memory. If the rows are not those of the statement it returns an error,
// and the document lacks its end.
func WriteJSON(w io.Writer, s *ledger.Statement, policies []*policy.Policy, rows Rows) error {
	out := bufio.NewWriterSize(w, 32<<10)
	if _, err := out.Write(appendHead(nil, s, policies)); err != nil {
		return err
	}
	var line []byte
	var paid payment
	err := eachRow(s, rows, func(n int, row *ledger.Row, chain ledger.Hash) error {
		paid.add(row)
		line = line[:0]
		if n > 1 {
			line = append(line, ',')
		}
		line = appendRow(line, row, chain)
		_, err := out.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := out.Write(appendTail(nil, s, paid)); err != nil {
		return err
	}
	return out.Flush()
}

// WriteCSV writes the rows of a statement as lines of text: the line that is hashed,
// then the hash. The first line names the columns of the newest policy; rows of others
// may have fewer. Held rows have one more, which the first line names only if
// they earned something. It fails like WriteJSON.
func WriteCSV(w io.Writer, s *ledger.Statement, policies []*policy.Policy, rows Rows) error {
	out := bufio.NewWriterSize(w, 32<<10)
	counts := beacon.NoStanding
	for _, p := range policies {
		counts = max(counts, p.Counts())
	}
	columns := ledger.ColumnsOf(counts)
	if s.Held != 0 {
		columns += "," + ledger.HoldColumn
	}
	if _, err := out.WriteString(columns + ",hash\n"); err != nil {
		return err
	}
	var line []byte
	err := eachRow(s, rows, func(_ int, row *ledger.Row, chain ledger.Hash) error {
		line = append(row.AppendLine(line[:0]), ',')
		line = append(chain.Append(line), '\n')
		_, err := out.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// eachRow numbers the rows, and checks that they are those of the statement.
func eachRow(s *ledger.Statement, rows Rows, fn func(n int, row *ledger.Row, chain ledger.Hash) error) error {
	n, last := 0, ledger.Seed(s.User, s.Month)
	err := rows(func(row ledger.Row, chain ledger.Hash) error {
		n, last = n+1, chain
		return fn(n, &row, chain)
	})
	if err == nil && (n != s.Rows || last != s.Chain) {
		err = fmt.Errorf("statement of %s for %s: the ledger has %d rows ending in %s, but the statement was made from %d ending in %s",
			s.Month, s.User, n, last, s.Rows, s.Chain)
	}
	return err
}

func appendHead(out []byte, s *ledger.Statement, policies []*policy.Policy) []byte {
	out = fmt.Appendf(out, `{"user_id":%q,"period":%q,"unit":%q,"status":%q,"settled_at":%q,"policies":[`,
		s.User, s.Month, beacon.RewardUnit, settled, beacon.FormatTime(s.SettledAt))
	for i, p := range policies {
		if i > 0 {
			out = append(out, ',')
		}
		out = p.AppendJSON(out)
	}
	out = append(out, `],"previous_hash":`...)
	if s.Previous.IsZero() {
		out = append(out, "null"...)
	} else {
		out = fmt.Appendf(out, "%q", s.Previous)
	}
	return append(out, `,"rows":[`...)
}

// appendRow builds JSON by hand because a month may have hundreds of thousands of
// rows.
func appendRow(out []byte, r *ledger.Row, chain ledger.Hash) []byte {
	if r.Kind == ledger.Correction {
		r = negative(r)
	}
	out = append(out, `{"date":"`...)
	out = r.Day.Time().AppendFormat(out, time.DateOnly)
	out = append(out, `","hotspot_id":"`...)
	out = append(out, r.Hotspot...)
	out = appendWhole(out, `","policy":`, r.Policy)
	out = appendWhole(out, `,"served_minutes":`, r.Served)
	out = appendWhole(out, `,"expected_minutes":`, r.Expected)
	out = appendWhole(out, `,"closed_minutes":`, r.Closed)
	out = appendWhole(out, `,"excused_minutes":`, r.Excused)
	out = appendWhole(out, `,"outside_minutes":`, r.Outside)
	out = strconv.AppendUint(append(out, `,"traffic_bytes":`...), r.Bytes, 10)
	out = append(append(out, `,"performance_tier":"`...), r.Tier.String()...)
	out = r.Availability.Append(append(out, `","availability":`...))
	out = r.Performance.Append(append(out, `,"performance":`...))
	out = r.Utilization.Append(append(out, `,"utilization":`...))
	if r.Counts != beacon.NoStanding {
		out = appendGround(out, &r.Ground)
	}
	if r.Kind == ledger.Correction {
		out = append(r.Corrects.Append(append(out, `,"corrects":"`...)), '"')
	}
	if r.Hold != "" {
		out = append(append(append(out, `,"hold_id":"`...), r.Hold...), '"')
	}
	if r.Kind == ledger.Ending {
		what := `,"releases":"`
		if r.Void {
			what = `,"voids":"`
		}
		out = append(r.Ends.Append(append(out, what...)), '"')
		out = r.Amount.Append(append(out, `,"amount":`...))
	}
	out = chain.Append(append(out, `,"hash":"`...))
	return append(out, `"}`...)
}

func appendGround(out []byte, g *beacon.Ground) []byte {
	out = beacon.Amount(g.Own).Append(append(out, `,"owned_minutes":`...))
	out = beacon.Amount(g.Recent).Append(append(out, `,"recent_share":`...))
	out = beacon.Amount(g.Proof).Append(append(out, `,"proof":`...))
	standing := `,"days_served":`
	if g.Counts == beacon.InMinutes {
		standing = `,"standing_minutes":`
	}
	out = appendWhole(out, standing, g.Standing)
	out = appendWhole(out, `,"place_lat_e7":`, int(g.Lat))
	out = appendWhole(out, `,"place_lng_e7":`, int(g.Lng))
	out = appendWhole(out, `,"shared_minutes":`, g.Shared)
	out = appendWhole(out, `,"shared_with":`, g.Older)
	if g.Counts == beacon.InMinutes {
		out = beacon.Amount(g.Due).Append(append(out, `,"due_minutes":`...))
		out = g.Spare.Append(append(out, `,"spare_credits":`...))
	}
	return out
}

// negative returns a row with its minutes and amounts below zero: what a correction adds
// to the sums. Applied twice it returns the row itself.
func negative(r *ledger.Row) *ledger.Row {
	n := *r
	n.Served, n.Expected = -r.Served, -r.Expected
	n.Earned = ledger.Sum{}.Minus(ledger.Sum{Earned: r.Earned}).Earned
	return &n
}

func appendWhole(out []byte, name string, n int) []byte {
	return strconv.AppendInt(append(out, name...), int64(n), 10)
}

func appendTail(out []byte, s *ledger.Statement, p payment) []byte {
	out = fmt.Appendf(out, `],"totals":{"rows":%d,"hotspot_count":%d,"served_minutes":%d,"expected_minutes":%d`,
		s.Rows, s.Hotspots, s.Served, s.Expected)
	out = fmt.Appendf(out, `,"availability":%s,"performance":%s,"utilization":%s,"total_earned":%s`,
		s.Availability, s.Performance, s.Utilization, s.Total())
	if p.held = s.Held; p != (payment{}) {
		out = fmt.Appendf(out, `,"held":%s,"released":%s,"voided":%s,"paid":%s`, p.held, p.released, p.voided, p.of(s.Total()))
	}
	return fmt.Appendf(out, `},"hash":%q}`, s.Hash)
}

// payment is how much of a month's earnings is held, and how much of earlier ones is released
// or voided.
type payment struct{ held, released, voided beacon.Amount }

// of returns what is paid in a month in which a total was earned.
func (p payment) of(total beacon.Amount) beacon.Amount { return total - p.held + p.released }

// add counts a row that ends a held one; others have no amount.
func (p *payment) add(r *ledger.Row) {
	if r.Void {
		p.voided += r.Amount
	} else {
		p.released += r.Amount
	}
}
