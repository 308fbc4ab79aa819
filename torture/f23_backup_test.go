//go:build linux

package torture_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

// soundHere asks the doctor about a database of either kind. A PostgreSQL of tests
// does not sync, since nothing on it matters; the doctor says so, and that alone is
// passed over.
func soundHere(t testing.TB, db string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), rig.Binary, "doctor", "--json", "--db", db).Output()
	exit, failed := err.(*exec.ExitError) //nolint:errorlint // as Output gives it
	if err != nil && (!failed || exit.ExitCode() != 1) {
		t.Fatalf("the doctor has no verdict: %v\n%s", err, out)
	}
	checks := 0
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); checks++ {
		var r struct {
			Check   string
			Wrong   int
			Skipped string
			Faults  []struct{ ID, What string }
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		noSync := r.Check == "settings" && r.Wrong == 1 && rig.IsPostgres(db) && strings.HasPrefix(r.Faults[0].What, "fsync is off")
		if r.Wrong > 0 && !noSync || r.Skipped != "" {
			t.Errorf("the doctor says: %s", lines.Text())
		}
	}
	if checks < 10 {
		t.Errorf("the doctor made %d checks:\n%s", checks, out)
	}
}

// crowd registers and changes hotspots and lets devices beat, until it is stopped.
type crowd struct {
	client  *rig.Client
	server  *rig.Server
	devices []*rig.Device

	mu      sync.Mutex
	sent    map[string]bool       // registrations, by SSID
	done    map[string]rig.Fields // those that were acknowledged, as they were answered
	patched map[string]bool       // hotspots that someone changed: their fields may be newer
	beats   map[string]uint64     // bytes that were acknowledged, by SSID
	next    int
}

func newCrowd(client *rig.Client, server *rig.Server, devices []*rig.Device) *crowd {
	return &crowd{
		client: client, server: server, devices: devices, next: 1000,
		sent: map[string]bool{}, done: map[string]rig.Fields{}, patched: map[string]bool{}, beats: map[string]uint64{},
	}
}

// pace is how often each of the crowd does something: it is to be there all the
// time, not to fill the disk.
const pace = 10 * time.Millisecond

// work lets the crowd loose until ctx ends.
func (c *crowd) work(ctx context.Context) {
	var working sync.WaitGroup
	for range 3 {
		working.Go(func() {
			every(ctx, pace, func() {
				c.register(ctx)
				c.patch(ctx)
			})
		})
	}
	for _, d := range c.devices {
		working.Go(func() {
			every(ctx, pace, func() {
				d.Beat(ctx, c.client, c.server)
				c.mu.Lock()
				c.beats[d.SSID] = d.Totals().Acked
				c.mu.Unlock()
			})
		})
	}
	working.Wait()
}

