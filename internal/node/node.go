// Package node assembles one server process. Node is the live network: a database, its
// image in memory, the API on top, and the jobs that keep them consistent. Server adds
// what else a process serves: the preview, the documentation, the console, health
// checks, metrics and profiles.
//
// This is the only place that connects these parts, and so the only one that knows in
// which order they must start and stop. Commands and tests of whole servers use it;
// lower packages have fixtures of their own.
//
//	server, err := node.Open(ctx, node.ServerConfig{…})
//	…
//	defer server.Close()
//	err = server.Serve(ctx, listener, nil, func() { log.Info("ready") })
package node

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/api/fragments"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/checkins"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/erasure"
	"github.com/beacon-wifi/beacon/internal/events"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/identity"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/oversight"
	"github.com/beacon-wifi/beacon/internal/people"
	"github.com/beacon-wifi/beacon/internal/people/doors"
	"github.com/beacon-wifi/beacon/internal/people/letters"
	"github.com/beacon-wifi/beacon/internal/registry"
	"github.com/beacon-wifi/beacon/internal/replica"
	"github.com/beacon-wifi/beacon/internal/review"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/rewards/holds"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

// Node is the live network in one process: a database, its image in memory, and what
// keeps the two consistent.
type Node struct {
	Fleet    *fleet.Fleet
	Follower *replica.Follower
	Keys     *access.Keys
	People   *people.People
	Hub      *events.Hub
	API      *api.API

	db        *store.DB
	sessions  *people.Sessions
	doors     *doors.Doors
	letters   *letters.Letters // nil: no mail is sent
	holder    *lease.Holder
	telemetry *telemetry.Telemetry
	checkins  *checkins.CheckIns
	ledger    *rewards.Ledger
	closing   *closing.Closer
	review    *review.Review
	erasures  *erasure.Erasures
	sequencer *events.Sequencer
	clock     *clock.Clock
	heard     clock.Heard
	limits    edge.Limits
	origins   []string
	linkBase  string
	free      <-chan struct{}
	log       *slog.Logger

	journalRows atomic.Int64 // as of the last countJournal
}

// Config configures a node, apart from its database.
type Config struct {
	Limits   edge.Limits
	Origins  []string // whose pages may use the network API; see edge.ParseOrigins
	Policies policy.Set
	Founding policy.Set // of a new database; nil: Policies
	Now      func() time.Time
	Rate     float64 // how fast Now runs compared with the machine's clock; 0: unknown
	RealTime bool    // Now is not simulated
	Log      *slog.Logger

	PublicURL string          // where browsers reach the server; passkeys belong to it
	LinkBase  string          // what links for people begin with; empty: where each request says that the server is
	SignUp    people.SignUp   // who may become an operator; empty: who is invited
	Provider  *doors.Provider // by which people sign in; nil: none
	Mail      letters.Sender  // nil: no mail is sent

	// Free is closed when this node may take the lease; nil: at once. Until then something
	// else in the process writes to the database.
	Free <-chan struct{}
}

// The tables that each use case needs.
type (
	streams struct {
		store.ChangeTable
		store.EventTable
	}
	beats struct {
		store.RecordTable
		store.ClockTable
		store.HotspotTable
		store.EventTable
	}
	erasable struct {
		store.UserTable
		store.KeyTable
		store.HotspotTable
		store.ChangeTable
		store.HoldTable
		store.LedgerTable
	}
	checked struct {
		store.HotspotTable
		store.CheckInTable
	}
	reviewed struct {
		store.FlagTable
		store.HotspotTable
		store.RecordTable
		store.CheckInTable
		store.LedgerTable
		store.PeopleTable
	}
	followed struct {
		store.ChangeTable
		store.HotspotTable
		store.SettingTable
	}
	registered struct {
		store.HotspotTable
		store.CheckInTable
		store.ChangeTable
	}
	requests struct {
		store.RequestTable
		store.UserTable
	}
	users struct {
		store.UserTable
		store.ChangeTable
	}
	overseen struct {
		store.SettingTable
		store.ChangeTable
		store.UserTable
		store.HotspotTable
		store.PeopleTable
	}
)

