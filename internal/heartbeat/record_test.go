package heartbeat_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// someRecords are of a random history.
func someRecords(t testing.TB, seed uint64) [][]byte {
	t.Helper()
	h := newHistory(t, seed)
	table := heartbeat.NewTable(heartbeat.NewOutages())
	l := table.Place(nil, h.places[len(h.places)-1].hotspot)
	for _, b := range h.beats {
		table.Apply(l, &b)
	}
	var out [][]byte
	for _, r := range table.FoldNow(l, nil, h.end.Add(time.Hour)) {
		out = append(out, r.Append(nil))
	}
	return out
}

// recordAhead is of a clock that was a day ahead over midnight. It says when the hotspot
// was heard before its day: the day before is final.
func recordAhead(t testing.TB) []byte {
	t.Helper()
	table := heartbeat.NewTable(heartbeat.NewOutages())
	l := table.Place(nil, hotspotSince(noon))
	table.Apply(l, at(noon, 1, 1, 100, 1))
	table.Apply(l, at(noon.AddDate(0, 0, 1), 1, 2, 300, 1))
	certain := beacon.MinuteOf(noon.Add(12*time.Hour + 10*time.Minute))
	records := table.Fold(l, heartbeat.Moment{Certain: certain.Time(), Final: certain.Day(), Latest: certain + 24*60})
	data := records[len(records)-1].Append(nil)
	if data[0] != 3 {
		t.Fatalf("the record is of version %d", data[0])
	}
	return data
}

func TestRecord_RoundTrip(t *testing.T) {
	n := 0
	for seed := range uint64(50) {
		for _, data := range append(someRecords(t, seed), recordAhead(t)) {
			r, err := heartbeat.DecodeRecord(data)
			if err != nil {
				t.Fatal(err)
			}
			if again := r.Append(nil); !bytes.Equal(again, data) {
				t.Fatalf("seed %d: %x became %x", seed, data, again)
			}
			n++
		}
	}
	if n < 50 {
		t.Errorf("only %d records", n)
	}
}

// Whatever happens to a record on disk, it is damaged; unless it says that it is
// of another version, which only that one can judge.
func TestDecodeRecord_RefusesDamage(t *testing.T) {
	data := someRecords(t, 1)[0]
	refuse := func(what string, data []byte, damaged bool) {
		t.Helper()
		for name, err := range map[string]error{"DecodeRecord": second(heartbeat.DecodeRecord(data)), "RecordFacts": second(heartbeat.RecordFacts(data))} {
			if err == nil || errors.Is(err, beacon.ErrDamaged) != damaged {
				t.Fatalf("%s, %s: %v", what, name, err)
			}
		}
	}
	for i := range data {
		for bit := range 8 {
			changed := bytes.Clone(data)
			changed[i] ^= 1 << bit
			refuse(fmt.Sprintf("byte %d, bit %d", i, bit), changed, i > 0 || changed[0] >= 1 && changed[0] <= 3)
		}
		refuse(fmt.Sprintf("%d of %d bytes", i, len(data)), data[:i], true)
	}
	refuse("one byte more", append(data[:len(data):len(data)], 0), true)
	for body, damaged := range map[string]bool{"\x03": true, "\x02": true, "\x01": true, "\x00": false, "\x04": false, "\xff": false} {
		forged := []byte(body + "no record")
		refuse(fmt.Sprintf("forged, %q", body), binary.LittleEndian.AppendUint32(forged, crc32.Checksum(forged, crc32.MakeTable(crc32.Castagnoli))), damaged)
	}
}

func second[A any](_ A, err error) error { return err }

// FuzzDecodeRecord forges records with a right checksum: whatever is accepted
// must be safe to go on from.
func FuzzDecodeRecord(f *testing.F) {
	for seed := range uint64(4) {
		for _, data := range someRecords(f, seed) {
			f.Add(data[1 : len(data)-4])
		}
	}
	ahead := recordAhead(f)
	f.Add(ahead[1 : len(ahead)-4])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		for version := byte(2); version <= 3; version++ {
			decodeForged(t, append([]byte{version}, body...))
		}
	})
}

func decodeForged(t *testing.T, data []byte) {
	data = binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
	r, err := heartbeat.DecodeRecord(data)
	if err != nil {
		return
	}
	f := r.Facts()
	if f.Served != r.Served() || f.Expected != r.Expected() || f.Served > f.Expected || f.Expected < 0 {
		t.Errorf("facts %+v", f)
	}
	if r.AllDecided() && f.Closed+f.Outside == 0 && f.Bytes != r.Bytes() {
		t.Errorf("of a day that was open throughout: %+v, %d bytes", f, r.Bytes())
	}
	if r.AllDecided() && f.Expected+f.Closed+f.Excused+f.Outside != 1440 {
		t.Errorf("a whole day: %+v", f)
	}
	heartbeat.Series([]*heartbeat.Record{r}, r.Day().Time(), r.Day().Time().AddDate(0, 0, 2), 7*time.Hour)
	s := newSteady(1)
	table, l := s.table, s.lives[0]
	s.beats(0, 3)
	table.Restore(l, r)
	s.beats(2, 5)
	table.Refresh(s.at(100))
	table.Metrics(l, s.at(100))
	table.Latest(l, []*heartbeat.Record{r}, s.at(100))
	for _, r := range table.FoldNow(l, r, s.at(2000)) {
		if _, err := heartbeat.DecodeRecord(r.Append(nil)); err != nil {
			t.Errorf("a fold wrote what cannot be read: %v", err)
		}
	}
	table.Folded(l)
	table.ClockBack(s.at(5), 0)
	table.Metrics(l, s.at(6))
}

// A device may report a speed test with each beat. While the time is not certain, no hour
// of its day is decided, and six tests of each are kept: more than fit into seven bits.
func TestRecord_TestsOfEveryHour(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	midnight := noon.Truncate(24 * time.Hour)
	l := table.Place(nil, hotspotSince(midnight.AddDate(0, 0, -2)))
	for i := range 24 * 6 {
		b := at(midnight.Add(time.Duration(i)*10*time.Minute), 1, uint64(i+1), 0, 1)
		b.Test = beacon.SpeedTest{DownMbps: 120, UpMbps: 20, LatencyMs: 10}
		table.Apply(l, b)
	}
	m := table.Metrics(l, midnight.Add(23*time.Hour+59*time.Minute))
	if m.Tier != beacon.Premium || m.Connections24h != 24 || m.Uptime30d != 1333 { // 24 × 6 × 4 minutes of three days
		t.Errorf("%s, %d connections, uptime %d", m.Tier, m.Connections24h, m.Uptime30d)
	}
	records := table.Fold(l, heartbeat.Moment{Certain: midnight, Latest: beacon.LastMinute})
	if len(records) != 1 {
		t.Fatalf("%d records", len(records))
	}
	data := records[0].Append(nil)
	r, err := heartbeat.DecodeRecord(data)
	if err != nil {
		t.Fatal(err)
	}
	if again := r.Append(nil); !bytes.Equal(again, data) {
		t.Errorf("%x became %x", data, again)
	}
}
