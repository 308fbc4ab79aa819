// Package review looks for hotspots that staff should visit: whose figures no real device
// has, or that stand closer together than one operator, or several, would put them. It decides
// nothing, and nothing is paid or held by what it finds.
//
// Its one invariant: what it says of a day follows from the records of that day and the
// day before, from where devices send, and from what is registered.
package review

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/lease"
)

// Store is what this package needs of a database. Package store says what each method
// promises.
type Store interface {
	OwnedPage(ctx context.Context, after beacon.Owned, limit int) ([]beacon.Owned, error)
	HotspotsByID(ctx context.Context, ids []beacon.HotspotID) ([]beacon.Hotspot, error)
	Records(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID][]byte, error)
	DeviceAddresses(ctx context.Context, ids []beacon.HotspotID) (map[beacon.HotspotID]beacon.DeviceAddress, error)
	MACsAgain(ctx context.Context, since time.Time, least int) (map[beacon.HotspotID]int, error)

	PutFlags(ctx context.Context, l lease.Lease, flags []beacon.Flag) error
	FinishReview(ctx context.Context, l lease.Lease, day, kept beacon.Day, dismissed time.Time) error
	Reviewed(ctx context.Context) (beacon.Day, bool, error)
	Flags(ctx context.Context, of beacon.FlagFilter, after beacon.FlagPlace, offset, limit int) (page []beacon.FlagLine, lines, flags int, err error)
	DismissFlags(ctx context.Context, of string, kind beacon.FlagKind, reason string, by beacon.Actor, now time.Time, may func(operator beacon.UserID) error) error
	Behind(ctx context.Context, user beacon.UserID, person beacon.PersonID, key beacon.KeyID) (beacon.Behind, error)
	Earned(ctx context.Context, users []beacon.UserID, from, to beacon.Month) (map[beacon.UserID]beacon.Amount, error)
}

// Config is what New needs.
type Config struct {
	Store Store
	Final func() (before beacon.Day, known bool) // days before it have all their records
	Lease func() (lease.Lease, bool)             // the lease, while this process holds it

	// Addresses returns from how many addresses this process knows a device to have sent on
	// a day.
	Addresses func(hotspot beacon.HotspotID, day beacon.Day) int

	Now func() time.Time
	Log *slog.Logger
}

// Review looks at all hotspots once a day. Call Run.
type Review struct {
	Config
	done beacon.Day // the last day that is known to be reviewed; used by Step only
}

// New returns a review.
func New(cfg Config) *Review { return &Review{Config: cfg} }

const (
	stepInterval = time.Second
	pageSize     = 1000

	flagsKept = 30 // days that a flag that is not raised again stays in the queue
	flagsRest = 90 // days after which one that was dismissed returns if it is raised again
)

// Run reviews each day once it is final, while this process holds the lease, until ctx
// ends.
func (r *Review) Run(ctx context.Context) {
	clock.Every(ctx, stepInterval, nil, r.Log, "review the hotspots", r.Step)
}

// Step reviews the last final day, unless that is done. Days before it that were missed
// are left out: what matters is seen on the next day too.
func (r *Review) Step(ctx context.Context) error {
	final, known := r.Final()
	held, holder := r.Lease()
	day := final - 1
	if !known || !holder || r.covers(r.done, day) {
		return nil
	}
	done, found, err := r.Store.Reviewed(ctx)
	if err != nil {
		return err
	}
	if !found || !r.covers(done, day) {
		if err := r.reviewDay(ctx, held, day); err != nil {
			return err
		}
		done = day
	}
	r.done = done
	return nil
}

// covers reports whether a day needs no review because done, or a later one, was reviewed. A
// day that is not over was reviewed by a clock that was ahead: it covers nothing.
func (r *Review) covers(done, day beacon.Day) bool {
	return day <= done && done < beacon.DayOf(r.Now())
}

// reviewDay reviews a day, page by page. Memory holds a page, and where all hotspots stand.
func (r *Review) reviewDay(ctx context.Context, held lease.Lease, day beacon.Day) error {
	again, err := r.Store.MACsAgain(ctx, (day + 1 - registeredWithin).Time(), registeredAgain)
	if err != nil {
		return err
	}
	var own estate
	var all everyone
	for last, more := (beacon.Owned{}), true; more; {
		owned, err := r.Store.OwnedPage(ctx, last, pageSize)
		if err != nil {
			return err
		}
		var flags []beacon.Flag
		if more = len(owned) == pageSize; len(owned) > 0 {
			last = owned[len(owned)-1]
		}
		cases, err := r.cases(ctx, day, owned)
		if err != nil {
			return err
		}
		for i := range cases {
			c := &cases[i]
			if !c.EverVisited() { // it earns nothing, and anyone can register any number
				continue
			}
			if c.Operator != own.operator {
				flags = append(flags, own.flags(day)...)
				own = estate{operator: c.Operator}
			}
			own.add(c, day)
			all.add(c, day)
			flags = append(flags, c.flags(day)...)
			if n := again[c.ID]; n > 0 {
				flags = append(flags, flag(c.ID, c.Operator, day, beacon.MACAgain, facts{"registrations": int64(n)}))
			}
		}
		if !more {
			flags = append(append(flags, own.flags(day)...), all.flags(day)...)
		}
		if err := r.put(ctx, held, day, flags); err != nil {
			return err
		}
	}
	return r.Store.FinishReview(ctx, held, day, day-flagsKept, r.Now().AddDate(0, 0, -flagsRest))
}

