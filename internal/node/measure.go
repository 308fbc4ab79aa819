package node

import (
	"database/sql"
	"runtime/debug"

	"github.com/beacon-wifi/beacon/internal/httpserver/metrics"
	"github.com/beacon-wifi/beacon/internal/store"
)

// show registers the server's metrics. docs/monitoring.md explains them, and
// deploy/monitoring has dashboards and alerts.
func (s *Server) show() {
	s.node.show(s.metrics)
	s.metrics.Gauge("beacon_turned_away_percent", "Percentage of requests other than heartbeats that are refused because the server is overloaded.",
		nil, func() float64 { return float64(s.router.pressure.Level()) })
	s.metrics.Counter("beacon_connections_refused_total", "Connections closed at once because their address already had its maximum.",
		nil, func() float64 { return float64(s.front.Refused()) })
}

func (n *Node) show(set *metrics.Set) {
	n.showBuild(set)
	n.showHotspots(set)
	n.showBeats(set)
	n.showDatabase(set)
	n.showServers(set)
	n.showRewards(set)
}

func (n *Node) showBuild(set *metrics.Set) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	labels := metrics.Labels{"version": info.Main.Version, "commit": "", "go": info.GoVersion}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			labels["commit"] = s.Value
		}
	}
	set.Gauge("beacon_build_info", "What the binary was built from; always 1.", labels, func() float64 { return 1 })
}

func (n *Node) showHotspots(set *metrics.Set) {
	set.Gauge("beacon_hotspots", "Live hotspots in memory.", nil, func() float64 { return float64(n.Fleet.Len()) })
	set.Gauge("beacon_hotspots_online", "Hotspots that are online, as maps show it.", nil, func() float64 { return float64(n.Fleet.Online()) })
	set.Gauge("beacon_coverage_waiting", "Changes that maps do not show yet.", nil, func() float64 {
		waiting, _ := n.Fleet.Drawing()
		return float64(waiting)
	})
	set.Gauge("beacon_coverage_draw_seconds", "Time that the last drawing of changes into maps took.", nil, func() float64 {
		_, took := n.Fleet.Drawing()
		return took.Seconds()
	})
}

func (n *Node) showBeats(set *metrics.Set) {
	const beats = "Heartbeats, by whether they were taken or the device was told to try again."
	set.Counter("beacon_beats_total", beats, metrics.Labels{"outcome": "taken"}, func() float64 { return float64(n.telemetry.Stats().Taken) })
	set.Counter("beacon_beats_total", beats, metrics.Labels{"outcome": "refused"}, func() float64 { return float64(n.telemetry.Stats().Refused) })
	n.telemetry.EachUncounted(func(reason string, count func() int64) {
		set.Counter("beacon_beats_uncounted_total", "Heartbeats that changed nothing, by reason.",
			metrics.Labels{"reason": reason}, func() float64 { return float64(count()) })
	})
	set.Counter("beacon_beats_counters_fell_total", "Heartbeats whose counters are lower than before in the same boot, without saying why.",
		nil, func() float64 { return float64(n.telemetry.Fell()) })
	set.Counter("beacon_device_fields_ignored_total", "Fields of devices that this server does not know.",
		nil, func() float64 { return float64(n.API.Hotspots.FieldsIgnored()) })
	set.Gauge("beacon_beats_waiting", "Heartbeats that wait to be committed.", nil, func() float64 { return float64(n.telemetry.Waiting()) })
	set.Counter("beacon_beats_late_total", "Heartbeats that other servers took for a day that was over: a clock is behind.",
		nil, func() float64 { return float64(n.telemetry.LateBeats()) })
	set.Gauge("beacon_fold_age_seconds", "Time since heartbeats were last folded into records; after 3 hours no more are taken.",
		nil, func() float64 { return n.telemetry.Stats().FoldAge.Seconds() })
	set.Gauge("beacon_fold_duration_seconds", "Time that the last fold took.", nil, func() float64 { return n.telemetry.Stats().FoldTook.Seconds() })
	set.Gauge("beacon_clock_believed", "1 when the clock has run evenly for ten minutes and says what most witnesses say; else nothing is decided by it and no day closed.",
		nil, func() float64 { return oneIf(n.clock.Trusted() && n.clock.Agreed()) })
}