// every does something at each tick until ctx ends.
func every(ctx context.Context, interval time.Duration, do func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		do()
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

func (c *crowd) register(ctx context.Context) {
	c.mu.Lock()
	n := c.next
	c.next++
	ssid := fmt.Sprintf("net-%d", n)
	c.sent[ssid] = true
	c.mu.Unlock()
	if a := c.client.Register(ctx, c.server, n); a.Status == http.StatusCreated {
		var made rig.Fields
		if json.Unmarshal(a.Data, &made) == nil {
			c.mu.Lock()
			c.done[ssid] = made
			c.mu.Unlock()
		}
	}
}

func (c *crowd) patch(ctx context.Context) {
	c.mu.Lock()
	var id, ssid string
	for ssid = range c.done {
		id = c.done[ssid]["id"].(string)
		c.patched[ssid] = true
		break
	}
	c.mu.Unlock()
	if id != "" {
		c.client.Patch(ctx, c.server, id, rig.Fields{"name": fmt.Sprintf("Renamed %d", rand.IntN(1000))})
	}
}

// acked is what had been acknowledged at a moment.
type acked struct {
	done    map[string]rig.Fields
	patched map[string]bool
	beats   map[string]uint64
}

func (c *crowd) acked() acked {
	c.mu.Lock()
	defer c.mu.Unlock()
	return acked{maps.Clone(c.done), maps.Clone(c.patched), maps.Clone(c.beats)}
}

// check holds a restored database to what was acknowledged before its backup began
// (I1), and to what was ever sent (I2).
func (c *crowd) check(t testing.TB, before acked, client *rig.Client, restored *rig.Server) {
	t.Helper()
	there := client.Owned(t, restored)
	for ssid, made := range before.done {
		h, found := there[ssid]
		if !found {
			t.Errorf("%s was acknowledged before the backup, and is not in it", ssid)
			continue
		}
		for _, field := range []string{"id", "type", "location", "device", "created_at"} {
			if fmt.Sprint(h[field]) != fmt.Sprint(made[field]) {
				t.Errorf("%s: %s is %v; want %v", ssid, field, h[field], made[field])
			}
		}
		if !before.patched[ssid] && !c.acked().patched[ssid] && h["name"] != made["name"] {
			t.Errorf("%s: the name is %v; want %v", ssid, h["name"], made["name"])
		}
	}
	for ssid, h := range there {
		if bytes, beat := before.beats[ssid]; beat {
			if got := rig.ReadingOf(h).Bytes; got < bytes {
				t.Errorf("%s: %d bytes were acknowledged before the backup, and %d are in it", ssid, bytes, got)
			}
		} else if !c.wasSent(ssid) && c.isRegistered(ssid) {
			t.Errorf("%s is in the backup, and nobody registered it", ssid)
		}
	}
}

func (c *crowd) wasSent(ssid string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent[ssid]
}

// isRegistered tells hotspots of the crowd from those that were there before.
func (c *crowd) isRegistered(ssid string) bool {
	var n int
	_, err := fmt.Sscanf(ssid, "net-%d", &n)
	return err == nil && n >= 1000
}

// TestF23_Backup takes backups while people and devices write, makes databases of
// them, and holds these to what was acknowledged when the backup began.
func TestF23_Backup(t *testing.T) {
	rig.Stores(t, func(t *testing.T, db string) {
		key := rig.CreateKey(t, db, "admin,hotspots:write,hotspots:verify")
		server := rig.Start(t, db)
		client := rig.NewClient(t, key.Key)
		c := newCrowd(client, server, rig.LinkDevices(t, client, server, 0, 4))
		ctx, stop := context.WithCancel(t.Context())
		var working sync.WaitGroup
		working.Go(func() { c.work(ctx) })
		defer working.Wait()
		defer stop()
		during := 0 // registrations that were acknowledged while a backup was made
		for round := range rounds(3, 3, 8) {
			already := len(c.acked().done)
			rig.Eventually(t, "more registrations", func() bool { return len(c.acked().done) > already+5 })
			before := c.acked()
			restored := backUp(t, db, round)
			during += len(c.acked().done) - len(before.done)
			soundHere(t, restored)
			c.check(t, before, client, rig.Start(t, restored))
		}
		if during == 0 {
			t.Error("nobody wrote while backups were made")
		}
		server.Running(t)
		soundHere(t, db) // beside its server, under load
	})
}

// backUp makes a backup, and a database of it.
func backUp(t *testing.T, db string, round int) (restored string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), fmt.Sprintf("backup-%d", round))
	if rig.IsPostgres(db) {
		restored = rig.NewDatabase(t, "postgres")
		tool(t, "pg_dump", "--format=custom", "--file="+file, db)
		tool(t, "pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", "--dbname="+restored, file)
		return restored
	}
	restored = filepath.Join(t.TempDir(), "restored.db")
	rig.Command(t, "backup", file, "--db", db)
	rig.Command(t, "restore", file, "--db", restored)
	return restored
}

func tool(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", name, err, out)
	}
}
