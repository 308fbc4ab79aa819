package main

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/events"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/registry"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

// node is the live network in one process: a database, its image in memory, and what
// keeps the two consistent.
type node struct {
	db        *store.DB
	fleet     *fleet.Fleet
	follower  *fleet.Follower
	keys      *access.Keys
	keeper    *lease.Holder
	telemetry *telemetry.Telemetry
	rewards   *rewards.Rewards
	sequencer *events.Sequencer
	hub       *events.Hub
	api       *api.API
	now       func() time.Time
	log       *slog.Logger

	journalRows atomic.Int64 // as of the last countJournal
}

// keeperLease is held by the one node that folds heartbeats, orders events, announces
// who is online, and closes and settles what was earned.
const keeperLease = "keeper"

// nodeConfig configures a node, apart from its database.
type nodeConfig struct {
	limits   api.Limits
	policies policy.Set
	now      func() time.Time
	rate     float64 // how fast now runs compared with the machine's clock; 0: unknown
	log      *slog.Logger
	realTime bool // now is not simulated
}

var _ rewards.Store = (*store.DB)(nil)

func newNode(db *store.DB, cfg nodeConfig) *node {
	now, log := cfg.now, cfg.log
	service := heartbeat.NewOutages()
	table := heartbeat.NewTable(service)
	n := &node{db: db, fleet: fleet.New(api.Summarize, table), now: now, log: log}
	n.keeper = lease.NewHolder(db, keeperLease, db.Node(), log)
	n.hub = events.NewHub(db, log)
	n.sequencer = events.NewSequencer(db, n.keeper, now, n.hub.Wake, log)
	n.telemetry = telemetry.New(telemetry.Config{
		Store: db, Fleet: n.fleet, Table: table, Service: service,
		Keeper: n.keeper.Held, Before: n.sequencer.Step, Told: n.hub.Wake, Now: now, Rate: cfg.rate, Log: log,
		Certain: func() (time.Time, bool) { return n.rewards.Certain() },
	})
	n.rewards = rewards.New(rewards.Config{
		Store: db, Telemetry: n.telemetry, Policies: cfg.policies, Keeper: n.keeper.Held, Now: now, Rate: cfg.rate, Log: log,
		RealTime: cfg.realTime,
	})
	n.keys = access.New(db, now, func(time.Time) bool { return n.follower.InStep() })
	n.follower = fleet.NewFollower(n.fleet, db, n.keys.Forget, n.telemetry, log)
	n.api = api.New(api.Config{
		Keys:      n.keys,
		Registry:  registry.New(db, n.fleet, now),
		Fleet:     n.fleet,
		Telemetry: n.telemetry,
		Rewards:   n.rewards,
		Events:    n.hub,
		Limits:    cfg.limits,
		Now:       now,
		Log:       log,
	})
	return n
}

// load loads the state of the database into memory.
func (n *node) load(ctx context.Context) error {
	if err := n.rewards.Start(ctx); err != nil {
		return err
	}
	if err := n.follower.Load(ctx); err != nil {
		return err
	}
	if err := n.telemetry.Restore(ctx); err != nil {
		return err
	}
	if err := n.follower.CatchUp(ctx); err != nil {
		return err
	}
	if err := n.telemetry.Restored(ctx); err != nil {
		return err
	}
	return n.fleet.BuildMap(n.now())
}

const (
	flushInterval = time.Minute
	pruneInterval = time.Hour
	countInterval = 15 * time.Second // the usual scrape interval of Prometheus
)

// run keeps memory and database consistent until ctx ends.
func (n *node) run(ctx context.Context) {
	var group errgroup.Group
	for _, job := range []func(context.Context){
		n.follower.Run, n.keeper.Run, n.telemetry.Run, n.sequencer.Run, n.hub.Run, n.rewards.Run,
	} {
		group.Go(func() error { job(ctx); return nil })
	}
	group.Go(func() error {
		every(ctx, flushInterval, n.flushKeys)
		return nil
	})
	group.Go(func() error {
		every(ctx, pruneInterval, n.prune)
		return nil
	})
	group.Go(func() error {
		every(ctx, countInterval, n.countJournal)
		return nil
	})
	_ = group.Wait() // none of them fails
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

func (n *node) flushKeys(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if err := n.keys.Flush(ctx); err != nil {
		n.log.Warn("the last use of keys could not be noted", "err", err)
	}
}

func (n *node) prune(ctx context.Context) {
	if _, err := n.db.PruneIdempotency(ctx, n.now()); err != nil {
		n.log.Warn("expired idempotency records could not be deleted", "err", err)
	}
}

// countJournal counts the rows of the journal. It runs on a timer and not on a
// scrape: a scrape must not wait for a database that is down, which
// beacon_feed_age_seconds shows.
func (n *node) countJournal(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if rows, err := n.db.JournalRows(ctx); err == nil {
		n.journalRows.Store(rows)
	}
}
