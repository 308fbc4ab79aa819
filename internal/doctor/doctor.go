// Package doctor checks whether a database is consistent. It recomputes whatever can be
// recomputed from the rows, and compares data that is stored in more than one place. It
// repairs nothing, and checks nothing that exists only in the memory of a running
// server.
//
// Its one invariant: it writes nothing, and each check reads from one snapshot, so that
// a sound database passes while servers write to it.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/store"
)

// Options configure an examination.
type Options struct {
	Quick bool // skip checks that read everything a second time
	Now   time.Time

	// Progress, if not nil, is called with the current check and the number of rows
	// read.
	Progress func(check string, looked int64)
	// Done, if not nil, is called with each result as soon as it is known.
	Done func(Result)
}

// Result is the outcome of one check.
type Result struct {
	Check   string  `json:"check"`
	Looked  string  `json:"looked_at"`         // what was examined, and how much of it
	Wrong   int     `json:"wrong"`             // number of faults
	Faults  []Fault `json:"faults,omitempty"`  // the first of them
	Skipped string  `json:"skipped,omitempty"` // why the check did not run
	Advice  string  `json:"advice,omitempty"`  // what to do if there are faults
}

// Fault is one thing that is wrong.
type Fault struct {
	ID   string `json:"id,omitempty"` // of the faulty item
	What string `json:"what"`
}

// String formats the fault on one line.
func (f Fault) String() string {
	if f.ID == "" {
		return f.What
	}
	return f.ID + ": " + f.What
}

// faultsKept is how many faults of a check are listed individually.
const faultsKept = 20

// check is one kind of check.
type check struct {
	name   string
	advice string
	needs  int64 // the schema version that has all it reads; with ofHotspots, if it reads them
	slow   bool  // skipped by Options.Quick
	run    func(*checkRun) error
}

// Admins is the name of the check that finds nothing wrong with the database, but with who can
// sign in.
const Admins = "admins"

// ofHotspots stands for the version since which hotspots have all their columns. It is added to
// the version that has what else is read.
const ofHotspots = 1 << 32

const (
	restoreAdvice = "keep a copy of the database as it is, and restore the last sound backup (beacon restore)"
	reportAdvice  = "no server writes this, so another program or the disk did; keep a copy, and restore the last sound backup"
	sealAdvice    = "; to accept a row that you checked and found right, set its seal column to 0"
)

// checks are in execution order: those that others rely on come first.
var checks = []check{
	{"settings", "correct them as the database's manual says, and restart it", 0, false, settings},
	{"storage", "the disk or memory of this machine may be faulty: " + restoreAdvice, 0, false, storage},
	{"schema", "the schema was changed by hand: " + restoreAdvice, 0, false, schema},
	{"hotspots", reportAdvice + sealAdvice, ofHotspots, false, hotspots},
	{"keys", reportAdvice + sealAdvice, 22, false, keys},
	{"people", reportAdvice + sealAdvice, 21, false, people},
	{Admins, "make an admin (beacon people invite --post admin), or let one in again (beacon people link NAME)", 22, false, admins},
	{"changes", reportAdvice, ofHotspots + 22, false, changes},
	{"events", "clients may have missed events and should read hotspots again; " + reportAdvice, 21, false, events},
	{"leases", "correct the machine's clock; a lease that is not released ends by itself at the time shown", 2, false, leases},
	{"clocks", "set the clocks right, then open the days again (beacon rewards reopen); heartbeats earn only on days that are not closed", 5, false, clocks},
	{"journal", "the heartbeats in this batch are lost, others are not: start a server, which skips it", 2, false, journal},
	{"records", "what a hotspot did on that day is lost, but not what it earned: " + restoreAdvice, ofHotspots, false, records},
	{"references", reportAdvice, 3, false, references},
	{"owners", "if a clock was ahead, set it right and open the days again (beacon rewards reopen); else do not settle any month: " + restoreAdvice, ofHotspots, false, owners},
	{"holds", "do not settle any month: " + restoreAdvice, 14, false, holds},
	{"ledger", "do not settle any month: " + restoreAdvice, 14, false, books},
	{"standings", "if days are opened again they are counted again: beacon rewards reopen; " + restoreAdvice, ofHotspots + 16, true, standings},
	{"excused", "do not settle any month: " + restoreAdvice, ofHotspots + 16, true, excused},
	{"statements", "do not settle any month: " + restoreAdvice, 14, false, statements},
	{"documents", "do not settle any month: " + restoreAdvice, 14, true, documents},
}

// Examine runs all checks and reports whether nothing is wrong. It returns an error
// only if it was interrupted.
func Examine(ctx context.Context, x *store.Examination, opts Options) (sound bool, err error) {
	sound = true
	var version, hotspots int64
	readable := true
	for _, c := range checks {
		needs := c.needs
		if needs >= ofHotspots {
			needs = max(needs-ofHotspots, hotspots)
		}
		run := &checkRun{ctx: ctx, x: x, opts: opts, result: Result{Check: c.name}}
		switch {
		case c.slow && opts.Quick:
			run.result.Skipped = "--quick"
		case !readable:
			run.result.Skipped = "the schema cannot be read"
		case needs > version:
			run.result.Skipped = fmt.Sprintf("the database is at version %d; this check needs version %d", version, needs)
		default:
			if err := run.do(c); err != nil {
				return false, err
			}
		}
		if c.name == "schema" {
			version, hotspots, readable = run.schema.Version, run.schema.Hotspots, run.schema.Version > 0
		}
		sound = sound && run.result.Wrong == 0
		if opts.Done != nil {
			opts.Done(run.result)
		}
	}
	return sound, nil
}

// checkRun is one run of a check.
type checkRun struct {
	ctx    context.Context //nolint:containedctx // of this one check
	x      *store.Examination
	opts   Options
	result Result
	rows   atomic.Int64
	schema store.SchemaState // set by the check that reads it
	failed error             // of a cursor
}

// do runs a check. An error from the database counts as a fault.
func (run *checkRun) do(c check) error {
	err := c.run(run)
	if run.ctx.Err() != nil {
		return context.Cause(run.ctx)
	}
	if err != nil {
		run.wrong("", "%v", err)
	}
	if run.result.Wrong > 0 && !errors.Is(err, store.ErrHalfMoved) { // which says what to do
		run.result.Advice = c.advice
	}
	return nil
}

// wrong records a fault.
func (run *checkRun) wrong(id, format string, args ...any) {
	run.result.Wrong++
	if len(run.result.Faults) < faultsKept {
		run.result.Faults = append(run.result.Faults, Fault{ID: id, What: fmt.Sprintf(format, args...)})
	}
}

// progressEvery is how many rows pass between two calls of Progress.
const progressEvery = 1 << 12

// row counts a row as read.
func (run *checkRun) row() {
	if n := run.rows.Add(1); n%progressEvery == 0 && run.opts.Progress != nil {
		run.opts.Progress(run.result.Check, n)
	}
}

// lookedAt sets the description of what was examined.
func (run *checkRun) lookedAt(format string, args ...any) {
	run.result.Looked = fmt.Sprintf(format, args...)
}

// snapshot calls read with a snapshot of the database.
func (run *checkRun) snapshot(read func(store.Snapshot) error) error {
	return run.x.Snapshot(run.ctx, read)
}
