// Package httpserver is what every HTTP interface of Beacon stands on: limits and
// timeouts, request ids, recovery from panics, the access log's facts, strict
// JSON in, whole JSON out, health, and a drain that loses no request. It knows
// no interface: how a refusal looks is handed in as a [Refuse]. Requests of the
// plain kind are served by a small loop of its own, the lane; all others by
// net/http, and nobody can tell the difference from the answers. Its one
// invariant: whatever a client sends, exactly one complete answer goes back, or
// the connection is closed.
package httpserver
