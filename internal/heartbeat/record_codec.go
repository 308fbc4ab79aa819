package heartbeat

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// A record on disk is a version byte, its body, and a CRC-32C of both. Version 1 had
// one reason for all minutes that were not expected: they read as closed, or as outside
// if no minute was expected. Version 3 is version 2 and prior; it is written only where a
// clock was ahead. Memory keeps open days as bodies of version 3, one after another,
// without version and checksum.
const (
	priorVersion  = 3
	recordVersion = 2
	oneReason     = 1
	checksumSize  = 4
)

// The flags are in the low bits of the number of decided minutes.
const (
	earlyFlag = 1 << iota
	aloneFlag
	flagBits = iota
)

var (
	errRecord  = fmt.Errorf("heartbeat: %w", beacon.ErrDamaged)
	errVersion = errors.New("heartbeat: this record is from a newer version of beacon; use that version or a later one")
)

// Append appends the encoded record to out. Equal records have equal bytes.
func (r *Record) Append(out []byte) []byte {
	start := len(out)
	if r.prior == 0 {
		out = r.appendBody(append(out, recordVersion))
	} else {
		out = r.appendPrior(r.appendBody(append(out, priorVersion)))
	}
	return binary.LittleEndian.AppendUint32(out, castagnoli(out[start:]))
}

// DecodeRecord decodes what Append wrote. The error is beacon.ErrDamaged, unless the
// record has a version that this program does not know.
func DecodeRecord(data []byte) (*Record, error) {
	if len(data) < 1+checksumSize {
		return nil, errRecord
	}
	if data[0] < oneReason || data[0] > priorVersion {
		return nil, errVersion
	}
	body, checksum := data[:len(data)-checksumSize], data[len(data)-checksumSize:]
	if binary.LittleEndian.Uint32(checksum) != castagnoli(body) {
		return nil, errRecord
	}
	in := reader{data: body[1:]}
	r := &Record{}
	r.read(&in, data[0])
	if in.failed || in.more() || data[0] == priorVersion && r.prior == 0 {
		return nil, errRecord
	}
	return r, nil
}

func (r *Record) appendBody(out []byte) []byte {
	flags := uint64(0)
	if r.early {
		flags |= earlyFlag
	}
	if r.alone {
		flags |= aloneFlag
	}
	out = binary.AppendUvarint(out, uint64(r.day))
	out = binary.AppendUvarint(out, uint64(r.decided)<<flagBits|flags)
	out = r.served.append(out)
	out = r.why.closed.append(out)
	out = r.why.excused.append(out)
	out = r.why.outside.append(out)
	out = binary.AppendUvarint(out, uint64(r.last.at))
	out = binary.LittleEndian.AppendUint32(out, r.last.tie)
	out = binary.AppendUvarint(out, uint64(r.last.clients))
	out = binary.AppendUvarint(out, uint64(len(r.boots)))
	for i := range r.boots {
		out = r.boots[i].append(out, r.day)
	}
	out = binary.AppendUvarint(out, uint64(len(r.tests)))
	for i := range r.tests {
		out = r.tests[i].append(out, r.day)
	}
	out = appendSparse(out, r.hours[:])
	out = appendSamples(out, &r.signals)
	out = appendTiers(out, r.tiers[:r.decided/60])
	out = appendSparse(out, r.before.bytes[:])
	out = appendSparse(out, r.before.hours[:])
	out = appendSamples(out, &r.before.signals)
	return appendPast(out, &r.past)
}

func (r *Record) read(in *reader, version byte) {
	r.reset(beacon.Day(in.upTo(uint64(beacon.LastMinute.Day()))))
	decided := in.upTo(beacon.MinutesADay<<flagBits | aloneFlag | earlyFlag)
	r.decided, r.early, r.alone = int(decided>>flagBits), decided&earlyFlag != 0, decided&aloneFlag != 0
	r.served.read(in, beacon.MinutesADay+spread)
	r.why.closed.read(in, r.decided)
	if version != oneReason {
		r.why.excused.read(in, r.decided)
		r.why.outside.read(in, r.decided)
	} else if r.Facts().Expected == 0 { // most likely never in service
		r.why.closed, r.why.outside = dayBits{}, r.why.closed
	}
	r.last.at = int64(in.upTo(uint64(beacon.LastMinute) * microMinute))
	r.last.tie = in.uint32()
	r.last.clients = uint16(in.upTo(most))
	for range in.upTo(maxBoots) {
		r.readBoot(in)
	}
	for range in.upTo(maxTests) {
		r.readTest(in)
	}
	readSparse(in, r.hours[:], most)
	readSamples(in, &r.signals)
	readTiers(in, r.tiers[:r.decided/60])
	readSparse(in, r.before.bytes[:], math.MaxUint64)
	readSparse(in, r.before.hours[:], most)
	readSamples(in, &r.before.signals)
	readPast(in, &r.past)
	if version == priorVersion {
		r.prior = beacon.Minute(in.upTo(uint64(beacon.LastMinute)))
	}
}