func (n *Node) showDatabase(set *metrics.Set) {
	var known [][]string
	for _, stream := range []string{store.Changes, store.Journal} {
		for _, outcome := range store.Outcomes() {
			known = append(known, []string{stream, outcome})
		}
	}
	observe := set.Timings("beacon_commit_duration_seconds", "Time that transactions took, tries included, by stream and outcome.",
		[]string{"stream", "outcome"}, known...)
	n.db.Watch(func(c store.Commit) { observe(c.Took, c.Stream, c.Outcome) })
	set.Gauge("beacon_writes_waiting", "Writes that wait to be committed.", nil, func() float64 { return float64(n.db.Waiting()) })
	set.Gauge("beacon_journal_rows", "Rows in the journals of all servers, as of the last quarter of a minute.",
		nil, func() float64 { return float64(n.journalRows.Load()) })
	n.showPool(set, "write", func() sql.DBStats { write, _ := n.db.Pools(); return write })
	n.showPool(set, "read", func() sql.DBStats { _, read := n.db.Pools(); return read })
}

func (n *Node) showPool(set *metrics.Set, pool string, stats func() sql.DBStats) {
	labels := metrics.Labels{"pool": pool}
	const connections = "Connections to the database, by pool and state."
	set.Gauge("beacon_database_connections", connections, metrics.Labels{"pool": pool, "state": "in_use"}, func() float64 { return float64(stats().InUse) })
	set.Gauge("beacon_database_connections", connections, metrics.Labels{"pool": pool, "state": "idle"}, func() float64 { return float64(stats().Idle) })
	set.Gauge("beacon_database_connections_max", "The most connections that a pool may have.", labels,
		func() float64 { return float64(stats().MaxOpenConnections) })
	set.Counter("beacon_database_waits_total", "How often someone had to wait for a connection.", labels,
		func() float64 { return float64(stats().WaitCount) })
	set.Counter("beacon_database_wait_seconds_total", "Time for which someone waited for a connection.", labels,
		func() float64 { return stats().WaitDuration.Seconds() })
}

func (n *Node) showServers(set *metrics.Set) {
	set.Gauge("beacon_feed_age_seconds", "Time since everything in the database was last taken over; below 2 is in step.",
		nil, func() float64 { return n.heard.Age().Seconds() })
	set.Gauge("beacon_keeper", "1 for the one server that folds, closes days and gives events their order.", nil, func() float64 {
		_, held := n.holder.Held()
		return oneIf(held)
	})
	set.Gauge("beacon_event_listeners", "Clients that listen to events.", nil, func() float64 { return float64(n.Hub.Listeners()) })
	set.Gauge("beacon_events_age_seconds", "Time since all changes had their place among the events; 0 where another server sees to it.",
		nil, func() float64 { return n.sequencer.Age().Seconds() })
}

func (n *Node) showRewards(set *metrics.Set) {
	set.Gauge("beacon_rewards_closed_until_timestamp_seconds", "The end of the last day that is closed, as a unix time; 0: none.",
		nil, func() float64 { return float64(max(n.closing.Progress().Through.Unix(), 0)) }) // the zero time is before 1970
	set.Gauge("beacon_rewards_unclosed", "Days that are over and not closed: one, for some minutes after midnight UTC.",
		nil, func() float64 { return float64(n.closing.Progress().Unclosed) })
	set.Gauge("beacon_rewards_unsettled", "Months that have been over for 72 hours and are not settled.",
		nil, func() float64 { return float64(n.closing.Progress().Unsettled) })
	set.Gauge("beacon_rewards_closing_rows", "Rows that were written of the day that is being closed; 0: none is.",
		nil, func() float64 { return float64(n.closing.Progress().Closing) })
	set.Gauge("beacon_rewards_settling_done", "Sums and statements that are done of the month that is being settled; 0: none is.",
		nil, func() float64 { return float64(n.closing.Progress().Settling) })
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
