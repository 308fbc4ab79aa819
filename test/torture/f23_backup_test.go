//go:build linux

package torture_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// soundHere asks the doctor about a database of either kind. A PostgreSQL of tests
// does not sync, since nothing on it matters; the doctor says so, and that alone is
// passed over.
func soundHere(t testing.TB, db string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), harness.Binary, "doctor", "--json", "--db", db).Output()
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
		noSync := r.Check == "settings" && r.Wrong == 1 && harness.IsPostgres(db) && strings.HasPrefix(r.Faults[0].What, "fsync is off")
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
	client  *harness.Client
	server  *harness.Server
	devices []*harness.Device

	mu      sync.Mutex
	sent    map[string]bool           // registrations, by SSID
	done    map[string]harness.Fields // those that were acknowledged, as they were answered
	order   []string                  // of their SSIDs, as they were acknowledged
	patched map[string]bool           // hotspots that someone changed: their fields may be newer
	patches int
	beats   map[string]uint64 // bytes that were acknowledged, by SSID
	next    int
}

func newCrowd(client *harness.Client, server *harness.Server, devices []*harness.Device) *crowd {
	return &crowd{
		client: client, server: server, devices: devices, next: 1000,
		sent: map[string]bool{}, done: map[string]harness.Fields{}, patched: map[string]bool{}, beats: map[string]uint64{},
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
		var made harness.Fields
		if json.Unmarshal(a.Data, &made) == nil {
			c.mu.Lock()
			c.done[ssid] = made
			c.order = append(c.order, ssid)
			c.mu.Unlock()
		}
	}
}

func (c *crowd) patch(ctx context.Context) {
	c.mu.Lock()
	id := ""
	c.patches++
	if n := len(c.order); n > 0 {
		ssid := c.order[c.patches/2%n] // some of them
		id = c.done[ssid]["id"].(string)
		c.patched[ssid] = true
	}
	name := fmt.Sprintf("Renamed %d", c.patches)
	c.mu.Unlock()
	if id != "" {
		c.client.Patch(ctx, c.server, id, harness.Fields{"name": name})
	}
}

// acked is what had been acknowledged at a moment.
type acked struct {
	done    map[string]harness.Fields
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
func (c *crowd) check(t testing.TB, before acked, client *harness.Client, restored *harness.Server) {
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
			if got := harness.ReadingOf(h).Bytes; got < bytes {
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
// them, and holds these to what was acknowledged when the backup began. Each backup
// is held in the midst of its work until more was acknowledged.
func TestF23_Backup(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		key := harness.CreateKey(t, db, "admin,hotspots:write,hotspots:verify")
		server := harness.Start(t, db)
		client := harness.NewClient(t, key.Key)
		c := newCrowd(client, server, harness.LinkDevices(t, client, server, 0, 4))
		ctx, stop := context.WithCancel(t.Context())
		var working sync.WaitGroup
		working.Go(func() { c.work(ctx) })
		defer working.Wait()
		defer stop()
		more := func() {
			already := len(c.acked().done)
			harness.Eventually(t, "more registrations", func() bool { return len(c.acked().done) > already+5 })
		}
		for round := range rounds(1, 3, 8) {
			more()
			before := c.acked()
			restored := backUp(t, db, round, more)
			soundHere(t, restored)
			c.check(t, before, client, harness.Start(t, restored))
		}
		server.Running(t)
		soundHere(t, db) // beside its server, under load
	})
}

// backUp makes a backup, and a database of it. In the midst of it, something else is
// done.
func backUp(t *testing.T, db string, round int, midst func()) (restored string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), fmt.Sprintf("backup-%d", round))
	if harness.IsPostgres(db) {
		restored = harness.NewDatabase(t, "postgres")
		dumpHeld(t, db, file, midst)
		tool(t, "pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", "--dbname="+restored, file)
		return restored
	}
	restored = filepath.Join(t.TempDir(), "restored.db")
	backUpHeld(t, db, file, midst)
	harness.Command(t, "restore", file, "--db", restored)
	return restored
}

// dumpHeld runs pg_dump, which first decides what state it is to read, and then
// locks all tables. Someone else holds one of them, for as long as midst takes.
func dumpHeld(t *testing.T, db, file string, midst func()) {
	t.Helper()
	handle := harness.OpenSQL(t, db)
	defer handle.Close()
	holder, err := handle.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Rollback()
	if _, err := holder.ExecContext(t.Context(), `LOCK TABLE schema_versions IN ACCESS EXCLUSIVE MODE`); err != nil { // no server needs it while it runs
		t.Fatal(err)
	}
	dumped := make(chan struct{})
	go func() {
		defer close(dumped)
		tool(t, "pg_dump", "--format=custom", "--file="+file, db)
	}()
	harness.Eventually(t, "pg_dump waits for a table", func() bool {
		waiting := 0
		err := handle.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'pg_dump' AND wait_event_type = 'Lock'`).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
		return waiting > 0
	})
	midst()
	if err := holder.Rollback(); err != nil {
		t.Fatal(err)
	}
	<-dumped
}

// backUpHeld runs "beacon backup" and stops it when it writes to its copy for the
// first time, for as long as midst takes.
func backUpHeld(t *testing.T, db, file string, midst func()) {
	t.Helper()
	// Each thread that writes is stopped once.
	backup := exec.CommandContext(t.Context(), "strace", "-f", "-y", "-e", "trace=pwrite64,copy_file_range", "-e", "inject=pwrite64,copy_file_range:signal=SIGSTOP:when=1",
		harness.Binary, "backup", file, "--db", db)
	backup.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	says, err := backup.StderrPipe()
	if err == nil {
		err = backup.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	copies, held := false, false
	for lines := bufio.NewScanner(says); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		copies = copies || strings.Contains(lines.Text(), ".beacon-copy-")
		if !strings.Contains(lines.Text(), "stopped by SIGSTOP") {
			continue
		}
		if copies && !held {
			held = true
			midst()
		}
		_ = syscall.Kill(-backup.Process.Pid, syscall.SIGCONT) // if it is not gone
	}
	err = backup.Wait()
	if strings.Contains(said.String(), "not permitted") {
		t.Skipf("NOT TESTED: a backup beside writes; strace may not watch processes here: %s", said.String())
	}
	if err != nil || !held {
		t.Fatalf("the backup: %v; it was held while it wrote: %v\n%.2000s", err, held, said.String())
	}
}

func tool(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Errorf("%s: %v %s", name, err, out)
	}
}
