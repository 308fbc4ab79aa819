package beacon_test

import (
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func heartbeat() beacon.HeartbeatForm {
	return beacon.HeartbeatForm{BootID: some("b-1"), Seq: some(7.0), Clients: some(3.0), RxBytes: some(1000.0), TxBytes: some(500.0)}
}

func TestHeartbeat_Validate(t *testing.T) {
	const most = 1 << 53
	for _, test := range []struct {
		edit func(*beacon.HeartbeatForm)
		want beacon.Heartbeat
	}{
		{func(f *beacon.HeartbeatForm) {}, beacon.Heartbeat{Seq: 7, Clients: 3, Bytes: 1500, Width: beacon.PerhapsWrap}},
		{func(f *beacon.HeartbeatForm) { f.RSSI = some(-60.0) }, beacon.Heartbeat{Seq: 7, Clients: 3, Bytes: 1500, Width: beacon.PerhapsWrap, Signal: beacon.GoodSignal}},
		{
			func(f *beacon.HeartbeatForm) {
				f.SpeedTest = some(beacon.SpeedTestForm{DownMbps: some(100.5), UpMbps: some(0.0), LatencyMs: some(1e-60)})
			},
			beacon.Heartbeat{Seq: 7, Clients: 3, Bytes: 1500, Width: beacon.PerhapsWrap, Test: beacon.SpeedTest{DownMbps: 100.5, LatencyMs: math.SmallestNonzeroFloat32}},
		},
		{
			func(f *beacon.HeartbeatForm) {
				f.Seq, f.Clients, f.RxBytes, f.TxBytes = some(float64(beacon.MaxSeq)), some(10_000.0), some(float64(most)), some(float64(most))
			},
			beacon.Heartbeat{Seq: beacon.MaxSeq, Clients: 10_000, Bytes: 2 * most},
		},
		{func(f *beacon.HeartbeatForm) { f.CounterBits = some(64.0) }, beacon.Heartbeat{Seq: 7, Clients: 3, Bytes: 1500}},
		{
			func(f *beacon.HeartbeatForm) {
				f.CounterBits, f.RxBytes, f.TxBytes = some(32.0), some(float64(1<<32-1)), some(1.0)
			},
			beacon.Heartbeat{Seq: 7, Clients: 3, Bytes: 1 << 32, Width: beacon.Wraps},
		},
		{func(f *beacon.HeartbeatForm) { f.TxBytes = some(float64(1 << 32)) }, beacon.Heartbeat{Seq: 7, Clients: 3, Bytes: 1000 + 1<<32}},
		{func(f *beacon.HeartbeatForm) { f.Seq = some(math.Copysign(0, -1)) }, beacon.Heartbeat{Clients: 3, Bytes: 1500, Width: beacon.PerhapsWrap}},
	} {
		form := heartbeat()
		test.edit(&form)
		test.want.Boot = beacon.BootOf("b-1")
		if got, err := form.Validate(); err != nil || got != test.want {
			t.Errorf("%+v: %+v, %v; want %+v", form, got, err, test.want)
		}
	}
}

func TestHeartbeat_Refuses(t *testing.T) {
	null, nan := beacon.Null[float64](), math.NaN()
	test := func(down, up, latency float64) func(*beacon.HeartbeatForm) {
		return func(f *beacon.HeartbeatForm) {
			f.SpeedTest = some(beacon.SpeedTestForm{DownMbps: some(down), UpMbps: some(up), LatencyMs: some(latency)})
		}
	}
	for _, tc := range []struct {
		fields string
		edit   func(*beacon.HeartbeatForm)
	}{
		{"boot_id seq clients rx_bytes tx_bytes", func(f *beacon.HeartbeatForm) { *f = beacon.HeartbeatForm{} }},
		{"boot_id", func(f *beacon.HeartbeatForm) { f.BootID = some("") }},
		{"boot_id", func(f *beacon.HeartbeatForm) { f.BootID = some(strings.Repeat("x", 65)) }},
		{"boot_id", func(f *beacon.HeartbeatForm) { f.BootID = some("a b") }},
		{"boot_id", func(f *beacon.HeartbeatForm) { f.BootID = some("é") }},
		{"boot_id", func(f *beacon.HeartbeatForm) { f.BootID = beacon.Null[string]() }},
		{"seq", func(f *beacon.HeartbeatForm) { f.Seq = some(-1.0) }},
		{"seq", func(f *beacon.HeartbeatForm) { f.Seq = some(0.5) }},
		{"seq", func(f *beacon.HeartbeatForm) { f.Seq = some(float64(1 << 52)) }},
		{"seq", func(f *beacon.HeartbeatForm) { f.Seq = some(float64(1 << 53)) }},
		{"counter_epoch", func(f *beacon.HeartbeatForm) { f.CounterEpoch = some("") }},
		{"counter_epoch", func(f *beacon.HeartbeatForm) { f.CounterEpoch = some("a\x00b") }},
		{"counter_epoch", func(f *beacon.HeartbeatForm) { f.CounterEpoch = beacon.Null[string]() }},
		{"counter_bits", func(f *beacon.HeartbeatForm) { f.CounterBits = some(31.0) }},
		{"counter_bits", func(f *beacon.HeartbeatForm) { f.CounterBits = null }},
		{"rx_bytes", func(f *beacon.HeartbeatForm) { f.CounterBits, f.RxBytes = some(32.0), some(float64(1<<32)) }},
		{"seq", func(f *beacon.HeartbeatForm) { f.Seq = some(nan) }},
		{"clients", func(f *beacon.HeartbeatForm) { f.Clients = some(10_001.0) }},
		{"clients", func(f *beacon.HeartbeatForm) { f.Clients = null }},
		{"rx_bytes", func(f *beacon.HeartbeatForm) { f.RxBytes = some(math.Inf(1)) }},
		{"tx_bytes", func(f *beacon.HeartbeatForm) { f.TxBytes = some(-1.0) }},
		{"rssi_dbm", func(f *beacon.HeartbeatForm) { f.RSSI = some(0.1) }},
		{"rssi_dbm", func(f *beacon.HeartbeatForm) { f.RSSI = some(-120.1) }},
		{"rssi_dbm", func(f *beacon.HeartbeatForm) { f.RSSI = some(nan) }},
		{"rssi_dbm", func(f *beacon.HeartbeatForm) { f.RSSI = null }},
		{"speedtest", func(f *beacon.HeartbeatForm) { f.SpeedTest = beacon.Null[beacon.SpeedTestForm]() }},
		{"speedtest.down_mbps speedtest.up_mbps speedtest.latency_ms", func(f *beacon.HeartbeatForm) { f.SpeedTest = some(beacon.SpeedTestForm{}) }},
		{"speedtest.down_mbps", test(-1, 1, 1)},
		{"speedtest.down_mbps", test(nan, 1, 1)},
		{"speedtest.up_mbps", test(1, 100_001, 1)},
		{"speedtest.latency_ms", test(1, 1, 0)},
		{"speedtest.latency_ms", test(1, 1, 60_001)},
		{"seq clients", func(f *beacon.HeartbeatForm) { f.Seq, f.Clients = some(1.5), some(-3.0) }},
	} {
		form := heartbeat()
		tc.edit(&form)
		got, err := form.Validate()
		if want := strings.Fields(tc.fields); !slices.Equal(faultyFields(t, err), want) || got != (beacon.Heartbeat{}) {
			t.Errorf("%+v: %v; want faults of %v", form, err, want)
		}
	}
}

// Each epoch of each boot is a boot of its own.
func TestHeartbeat_Epochs(t *testing.T) {
	seen := map[uint64]string{}
	for _, names := range [][2]string{{"a", ""}, {"a", "1"}, {"a", "2"}, {"b", "1"}, {"a1", ""}, {"ab", "c"}, {"a", "bc"}, {"abc", ""}} {
		form := heartbeat()
		form.BootID = some(names[0])
		if names[1] != "" {
			form.CounterEpoch = some(names[1])
		}
		h, err := form.Validate()
		if other, known := seen[h.Boot]; err != nil || known {
			t.Errorf("%q is the same boot as %q, %v", names, other, err)
		}
		seen[h.Boot] = names[0] + " " + names[1]
	}
}

// The standard library has the same hash.
func TestBootOf(t *testing.T) {
	for _, boot := range []string{"", "a", "0b7c8d3e-6c2f-4a53-9a51-3a1d5a0f6f10", strings.Repeat("~", 64)} {
		hash := fnv.New64a()
		hash.Write([]byte(boot))
		if got := beacon.BootOf(boot); got != hash.Sum64() {
			t.Errorf("BootOf(%q) = %x; want %x", boot, got, hash.Sum64())
		}
	}
}
