package rewards

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

const (
	// markInterval is how often a server writes down what its clock says, and asks what
	// the others say.
	markInterval = 15 * time.Second

	// aliveFor is for how long after its last mark a server counts as a witness, and
	// forgetAfter when its mark is deleted.
	aliveFor    = 4 * markInterval
	forgetAfter = time.Hour

	// enoughRounds is how often a process must have asked before it closes a day: by
	// then it has seen which other servers live.
	enoughRounds = 3

	// apartBy is how far two clocks may differ and still agree. A mark may be some seconds old.
	apartBy = 2 * time.Minute

	warnEvery = time.Hour
)

// The witnesses that are not servers.
const (
	here     = "this server"
	onDisk   = "what is on disk"
	database = "the database"
)

// witnesses is what this process knows about the time other than by its own clock.
type witnesses struct {
	certain clock.Certainty

	mu        sync.Mutex
	asked     time.Time // the last round, by the machine's clock
	rounds    int
	confirmed int64
	servers   map[string]server // the others
	swept     int               // the steady period of our clock in which spans ahead of all witnesses were deleted
	limit     time.Time         // the earliest time of the other witnesses; zero: there are none
	latest    time.Time         // the latest time of all
	written   time.Time         // what is certain by the database
	agreed    bool              // most witnesses say what our clock says
	warning   string            // the last one
	warned    time.Time         // when, by the machine's clock
}

// server is the mark of another server.
type server struct {
	ledger.ClockMark
	since time.Time // when it last changed, by the machine's clock
	lives bool      // it changed while we looked
}

// Certain returns the latest moment that has come by every available witness (our own
// clock, what is on disk, the database's clock, and the other servers') and the latest
// that has come by any. It returns false while they are unknown.
func (r *Rewards) Certain() (certain, latest time.Time, known bool) {
	now := r.Now()
	if r.Rate == 0 {
		return now, now, true
	}
	w := &r.witnesses
	real := r.machine()
	certain = w.certain.At(now, real, r.Rate)
	w.mu.Lock()
	defer w.mu.Unlock()
	latest = w.latest.Add(time.Duration(float64(real.Sub(w.asked)) * r.Rate))
	return earliest(now, certain, w.limit), latest, w.rounds > 0
}

// ClockAgreed reports whether our clock says what most witnesses say.
func (r *Rewards) ClockAgreed() bool {
	r.witnesses.mu.Lock()
	defer r.witnesses.mu.Unlock()
	return r.Rate == 0 || r.witnesses.agreed
}

// over reports whether a moment has come by every available witness. What is certain
// counts once it is written down.
func (r *Rewards) over(moment time.Time) bool {
	now := r.Now()
	if r.Rate == 0 {
		return !now.Before(moment)
	}
	w := &r.witnesses
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rounds >= enoughRounds && !earliest(now, w.written, w.limit).Before(moment)
}

// earliest returns the earliest of three times; limit may be zero.
func earliest(now, certain, limit time.Time) time.Time {
	all := []clock.Witness{{Says: now}, {Says: certain}}
	if !limit.IsZero() {
		all = append(all, clock.Witness{Says: limit})
	}
	return clock.Earliest(all)
}

// consult writes down what our clock says, and asks the other witnesses.
func (r *Rewards) consult(ctx context.Context) error {
	w := &r.witnesses
	now, real := r.Now().Round(0), r.machine()
	if r.Rate == 0 || w.rounds > 0 && float64(real.Sub(w.asked))*max(r.Rate, 1) < float64(markInterval) {
		return nil
	}
	steady := r.clock.At(now, real, r.Rate)
	state, err := r.Store.ClockState(ctx)
	if err != nil {
		return err
	}
	_, holder := r.Lease()
	certain := r.certain(&state, now, real)
	others := r.others(&state, real)
	said := clock.Earliest(append([]clock.Witness{{Says: now}}, others...)) // by all clocks
	if ahead := said.Sub(certain); ahead > 0 {
		if wait, enough := clock.Wait(ahead); enough && steady >= wait {
			w.certain.Know(said)
			certain = said
		}
	}
	raise := certain
	if !holder || certain.After(now) {
		raise = time.Time{}
	}
	if err := r.Store.MarkClock(ctx, now, raise, state.Confirmed); err != nil {
		return err
	}
	all := append([]clock.Witness{{Name: here, Says: now}, {Name: onDisk, Says: certain}}, others...)
	tolerance := time.Duration(float64(apartBy) * max(r.Rate, 1))
	wrong, told := clock.Outvoted(all, tolerance)
	w.mu.Lock()
	w.asked, w.rounds, w.written, w.limit = real, w.rounds+1, certain, time.Time{}
	w.latest = clock.Latest(all)
	if len(others) > 0 {
		w.limit = clock.Earliest(others)
	}
	w.agreed = told && !slices.ContainsFunc(wrong, func(w clock.Witness) bool { return w.Name == here })
	w.mu.Unlock()
	if len(wrong) > 0 && steady >= steadyFor {
		r.warnOfClocks(all, wrong, told, real)
	}
	if !holder {
		return nil
	}
	if err := r.forgetAhead(ctx, steady); err != nil {
		return err
	}
	return r.forgetDead(ctx, real)
}

