package node

import (
	"os"
	"runtime/debug"
)

// Settings of the garbage collector; GOGC in the environment overrides them.
const (
	// gcPercent is how much garbage may accumulate, in percent of the live heap. A
	// higher value takes more memory and less CPU time. Most of the live heap is the
	// live state of hotspots, which holds few pointers and is cheap to scan.
	gcPercent = 34

	// ballastBytes is memory that is reserved and never touched, so it costs no RAM.
	// The collector counts it as live. With the few megabytes of a small network, it
	// would otherwise run every thousand requests and take a tenth of their CPU time.
	ballastBytes = 32 << 20

	// ballastBlock is the size of the pieces that the ballast is allocated in. The
	// runtime clears all of a piece that begins in memory it has used before, and so
	// touches it; in one piece, the whole ballast was touched at every second start.
	ballastBlock = 1 << 20

	// gcPercentWhileLoading applies at startup: loading a million hotspots makes much
	// garbage that is best collected once, at the end.
	gcPercentWhileLoading = 200
)

// TuneCollector configures the collector for a server. The caller must keep the
// ballast alive.
func TuneCollector() (ballast [][]byte) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	for range ballastBytes / ballastBlock {
		ballast = append(ballast, make([]byte, ballastBlock))
	}
	return ballast
}

// whileLoading runs load, and then releases the memory that only load needed.
func whileLoading(load func() error) error {
	usual := debug.SetGCPercent(gcPercentWhileLoading)
	err := load()
	debug.SetGCPercent(usual)
	debug.FreeOSMemory()
	return err
}
