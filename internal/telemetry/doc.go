// Package telemetry receives heartbeats. It writes them to a journal, folds the
// journals into records, and announces which hotspots come online and go offline. What
// beats add up to is the business of package heartbeat.
//
// Its one invariant: a beat is durable before it is in memory, and in memory before the
// response.
package telemetry