// forgetAhead deletes what was recorded by clocks that were ahead: that a server was up
// in minutes that have not come by any witness. If we are down when they do come, that
// is an outage of ours (D30).
func (r *Rewards) forgetAhead(ctx context.Context, steady time.Duration) error {
	w, period := &r.witnesses, r.clock.Begun()
	if steady < steadyFor || w.swept == period {
		return nil
	}
	err := r.Store.ForgetSpans(ctx, int64(beacon.MinuteOf(w.latest)))
	if err == nil {
		w.swept = period
	}
	return err
}

// certain returns the latest moment that has certainly come, by the database and the
// machine's monotonic clock. In a database that knows of none, that is when a server
// was last up.
func (r *Rewards) certain(state *ledger.ClockState, now, real time.Time) time.Time {
	w := &r.witnesses
	certain := state.Certain
	if certain.IsZero() {
		if certain = now; !state.Up.IsZero() && state.Up.Before(now) {
			certain = state.Up
		}
	}
	if w.rounds > 0 && w.confirmed != state.Confirmed {
		w.certain.Set(certain)
	} else {
		w.certain.Know(certain)
	}
	w.confirmed = state.Confirmed
	return w.certain.At(now, real, r.Rate)
}

// others returns the other clocks: those of servers that live, and the database's. It
// tells which live by their marks.
func (r *Rewards) others(state *ledger.ClockState, real time.Time) (all []clock.Witness) {
	w := &r.witnesses
	known := w.servers
	w.servers = make(map[string]server, len(state.Marks))
	for _, m := range state.Marks {
		if m.Node == r.Store.Node() {
			continue
		}
		s, seen := known[m.Node]
		if !seen || s.Marks != m.Marks {
			s = server{m, real, seen}
		}
		w.servers[m.Node] = s
		if s.lives && real.Sub(s.since) < aliveFor {
			all = append(all, clock.Witness{Name: m.Node, Says: m.Said})
		}
	}
	if r.RealTime && !state.Database.IsZero() {
		all = append(all, clock.Witness{Name: database, Says: state.Database})
	}
	slices.SortFunc(all, func(a, b clock.Witness) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// forgetDead deletes the marks of servers that have ended.
func (r *Rewards) forgetDead(ctx context.Context, real time.Time) error {
	var dead []ledger.ClockMark
	for node, s := range r.witnesses.servers {
		if real.Sub(s.since) > forgetAfter {
			dead = append(dead, s.ClockMark)
			delete(r.witnesses.servers, node)
		}
	}
	if len(dead) == 0 {
		return nil
	}
	return r.Store.ForgetClocks(ctx, dead)
}

// warnOfClocks says that clocks differ, and whose is wrong if there is a majority.
func (r *Rewards) warnOfClocks(all, wrong []clock.Witness, told bool, real time.Time) {
	now, certain := all[0].Says, all[1].Says
	var text string
	switch w := wrong[0]; {
	case len(all) == 2:
		if text = behindDisk; now.After(certain) {
			text = aheadOfDisk
		}
	case !told:
		text = "the clocks differ, and nobody can tell which is wrong; no day is closed before it is over by all of them"
	case slices.ContainsFunc(wrong, func(w clock.Witness) bool { return w.Name == here }):
		text = "the clock of this server is " + against(now, certain) + " most others, and no day is closed by it: set it right"
	case w.Name == onDisk:
		text = "days were closed or confirmed by a clock that was wrong; see: beacon rewards clock"
	case w.Name == database:
		text = "the clock of the database is " + against(w.Says, now) + " the servers': set it right; no day is closed before it is over by all of them"
	default:
		text = "the clock of another server is " + against(w.Says, now) + " most others: set it right; no day is closed before it is over by all of them"
	}
	w := &r.witnesses
	if text == w.warning && real.Sub(w.warned) < warnEvery {
		return
	}
	w.warning, w.warned = text, real
	args := []any{"now", now, "certain", certain}
	if wait, enough := clock.Wait(now.Sub(certain)); enough && now.After(certain) {
		args = append(args, "while", wait)
	}
	for _, o := range all[2:] {
		args = append(args, o.Name, o.Says)
	}
	r.Log.Warn(text, args...)
}

const (
	aheadOfDisk = "the clock of this server is ahead of what is certain: nothing was on in between, or it is wrong; no day is closed by it " +
		"until it has run evenly for a while, or until staff say what day it is: beacon rewards clock"
	behindDisk = "the clock of this server is behind what is on disk: it is wrong, or was; see: beacon rewards clock"
)

func against(is, other time.Time) string {
	if is.Before(other) {
		return "behind"
	}
	return "ahead of"
}
