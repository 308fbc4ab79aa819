// Package telemetry takes heartbeats in.
//
// Its one invariant: a beat is durable before it is in memory, and in memory
// before its device hears of it.
package telemetry
