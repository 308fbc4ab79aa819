package api

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/httpserver/coding"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
)

const (
	statementTime      = 10 * time.Minute // in total, as long as the reader keeps up
	maxStatements      = 8                // at once
	maxStatementsAKey  = 2
	statementPiece     = 32 << 10
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
	ctx, cancel := context.WithTimeout(r.Context(), statementTime)
	defer cancel()
	defer context.AfterFunc(a.stopping, func() { time.AfterFunc(a.grace, cancel) })()
	d := &download{
		w: w, control: http.NewResponseController(w), patience: a.readerTime, coding: coding.Accepted(r.Header["Accept-Encoding"]),
		table: wants(r, asCSV), month: s.Month,
	}
	if r.Method == http.MethodHead {
		d.begin()
		return nil
	}
	err := writeStatement(d, s, a.meta(w), func(fn func(ledger.Row, ledger.Hash) error) error { return s.Each(ctx, fn) })
	switch {
	case err == nil:
		return nil
	case !d.begun && d.lost == nil:
		return err
	case d.lost == nil && r.Context().Err() == nil:
		a.log.Error("a statement was cut off", "request_id", httpserver.RequestID(w), "route", httpserver.Route(r), "err", err)
	}
	// The response has begun and cannot be finished. Without an abort, the client would
	// take the part it has for the whole.
	panic(http.ErrAbortHandler)
}

func writeStatement(d *download, s rewards.Statement, m meta, rows statement.Rows) error {
	out := bufio.NewWriterSize(d, statementPiece)
	err := d.coding.Stream(out, func(plain io.Writer) error {
		if d.table {
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
	if err != nil {
		return err
	}
	return out.Flush()
}

// download sends a response in pieces. The server's write deadline is for responses
// that are ready; this one has a deadline for each piece. The response begins with the
// first piece: an error before that is a normal error response.
type download struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration // with a reader that does not read
	coding   coding.Coding
	table    bool
	month    beacon.Month
	begun    bool
	lost     error // why the client cannot be reached
}

func (d *download) begin() {
	h := d.w.Header()
	h.Set("Content-Type", "application/json")
	if d.table {
		markTable(h, "statement-"+d.month.String()+".csv")
	}
	if d.coding != coding.Identity {
		h["Content-Encoding"] = d.coding.Header()
	}
	d.w.WriteHeader(http.StatusOK)
	d.begun = true
}

// Write sends one piece.
func (d *download) Write(piece []byte) (n int, err error) {
	if !d.begun {
		d.begin()
	}
	if err := d.control.SetWriteDeadline(time.Now().Add(d.patience)); err != nil {
		return 0, err
	}
	n, d.lost = d.w.Write(piece)
	if d.lost == nil {
		d.lost = d.control.Flush()
	}
	return n, d.lost
}
