package heartbeat_test

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

func randomBeats(r *rand.Rand, n int) (beats []heartbeat.Beat) {
	for range n {
		b := heartbeat.Beat{At: 1_800_000_000_000_000 + r.Int64N(1e9)}
		for i := range b.Hotspot {
			b.Hotspot[i] = byte(r.Uint32())
		}
		b.Heartbeat = beacon.Heartbeat{Boot: r.Uint64(), Seq: r.Uint64() >> r.IntN(64), Bytes: r.Uint64() >> r.IntN(64), Clients: r.IntN(10_001), Signal: beacon.Signal(r.IntN(5))}
		if r.IntN(4) == 0 {
			b.Test = beacon.SpeedTest{DownMbps: r.Float32() * 1000, UpMbps: r.Float32() * 100, LatencyMs: math.SmallestNonzeroFloat32}
		}
		beats = append(beats, b)
	}
	return beats
}

func read(batch []byte) ([]heartbeat.Beat, error) { return heartbeat.DecodeBatch(nil, batch) }

func TestBatch_RoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 50 {
		want := randomBeats(r, n)
		batch := heartbeat.AppendBatch([]byte("before"), want)[len("before"):]
		if got, err := read(batch); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%d beats: %v\ngot  %+v\nwant %+v", n, err, got, want)
		}
	}
}

func TestBatch_IsSmall(t *testing.T) {
	s := newSteady(1)
	var beats []heartbeat.Beat
	for n := range 100 {
		beats = append(beats, s.beat(10_000+n))
	}
	if size := len(heartbeat.AppendBatch(nil, beats)) / 100; size > 40 {
		t.Errorf("%d bytes a beat; want at most 40", size)
	}
}

func TestDecodeBatch_RefusesDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	batch := heartbeat.AppendBatch(nil, randomBeats(r, 5))
	for i := range batch {
		for bit := range 8 {
			damaged := append([]byte(nil), batch...)
			damaged[i] ^= 1 << bit
			if beats, err := read(damaged); err == nil || beats != nil {
				t.Fatalf("byte %d, bit %d: %d beats, %v", i, bit, len(beats), err)
			}
		}
		if beats, err := read(batch[:i]); err == nil || beats != nil {
			t.Fatalf("%d of %d bytes: %d beats, %v", i, len(batch), len(beats), err)
		}
	}
}

// seal puts the right checksum on a body, as a forger would.
func seal(body []byte) []byte {
	sum := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
	return append(binary.LittleEndian.AppendUint32([]byte{1}, sum), body...)
}

func TestDecodeBatch_RefusesForgery(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	body := heartbeat.AppendBatch(nil, randomBeats(r, 3))[5:]
	if beats, err := read(seal(body)); err != nil || len(beats) != 3 {
		t.Fatalf("the right body: %d beats, %v", len(beats), err)
	}
	for name, bad := range map[string][]byte{
		"flags":       append([]byte{0x80}, body[1:]...),
		"signal":      append([]byte{0x07}, body[1:]...),
		"cut":         body[:len(body)-1],
		"more":        append(body[:len(body):len(body)], 1),
		"before 1970": append(make([]byte, 25), 1, 0, 0, 0),
		"year 10000":  append(make([]byte, 25), 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0),
	} {
		if beats, err := read(seal(bad)); err == nil || beats != nil {
			t.Errorf("%s: %d beats, %v; want an error, and none", name, len(beats), err)
		}
	}
}

func FuzzDecodeBatch(f *testing.F) {
	r := rand.New(rand.NewPCG(4, 4))
	f.Add(heartbeat.AppendBatch(nil, randomBeats(r, 3))[5:])
	f.Add([]byte{})
	f.Add(make([]byte, 29))
	f.Fuzz(func(t *testing.T, body []byte) {
		beats, err := read(seal(body))
		if err != nil {
			if beats != nil {
				t.Errorf("%d beats were seen of what was refused", len(beats))
			}
			return
		}
		again := heartbeat.AppendBatch(nil, beats)
		if second, err := read(again); err != nil || len(second) != len(beats) {
			t.Errorf("%d beats became %d, %v", len(beats), len(second), err)
		}
	})
}
