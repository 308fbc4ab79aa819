// Package clock owns time: it reads the clock of the process, and tells how far it can be
// believed. It knows for how long it has run steadily, asks the other witnesses (the other
// servers, the database, what is on disk), and derives which moment has certainly come.
// What follows from that, others decide: they are handed a Clock. The package also repeats
// work at intervals of real time.
//
// Its one invariant: as time passes, what is certain moves no faster than the machine's
// monotonic clock, and does not overtake the clock that is in question.
package clock

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
)

// SteadyFor is how long a clock must have run steadily before it is trusted: what is
// decided by a clock that was wrong for a moment stays decided.
// SteadyForLong applies where more depends on it, as when many days seem to be over. It is
// short enough that a server restarted every day still closes them.
const (
	SteadyFor     = 10 * time.Minute
	SteadyForLong = time.Hour
)

// Mark is what the clock of a server said when it was last written down.
type Mark struct {
	Node  string
	Said  time.Time
	Marks int64 // how often it was written down: grows while the server lives
}

// State is what a database knows about the time.
type State struct {
	Certain   time.Time // the latest moment that has certainly come; zero: unknown
	Confirmed int64     // how often staff have said what day it is
	Marks     []Mark    // of all servers, also of those that have ended
	Up        time.Time // when any server was last up, by its own clock; zero: never
	Database  time.Time // the clock of the database; zero: it has none of its own
}

// Store is what a clock needs of a database. Package store says what each method promises.
type Store interface {
	Node() string
	ClockState(ctx context.Context) (State, error)
	MarkClock(ctx context.Context, said, certain time.Time, confirmed int64) error
	ForgetClocks(ctx context.Context, marks []Mark) error
	ForgetSpans(ctx context.Context, after int64) error
}

// Config configures New.
type Config struct {
	Now  func() time.Time
	Rate float64 // how fast Now runs compared with the machine's clock; 0: unknown, so it is always believed

	// RealTime says that Now is not simulated, and can be compared with the clock of
	// the database.
	RealTime bool

	Store   Store                      // where the other witnesses are found; nil: there are none
	Lease   func() (lease.Lease, bool) // reports whether this process is the one that writes what is certain
	Log     *slog.Logger
	Machine func() time.Time // the machine's clock, whose monotonic part nobody sets; nil: time.Now
}

// Clock is the clock of a process, and what is known about it. Call Run.
type Clock struct {
	cfg       Config
	witnesses bool   // others are asked
	asking    asking // used by Step only

	mu         sync.Mutex // nothing else is locked, and nothing is written, while it is held
	steadiness steadiness
	certainty  certainty
	round      round
	last       Reading
	warned     time.Time // of a clock that was set, by the machine's clock
}

// Reading is what the clock said at one moment, and how far it can be believed.
type Reading struct {
	Now     time.Time
	Steady  time.Duration // for how long it has run steadily
	Trusted bool          // it has run for SteadyFor, and the witnesses are known

	Certain time.Time // what it is at least by every witness; zero: they are unknown
	Latest  time.Time // what it is by the witness that is furthest ahead
	UpTo    time.Time // what was certain when the clock was last trusted; zero: never yet

	Sets   int       // how often it was found that the clock had been set
	Backs  int       // how often it went back by a minute or more
	BackTo time.Time // where it last went back to

	machine time.Time // the same moment by the machine's clock
}

// New returns a clock that has asked no witness yet.
func New(cfg Config) *Clock {
	if cfg.Machine == nil {
		cfg.Machine = time.Now
	}
	return &Clock{cfg: cfg, witnesses: cfg.Rate != 0 && cfg.Store != nil, asking: asking{swept: -1}}
}

// Of returns a clock that is always believed: of a command, or of a test.
func Of(now func() time.Time) *Clock { return New(Config{Now: now}) }

// Now returns what the clock says, right or wrong.
func (c *Clock) Now() time.Time { return c.cfg.Now() }

// Run asks the other witnesses, until ctx ends.
func (c *Clock) Run(ctx context.Context) {
	Every(ctx, time.Second, nil, c.cfg.Log, "compare the clocks", c.Step)
}

// Rate returns how fast the clock runs compared with the machine's; 0: unknown.
func (c *Clock) Rate() float64 { return c.cfg.Rate }