// New connects the parts of a node, each after those that it needs. Call Load before it
// serves, and then Run. The caller closes the database.
func New(db *store.DB, cfg Config) *Node {
	log := cfg.Log
	n := &Node{Fleet: fleet.New(fragments.Summarize), db: db, limits: cfg.Limits, origins: cfg.Origins, linkBase: cfg.LinkBase, free: cfg.Free, log: log}
	n.holder = lease.NewHolder(db.Leases, store.HolderLease, db.Node(), log)
	n.clock = clock.New(clock.Config{Store: db.Clocks, Lease: n.holder.Held, Now: cfg.Now, Rate: cfg.Rate, RealTime: cfg.RealTime, Log: log})
	now := n.clock.Now
	n.Hub = events.NewHub(db.Events, log)
	n.sequencer = events.NewSequencer(streams{db.Changes, db.Events}, n.holder, n.clock, n.Hub.Wake, log)
	n.telemetry = telemetry.New(telemetry.Config{
		Journal: db.Journal, Store: beats{db.Records, db.Clocks, db.Hotspots, db.Events}, Fleet: n.Fleet,
		Lease: n.holder.Held, Events: n.sequencer, Clock: n.clock, Log: log,
	})
	books := db.Rewards()
	n.ledger = rewards.New(rewards.Config{Store: books, Policies: cfg.Policies, Founding: cfg.Founding, Clock: n.clock})
	n.closing = closing.New(closing.Config{
		Ledger: n.ledger, Days: books, Months: books, Places: books, Holds: books, Telemetry: n.telemetry, Lease: n.holder.Held, Log: log,
	})
	n.erasures = erasure.New(erasure.Config{Wishes: db.Users, Store: erasable{db.Users, db.Keys, db.Hotspots, db.Changes, db.Holds, db.Ledger}, Clock: n.clock, Lease: n.holder.Held, Log: log})
	n.checkins = checkins.New(checked{db.Hotspots, db.CheckIns}, n.Fleet, now, log)
	n.review = review.New(review.Config{
		Store: reviewed{db.Flags, db.Hotspots, db.Records, db.CheckIns, db.Ledger, db.People}, Final: n.telemetry.FinalBefore, Lease: n.holder.Held, Addresses: n.checkins.Addresses, Now: now, Log: log,
	})
	n.Keys = access.New(db.Keys, now, &n.heard)
	n.Follower = replica.NewFollower(n.Fleet, followed{db.Changes, db.Hotspots, db.Settings}, &n.heard, n.Keys.Follow, n.telemetry, log)
	n.sessions = people.NewSessions(db.People, now, &n.heard)
	users := people.Config{Store: db.People, Sessions: n.sessions, Keys: n.Keys, SignUp: cfg.SignUp, Now: now, Log: log}
	if cfg.Mail != nil {
		n.letters = letters.New(letters.Config{
			Sender: cfg.Mail, Base: cmp.Or(cfg.LinkBase, cfg.PublicURL), Network: n.Follower, Log: log,
		})
		users.Mailer = n.letters
	}
	n.People = people.New(users)
	n.Follower.OnPerson(n.sessions.Forget)
	n.doors = doors.New(doors.Config{
		People: n.People, Store: db.People, PublicURL: cfg.PublicURL, Network: n.name, Provider: cfg.Provider, Now: now,
	})
	n.API = api.New(n.APIConfig())
	return n
}

// name returns the name of the network.
func (n *Node) name() string { return identity.NameOf(n.Follower.Identity()) }

// APIConfig returns what the API consists of. A test can replace a part and make
// another API.
func (n *Node) APIConfig() api.Config {
	return api.Config{
		Keys:      n.Keys,
		People:    n.People,
		Sessions:  n.sessions,
		Doors:     n.doors,
		LinkBase:  n.linkBase,
		Identity:  n.Follower.Identity,
		Registry:  registry.New(registered{n.db.Hotspots, n.db.CheckIns, n.db.Changes}, n.db.Hotspots, n.db.Hotspots, n.db.People, n.Fleet, n.clock.Now),
		CheckIns:  n.checkins,
		Fleet:     n.Fleet,
		Telemetry: n.telemetry,
		Rewards: earnings.New(earnings.Config{
			Ledger: n.ledger, Places: n.db.Rewards(), Totals: n.db.Ledger, Telemetry: n.telemetry, Unrecorded: n.Fleet.Unrecorded, Around: n.Fleet.Around, Nearby: n.neighbours,
			HidesHomes: func() bool { return n.Fleet.Blur().Hides(beacon.Home) }, InService: n.inService,
		}),
		Closing:   n.closing,
		Holds:     &holds.Holds{Ledger: n.ledger, Store: n.db.Rewards()},
		Review:    n.review,
		Erasures:  n.erasures,
		Events:    n.Hub,
		Limits:    n.limits,
		Requests:  requests{n.db.Requests, n.db.Users},
		Users:     &access.Users{Store: users{n.db.Users, n.db.Changes}, Now: n.clock.Now},
		Oversight: NewOversight(n.db, n.clock.Now),
		Desk:      oversight.NewDesk(oversight.DeskConfig{Fleet: n.Fleet, Ledger: n.ledger, Flags: n.db.Flags, Holds: n.db.Holds, Days: n.db.Ledger, Now: n.clock.Now}),
		Origins:   n.origins,
		Now:       n.clock.Now,
		Log:       n.log,
	}
}

// NewOversight returns what staff do with a network, for a server or a command.
func NewOversight(db *store.DB, now func() time.Time) *oversight.Oversight {
	return &oversight.Oversight{Store: overseen{db.Settings, db.Changes, db.Users, db.Hotspots, db.People}, Now: now}
}

