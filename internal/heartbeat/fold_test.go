package heartbeat_test

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

func TestFold_Midnight(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	midnight := noon.Add(12 * time.Hour)
	l := table.Place(nil, hotspotSince(midnight.Add(-10*time.Minute)))
	for i := range 10 {
		table.Apply(l, at(midnight.Add(time.Duration(i-10)*time.Minute), 1, uint64(i), 0, 1))
	}
	fold := func(after time.Duration) []*heartbeat.Record {
		r := table.FoldNow(l, nil, midnight.Add(after))
		table.Folded(l)
		return r
	}
	if got := fold(-time.Minute); len(got) != 1 || got[0].Expected() != 7 || got[0].AllDecided() {
		t.Fatalf("at 23:59: %d records, %d expected; want 1 and 7", len(got), got[0].Expected())
	}
	if got := fold(time.Minute); len(got) != 2 || got[0].AllDecided() || !got[1].NeedsDayBefore() {
		t.Fatalf("at 0:01: %d records; want both days, not all decided", len(got))
	}
	got := fold(6 * time.Minute)
	if len(got) != 2 || !got[0].AllDecided() || got[1].NeedsDayBefore() || got[0].Served() != 10 || got[0].Expected() != 10 {
		t.Fatalf("at 0:06: %d records; want yesterday decided, with 10 of 10", len(got))
	}
	if got[1].Served() != 3 || got[1].Expected() != 4 {
		t.Errorf("the new day served %d of %d; want 3 of 4", got[1].Served(), got[1].Expected())
	}
	if got := fold(7 * time.Minute); len(got) != 1 {
		t.Errorf("at 0:07: %d records; want 1", len(got))
	}
	if m := table.Metrics(l, midnight.Add(9*time.Minute)); m.Uptime30d != 6500 {
		t.Errorf("uptime %d; want 13 of 20", m.Uptime30d)
	}
}

func TestRefresh_FindsDaysThatAreOver(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	l := table.Place(nil, hotspotSince(noon))
	table.Apply(l, at(noon, 1, 1, 0, 1))
	table.FoldNow(l, nil, noon.Add(time.Hour))
	table.Folded(l)
	table.Refresh(noon.Add(2 * time.Hour))
	if l.Dirty() {
		t.Error("dirty without news")
	}
	table.Refresh(noon.Add(12*time.Hour + 5*time.Minute))
	if !l.Dirty() {
		t.Fatal("the day is over, and nobody writes it")
	}
	got := table.FoldNow(l, nil, noon.Add(13*time.Hour))
	if len(got) != 2 || got[0].Expected() != 720 || got[0].Served() != 4 || !got[0].AllDecided() {
		t.Errorf("%d records; want yesterday with 4 of 720", len(got))
	}
}

func TestUnfold_IsDirtyAgain(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	l := table.Place(nil, hotspotSince(noon))
	if l.Dirty() {
		t.Error("a live without a beat is dirty")
	}
	table.Apply(l, at(noon, 1, 1, 100, 1))
	if !l.Dirty() {
		t.Error("news, and not dirty")
	}
	table.FoldNow(l, nil, noon)
	if l.Dirty() {
		t.Error("dirty after Fold")
	}
	table.Unfold(l)
	if !l.Dirty() {
		t.Error("clean after Unfold")
	}
}

// A node that knows of a boot only since midnight hears what it had carried before.
func TestRestore_LowersWhatCountedFromZero(t *testing.T) {
	knowing, other := heartbeat.NewTable(heartbeat.NewOutages()), heartbeat.NewTable(heartbeat.NewOutages())
	l := knowing.Place(nil, hotspotSince(noon))
	knowing.Apply(l, at(noon, 1, 1, 1000, 1))
	tomorrow := noon.AddDate(0, 0, 1)
	records := knowing.FoldNow(l, nil, tomorrow)
	m := other.Place(nil, hotspotSince(noon))
	other.Apply(m, at(tomorrow, 1, 2, 1500, 1))
	if got := other.FoldNow(m, nil, tomorrow)[0].Bytes(); got != 1500 {
		t.Errorf("%d bytes; want 1500: it does not know better yet", got)
	}
	if got := other.FoldNow(m, records[1], tomorrow)[0].Bytes(); got != 500 {
		t.Errorf("%d bytes; want 500", got)
	}
	m = other.Place(nil, hotspotSince(noon))
	other.Apply(m, at(tomorrow, 1, 2, 1500, 1))
	other.Restore(m, records[1])
	if got := other.FoldNow(m, nil, tomorrow)[0].Bytes(); got != 500 {
		t.Errorf("%d bytes; want 500", got)
	}
}

