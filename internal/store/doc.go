// Package store is the durable state of Beacon: hotspots, keys, idempotency records,
// heartbeats, rewards, and the stream of changes that records every write. It holds the
// SQL once, in the subset shared by SQLite, PostgreSQL and engines that speak
// PostgreSQL's protocol. Packages store/sqlite and store/postgres open a database and
// supply an Engine with what really differs.
//
//	db, err := sqlite.Open(ctx, "beacon.db", sqlite.Options{Now: time.Now()})
//	...
//	h, err := db.Hotspot(ctx, id)
//
// It makes no decisions: who may do what, and which input is valid, is settled before a
// call arrives here. It reads no clock; times are passed in, and stored in UTC to the
// microsecond.
//
// Its invariant: a call that returned nil is durable, together with its row in the
// change stream; and the stream of a node has no gaps and becomes visible in order.
package store