// Load loads the state of the database into memory. Restore needs the hotspots that the
// follower loads, and CatchUp applies the journals on top of the records that Restore reads.
func (n *Node) Load(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		n.closing.Start, n.checkins.Start, n.Follower.Load, n.telemetry.Restore, n.Follower.CatchUp, n.telemetry.Restored,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return n.Fleet.BuildMap(n.clock.Now())
}

const (
	flushInterval = time.Minute
	pruneInterval = time.Hour
	countInterval = 15 * time.Second // the usual scrape interval of Prometheus
)

// Run keeps memory and database consistent until ctx ends.
func (n *Node) Run(ctx context.Context) {
	var jobs sync.WaitGroup
	for _, run := range []func(context.Context){
		n.Follower.Run, n.hold, n.clock.Run, n.telemetry.Run, n.sequencer.Run, n.Hub.Run, n.closing.Run, n.review.Run, n.erasures.Run, n.checkins.Run, n.People.Run,
	} {
		jobs.Go(func() { run(ctx) })
	}
	if n.letters != nil {
		jobs.Go(func() { n.letters.Run(ctx) })
	}
	every := func(interval time.Duration, what string, do func(context.Context) error) {
		jobs.Go(func() { clock.Every(ctx, interval, nil, n.log, what, do) })
	}
	every(flushInterval, "note the last use of keys and sessions", n.flushKeys)
	every(pruneInterval, "delete what has expired", n.prune)
	every(countInterval, "count the rows of the journal", n.countJournal)
	jobs.Wait()
	if err := n.flushKeys(context.WithoutCancel(ctx)); err != nil {
		n.log.Warn("the last use of keys could not be noted", "err", err)
	}
}

// hold takes the lease when this node may, and keeps it until ctx ends.
func (n *Node) hold(ctx context.Context) {
	if n.free != nil {
		select {
		case <-n.free:
		case <-ctx.Done():
			return
		}
	}
	n.holder.Run(ctx)
}

// flushTimeout bounds a flush, because the database may be down.
const flushTimeout = 2 * time.Second

func (n *Node) flushKeys(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	return errors.Join(n.Keys.Flush(ctx), n.sessions.Flush(ctx))
}

// prune deletes what has expired by every clock: what one that is ahead deletes is gone
// once it is right.
func (n *Node) prune(ctx context.Context) error {
	now := n.clock.Certain()
	if now.IsZero() {
		return nil
	}
	_, err := n.db.Requests.PruneIdempotency(ctx, now)
	return errors.Join(err, n.db.Hotspots.PruneFreedMACs(ctx, now), n.db.Hotspots.PruneDeletions(ctx, now.Add(-2*beacon.RestoreTime)), n.db.Hotspots.PruneOffers(ctx, now), n.db.Users.PruneTallies(ctx, now), n.db.People.PrunePeople(ctx, now), n.checkins.Prune(ctx, now))
}

// countJournal counts the rows of the journal. It runs on a timer and not on a
// scrape: a scrape must not wait for a database that is down, which
// beacon_feed_age_seconds shows.
func (n *Node) countJournal(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	rows, err := n.db.Journal.JournalRows(ctx)
	if err == nil {
		n.journalRows.Store(rows)
	}
	return err
}

// Records returns telemetry that only decodes records, for a command beside servers.
func Records() closing.Telemetry { return &telemetry.Telemetry{} }

// uptime returns the uptime of a hotspot by day, as public pages show it.
func (n *Node) uptime(ctx context.Context, id beacon.HotspotID, from, to time.Time) ([]float64, error) {
	h, err := n.telemetry.History(ctx, telemetry.HistoryQuery{Hotspot: id, From: from, To: to, Step: 24 * time.Hour})
	if err != nil {
		return nil, err
	}
	days := make([]float64, len(h.Points))
	for i, p := range h.Points {
		days[i] = float64(p.Served) / float64(p.Expected) // NaN if nothing was expected
	}
	return days, nil
}

func (n *Node) inService(id beacon.HotspotID) bool {
	h, found := n.Fleet.Find(id)
	return found && h.Active()
}

// neighbours returns the hotspots in service that are nearest to a point, as everyone sees
// them.
func (n *Node) neighbours(p geo.Point, withinM float64, most int) (list []earnings.Neighbour) {
	now := n.clock.Now()
	for _, hit := range n.Fleet.Nearby(fleet.NearbyQuery{Center: p, RadiusM: withinM, Limit: most, Active: true}, nil) {
		c := hit.Item.PublicCondition(now)
		list = append(list, earnings.Neighbour{Place: hit.Item.Place(), Uptime: c.Uptime, Tier: c.Tier})
	}
	return list
}

// Plan returns what a new hotspot at a place might earn beside neighbours that the caller
// knows of.
func (n *Node) Plan(ctx context.Context, place geo.Point, nearby func(geo.Point, float64, int) []earnings.Neighbour) (earnings.Estimate, error) {
	estimates, err := earnings.New(earnings.Config{Ledger: n.ledger, Nearby: nearby}).Plan(ctx, beacon.Principal{}, []geo.Point{place})
	if err != nil {
		return earnings.Estimate{}, err
	}
	return estimates[0], nil
}
