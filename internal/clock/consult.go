package clock

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
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

// round is what the last round of questions found. The clock's lock guards it.
type round struct {
	number  int       // how many there were
	at      time.Time // by the machine's clock
	limit   time.Time // the earliest time of the other clocks; zero: there are none
	latest  time.Time // the latest time of all witnesses
	written time.Time // what is certain by the database
	agreed  bool      // most witnesses say what our clock says
}

// earliest returns the earliest of three times: ours, what is certain, and the other clocks'.
func (r *round) earliest(now, certain time.Time) time.Time {
	all := []Witness{{Says: now}, {Says: certain}}
	if !r.limit.IsZero() {
		all = append(all, Witness{Says: r.limit})
	}
	return earliest(all).Says
}

// asking is what one round of questions leaves for the next.
type asking struct {
	confirmed int64             // how often staff had said what day it is
	servers   map[string]server // the others
	swept     int               // the steady period, counted in Sets, in which spans ahead of all witnesses were deleted; -1: none yet
	warning   string            // the last one
	warned    time.Time         // when, by the machine's clock
}

// server is the mark of another server.
type server struct {
	Mark
	since time.Time // when it last changed, by the machine's clock
	lives bool      // it changed while we looked
}

// Step reads the clock. At intervals it also writes down what it says, and asks the other
// witnesses.
func (c *Clock) Step(ctx context.Context) error {
	at := c.Read()
	if !c.isDue(at.machine) {
		return nil
	}
	at.Now = at.Now.Round(0)
	state, err := c.cfg.Store.ClockState(ctx)
	if err != nil {
		return err
	}
	_, holder := c.cfg.Lease()
	others := c.others(&state, at.machine)
	certain := c.certain(&state, at, others)
	raise := certain
	if !holder || certain.After(at.Now) {
		raise = time.Time{}
	}
	if err := c.cfg.Store.MarkClock(ctx, at.Now, raise, state.Confirmed); err != nil {
		return err
	}
	all := append([]Witness{{here, at.Now}, {onDisk, certain}}, others...)
	wrong, told := outvoted(all, time.Duration(float64(apartBy)*max(c.cfg.Rate, 1)))
	c.end(round{
		at: at.machine, limit: limit(others), latest: latest(all), written: certain,
		agreed: told && !slices.ContainsFunc(wrong, isHere),
	})
	if len(wrong) > 0 && at.Steady >= SteadyFor {
		c.warn(all, wrong, told, at.machine)
	}
	if !holder {
		return nil
	}
	if err := c.forgetAhead(ctx, at, latest(all)); err != nil {
		return err
	}
	return c.forgetDead(ctx, at.machine)
}

// isDue reports whether it is time for a round.
func (c *Clock) isDue(machine time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	since := float64(machine.Sub(c.round.at)) * max(c.cfg.Rate, 1)
	return c.witnesses && (c.round.number == 0 || since >= float64(markInterval))
}

// end makes a round the last one.
func (c *Clock) end(r round) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.number = c.round.number + 1
	c.round = r
}

func limit(others []Witness) time.Time {
	if len(others) == 0 {
		return time.Time{}
	}
	return earliest(others).Says
}

func isHere(w Witness) bool { return w.Name == here }

// certain returns the latest moment that has certainly come, by the database and the
// machine's monotonic clock. In a database that knows of none, that is when a server
// was last up. Where all clocks are ahead of it and ours has run steadily for long enough,
// it is what they say.
func (c *Clock) certain(state *State, at Reading, others []Witness) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	certain := state.Certain
	if certain.IsZero() {
		if certain = at.Now; !state.Up.IsZero() && state.Up.Before(at.Now) {
			certain = state.Up
		}
	}
	if c.round.number > 0 && c.asking.confirmed != state.Confirmed {
		c.certainty.Set(certain)
	} else {
		c.certainty.Know(certain)
	}
	c.asking.confirmed = state.Confirmed
	certain = c.certainty.At(at.Now, at.machine, c.cfg.Rate)
	said := earliest(append([]Witness{{Says: at.Now}}, others...)).Says // by all clocks
	if ahead := said.Sub(certain); ahead > 0 {
		if wait, enough := waitFor(ahead); enough && at.Steady >= wait {
			c.certainty.Know(said)
			certain = said
		}
	}
	return certain
}

// forgetAhead deletes what was recorded by clocks that were ahead: that a server was up
// in minutes that have not come by any witness. If we are down when they do come, that
// is an outage of ours (D30).
func (c *Clock) forgetAhead(ctx context.Context, at Reading, latest time.Time) error {
	if at.Steady < SteadyFor || c.asking.swept == at.Sets {
		return nil
	}
	err := c.cfg.Store.ForgetSpans(ctx, int64(beacon.MinuteOf(latest)))
	if err == nil {
		c.asking.swept = at.Sets
	}
	return err
}

// others returns the other clocks: those of servers that live, and the database's. It
// tells which live by their marks.
func (c *Clock) others(state *State, machine time.Time) (all []Witness) {
	known := c.asking.servers
	c.asking.servers = make(map[string]server, len(state.Marks))
	for _, m := range state.Marks {
		if m.Node == c.cfg.Store.Node() {
			continue
		}
		s, seen := known[m.Node]
		if !seen || s.Marks != m.Marks {
			s = server{m, machine, seen}
		}
		c.asking.servers[m.Node] = s
		if s.lives && machine.Sub(s.since) < aliveFor {
			all = append(all, Witness{Name: m.Node, Says: m.Said})
		}
	}
	if c.cfg.RealTime && !state.Database.IsZero() {
		all = append(all, Witness{Name: database, Says: state.Database})
	}
	slices.SortFunc(all, func(a, b Witness) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// forgetDead deletes the marks of servers that have ended.
func (c *Clock) forgetDead(ctx context.Context, machine time.Time) error {
	var dead []Mark
	for node, s := range c.asking.servers {
		if machine.Sub(s.since) > forgetAfter {
			dead = append(dead, s.Mark)
			delete(c.asking.servers, node)
		}
	}
	if len(dead) == 0 {
		return nil
	}
	return c.cfg.Store.ForgetClocks(ctx, dead)
}

// warn says that clocks differ, and whose is wrong if there is a majority.
func (c *Clock) warn(all, wrong []Witness, told bool, machine time.Time) {
	now, certain := all[0].Says, all[1].Says
	var text string
	switch w := wrong[0]; {
	case len(all) == 2:
		if text = behindDisk; now.After(certain) {
			text = aheadOfDisk
		}
	case !told:
		text = "the clocks differ, and nobody can tell which is wrong; no day is closed before it is over by all of them"
	case slices.ContainsFunc(wrong, isHere):
		text = "the clock of this server is " + against(now, certain) + " most others, and no day is closed by it: set it right"
	case w.Name == onDisk:
		text = "days were closed or confirmed by a clock that was wrong; see: beacon rewards clock"
	case w.Name == database:
		text = "the clock of the database is " + against(w.Says, now) + " the servers': set it right; no day is closed before it is over by all of them"
	default:
		text = "the clock of another server is " + against(w.Says, now) + " most others: set it right; no day is closed before it is over by all of them"
	}
	if text == c.asking.warning && machine.Sub(c.asking.warned) < warnEvery {
		return
	}
	c.asking.warning, c.asking.warned = text, machine
	args := []any{"now", now, "certain", certain}
	if wait, enough := waitFor(now.Sub(certain)); enough && now.After(certain) {
		args = append(args, "while", wait)
	}
	for _, o := range all[2:] {
		args = append(args, o.Name, o.Says)
	}
	c.cfg.Log.Warn(text, args...)
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
