package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// These make the test binary write to the database that they name, until it is
// killed: hotspots, or heartbeats.
const (
	crashVariable = "BEACON_TEST_CRASH_DB"
	beatsVariable = "BEACON_TEST_CRASH_BEATS"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(crashVariable); path != "" {
		writeUntilKilled(path)
		return
	}
	if path := os.Getenv(beatsVariable); path != "" {
		beatUntilKilled(path)
		return
	}
	if os.Getenv(openVariable) != "" {
		openAsTold(os.Stdin, os.Stdout)
		return
	}
	goleak.VerifyTestMain(m) // a closed store leaves no goroutine behind
}

// writeUntilKilled prints the id of every hotspot that was acknowledged.
func writeUntilKilled(path string) {
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{Now: storetest.Now})
	if err != nil {
		panic(err)
	}
	const writers = 8
	var out sync.Mutex
	var all sync.WaitGroup
	for writer := range writers {
		all.Go(func() {
			for n := os.Getpid()*10_000 + writer; ; n += writers { // MACs that no other process takes
				h := registration(n)
				if err := db.Hotspots.InsertHotspot(context.Background(), h, storetest.Actor, nil); err != nil {
					panic(err)
				}
				out.Lock()
				fmt.Println(h.ID)
				out.Unlock()
			}
		})
	}
	all.Wait()
}

// TestKill: a process is killed (-9) in the middle of its writes, again and
// again on the same file. Every acknowledged hotspot is there, with its change,
// and no stream has a gap.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beacon.db")
	acknowledged := map[beacon.HotspotID]bool{}
	const rounds, each = 4, 150
	for round := range rounds {
		for _, id := range killedAfter(t, crashVariable, path, each+37*round) {
			acknowledged[beacon.HotspotID(id)] = true
		}
	}
	db := open(t, path)
	stored := map[beacon.HotspotID]bool{}
	var mu sync.Mutex
	err := db.Hotspots.EachHotspot(t.Context(), time.Time{}, func(h beacon.Hotspot) error {
		mu.Lock()
		defer mu.Unlock()
		stored[h.ID] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id := range acknowledged {
		if !stored[id] {
			t.Errorf("%s was acknowledged and is lost", id)
		}
	}
	heads, err := db.Changes.Heads(t.Context())
	if err != nil || len(heads) != rounds {
		t.Errorf("heads %v, %v; want %d nodes", heads, err, rounds)
	}
	recorded := 0
	for node, head := range heads {
		changes, err := db.Changes.Changes(t.Context(), node, 0, len(stored)+1)
		if err != nil || int64(len(changes)) != head {
			t.Errorf("node %s has %d changes, %v; its head is %d", node, len(changes), err, head)
		}
		recorded += len(changes)
	}
	if recorded != len(stored) || len(acknowledged) < rounds*each {
		t.Errorf("%d changes of %d hotspots, %d of them acknowledged", recorded, len(stored), len(acknowledged))
	}
}

// beatUntilKilled prints the node, the number and the text of every batch that
// was acknowledged. Others write beside it, to the stream of changes.
func beatUntilKilled(path string) {
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{Now: storetest.Now})
	if err != nil {
		panic(err)
	}
	var out sync.Mutex
	var all sync.WaitGroup
	for writer := range 4 {
		all.Go(func() {
			for n := 0; ; n++ {
				text := fmt.Sprintf("writer-%d-%d-%d-%s", os.Getpid(), writer, n, strings.Repeat("x", n%9000))
				seq, err := db.Journal.AppendBeats(context.Background(), []byte(text))
				if err != nil {
					panic(err)
				}
				out.Lock()
				fmt.Println(db.Node(), seq, text)
				out.Unlock()
			}
		})
		all.Go(func() {
			for n := os.Getpid()*10_000 + writer; ; n += 4 {
				if err := db.Hotspots.InsertHotspot(context.Background(), registration(n), storetest.Actor, nil); err != nil {
					panic(err)
				}
			}
		})
	}
	all.Wait()
}

// TestKill_Beats: every batch that was acknowledged is in the journal under its
// number, and no journal has a gap.
func TestKill_Beats(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beacon.db")
	var acknowledged []string
	const rounds, each = 3, 200
	for round := range rounds {
		acknowledged = append(acknowledged, killedAfter(t, beatsVariable, path, each+31*round)...)
	}
	db := open(t, path)
	heads, err := db.Journal.JournalHeads(t.Context())
	if err != nil || len(heads) != rounds {
		t.Errorf("heads %v, %v; want %d nodes", heads, err, rounds)
	}
	stored := map[string]bool{}
	for node, head := range heads {
		rows, err := db.Journal.Journal(t.Context(), node, 0, 1_000_000)
		if err != nil || int64(len(rows)) != head {
			t.Errorf("node %s has %d rows, %v; its head is %d", node, len(rows), err, head)
		}
		for i, row := range rows {
			if row.Seq != int64(i+1) {
				t.Fatalf("node %s: row %d stands where %d was due", node, row.Seq, i+1)
			}
			stored[fmt.Sprintf("%s %d %s", node, row.Seq, row.Batch)] = true
		}
	}
	for _, line := range acknowledged {
		if !stored[line] {
			t.Errorf("acknowledged and lost: %.80s", line)
		}
	}
	if len(acknowledged) < rounds*each {
		t.Errorf("%d were acknowledged; want at least %d", len(acknowledged), rounds*each)
	}
}

// killedAfter runs the writer, kills it once it has acknowledged n lines, and
// answers all that it acknowledged.
func killedAfter(t *testing.T, variable, path string, n int) (lines []string) {
	writer := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	writer.Env = append(os.Environ(), variable+"="+path)
	writer.Stderr = os.Stderr
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(out)
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			break // killed: half a line was not acknowledged
		}
		lines = append(lines, strings.TrimSpace(line))
		if len(lines) == n {
			if err := writer.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := writer.Wait(); err == nil || len(lines) < n {
		t.Fatalf("the writer ended with %v after %d lines", err, len(lines))
	}
	return lines
}