func (r *Record) appendPrior(out []byte) []byte { return binary.AppendUvarint(out, uint64(r.prior)) }

// maxTests is how many tests pruneTests can leave: six of each hour, and six from
// before.
const maxTests = beacon.TierTests * (hoursADay + 1)

// possible returns the bits of the window that stand for a number: all, if top is
// windowSize or more.
func (s seqs) possible() uint64 {
	if s.top >= windowSize {
		return math.MaxUint64
	}
	return 1<<s.top - 1
}

func (b *boot) append(out []byte, day beacon.Day) []byte {
	out = binary.LittleEndian.AppendUint64(out, b.id)
	out = binary.AppendUvarint(out, b.top)
	out = binary.AppendUvarint(out, ^b.window&b.possible()) // the missing ones: mostly none
	out = binary.AppendVarint(out, int64(b.newest)-int64(day.Midnight()))
	out = binary.AppendUvarint(out, b.base)
	var numbers [hoursADay + 2]uint64
	for i := range hoursADay {
		numbers[i] = b.carried(i)
	}
	numbers[hoursADay] = max(min(b.due, b.upTo[hoursADay-1]), b.base) - b.base // of what was cut, nothing is due
	numbers[hoursADay+1] = b.pastTop
	return appendSparse(out, numbers[:])
}

func (r *Record) readBoot(in *reader) {
	var b boot
	b.id = in.uint64()
	b.top = in.number()
	missing := in.number()
	b.window = ^missing & b.possible()
	newest := in.signed() + int64(r.day.Midnight())
	b.base = in.number()
	var numbers [hoursADay + 2]uint64
	readSparse(in, numbers[:], math.MaxUint64)
	value := b.base
	for i := range b.upTo {
		if value+numbers[i] < value {
			in.fail()
		}
		value += numbers[i]
		b.upTo[i] = value
	}
	if owed := numbers[hoursADay]; owed > value-b.base {
		in.fail()
	} else if owed > 0 {
		b.due = b.base + owed
	}
	b.pastTop = numbers[hoursADay+1]
	n := len(r.boots)
	if newest < 0 || newest > int64(beacon.LastMinute) || missing&^b.possible() != 0 || n > 0 && r.boots[n-1].id >= b.id || b.pastTop > beacon.MaxSeq {
		in.fail()
		return
	}
	b.newest = beacon.Minute(newest)
	r.boots = append(r.boots, b)
}

func (t *test) append(out []byte, day beacon.Day) []byte {
	out = binary.AppendVarint(out, int64(t.at)-int64(day.Midnight()))
	out = binary.LittleEndian.AppendUint32(out, t.tie)
	for _, f := range [...]float32{t.DownMbps, t.UpMbps, t.LatencyMs} {
		out = binary.AppendUvarint(out, decimal(f))
	}
	return out
}

func (r *Record) readTest(in *reader) {
	at := in.signed() + int64(r.day.Midnight())
	t := test{tie: in.uint32()}
	t.DownMbps, t.UpMbps, t.LatencyMs = fromDecimal(in), fromDecimal(in), fromDecimal(in)
	if at < 0 || at >= int64((r.day+1).Midnight()) || !sane(t.SpeedTest) {
		in.fail()
		return
	}
	t.at = beacon.Minute(at)
	if n := len(r.tests); n > 0 && compareTests(r.tests[n-1], t) >= 0 {
		in.fail()
		return
	}
	r.tests = append(r.tests, t)
}

// decimal encodes a measured value. Most have at most two decimals and are stored as
// hundredths; others keep their bits.
func decimal(f float32) uint64 {
	const limit = 1 << 24 // up to here, a float32 holds every integer
	if n := math.Round(float64(f) * 100); n < limit && float32(n)/100 == f {
		return uint64(n) << 1
	}
	return uint64(math.Float32bits(f))<<1 | 1
}

func fromDecimal(in *reader) float32 {
	n := in.upTo(math.MaxUint32<<1 | 1)
	if n&1 != 0 {
		return math.Float32frombits(uint32(n >> 1))
	}
	return float32(n>>1) / 100
}
