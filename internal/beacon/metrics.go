package beacon

import "time"

// Signal is how well clients receive a hotspot (decision N14), from worse to better.
type Signal uint8

const (
	NoSignal Signal = iota // nothing measured recently
	PoorSignal
	FairSignal
	GoodSignal
	ExcellentSignal
)

// String returns the name that the interface uses.
func (s Signal) String() string {
	return [...]string{"unknown", "poor", "fair", "good", "excellent"}[s]
}

// SignalOf classifies a signal strength, in dBm.
func SignalOf(dbm float64) Signal {
	switch {
	case dbm >= -55:
		return ExcellentSignal
	case dbm >= -67:
		return GoodSignal
	case dbm >= -75:
		return FairSignal
	default:
		return PoorSignal
	}
}

// Tier is how fast a hotspot is (decision N14).
type Tier uint8

// The tiers, from slower to faster.
const (
	Standard Tier = iota
	Enhanced
	Premium
)

// String returns the name that the interface uses.
func (t Tier) String() string { return [...]string{"standard", "enhanced", "premium"}[t] }

// TierTests is how many of the latest speed tests decide the tier, and minTierTests
// is how many there must be for more than Standard.
const (
	TierTests    = 6
	minTierTests = 2
)

// TierOf returns the tier for the mean of speed tests.
func TierOf(tests []SpeedTest) Tier {
	if len(tests) < minTierTests {
		return Standard
	}
	var down, up, latency float64
	for _, t := range tests {
		down += float64(t.DownMbps)
		up += float64(t.UpMbps)
		latency += float64(t.LatencyMs)
	}
	n := float64(len(tests))
	return tierFor(down/n, up/n, latency/n)
}

func tierFor(down, up, latency float64) Tier {
	switch {
	case down >= 100 && up >= 10 && latency < 50:
		return Premium
	case down >= 50 && up >= 5 && latency < 75:
		return Enhanced
	default:
		return Standard
	}
}

// Load returns clients as a share of the room for them, in ten-thousandths, of a
// hotspot in a status (decision N14). One that is not online has no load.
func Load(status Status, clients, room int) int {
	const full = 10_000
	if status != Online || room <= 0 {
		return 0
	}
	return min(full, (clients*full+room/2)/room)
}

// Metrics are the totals of a hotspot's heartbeats.
type Metrics struct {
	Uptime30d      int // in ten-thousandths (decision N16)
	Connections24h int
	Bytes24h       uint64
	Tier           Tier
	Signal         Signal
	Clients        int       // of the last beat
	Seen           time.Time // when that came; zero if never

	// What only the server that received such a beat knows, until it is stopped. Both
	// times are to the minute.
	FellAt      time.Time // when counters were last lower than before
	UncountedAt time.Time // when a beat last did not count
	Uncounted   Uncounted // why not
}