// put writes the flags of a day, with what is at stake.
func (r *Review) put(ctx context.Context, held lease.Lease, day beacon.Day, flags []beacon.Flag) error {
	about := map[beacon.UserID]bool{}
	for i := range flags {
		for _, user := range flags[i].About() {
			about[user] = true
		}
	}
	month := beacon.MonthOf(day.Time())
	earned, err := r.Store.Earned(ctx, slices.Collect(maps.Keys(about)), month-1, month)
	if err != nil {
		return err
	}
	for i := range flags {
		for _, user := range flags[i].About() {
			flags[i].Stake += earned[user]
		}
	}
	return r.Store.PutFlags(ctx, held, flags)
}

// cases reads what is known of hotspots, in their order.
func (r *Review) cases(ctx context.Context, day beacon.Day, owned []beacon.Owned) ([]Case, error) {
	ids := make([]beacon.HotspotID, len(owned))
	for i, o := range owned {
		ids[i] = o.Hotspot
	}
	hotspots, err := r.Store.HotspotsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	is, err := r.Store.Records(ctx, day, ids)
	if err != nil {
		return nil, err
	}
	was, err := r.Store.Records(ctx, day-1, ids)
	if err != nil {
		return nil, err
	}
	from, err := r.Store.DeviceAddresses(ctx, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[beacon.HotspotID]*beacon.Hotspot, len(hotspots))
	for i := range hotspots {
		byID[hotspots[i].ID] = &hotspots[i]
	}
	var all []Case
	for _, id := range ids {
		if byID[id] == nil {
			continue
		}
		c := Case{Hotspot: *byID[id], Addresses: r.Addresses(id, day)}
		if a, known := from[id]; known && !a.At.Before(day.Time()) {
			c.From, c.Network = a.Hash, a.Network
		}
		if data := is[id]; data != nil {
			t, err := heartbeat.RecordTraits(data, was[id])
			if err != nil && !errors.Is(err, beacon.ErrDamaged) {
				return nil, err
			}
			c.Traits, c.Heard = t, err == nil
		}
		all = append(all, c)
	}
	return all, nil
}

// Query asks for a page of the queue.
type Query struct {
	beacon.FlagFilter
	Page beacon.Page
}

// Queue is a page of the queue, and how many flags there are.
type Queue struct {
	beacon.Listed[beacon.FlagLine]
	Flags int
}

// Queue returns a page of the queue, with what matters most first. All flags of one kind
// that an account has are one line, unless the flags of that account are asked for.
func (r *Review) Queue(ctx context.Context, _ beacon.Principal, q Query) (out Queue, err error) {
	after := beacon.FirstFlag()
	if q.Page.After != "" {
		if after, err = beacon.ParseFlagPlace(q.Page.After); err != nil {
			return out, err
		}
	}
	out.Page = q.Page
	out.Items, out.Total, out.Flags, err = r.Store.Flags(ctx, q.FlagFilter, after, q.Page.Offset(), q.Page.Size)
	return out, err
}

// Dismissal asks to take the flags of a kind out of the queue that a hotspot has, or an
// account.
type Dismissal struct {
	Of     string // the id of either
	Kind   beacon.FlagKind
	Reason string // as beacon.CleanReason returns it
}

// Dismiss takes flags out of the queue, but not one about a hotspot of one's own, in any
// account. The audit has who did it, and why.
func (r *Review) Dismiss(ctx context.Context, p beacon.Principal, in Dismissal) (struct{}, error) {
	who, err := r.Store.Behind(ctx, p.User, p.Person, p.Key)
	if err != nil {
		return struct{}{}, err
	}
	err = r.Store.DismissFlags(ctx, in.Of, in.Kind, in.Reason, p.Actor(), r.Now(), func(operator beacon.UserID) error {
		if who.Owns(operator) {
			return &beacon.Error{Kind: beacon.Forbidden, Message: "this flag is about a hotspot of yours: someone else must decide about it"}
		}
		return nil
	})
	return struct{}{}, beacon.WordNoSuch(err, "flag")
}
