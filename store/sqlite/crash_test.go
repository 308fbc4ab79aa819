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

	"go.uber.org/goleak"

	"github.com/beacon-wifi/beacon/beacon"
	"github.com/beacon-wifi/beacon/store/sqlite"
	"github.com/beacon-wifi/beacon/store/storetest"
)

// crashVariable makes the test binary write to the database it names, until it
// is killed.
const crashVariable = "BEACON_TEST_CRASH_DB"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashVariable); path != "" {
		writeUntilKilled(path)
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
				if _, err := db.InsertHotspot(context.Background(), h, storetest.Actor, nil); err != nil {
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
		for _, id := range killedAfter(t, path, each+37*round) {
			acknowledged[id] = true
		}
	}
	db := open(t, path)
	stored := map[beacon.HotspotID]bool{}
	var mu sync.Mutex
	err := db.EachHotspot(t.Context(), func(h beacon.Hotspot) error {
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
	heads, err := db.Heads(t.Context())
	if err != nil || len(heads) != rounds {
		t.Errorf("heads %v, %v; want %d nodes", heads, err, rounds)
	}
	recorded := 0
	for node, head := range heads {
		changes, err := db.Changes(t.Context(), node, 0, len(stored)+1)
		if err != nil || int64(len(changes)) != head {
			t.Errorf("node %s has %d changes, %v; its head is %d", node, len(changes), err, head)
		}
		recorded += len(changes)
	}
	if recorded != len(stored) || len(acknowledged) < rounds*each {
		t.Errorf("%d changes of %d hotspots, %d of them acknowledged", recorded, len(stored), len(acknowledged))
	}
}

// killedAfter runs the writer, kills it once it has acknowledged n hotspots,
// and answers all that it acknowledged.
func killedAfter(t *testing.T, path string, n int) (ids []beacon.HotspotID) {
	writer := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	writer.Env = append(os.Environ(), crashVariable+"="+path)
	writer.Stderr = os.Stderr
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // killed: half a line was not acknowledged
		}
		ids = append(ids, beacon.HotspotID(strings.TrimSpace(line)))
		if len(ids) == n {
			if err := writer.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := writer.Wait(); err == nil || len(ids) < n {
		t.Fatalf("the writer ended with %v after %d hotspots", err, len(ids))
	}
	return ids
}