// Machine returns what the machine's clock says, for how long something took: that is
// right even if the clock is set.
func (c *Clock) Machine() time.Time { return c.cfg.Machine() }

// HasWitnesses reports whether there is more than the clock itself to tell the time.
func (c *Clock) HasWitnesses() bool { return c.witnesses }

// Read reads the clock, and finds out how far it can be believed. Who has to react when the
// clock was set or went back compares the counters with those of the reading before.
func (c *Clock) Read() Reading {
	r, warn := c.read()
	if warn {
		c.cfg.Log.Warn("the clock was set or does not run evenly; no minute is decided until it has run evenly for a while",
			"now", r.Now, "while", SteadyFor, "decided", r.UpTo)
	}
	return r
}

// read reads the clock under the lock: a reading that was overtaken by another would look
// as if the clock had gone back.
func (c *Clock) read() (r Reading, warn bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.last
	r.Now, r.machine = c.cfg.Now(), c.cfg.Machine()
	certain, latest, known := c.span(r.Now, r.machine)
	r.Steady = c.steadiness.At(r.Now, r.machine, c.cfg.Rate)
	r.Trusted = r.Steady >= SteadyFor && known
	r.Latest, r.UpTo = beacon.Later(latest, r.Now), before.UpTo
	if known {
		r.Certain = certain
	}
	if r.Trusted { // it does not go back while the clock goes on
		r.UpTo = beacon.Earlier(beacon.Later(certain, before.UpTo), r.Now)
	}
	r.Sets = max(c.steadiness.Begun()-1, 0)
	r.Backs, r.BackTo = before.Backs, before.BackTo
	if beacon.MinuteOf(r.Now) < beacon.MinuteOf(before.Now) {
		r.Backs, r.BackTo = r.Backs+1, r.Now
	}
	if warn = r.Sets != before.Sets && r.machine.Sub(c.warned) >= warnEvery; warn {
		c.warned = r.machine
	}
	c.last = r
	return r, warn
}

// Certain returns what time it is at least by every available witness: this clock,
// what is on disk, the database's clock, and the other servers'. It returns the zero time
// while they are unknown.
func (c *Clock) Certain() time.Time { return c.Read().Certain }

// Trusted reports whether the clock was trusted when it was last read.
func (c *Clock) Trusted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last.Trusted
}

// span returns the earliest and the latest time that any available witness says it is. It
// returns false while they are unknown.
func (c *Clock) span(now, machine time.Time) (certain, latest time.Time, known bool) {
	if !c.witnesses {
		return now, now, true
	}
	r := &c.round
	certain = c.certainty.At(now, machine, c.cfg.Rate)
	latest = r.latest.Add(time.Duration(float64(machine.Sub(r.at)) * c.cfg.Rate))
	return r.earliest(now, certain), latest, r.number > 0
}

// Over reports whether a moment is past by every available witness. What is certain
// counts once it is written down.
func (c *Clock) Over(moment time.Time) bool {
	now := c.Now()
	if !c.witnesses {
		return !now.Before(moment)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.round.number >= enoughRounds && !c.round.earliest(now, c.round.written).Before(moment)
}

// Agreed reports whether the clock says what most witnesses say.
func (c *Clock) Agreed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.witnesses || c.round.agreed
}

// State returns what the database knows about the time.
func (c *Clock) State(ctx context.Context) (State, error) { return c.cfg.Store.ClockState(ctx) }

// Ask asks the database for the latest moment that has certainly come, and returns which
// witness says so. It is the earliest of three times: this clock's, what servers have
// written to disk as certain by all of their clocks, and the database's clock. It is for a
// process that may not have asked them before.
func (c *Clock) Ask(ctx context.Context) (Witness, error) {
	all := []Witness{{here, c.Now()}}
	if c.cfg.Store == nil {
		return all[0], nil
	}
	state, err := c.cfg.Store.ClockState(ctx)
	if !state.Certain.IsZero() {
		all = append(all, Witness{onDisk, state.Certain})
	}
	if c.cfg.RealTime && !state.Database.IsZero() {
		all = append(all, Witness{database, state.Database})
	}
	return earliest(all), err
}
