package main

import (
	"os"
	"runtime/debug"
)

// How the garbage collector is set; GOGC in the environment wins.
const (
	// gcPercent is how much garbage may gather, in percent of what is alive: the
	// more, the more memory, and the less time for collecting. Most of what is
	// alive are the vitals of hotspots, which hold few pointers and cost little to
	// look through.
	gcPercent = 45

	// ballastBytes is memory that is reserved and never touched, so it costs no
	// RAM. The collector counts it as alive: with the few megabytes that a small
	// network needs, it would otherwise run every thousand requests, and take a
	// tenth of their CPU time.
	ballastBytes = 32 << 20

	// gcPercentWhileLoading is for the start: reading a million hotspots makes
	// much garbage that is best collected once, at the end.
	gcPercentWhileLoading = 400
)

// tuneCollector sets the collector for a server. The ballast that it returns
// must be kept.
func tuneCollector() (ballast []byte) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	return make([]byte, ballastBytes)
}

// whileLoading runs load, and gives back the memory that only it needed.
func whileLoading(load func() error) error {
	usual := debug.SetGCPercent(gcPercentWhileLoading)
	err := load()
	debug.SetGCPercent(usual)
	debug.FreeOSMemory()
	return err
}
