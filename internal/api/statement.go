package api

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver/coding"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
)

const (
	statementTime      = 10 * time.Minute // in total, as long as the reader keeps up
	maxStatements      = 8                // at once
	maxStatementsAKey  = 2
	statementsBusyTime = 5 * time.Second
)

// statement sends the statement of a month (decision X6). A statement of ten thousand
// hotspots has 310,000 rows, so rows are sent as they are read.
func (a *API) statement(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	w.Header()["Vary"] = a.varyForm
	month, err := beacon.ParseMonth(r.PathValue("month"))
	if err != nil {
		return &beacon.Error{Kind: beacon.NotFound, Message: "statements are for months, such as 2026-11"}
	}
	if err := a.statements.join(p, a.quotaOf(r, p.User).Statements); err != nil {
		return err
	}
	defer a.statements.leave(p)
	found, err := a.findStatement(r, p, month)
	if err != nil {
		return err
	}
	return a.sendStatement(w, r, found)
}

func (a *API) findStatement(r *http.Request, p beacon.Principal, month beacon.Month) (rewards.Statement, error) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	return a.rewards.Statement(ctx, p, rewards.StatementQuery{User: beacon.UserID(r.PathValue("id")), Month: month})
}

func (a *API) sendStatement(w http.ResponseWriter, r *http.Request, s rewards.Statement) error {
	d := a.download(w)
	d.coding = coding.Accepted(r.Header["Accept-Encoding"])
	table := wants(r, asCSV)
	if table {
		d.kind, d.file = csvType, "statement-"+s.Month.String()+".csv"
	}
	m := a.meta(w)
	return d.send(r, statementTime, func(ctx context.Context, out io.Writer) error {
		rows := func(fn func(ledger.Row, ledger.Hash) error) error { return s.Each(ctx, fn) }
		return d.coding.Stream(out, func(plain io.Writer) error {
			if table {
				return statement.WriteCSV(plain, &s.Statement, s.Policies, rows)
			}
			if _, err := io.WriteString(plain, `{"data":`); err != nil {
				return err
			}
			if err := statement.WriteJSON(plain, &s.Statement, s.Policies, rows); err != nil {
				return err
			}
			_, err := plain.Write(appendMeta(nil, m))
			return err
		})
	})
}
