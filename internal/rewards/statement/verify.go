package statement

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// Options is what a statement is checked against.
type Options struct {
	Policies policy.Set // none: those built into the program
}

// Report describes a statement that was verified.
type Report struct {
	User      beacon.UserID
	Month     beacon.Month
	Rows      int
	Hotspots  int
	Earned    beacon.Earned
	Hash      ledger.Hash
	Previous  ledger.Hash // of the user's statement before this one; zero: none
	SettledAt time.Time
}

// Verify reads a statement, by itself or within a server's response, and recomputes
// everything in it. The error names the first thing that is wrong. Verify reads the
// input as a stream: a statement may be larger than memory.
func Verify(r io.Reader, opts Options) (Report, error) {
	if len(opts.Policies) == 0 {
		opts.Policies = policy.Default()
	}
	v := &verifier{reader: newReader(r), known: opts.Policies, hotspots: map[beacon.HotspotID]struct{}{}}
	err := v.file()
	if err == nil {
		err = v.conclude()
	}
	if err == nil {
		err = v.end()
	}
	if err != nil {
		return Report{}, err
	}
	return Report{
		User: v.sum.User, Month: v.sum.Month, Rows: v.sum.Rows, Hotspots: v.sum.Hotspots, Earned: v.sum.Earned,
		Hash: v.hash, Previous: v.previous, SettledAt: v.settledAt,
	}, nil
}

// verifier is the state of one call of Verify.
type verifier struct {
	reader
	known policy.Set

	seen     uint // members of the document seen so far, as bits
	inAnswer bool // the document is the data of a server's response

	policies  []policy.Policy
	previous  ledger.Hash
	hash      ledger.Hash
	settledAt time.Time
	totals    totals

	sum      ledger.UserMonth // of the rows so far, as computed here
	last     ledger.Row
	hotspots map[beacon.HotspotID]struct{}
}

// The members of a statement; head holds those that must precede the rows.
var (
	head    = []string{"user_id", "period", "policies"}
	members = append(head[:3:3], "unit", "status", "settled_at", "previous_hash", "rows", "totals", "hash")
	answer  = append(members[:len(members):len(members)], "data", "meta")
)

// file reads a document, or a response that contains one.
func (v *verifier) file() error {
	_, err := v.object(answer, func(i int) error {
		switch {
		case answer[i] == "meta":
			return v.skip()
		case answer[i] != "data" && !v.inAnswer:
			return v.member(i)
		case answer[i] == "data" && v.seen == 0:
			v.inAnswer = true
			_, err := v.object(members, v.member)
			return err
		default:
			return errors.New("the statement must be either in data or at the top level")
		}
	})
	if err != nil {
		return err
	}
	return missing(members, v.seen)
}

func (v *verifier) member(i int) error {
	v.seen |= 1 << i
	switch members[i] {
	case "user_id":
		user, err := v.ident("usr_")
		v.sum.User = beacon.UserID(user)
		return err
	case "period":
		return v.period()
	case "policies":
		return v.array(v.policy)
	case "unit":
		return v.exactly(beacon.RewardUnit)
	case "status":
		return v.exactly(settled)
	case "settled_at":
		return v.time(&v.settledAt)
	case "previous_hash":
		return v.readPrevious()
	case "rows":
		return v.rows()
	case "totals":
		return v.readTotals()
	default:
		return v.reader.hash(&v.hash)
	}
}

func (v *verifier) period() error {
	text, err := v.text()
	if err != nil {
		return err
	}
	v.sum.Month, err = beacon.ParseMonth(text)
	return err
}

func (v *verifier) readPrevious() error {
	if v.dec.PeekKind() == jsontext.KindNull {
		return v.skip()
	}
	if err := v.reader.hash(&v.previous); err != nil {
		return err
	}
	if v.previous.IsZero() {
		return errors.New("must be null for the first statement")
	}
	return nil
}

// conclude checks what can only be checked once all rows are read.
func (v *verifier) conclude() error {
	if end := (v.sum.Month + 1).Start(); v.settledAt.Before(end) {
		return fmt.Errorf("settled_at: must be after the end of the month, %s", end.Format(instant))
	}
	if err := v.totals.check(&v.sum); err != nil {
		return err
	}
	lines := make([]ledger.Policy, len(v.policies))
	for i, p := range v.policies {
		lines[i] = ledger.Policy{Version: p.Version, From: p.From, Text: p.Line()}
	}
	if want := ledger.Seal(v.previous, &v.sum, lines); v.hash != want {
		return fmt.Errorf("hash: is %s, but the rows, totals, policies and previous_hash give %s", v.hash, want)
	}
	return nil
}

// Follows returns an error unless b is the same user's next statement after a.
func Follows(a, b Report) error {
	switch {
	case a.User != b.User:
		return fmt.Errorf("the statement for %s belongs to %s, the one before it to %s", b.Month, b.User, a.User)
	case b.Month <= a.Month:
		return fmt.Errorf("the statement for %s cannot follow the one for %s", b.Month, a.Month)
	case b.Previous.IsZero():
		return fmt.Errorf("the statement for %s says that it is the first, but there is one for %s", b.Month, a.Month)
	case b.Previous != a.Hash:
		return fmt.Errorf("the statement for %s follows one with the hash %s, but the hash of %s is %s: "+
			"one of them was replaced, or one between them is missing", b.Month, b.Previous, a.Month, a.Hash)
	}
	return nil
}
