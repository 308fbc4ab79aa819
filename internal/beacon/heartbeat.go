package beacon

import (
	"errors"
	"fmt"
	"math"
)

// Heartbeat is what a device reports of itself about once a minute (decision X3).
type Heartbeat struct {
	// Boot identifies a boot of the device: a hash of the boot_id and counter_epoch it
	// sent. Seq counts its beats since then. Together they identify a beat: a repeated
	// one changes nothing.
	Boot, Seq uint64

	Bytes   uint64 // received and sent since the boot
	Clients int    // connected right now
	Signal  Signal // NoSignal: the device did not measure
	Width   Width  // of the counters that Bytes is the sum of
	Test    SpeedTest
}

// Width is what is known of the range of a device's counters.
type Width uint8

const (
	Wide        Width = iota // one of them is beyond 32 bits, or the device said 64
	PerhapsWrap              // both are within 32 bits, and the device said nothing
	Wraps                    // the device said 32: they continue at zero after 2^32-1
)

// Uncounted is why a heartbeat did not count.
type Uncounted uint8

const (
	Counted      Uncounted = iota
	Repeated               // its boot and seq are known, and its counters say nothing new
	TooManyBoots           // the device had more boots on one day than are distinguished
)

// Uncounteds returns all reasons.
func Uncounteds() []Uncounted { return []Uncounted{Repeated, TooManyBoots} }

// String returns the reason as in responses, and "" for Counted.
func (u Uncounted) String() string { return [...]string{"", "repeated", "too_many_boots"}[u] }

// Taken is what the response to a heartbeat says.
type Taken struct {
	Status Status
	Why    Uncounted
	Fell   bool // its counters are lower than before, and it did not say why
}

// SpeedTest is a device's measurement of its uplink. The zero value is none.
type SpeedTest struct {
	DownMbps, UpMbps, LatencyMs float32
}

// Any reports whether there was a test: every test has a latency.
func (s SpeedTest) Any() bool { return s.LatencyMs > 0 }

// AtMost returns the highest tier that a single test allows: the best if there was none.
func (s SpeedTest) AtMost() Tier {
	if !s.Any() {
		return Premium
	}
	return tierFor(float64(s.DownMbps), float64(s.UpMbps), float64(s.LatencyMs))
}

// HeartbeatInterval is how long a device is asked to wait before its next beat, in
// seconds.
const HeartbeatInterval = 60

// MaxSeq is the highest sequence number. It leaves room for microseconds since 1970. A
// number beyond it is a mistake.
const MaxSeq = 1<<52 - 1

// Limits of a heartbeat. Counters are JSON numbers, which are exact up to 2^53.
const (
	maxBootID    = 64
	narrow       = 1<<32 - 1 // the highest value of a counter of 32 bits
	maxCounter   = 1 << 53
	maxClients   = 10_000
	minRSSI      = -120
	maxLatencyMs = 60_000
)

// HeartbeatForm is a heartbeat as sent by a device.
type HeartbeatForm struct {
	BootID       Opt[string]
	Seq          Opt[float64]
	Clients      Opt[float64]
	RxBytes      Opt[float64]
	TxBytes      Opt[float64]
	CounterEpoch Opt[string]
	CounterBits  Opt[float64]
	RSSI         Opt[float64]
	SpeedTest    Opt[SpeedTestForm]
	Agent        Opt[AgentForm] // not part of the Heartbeat; see ReportOf
}

// SpeedTestForm is a speed test as sent by a device.
type SpeedTestForm struct {
	DownMbps, UpMbps, LatencyMs Opt[float64]
}

