// Package doctor says whether a database is sound. It computes again whatever can
// be computed, from the rows themselves, and compares what is written in more than
// one place. It repairs nothing, and knows no server: what only a running process
// has in memory is not its business.
//
// Its one invariant: it writes nothing, and what one check compares it has read as
// of one moment, so that a sound database is found sound while servers write to it.
package doctor

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/store"
)

// Options are how thorough to be.
type Options struct {
	Quick bool // leave out what reads everything a second time
	Now   time.Time

	// Progress hears what is being looked at, and how much of it was; it may be nil.
	Progress func(check string, looked int64)
	// Done hears each result as soon as it is known; it may be nil.
	Done func(Result)
}

// Result is what came of one check.
type Result struct {
	Check   string  `json:"check"`
	Looked  string  `json:"looked_at"`         // what was, with how much of it
	Wrong   int     `json:"wrong"`             // how many things
	Faults  []Fault `json:"faults,omitempty"`  // the first of them
	Skipped string  `json:"skipped,omitempty"` // why nothing was looked at
	Advice  string  `json:"advice,omitempty"`  // what to do, where something is wrong
}

// Fault is one thing that is wrong.
type Fault struct {
	ID   string `json:"id,omitempty"` // of what
	What string `json:"what"`
}

// String is the fault on one line.
func (f Fault) String() string {
	if f.ID == "" {
		return f.What
	}
	return f.ID + ": " + f.What
}

// faultsKept is how many faults of a check are told one by one.
const faultsKept = 20

// check is one look at a database.
type check struct {
	name   string
	advice string
	needs  int64 // the version of the schema
	slow   bool  // left out when it is to be quick
	run    func(*look) error
}

const (
	restoreAdvice = "keep a copy of the database as it is, and restore the last backup that is sound (beacon restore)"
	reportAdvice  = "no server writes this: someone else did, or the disk did; keep a copy, and restore the last backup that is sound"
	sealAdvice    = "; a row that was looked at, and is right as it is, is accepted by setting its seal to 0"
)

// checks are in the order in which they are made: what others stand on comes first.
var checks = []check{
	{"settings", "set them as the database's manual says, and start it again", 0, false, settings},
	{"storage", "the disk or the memory of the machine is not to be trusted: " + restoreAdvice, 0, false, storage},
	{"schema", "the database was changed by hand: " + restoreAdvice, 0, false, schema},
	{"hotspots", reportAdvice + sealAdvice, 4, false, hotspots},
	{"keys", reportAdvice + sealAdvice, 4, false, keys},
	{"changes", reportAdvice, 4, false, changes},
	{"events", "listeners may have missed something: they can read hotspots anew; " + reportAdvice, 4, false, events},
	{"leases", "set the machine's clock; a lease that nobody gives back ends by itself at the time it names", 2, false, leases},
	{"journal", "what was in it is lost for its hotspots, the rest is not: start a server, which passes it over", 2, false, journal},
	{"records", "what a hotspot did on that day is lost, what it earned is not: " + restoreAdvice, 3, false, records},
	{"references", reportAdvice, 3, false, references},
	{"ledger", "settle nothing: " + restoreAdvice, 3, false, books},
	{"statements", "settle nothing: " + restoreAdvice, 3, false, statements},
	{"documents", "settle nothing: " + restoreAdvice, 3, true, documents},
}

// Names lists the checks in their order.
func Names() []string {
	names := make([]string, len(checks))
	for i, c := range checks {
		names[i] = c.name
	}
	return names
}

// Examine makes all checks, and answers whether nothing is wrong. The error tells
// that it was broken off.
func Examine(ctx context.Context, x *store.Examination, opts Options) (sound bool, err error) {
	sound = true
	version, readable := int64(0), true
	for _, c := range checks {
		l := &look{ctx: ctx, x: x, opts: opts, result: Result{Check: c.name}}
		switch {
		case c.slow && opts.Quick:
			l.result.Skipped = "to be quick"
		case !readable:
			l.result.Skipped = "the schema cannot be read"
		case c.needs > version:
			l.result.Skipped = fmt.Sprintf("the database is at version %d, and this is looked at from version %d on", version, c.needs)
		default:
			if err := l.make(c); err != nil {
				return false, err
			}
		}
		if c.name == "schema" {
			version, readable = l.version, l.version > 0
		}
		sound = sound && l.result.Wrong == 0
		if opts.Done != nil {
			opts.Done(l.result)
		}
	}
	return sound, nil
}

// look is a check that is being made.
type look struct {
	ctx     context.Context //nolint:containedctx // of this one check
	x       *store.Examination
	opts    Options
	result  Result
	looked  atomic.Int64
	version int64 // of the schema, where the check finds that out
}

// make makes a check. What the database refuses to give is wrong with it.
func (l *look) make(c check) error {
	err := c.run(l)
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	if err != nil {
		l.wrong("", "%v", err)
	}
	if l.result.Wrong > 0 {
		l.result.Advice = c.advice
	}
	return nil
}

// wrong notes something that is wrong.
func (l *look) wrong(id, format string, args ...any) {
	l.result.Wrong++
	if len(l.result.Faults) < faultsKept {
		l.result.Faults = append(l.result.Faults, Fault{ID: id, What: fmt.Sprintf(format, args...)})
	}
}

// progressEvery is after how many rows someone is told.
const progressEvery = 1 << 12

// row counts a row that was looked at.
func (l *look) row() {
	if n := l.looked.Add(1); n%progressEvery == 0 && l.opts.Progress != nil {
		l.opts.Progress(l.result.Check, n)
	}
}

// at says what was looked at.
func (l *look) at(format string, args ...any) { l.result.Looked = fmt.Sprintf(format, args...) }

// snapshot reads as of one moment.
func (l *look) snapshot(read func(store.Snapshot) error) error { return l.x.Snapshot(l.ctx, read) }
