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
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/checkins"
	"github.com/beacon-wifi/beacon/internal/erasure"
	"github.com/beacon-wifi/beacon/internal/events"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/registry"
	"github.com/beacon-wifi/beacon/internal/replica"
	"github.com/beacon-wifi/beacon/internal/review"
	"github.com/beacon-wifi/beacon/internal/rewards"
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
	Hub      *events.Hub
	API      *api.API

	db        *store.DB
	holder    *lease.Holder
	telemetry *telemetry.Telemetry
	checkins  *checkins.CheckIns
	rewards   *rewards.Rewards
	review    *review.Review
	erasures  *erasure.Erasures
	sequencer *events.Sequencer
	limits    api.Limits
	origins   []string
	now       func() time.Time
	log       *slog.Logger

	journalRows atomic.Int64 // as of the last countJournal
}

// Config configures a node, apart from its database.
type Config struct {
	Limits   api.Limits
	Origins  []string // whose pages may use the network API; see api.ParseOrigins
	Policies policy.Set
	Founding policy.Set // of a new database; nil: Policies
	Now      func() time.Time
	Rate     float64 // how fast Now runs compared with the machine's clock; 0: unknown
	RealTime bool    // Now is not simulated
	Log      *slog.Logger
}

// New connects the parts of a node. Call Load before it serves, and then Run. The
// caller closes the database.
//
// Some parts need each other. Where one is made before the other, it gets a function that
// looks for the other in n when it is called.
func New(db *store.DB, cfg Config) *Node {
	now, log := cfg.Now, cfg.Log
	n := &Node{Fleet: fleet.New(api.Summarize), db: db, limits: cfg.Limits, origins: cfg.Origins, now: now, log: log}
	n.holder = lease.NewHolder(db, store.KeeperLease, db.Node(), log)
	n.Hub = events.NewHub(db, log)
	n.sequencer = events.NewSequencer(db, n.holder, n.certain, n.Hub.Wake, log)
	n.telemetry = telemetry.New(telemetry.Config{
		Store: db, Fleet: n.Fleet,
		Lease: n.holder.Held, Before: n.sequencer.Step, Told: n.Hub.Wake, Now: now, Rate: cfg.Rate, Log: log,
		Certain: func() (certain, latest time.Time, known bool) { return n.rewards.Certain() },
	})
	n.rewards = rewards.New(rewards.Config{
		Store: db, Telemetry: n.telemetry, Policies: cfg.Policies, Founding: cfg.Founding, Lease: n.holder.Held, Now: now, Rate: cfg.Rate, Log: log,
		RealTime: cfg.RealTime, Unrecorded: n.Fleet.Unrecorded, Around: n.Fleet.Around,
	})
	n.erasures = erasure.New(erasure.Config{Store: db, Certain: n.rewards.Certain, Lease: n.holder.Held, Now: now, Log: log})
	n.checkins = checkins.New(db, n.Fleet, now, log)
	n.review = review.New(review.Config{
		Store: db, Final: n.telemetry.FinalBefore, Lease: n.holder.Held, Addresses: n.checkins.Addresses, Now: now, Log: log,
	})
	n.Keys = access.New(db, now, func() bool { return n.Follower.InStep() })
	n.Follower = replica.NewFollower(n.Fleet, db, n.Keys.Follow, n.telemetry, log)
	n.API = api.New(n.APIConfig())
	return n
}

// APIConfig returns what the API consists of. A test can replace a part and make
// another API.
func (n *Node) APIConfig() api.Config {
	return api.Config{
		Keys:      n.Keys,
		Registry:  registry.New(n.db, n.Fleet, n.now),
		CheckIns:  n.checkins,
		Fleet:     n.Fleet,
		Telemetry: n.telemetry,
		Rewards:   n.rewards,
		Books:     n.rewards,
		Review:    n.review,
		Erasures:  n.erasures,
		Events:    n.Hub,
		Limits:    n.limits,
		Store:     n.db,
		Origins:   n.origins,
		Now:       n.now,
		Log:       n.log,
	}
}

// Load loads the state of the database into memory. Restore needs the hotspots that the
// follower loads, and CatchUp applies the journals on top of the records that Restore reads.
func (n *Node) Load(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		n.rewards.Start, n.checkins.Start, n.Follower.Load, n.telemetry.Restore, n.Follower.CatchUp, n.telemetry.Restored,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return n.Fleet.BuildMap(n.now())
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
		n.Follower.Run, n.holder.Run, n.telemetry.Run, n.sequencer.Run, n.Hub.Run, n.rewards.Run, n.review.Run, n.erasures.Run, n.checkins.Run,
	} {
		jobs.Go(func() { run(ctx) })
	}
	jobs.Go(func() { every(ctx, flushInterval, n.flushKeys) })
	jobs.Go(func() { every(ctx, pruneInterval, n.prune) })
	jobs.Go(func() { every(ctx, countInterval, n.countJournal) })
	jobs.Wait()
	n.flushKeys(context.WithoutCancel(ctx))
}

// every calls fn at each tick until ctx ends.
func every(ctx context.Context, interval time.Duration, fn func(context.Context)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			fn(ctx)
		}
	}
}

// flushTimeout bounds a flush, because the database may be down.
const flushTimeout = 2 * time.Second

func (n *Node) flushKeys(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if err := n.Keys.Flush(ctx); err != nil {
		n.log.Warn("the last use of keys could not be noted", "err", err)
	}
}

// certain returns the latest moment that has come by every witness of the time, or zero if
// that is not known.
func (n *Node) certain() time.Time {
	if at, _, known := n.rewards.Certain(); known {
		return at
	}
	return time.Time{}
}

// prune deletes what has expired by every clock: what one that is ahead deletes is gone
// once it is right.
func (n *Node) prune(ctx context.Context) {
	now := n.certain()
	if now.IsZero() {
		return
	}
	if _, err := n.db.PruneIdempotency(ctx, now); err != nil {
		n.log.Warn("expired idempotency records could not be deleted", "err", err)
	}
	if err := n.db.PruneFreedMACs(ctx, now); err != nil {
		n.log.Warn("expired reservations of MAC addresses could not be deleted", "err", err)
	}
	if err := n.checkins.Prune(ctx, now); err != nil {
		n.log.Warn("old check-ins could not be deleted", "err", err)
	}
}

// countJournal counts the rows of the journal. It runs on a timer and not on a
// scrape: a scrape must not wait for a database that is down, which
// beacon_feed_age_seconds shows.
func (n *Node) countJournal(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if rows, err := n.db.JournalRows(ctx); err == nil {
		n.journalRows.Store(rows)
	}
}

// Records returns telemetry that only decodes records, for a command beside servers.
func Records() rewards.Telemetry { return &telemetry.Telemetry{} }

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
