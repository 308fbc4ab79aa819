package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// load is a network in which much happens, and what was acknowledged of it.
type load struct {
	staff *client.Client
	mu    sync.Mutex
	ids   map[string]string // names of hotspots, by id
	bytes map[string]int64  // that devices were acknowledged, by hotspot
	sent  map[string]int64  // or not
}

func (l *load) register(t *testing.T, ctx context.Context, n int) string {
	t.Helper()
	name := fmt.Sprintf("Hotspot %d", n)
	made, err := l.staff.RegisterHotspot(ctx, client.Registration{
		Name: name, Type: client.Home, Location: client.Place{Lat: float64(n%90) + 0.5, Lng: float64(n%180) + 0.25},
		Device: client.AccessPoint{SSID: "x", MACAddress: fmt.Sprintf("02be%08x", n)},
	})
	if err != nil {
		if ctx.Err() == nil {
			t.Error(err)
		}
		return ""
	}
	l.mu.Lock()
	l.ids[made.ID] = name
	l.mu.Unlock()
	return made.ID
}

// device brings a hotspot into service, and gives its key.
func (l *load) device(t *testing.T, n int) (hotspot string, device *client.Client) {
	t.Helper()
	ctx := t.Context()
	hotspot = l.register(t, ctx, n)
	_, err := l.staff.VerifyHotspot(ctx, hotspot, client.Verification{Lat: float64(n%90) + 0.5, Lng: float64(n%180) + 0.25, AccuracyM: 1, Method: "gps"})
	code, err2 := l.staff.CreateLinkCode(ctx, hotspot)
	linked, err3 := l.staff.LinkDevice(ctx, code.Code, fmt.Sprintf("02be%08x", n))
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	return hotspot, l.staff.WithKey(linked.DeviceKey)
}

// beat sends heartbeats until the context ends, each with more traffic.
func (l *load) beat(t *testing.T, ctx context.Context, hotspot string, device *client.Client) {
	for seq := int64(1); ctx.Err() == nil; seq++ {
		l.mu.Lock()
		l.sent[hotspot] = seq * 1e6
		l.mu.Unlock()
		if _, err := device.SendHeartbeat(ctx, hotspot, client.Heartbeat{BootID: "boot", Seq: seq, RxBytes: seq * 1e6}); err != nil {
			if ctx.Err() == nil {
				t.Error(err)
			}
			return
		}
		l.mu.Lock()
		l.bytes[hotspot] = seq * 1e6
		l.mu.Unlock()
	}
}

func (l *load) acknowledged() (ids map[string]string, bytes map[string]int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.ids), maps.Clone(l.bytes)
}

func beaconCommand(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("beacon", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("beacon %v: %v: %s", args, err, out)
	}
	return string(out)
}

// TestBackup_UnderLoad takes backups while hotspots are registered and devices
// beat, restores them, and starts a server on each: all that was acknowledged
// before a backup began is there.
func TestBackup_UnderLoad(t *testing.T) {
	t.Parallel()
	p := startServer(t, nil, "--rate-limit", "off")
	db := filepath.Join(p.cmd.Dir, "beacon.db")
	key := beaconCommand(t, "keys", "create", "--user", "new", "--scopes", "admin", "--db", db)
	staff, err := client.New(p.url, key[:len(key)-1], client.WithHTTPClient(&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}))
	if err != nil {
		t.Fatal(err)
	}
	l := &load{staff: staff, ids: map[string]string{}, bytes: map[string]int64{}, sent: map[string]int64{}}
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	for n := range 4 {
		hotspot, device := l.device(t, n)
		busy.Go(func() { l.beat(t, ctx, hotspot, device) })
		busy.Go(func() {
			for i := 100 + n; ctx.Err() == nil; i += 4 {
				l.register(t, ctx, i)
			}
		})
	}
	type backup struct {
		file  string
		ids   map[string]string
		bytes map[string]int64
	}
	var backups []backup
	for round := range 3 {
		for more := round; ; time.Sleep(time.Millisecond) { // between two looks
			ids, bytes := l.acknowledged()
			if len(ids) > level.Rounds(50, 200, 200)*(more+1) && len(bytes) == 4 {
				break
			}
			if t.Failed() {
				t.FailNow()
			}
		}
		b := backup{file: filepath.Join(t.TempDir(), "backup.db")}
		b.ids, b.bytes = l.acknowledged()
		beaconCommand(t, "backup", b.file, "--db", db)
		if info, err := os.Stat(b.file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the backup is %v, %v", info, err)
		}
		backups = append(backups, b)
	}
	stop()
	busy.Wait()
	p.stop(t)
	for _, b := range backups {
		l.compare(t, b.file, key[:len(key)-1], b.ids, b.bytes)
	}
}

// compare starts a server on a backup.
func (l *load) compare(t *testing.T, file, key string, ids map[string]string, bytes map[string]int64) {
	t.Helper()
	restored := filepath.Join(t.TempDir(), "restored.db")
	beaconCommand(t, "restore", file, "--db", restored)
	p := startServer(t, nil, "--rate-limit", "off", "--db", restored)
	defer p.stop(t)
	c, err := client.New(p.url, key)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]string{}
	for h, err := range c.Hotspots(t.Context(), "me") {
		if err != nil {
			t.Fatal(err)
		}
		there[h.ID] = h.Name
		if carried := int64(h.Metrics.BandwidthUsed24hGB); carried < bytes[h.ID] || carried > l.sent[h.ID] {
			t.Errorf("%s carried %d bytes; %d were acknowledged before the backup, %d sent in all", h.Name, carried, bytes[h.ID], l.sent[h.ID])
		}
	}
	for id, name := range ids {
		if there[id] != name {
			t.Errorf("%s (%s) was acknowledged, and is %q in the backup", id, name, there[id])
		}
	}
	t.Logf("%d hotspots were acknowledged, %d are in the backup, %d in all", len(ids), len(there), len(l.ids))
	if made, err := c.RegisterHotspot(t.Context(), client.Registration{
		Name: "Life goes on", Type: client.Home, Device: client.AccessPoint{SSID: "x", MACAddress: "02:00:5e:ff:ff:ff"},
	}); err != nil || made.Replayed {
		t.Errorf("nothing can be registered in what was restored: %v", err)
	}
}

// A copy that was complete before Ctrl-C is there, and the command must not deny it.
func TestCopying_Interrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	out := &console{ctx: ctx, stdout: io.Discard, stderr: io.Discard}
	if err := copying(out, false, func(sqlite.Copying) error { interrupt(); return nil }); err != nil {
		t.Errorf("a copy that was complete: %v", err)
	}
	if err := copying(out, false, func(sqlite.Copying) error { return ctx.Err() }); err == nil || !strings.Contains(err.Error(), "nothing was written") {
		t.Errorf("a copy that was not complete: %v", err)
	}
}
