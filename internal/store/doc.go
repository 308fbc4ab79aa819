// Package store is the truth on disk: hotspots, keys, idempotency records, and
// the stream of changes that every write leaves behind. It holds the SQL once,
// in the subset that SQLite, PostgreSQL and the engines that speak PostgreSQL's
// protocol share; packages store/sqlite and store/postgres open a database and
// fill in an Engine with what really differs.
//
// It decides nothing: who may do what, and which input is valid, was settled
// before a call arrives here. It reads no clock; times are handed in, and kept
// in UTC to the microsecond.
//
// Its invariant: a call that returned nil is durable, together with its one row
// in the stream of changes; and the stream of a node has no gaps and becomes
// visible in its order.
package store
