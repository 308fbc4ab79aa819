package payments

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver/coding"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
)

const (
	statementTime      = 10 * time.Minute // in total, as long as the reader keeps up
	MaxStatements      = 8                // at once
	MaxStatementsAKey  = 2
	statementsBusyTime = 5 * time.Second
)

// statement sends the statement of a month (decision X6). A statement of ten thousand
// hotspots has 310,000 rows, so rows are sent as they are read.
func (a *API) statement(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	w.Header()["Vary"] = a.VaryForm
	month, err := beacon.ParseMonth(r.PathValue("month"))
	if err != nil {
		return &beacon.Error{Kind: beacon.NotFound, Message: "statements are for months, such as 2026-11"}
	}
	if err := a.Statements.Join(p, a.QuotaOf(r, p.User).Statements); err != nil {
		return err
	}
	defer a.Statements.Leave(p)
	found, err := a.findStatement(r, p, month)
	if err != nil {
		return err
	}
	return a.sendStatement(w, r, found)
}

func (a *API) findStatement(r *http.Request, p beacon.Principal, month beacon.Month) (earnings.Statement, error) {
	ctx, cancel := context.WithTimeout(r.Context(), a.Patience)
	defer cancel()
	return a.rewards.Statement(ctx, p, earnings.StatementQuery{User: beacon.UserID(r.PathValue("id")), Month: month})
}

func (a *API) sendStatement(w http.ResponseWriter, r *http.Request, s earnings.Statement) error {
	d := a.Download(w)
	d.Coding = coding.Accepted(r.Header["Accept-Encoding"])
	table := edge.Wants(r, edge.AsCSV)
	if table {
		d.Kind, d.File = edge.CsvType, "statement-"+s.Month.String()+".csv"
	}
	m := a.Meta(w)
	return d.Send(r, statementTime, func(ctx context.Context, out io.Writer) error {
		rows := func(fn func(ledger.Row, ledger.Hash) error) error { return s.Each(ctx, fn) }
		return d.Coding.Stream(out, func(plain io.Writer) error {
			if table {
				return statement.WriteCSV(plain, &s.Statement, s.Policies, rows)
			}
			if _, err := io.WriteString(plain, `{"data":`); err != nil {
				return err
			}
			if err := statement.WriteJSON(plain, &s.Statement, s.Policies, rows); err != nil {
				return err
			}
			_, err := plain.Write(edge.AppendMeta(nil, m))
			return err
		})
	})
}

// newReaders returns the counter of statement downloads.
func newReaders() *edge.ConcurrencyLimit {
	return edge.NewConcurrencyLimit(MaxStatements, MaxStatementsAKey,
		edge.Busy(beacon.RateLimited, statementsBusyTime, "this key is reading too many statements at once: finish one first"),
		edge.Busy(beacon.RateLimited, statementsBusyTime, "you are reading too many statements at once: finish one first"),
		edge.Busy(beacon.Overloaded, statementsBusyTime, "too many statements are being read; try again"))
}
