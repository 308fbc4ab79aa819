package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Formats of a statement.
const (
	AsJSON = "application/json" // what "beacon rewards verify" reads
	AsCSV  = "text/csv"
)

// Statement is a settled month without its rows, of which there may be hundreds of
// thousands.
type Statement struct {
	UserID       string          `json:"user_id"`
	Period       string          `json:"period"` // "2026-10"
	Unit         string          `json:"unit"`
	Status       string          `json:"status"`
	SettledAt    time.Time       `json:"settled_at"`
	Policies     []PolicyTerms   `json:"policies"`
	PreviousHash *string         `json:"previous_hash"` // of the statement before; nil for the first
	Totals       StatementTotals `json:"totals"`
	Hash         string          `json:"hash"`
}

// StatementTotals are the sums of the rows.
type StatementTotals struct {
	Rows            int   `json:"rows"`
	HotspotCount    int   `json:"hotspot_count"`
	ServedMinutes   int64 `json:"served_minutes"`
	ExpectedMinutes int64 `json:"expected_minutes"`
	Breakdown
	TotalEarned Amount `json:"total_earned"`

	// Absent, and 0, if no row is held, or ends a held one.
	Held     Amount `json:"held"`
	Released Amount `json:"released"`
	Voided   Amount `json:"voided"`
	Paid     Amount `json:"paid"` // TotalEarned - Held + Released
}

// StatementRow is one day of one hotspot.
type StatementRow struct {
	Date      string `json:"date"`
	HotspotID string `json:"hotspot_id"`
	Policy    int    `json:"policy"` // its version
	DayFacts
	Breakdown
	Corrects string `json:"corrects,omitempty"` // in a correction: the hash of the last row that holds
	HoldID   string `json:"hold_id,omitempty"`  // of a held row, and of one that ends it
	Releases string `json:"releases,omitempty"` // the hash of a held row that this one pays
	Voids    string `json:"voids,omitempty"`    // the hash of a held row that is not paid
	Amount   Amount `json:"amount"`             // with Releases or Voids: what the held row earned
	Hash     string `json:"hash"`
}

// DownloadStatement returns the statement of a settled month such as "2026-10" as a
// stream, to save or for [ReadStatement]. A truncated stream ends with an error, not
// with io.EOF. The caller closes it. It needs the scope rewards:read.
func (c *Client) DownloadStatement(ctx context.Context, user, month, form string) (io.ReadCloser, error) {
	return c.Download(ctx, path("users", user, "rewards", "statements", month), form)
}

// Statement returns the statement of a settled month, and calls row for each of its
// rows as they arrive. It needs the scope rewards:read.
func (c *Client) Statement(ctx context.Context, user, month string, row func(StatementRow) error) (Statement, error) {
	body, err := c.DownloadStatement(ctx, user, month, AsJSON)
	if err != nil {
		return Statement{}, err
	}
	defer body.Close()
	return ReadStatement(body, row)
}

// ReadStatement reads a statement as the server sends it, row by row, in constant
// memory. It does not check the hashes: "beacon rewards verify" does.
func ReadStatement(r io.Reader, row func(StatementRow) error) (Statement, error) {
	s := Statement{}
	d := json.NewDecoder(r)
	found := false
	err := members(d, func(name string) error {
		if name != "data" {
			return d.Decode(new(json.RawMessage))
		}
		found = true
		return s.read(d, row)
	})
	if err == nil && !found {
		err = errors.New("it has no data")
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return Statement{}, fmt.Errorf("read a statement: %w", err)
	}
	return s, nil
}

func (s *Statement) read(d *json.Decoder, row func(StatementRow) error) error {
	targets := map[string]any{
		"user_id": &s.UserID, "period": &s.Period, "unit": &s.Unit, "status": &s.Status, "settled_at": &s.SettledAt,
		"policies": &s.Policies, "previous_hash": &s.PreviousHash, "totals": &s.Totals, "hash": &s.Hash,
	}
	return members(d, func(name string) error {
		if name == "rows" {
			return eachRow(d, row)
		}
		if target, known := targets[name]; known {
			return d.Decode(target)
		}
		return d.Decode(new(json.RawMessage)) // the API may grow
	})
}

func eachRow(d *json.Decoder, row func(StatementRow) error) error {
	if err := expect(d, '['); err != nil {
		return err
	}
	for d.More() {
		var one StatementRow
		if err := d.Decode(&one); err != nil {
			return err
		}
		if err := row(one); err != nil {
			return err
		}
	}
	return expect(d, ']')
}

// members iterates over an object; each must read the value of a name.
func members(d *json.Decoder, each func(name string) error) error {
	if err := expect(d, '{'); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		if err := each(name.(string)); err != nil { // the decoder accepts no other names
			return err
		}
	}
	return expect(d, '}')
}

func expect(d *json.Decoder, delimiter json.Delim) error {
	token, err := d.Token()
	if err == nil && token != delimiter {
		err = fmt.Errorf("want %v, got %v", delimiter, token)
	}
	return err
}
