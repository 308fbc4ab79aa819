package statement

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/go-json-experiment/json/jsontext"
)

// Report describes a statement that was verified.
type Report struct {
	User      beacon.UserID
	Month     beacon.Month
	Rows      int // including corrections
	Corrects  int // number of corrections
	Hotspots  int
	Earned    beacon.Earned
	Held      beacon.Amount // of Earned, under holds
	Released  beacon.Amount // of days that were held
	Voided    beacon.Amount // of days that were held
	Hash      ledger.Hash
	Previous  ledger.Hash // of the user's statement before this one; zero: none
	SettledAt time.Time

	holds *holds
}

// Paid returns what is paid with the statement.
func (r Report) Paid() beacon.Amount {
	return payment{r.Held, r.Released, r.Voided}.of(r.Earned.Total())
}

// Verify reads a statement, by itself or within a server's response, and recomputes
// everything in it. The error names the first thing that is wrong. Verify reads the
// input as a stream: a statement may be larger than memory. Known are the policies of the
// network; if there are none, the statement must have terms that are built into the
// program, whenever the network adopted them.
func Verify(r io.Reader, known policy.Set) (Report, error) {
	v := &verifier{reader: newReader(r), known: known}
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
	sum, paid := &v.month.Sum, v.month.payment()
	return Report{
		User: sum.User, Month: sum.Month, Rows: sum.Rows, Corrects: v.month.Corrections, Hotspots: sum.Hotspots, Earned: sum.Earned,
		Hash: v.hash, Previous: v.previous, SettledAt: v.settledAt,
		Held: paid.held, Released: paid.released, Voided: paid.voided, holds: v.holds,
	}, nil
}

// verifier is the state of one call of Verify.
type verifier struct {
	reader
	known policy.Set // of the network, if they are given

	seen       uint // members of the document seen so far, as bits
	inResponse bool // the document is the data of a server's response

	user      beacon.UserID
	period    beacon.Month
	policies  policy.Set
	previous  ledger.Hash
	hash      ledger.Hash
	settledAt time.Time
	totals    totals

	month *Month
	holds *holds
}

// The members of a statement; head holds those that must precede the rows.
var (
	head     = []string{"user_id", "period", "policies"}
	members  = append(head[:3:3], "unit", "status", "settled_at", "previous_hash", "rows", "totals", "hash")
	response = append(members[:len(members):len(members)], "data", "meta")
)

// file reads a document, or a response that contains one.
func (v *verifier) file() error {
	_, err := v.object(response, 0, func(i int) error {
		switch {
		case response[i] == "meta":
			_, err := v.small()
			return err
		case response[i] != "data" && !v.inResponse:
			return v.member(i)
		case response[i] == "data" && v.seen == 0:
			v.inResponse = true
			_, err := v.object(members, 0, v.member)
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
		return ident(&v.reader, &v.user, "usr_")
	case "period":
		return parsed(&v.reader, &v.period, beacon.ParseMonth)
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

func (v *verifier) readPrevious() error {
	if v.dec.PeekKind() == jsontext.KindNull {
		_, err := v.small()
		return err
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
	if end := (v.period + 1).Start(); v.settledAt.Before(end) {
		return fmt.Errorf("settled_at: must be after the end of the month, %s", beacon.FormatTime(end))
	}
	if err := v.totals.check(v.month); err != nil {
		return err
	}
	var err error
	if v.holds, err = newHolds(v.month, v.previous); err != nil {
		return err
	}
	var lines []string
	for i := range v.policies {
		lines = append(lines, v.policies[i].Lines()...)
	}
	if want := ledger.Seal(v.previous, &v.month.Sum, lines); v.hash != want {
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
	return b.holds.follow(a.holds)
}

// policy reads one of the statement's policies, and compares it with the known policy
// of that version.
func (v *verifier) policy() error {
	value, err := v.small()
	if err != nil {
		return err
	}
	p, err := policy.ParseWritten(value)
	switch {
	case err != nil:
		return fmt.Errorf("policy %d: %w", len(v.policies)+1, err)
	case len(v.policies) > 0 && p.Version <= v.policies[len(v.policies)-1].Version:
		return fmt.Errorf("policy %d: versions must be in ascending order", p.Version)
	}
	v.policies = append(v.policies, p)
	if len(v.known) == 0 {
		return builtIn(p)
	}
	known := v.known.Version(p.Version)
	if known == nil {
		return fmt.Errorf("policy %d is unknown here (the newest is %d): verify with the policies of the server", p.Version, len(v.known))
	}
	return differ(&p, known)
}

// builtIn returns an error unless the terms of a policy are built into the program.
func builtIn(p policy.Policy) error {
	all := policy.BuiltIn()
	for _, known := range all {
		known.Version, known.From = p.Version, p.From
		if p == known {
			return nil
		}
	}
	known := all.Version(p.Version)
	if known == nil {
		return fmt.Errorf("policy %d is not built into this program: verify with the policies of the server", p.Version)
	}
	p.From = known.From
	return differ(&p, known)
}

// differ returns an error for the first field in which a policy differs from the
// known one.
func differ(p, known *policy.Policy) error {
	for _, field := range []struct {
		name      string
		got, want any
	}{
		{"effective_from", p.From, known.From},
		{"availability", p.Availability, known.Availability},
		{"performance.standard", p.Performance[beacon.Standard], known.Performance[beacon.Standard]},
		{"performance.enhanced", p.Performance[beacon.Enhanced], known.Performance[beacon.Enhanced]},
		{"performance.premium", p.Performance[beacon.Premium], known.Performance[beacon.Premium]},
		{"utilization_per_gb", p.PerGB, known.PerGB},
		{"utilization_cap", p.Cap, known.Cap},
		{"radius_m", p.Radius, known.Radius},
		{"unproven_share", p.Unproven, known.Unproven},
		{"standing_minutes_a_day", p.StandingADay, known.StandingADay},
	} {
		if field.got != field.want {
			return fmt.Errorf("policy %d: %s is %v, but policy %d has %v here",
				p.Version, field.name, field.got, p.Version, field.want)
		}
	}
	return nil
}

// inForce checks that the policies are exactly those in force in the month: by their first
// days, and, if the policies of the network are given, by those.
func (v *verifier) inForce() error {
	month := v.period
	for i, p := range v.policies {
		switch {
		case p.From > month.Last(), (p.Version == 1) != (p.From == 0),
			i+1 < len(v.policies) && v.policies[i+1].From <= max(p.From, month.First()):
			return fmt.Errorf("policies: policy %d was not in force in %s", p.Version, month)
		case i > 0 && p.Version != v.policies[i-1].Version+1:
			return fmt.Errorf("policies: policy %d was in force in %s but is missing or out of order", p.Version-1, month)
		}
	}
	if len(v.policies) == 0 || v.policies[0].From > month.First() {
		return fmt.Errorf("policies: the one in force on %s is missing", month.First())
	}
	if len(v.known) == 0 {
		return nil
	}
	for _, p := range v.known.In(month) {
		if !slices.ContainsFunc(v.policies, func(q policy.Policy) bool { return q.Version == p.Version }) {
			return fmt.Errorf("policies: policy %d was in force in %s but is missing", p.Version, month)
		}
	}
	return nil
}