// Validate returns the heartbeat, or all the faults of the form.
func (form *HeartbeatForm) Validate() (Heartbeat, error) {
	var f Faults
	var h Heartbeat
	if text, ok := Required(form.BootID, "boot_id", &f); ok {
		f.Check("boot_id", checkToken(text, 1, maxBootID))
		h.Boot = BootOf(text)
	}
	if text, ok := Optional(form.CounterEpoch, "counter_epoch", &f); ok {
		f.Check("counter_epoch", checkToken(text, 1, maxBootID))
		h.Boot = inEpoch(h.Boot, text)
	}
	h.Seq = counter(form.Seq, "seq", MaxSeq, &f)
	h.Clients = int(counter(form.Clients, "clients", maxClients, &f))
	form.count(&h, &f)
	if dbm, ok := checkRSSI(form.RSSI, &f); ok {
		h.Signal = SignalOf(dbm)
	}
	if test, ok := Optional(form.SpeedTest, "speedtest", &f); ok {
		h.Test = test.check(&f)
	}
	checkAgent(form.Agent, &f)
	if err := f.Err(); err != nil {
		return Heartbeat{}, err
	}
	return h, nil
}

// count fills in what the counters say.
func (form *HeartbeatForm) count(h *Heartbeat, f *Faults) {
	most, said := float64(maxCounter), false
	if bits, ok := Optional(form.CounterBits, "counter_bits", f); ok {
		switch bits {
		case 32:
			most, said, h.Width = narrow, true, Wraps
		case 64:
			said = true
		default:
			f.Add("counter_bits", "must be 32 or 64")
		}
	}
	rx, tx := counter(form.RxBytes, "rx_bytes", most, f), counter(form.TxBytes, "tx_bytes", most, f)
	if !said && max(rx, tx) <= narrow {
		h.Width = PerhapsWrap
	}
	h.Bytes = rx + tx
}

func (form SpeedTestForm) check(f *Faults) (s SpeedTest) {
	const path = "speedtest."
	s.DownMbps = rate(form.DownMbps, path+"down_mbps", f)
	s.UpMbps = rate(form.UpMbps, path+"up_mbps", f)
	if ms, ok := Required(form.LatencyMs, path+"latency_ms", f); ok {
		f.Check(path+"latency_ms", checkPositive(ms, maxLatencyMs))
		s.LatencyMs = max(float32(ms), math.SmallestNonzeroFloat32)
	}
	return s
}

// BootOf returns a boot_id as a number. A device that made two of its boots collide
// would harm only its operator.
func BootOf(bootID string) uint64 { return hash(0xcbf29ce484222325, bootID) }

// inEpoch returns a boot whose counters started again, as another boot. The NUL, which
// is in neither text, keeps "a" + "bc" apart from "ab" + "c".
func inEpoch(boot uint64, epoch string) uint64 { return hash(hash(boot, "\x00"), epoch) }

// hash continues an FNV-1a hash; hash/fnv would allocate.
func hash(sum uint64, text string) uint64 {
	const prime = 0x100000001b3
	for i := range len(text) {
		sum = (sum ^ uint64(text[i])) * prime
	}
	return sum
}

// checkToken rejects what is not least to most printable characters.
func checkToken(text string, least, most int) error {
	if len(text) < least || len(text) > most {
		return fmt.Errorf("must be %d to %d characters", least, most)
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return errors.New("must be printable ASCII without spaces")
		}
	}
	return nil
}

func checkRSSI(o Opt[float64], f *Faults) (dbm float64, ok bool) {
	dbm, ok = Optional(o, "rssi_dbm", f)
	f.Check("rssi_dbm", checkRange(dbm, minRSSI, 0))
	return dbm, ok
}

func counter(o Opt[float64], field string, most float64, f *Faults) uint64 {
	v, _ := Required(o, field, f)
	if err := checkWhole(v, 0, most); err != nil {
		f.Check(field, err)
		return 0
	}
	return uint64(v)
}

func rate(o Opt[float64], field string, f *Faults) float32 {
	v, _ := Required(o, field, f)
	f.Check(field, checkRange(v, 0, MaxBandwidthMbps))
	return float32(v)
}