func TestLatest_JoinsWhatIsOnDiskAndInMemory(t *testing.T) {
	disk, memory := heartbeat.NewTable(heartbeat.NewOutages()), heartbeat.NewTable(heartbeat.NewOutages())
	l, m := disk.Place(nil, hotspotSince(noon)), memory.Place(nil, hotspotSince(noon))
	tomorrow := noon.AddDate(0, 0, 1)
	disk.Apply(l, at(noon, 1, 1, 1000, 1))
	disk.Apply(l, at(tomorrow, 1, 2, 1500, 1))
	records := disk.FoldNow(l, nil, tomorrow)
	memory.Apply(m, at(tomorrow.Add(20*time.Minute), 1, 3, 1700, 1))
	got := memory.Latest(m, records, tomorrow.Add(20*time.Minute))
	if len(got) != 2 || got[0].Bytes() != 1000 || got[1].Bytes() != 700 || got[1].Served() != 5 || got[1].Expected() != 741 {
		t.Errorf("%d records: %d and %d bytes, today %d of %d", len(got), got[0].Bytes(), got[1].Bytes(), got[1].Served(), got[1].Expected())
	}
	if records[1].Bytes() != 500 {
		t.Error("the record that was given has changed")
	}
}

// A beat of a day that is written for good changes that day no more, but what
// it says of the counter holds: it counts today.
func TestApply_OfAWrittenDay(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	l := table.Place(nil, hotspotSince(noon))
	table.Apply(l, at(noon, 1, 1, 1000, 1))
	tomorrow := noon.AddDate(0, 0, 1)
	table.FoldNow(l, nil, tomorrow)
	table.Folded(l)
	table.Apply(l, at(noon.Add(time.Hour), 1, 2, 1200, 1))
	table.Apply(l, at(tomorrow, 1, 3, 1500, 1))
	if got := table.FoldNow(l, nil, tomorrow); len(got) != 1 || got[0].Bytes() != 500 {
		t.Errorf("%d records, the last of %d bytes; want 1, of 500", len(got), got[len(got)-1].Bytes())
	}
}

func TestRestore_IsCleanOnceAllIsWritten(t *testing.T) {
	var tables [2]*heartbeat.Table
	var lives [2]*heartbeat.Live
	for i := range tables {
		tables[i] = heartbeat.NewTable(heartbeat.NewOutages())
		lives[i] = tables[i].Place(nil, hotspotSince(noon))
		tables[i].Apply(lives[i], at(noon, 1, 1, 100, 1))
	}
	known := tables[0].FoldNow(lives[0], nil, noon.Add(time.Minute))[0]
	tables[1].Apply(lives[1], at(noon.Add(time.Minute), 1, 2, 100, 1))
	if tables[1].Restore(lives[1], known); !lives[1].Dirty() {
		t.Error("clean, but the record lacks a beat")
	}
	tables[0].Apply(lives[0], at(noon.Add(time.Minute), 1, 2, 100, 1))
	known = tables[0].FoldNow(lives[0], nil, noon.Add(2*time.Minute))[0]
	if tables[1].Restore(lives[1], known); lives[1].Dirty() {
		t.Error("dirty, but all is written")
	}
}

// A beat of yesterday comes while yesterday's record is being written.
func TestFolded_KeepsWhatWasNotWritten(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	l := table.Place(nil, hotspotSince(noon))
	table.Apply(l, at(noon, 1, 1, 1000, 1))
	tomorrow := noon.AddDate(0, 0, 1)
	table.FoldNow(l, nil, tomorrow)
	table.Apply(l, at(noon.Add(time.Hour), 1, 2, 1200, 1))
	table.Folded(l)
	if got := table.FoldNow(l, nil, tomorrow); len(got) != 2 || got[0].Served() != 8 {
		t.Errorf("%d records, the first served %d; want 2, and 8 minutes", len(got), got[0].Served())
	}
}
