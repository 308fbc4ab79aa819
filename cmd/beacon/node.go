package main

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/beacon-wifi/beacon/access"
	"github.com/beacon-wifi/beacon/fleet"
	"github.com/beacon-wifi/beacon/metrics"
	"github.com/beacon-wifi/beacon/network"
	"github.com/beacon-wifi/beacon/registry"
	"github.com/beacon-wifi/beacon/store"
)

// node is the live network as one process serves it: a database, the picture
// of it in memory, and what keeps the two in step.
type node struct {
	db       *store.DB
	fleet    *fleet.Fleet
	follower *fleet.Follower
	keys     *access.Keys
	api      *network.API
	now      func() time.Time
	log      *slog.Logger
}

func newNode(db *store.DB, limits network.Limits, now func() time.Time, log *slog.Logger) *node {
	n := &node{db: db, fleet: fleet.New(network.Summarize), now: now, log: log}
	n.keys = access.New(db, now, func(time.Time) bool { return n.follower.InStep() })
	n.follower = fleet.NewFollower(n.fleet, db, n.keys.Forget, log)
	n.api = network.New(network.Config{
		Keys:     n.keys,
		Registry: registry.New(db, n.fleet, now),
		Limits:   limits,
		Now:      now,
		Log:      log,
	})
	return n
}

// show lets Prometheus see how the node is doing.
func (n *node) show(set *metrics.Set) {
	set.Gauge("beacon_hotspots", "Live hotspots in memory.", func() float64 { return float64(n.fleet.Len()) })
	set.Gauge("beacon_writes_waiting", "Writes that wait to be committed.", func() float64 { return float64(n.db.Waiting()) })
	set.Gauge("beacon_feed_age_seconds", "Time since everything in the database was last taken over; below 2 is in step.",
		func() float64 { return n.follower.Age().Seconds() })
}

const (
	flushInterval = time.Minute
	pruneInterval = time.Hour
)

// run keeps the node in step with the database until ctx ends.
func (n *node) run(ctx context.Context) {
	var group errgroup.Group
	group.Go(func() error { n.follower.Run(ctx); return nil })
	group.Go(func() error {
		every(ctx, flushInterval, n.flushKeys)
		return nil
	})
	group.Go(func() error {
		every(ctx, pruneInterval, n.prune)
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

// flushTimeout bounds a flush: the database may be away.
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
