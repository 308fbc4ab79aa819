package heartbeat

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// A batch is a version byte, a CRC-32C of what follows, and the beats one after
// another. The time of each is the difference to the one before. The number of beats is
// not stored: a batch ends where its bytes end.
const (
	batchVersion = 1
	batchHead    = 5
)

// The low bits of a beat's flags are the signal.
const (
	signalBits = 7
	testFlag   = 8
	backFlag   = 16
	knownFlags = signalBits | testFlag | backFlag
)

var errBatch = errors.New("heartbeat: this batch is damaged, or from another version of beacon")

func castagnoli(data []byte) uint32 { return crc32.Checksum(data, castagnoliTable) }

var castagnoliTable = crc32.MakeTable(crc32.Castagnoli)

// AppendBatch appends the beats, encoded for the journal, to out. Most take less than
// 40 bytes.
func AppendBatch(out []byte, beats []Beat) []byte {
	start := len(out)
	out = append(out, batchVersion, 0, 0, 0, 0)
	var at int64
	for i := range beats {
		out = beats[i].append(out, at)
		at = beats[i].At
	}
	binary.LittleEndian.PutUint32(out[start+1:], castagnoli(out[start+batchHead:]))
	return out
}

func (b *Beat) append(out []byte, before int64) []byte {
	flags := byte(b.Signal) & signalBits
	if b.Test.Any() {
		flags |= testFlag
	}
	if b.Back > 0 {
		flags |= backFlag
	}
	out = append(out, flags)
	out = append(out, b.Hotspot[:]...)
	out = binary.LittleEndian.AppendUint64(out, b.Boot)
	out = binary.AppendVarint(out, b.At-before)
	out = binary.AppendUvarint(out, b.Seq)
	out = binary.AppendUvarint(out, b.Bytes)
	out = binary.AppendUvarint(out, uint64(b.clients()))
	if b.Back > 0 {
		out = append(out, b.Back)
	}
	if flags&testFlag != 0 {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(b.Test.DownMbps))
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(b.Test.UpMbps))
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(b.Test.LatencyMs))
	}
	return out
}

// DecodeBatch appends all beats of a batch to beats, or returns an error if it is damaged.
func DecodeBatch(beats []Beat, batch []byte) ([]Beat, error) {
	if len(batch) < batchHead || batch[0] != batchVersion {
		return nil, errBatch
	}
	body := batch[batchHead:]
	if binary.LittleEndian.Uint32(batch[1:]) != castagnoli(body) {
		return nil, errBatch
	}
	var b Beat
	for in := (reader{data: body}); in.more(); {
		if !b.read(&in) { // a forged batch can have a valid checksum
			return nil, errBatch
		}
		beats = append(beats, b)
	}
	return beats, nil
}

// read decodes the next beat into b, which holds the one before it. It reports whether
// the beat is valid.
func (b *Beat) read(in *reader) bool {
	flags := in.byte()
	b.Signal = beacon.Signal(flags & signalBits)
	if in.has(len(b.Hotspot)) {
		copy(b.Hotspot[:], in.data[in.at-len(b.Hotspot):])
	}
	b.Boot = in.uint64()
	b.At += in.signed()
	b.Seq = in.number()
	b.Bytes = in.number()
	b.Clients = int(in.upTo(most))
	b.Back = 0
	if flags&backFlag != 0 {
		if b.Back = in.byte(); b.Back == 0 {
			return false
		}
	}
	b.Test = beacon.SpeedTest{}
	if flags&testFlag != 0 {
		b.Test = beacon.SpeedTest{DownMbps: in.float(), UpMbps: in.float(), LatencyMs: in.float()}
		if !sane(b.Test) {
			return false
		}
	}
	return !in.failed && flags&^knownFlags == 0 && b.Signal <= beacon.ExcellentSignal && b.valid()
}

// sane reports whether the test has values, all of them finite and none negative.
func sane(t beacon.SpeedTest) bool {
	finite := func(f float32) bool { return f >= 0 && f <= math.MaxFloat32 }
	return finite(t.DownMbps) && finite(t.UpMbps) && finite(t.LatencyMs) && t.Any()
}
