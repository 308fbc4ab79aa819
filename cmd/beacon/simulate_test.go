package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/simulate"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// simulation is a small one with the defaults of the command line.
func simulation(seed uint64) simulateCmd {
	return simulateCmd{Hotspots: 4, Seed: seed, Interval: time.Minute, Connections: 8}
}

var digestLine = regexp.MustCompile(`(?m)^digest ([0-9a-f]{64})$`)

// digestOf goes through some hours, and returns the digest of that.
func digestOf(t *testing.T, seed uint64) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	out := &console{ctx: t.Context(), stdout: &stdout, stderr: &stderr}
	if err := simulation(seed).march(out, time.Duration(level.Rounds(1, 3, 3))*time.Hour); err != nil {
		t.Fatalf("%v; it said %s", err, stderr.String())
	}
	found := digestLine.FindStringSubmatch(stdout.String())
	if found == nil || !strings.Contains(stdout.String(), " heartbeats in ") {
		t.Fatalf("it printed %q", stdout.String())
	}
	return found[1]
}

// A seed decides the outcome, though nothing else is the same: ids, keys, the
// order in which beats arrive (decision C4).
func TestSimulate_Digest(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	first, again, other := digestOf(t, 1), digestOf(t, 1), digestOf(t, 2)
	if first != again {
		t.Errorf("one seed leads to %s and to %s", first, again)
	}
	if first == other {
		t.Errorf("two seeds lead to %s", first)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
		t.Errorf("it left %v behind", left)
	}
}

// Told to stop, it removes what it made and says that there is no outcome, also
// where it had hardly begun.
func TestSimulate_Interrupted(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, after := range []time.Duration{time.Millisecond, 20 * time.Millisecond, time.Second} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		defer cancel()
		var stdout, stderr bytes.Buffer
		err := simulation(1).march(&console{ctx: ctx, stdout: &stdout, stderr: &stderr}, 300*24*time.Hour)
		if err == nil || !strings.Contains(err.Error(), "interrupted") || digestLine.MatchString(stdout.String()) {
			t.Errorf("after %v, march = %v; it printed %q", after, err, stdout.String())
		}
		if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
			t.Errorf("after %v, it left %v behind", after, left)
		}
	}
}

// mintKey makes a key for a server that runs.
func mintKey(t *testing.T, db string, scopes string) string {
	t.Helper()
	made, err := exec.Command("beacon", "keys", "create", "--db", db, "--user", "new", "--scopes", scopes).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(made))
}

// Devices of a real server: they come online, a second run finds them again, and
// what a key does not permit is said in words.
func TestSimulate_RealServer(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "beacon.db")
	server := startServer(t, nil, "--db", db, "--rate-limit", "off", "--log-level", "warn")
	defer server.stop(t)
	key := mintKey(t, db, "admin")
	drive := func(cmd simulateCmd) (stdout string, err error) {
		var out, log bytes.Buffer
		cmd.URL = server.url
		if cmd.Key == "" {
			cmd.Key = key
		}
		err = cmd.Run(&console{ctx: t.Context(), stdout: &out, stderr: &log})
		return out.String(), err
	}
	cmd := simulation(1)
	cmd.Hotspots, cmd.Rate, cmd.Duration = 20, 100, time.Second
	form := regexp.MustCompile(`^(\d+) heartbeats in \S+, \d+/s, p50 \S+, p99 \S+(, \d+ asked to come later)?(, \d+ given up)?\n$`)
	for range 2 {
		harness.Eventually(t, "a device beats in a second", func() bool { // a slow machine may not get there
			out, err := drive(cmd)
			found := form.FindStringSubmatch(out)
			if err != nil || found == nil {
				t.Fatalf("it printed %q and ended with %v", out, err)
			}
			return found[1] != "0"
		})
	}
	harness.Eventually(t, "hotspots are online around here", func() bool {
		_, body := fetch(t, server.url+"/v1/hotspots/nearby?lat=40.75&lng=-73.95&radius=10000&status=online&limit=100", "Authorization", "Bearer "+key)
		n := strings.Count(body, `"status":"online"`)
		if n > 20 {
			t.Fatalf("%d hotspots are online around here: %s", n, body)
		}
		if n < 5 { // a slow machine has not sent much in a second
			if _, err := drive(cmd); err != nil {
				t.Fatal(err)
			}
		}
		return n >= 5
	})

	cmd.Key = mintKey(t, db, "hotspots:write")
	if _, err := drive(cmd); err == nil || !strings.Contains(err.Error(), "needs admin") {
		t.Errorf("with a lesser key it ends with %v", err)
	}
	cmd.Key = "bcn_wrong"
	if _, err := drive(cmd); err == nil || !strings.Contains(err.Error(), "does not know this key") {
		t.Errorf("with a wrong key it ends with %v", err)
	}
	var stderr bytes.Buffer
	if code := report(&stderr, simulateCmd{URL: server.url, Key: "bcn_wrong", Hotspots: 1, Connections: 1, Interval: time.Minute}.Run(
		&console{ctx: t.Context(), stdout: &stderr, stderr: &stderr})); code != exitFailed {
		t.Errorf("with a wrong key the exit code is %d: %s", code, stderr.String())
	}
}

// Hotspots are where the network is: where staff say, else where hotspots are, or where --at
// says. A second run leaves them where they stand. --clean deletes what was simulated, with
// whichever key, and nothing else.
func TestSimulate_AroundAndClean(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "beacon.db")
	server := startServer(t, nil, "--db", db, "--rate-limit", "off", "--log-level", "warn")
	defer server.stop(t)
	key := mintKey(t, db, "admin")
	api, err := client.New(server.url, key)
	if err != nil {
		t.Fatal(err)
	}
	run := func(change func(*simulateCmd)) string {
		t.Helper()
		var out, log bytes.Buffer
		cmd := simulation(1)
		cmd.URL, cmd.Key, cmd.Duration = server.url, mintKey(t, db, "admin"), time.Millisecond
		change(&cmd)
		if err := cmd.Run(&console{ctx: t.Context(), stdout: &out, stderr: &log}); err != nil {
			t.Fatalf("%v; it said %s", err, log.String())
		}
		return out.String() + log.String()
	}
	all := func() (list []client.HotspotListed) {
		t.Helper()
		for h, err := range api.ListHotspots(t.Context(), client.ListQuery{}) {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, h)
		}
		return list
	}
	near := func(lat, lng, km float64) (n int) {
		for _, h := range all() {
			if d := 111.2 * math.Hypot(h.Location.Lat-lat, (h.Location.Lng-lng)*math.Cos(lat*math.Pi/180)); d <= km {
				n++
			}
		}
		return n
	}
	register := func(name, ssid, mac string, lat, lng float64) {
		t.Helper()
		_, err := api.RegisterHotspot(t.Context(), client.Registration{
			Name: name, Type: client.Public, Location: client.Place{Lat: lat, Lng: lng}, Device: client.AccessPoint{SSID: ssid, MACAddress: mac},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	said := run(func(c *simulateCmd) { c.Key = key })
	if !strings.Contains(said, "in New York, since the network has no place yet") || near(40.75, -73.95, 30) != 4 {
		t.Errorf("of %d hotspots %d are in New York; it said %s", len(all()), near(40.75, -73.95, 30), said)
	}
	if said = run(func(c *simulateCmd) { c.Clean, c.Duration = true, 0 }); !strings.Contains(said, "4 simulated hotspots deleted") || len(all()) != 0 {
		t.Errorf("%d are left; it said %s", len(all()), said)
	}
	// Where hotspots are, whatever one far away says.
	register("Simulated public 3", "Simulated Wi-Fi", "02:00:5e:10:00:01", -1.286, 36.817) // somebody's, with another number
	register("Café", "Simulated Wi-Fi", "02:00:5e:00:00:00", -1.290, 36.820)
	register("Far away", "far", "02:00:5e:10:00:02", 52.5, 13.4)
	for range 2 { // the second run finds them, and leaves them there
		run(func(c *simulateCmd) { c.Seed = 2; c.Key = key })
		if near(-1.288, 36.818, 3) != 6 || len(all()) != 7 {
			t.Errorf("of %d hotspots %d are in Nairobi", len(all()), near(-1.288, 36.818, 3))
		}
		for _, h := range all() {
			if strings.HasPrefix(h.Name, "Simulated ") && h.Name != "Simulated public 3" && !h.Location.Verified {
				t.Errorf("%+v is not verified", h)
			}
		}
		run(func(c *simulateCmd) { c.Seed = 2; c.Key = key; c.At = "10,10" })
	}
	// Where staff say, and where --at says.
	if _, err := api.ChangeNetworkSettings(t.Context(), client.NetworkSettingsPatch{StartView: &client.StartView{Lat: 48.85, Lng: 2.35, Zoom: 12}}); err != nil {
		t.Fatal(err)
	}
	run(func(c *simulateCmd) { c.Seed = 3 })
	run(func(c *simulateCmd) { c.Seed, c.At = 4, "-33.87,151.21,0.5" })
	if near(48.85, 2.35, 4) != 4 || near(-33.87, 151.21, 0.51) != 4 {
		t.Errorf("%d are in Paris, and %d in Sydney", near(48.85, 2.35, 4), near(-33.87, 151.21, 0.51))
	}
	said = run(func(c *simulateCmd) { c.Clean, c.Duration = true, 0 })
	if left := all(); len(left) != 3 || !strings.Contains(said, "12 simulated hotspots deleted") {
		t.Errorf("%+v are left; it said %s", left, said)
	}
}

// A Ctrl-C ends it with a summary, and without an error.
func TestSimulate_CtrlC(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "beacon.db")
	server := startServer(t, nil, "--db", db, "--rate-limit", "off", "--log-level", "warn")
	defer server.stop(t)
	cmd := exec.Command("beacon", "simulate", "--url", server.url, "--hotspots", "5", "--interval", "100ms")
	key := mintKey(t, db, "admin")
	cmd.Env = append(os.Environ(), "BEACON_KEY="+key)
	var stdout, stderr lockedBuffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	harness.Eventually(t, "some device has beaten", func() bool {
		_, body := fetch(t, server.url+"/v1/hotspots/nearby?lat=40.75&lng=-73.95&radius=10000&status=online&limit=100", "Authorization", "Bearer "+key)
		return strings.Contains(body, `"status":"online"`)
	})
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(stdout.String(), " heartbeats in ") {
		t.Errorf("it ended with %v and printed %q; %s", err, stdout.String(), stderr.String())
	}
}

func TestSimulate_NoServer(t *testing.T) {
	cmd := simulation(1)
	cmd.URL, cmd.Key = "http://127.0.0.1:1", "bcn_x"
	err := cmd.Run(&console{ctx: t.Context(), stdout: new(bytes.Buffer), stderr: new(bytes.Buffer)})
	if err == nil || !strings.Contains(err.Error(), "cannot reach a server at http://127.0.0.1:1") {
		t.Errorf("without a server it ends with %v", err)
	}
}

func TestSimulate_Usage(t *testing.T) {
	for want, change := range map[string]func(*simulateCmd){
		"--hotspots must be":        func(c *simulateCmd) { c.Hotspots = 0 },
		"need --url":                func(c *simulateCmd) { c.Rate = 5 },
		"--url needs --key":         func(c *simulateCmd) { c.URL = "http://h" },
		"cannot be used with --url": func(c *simulateCmd) { c.URL, c.Key, c.Days = "http://h", "k", 2 },
		"--days must be":            func(c *simulateCmd) { c.Days = 366 },
		"is not the URL":            func(c *simulateCmd) { c.URL, c.Key = "localhost:8080", "k" },
		"--at and --clean need":     func(c *simulateCmd) { c.Clean = true },
		"--clean only deletes":      func(c *simulateCmd) { c.URL, c.Key, c.Clean, c.At = "http://h", "k", true, "1,2" },
		"--connections must":        func(c *simulateCmd) { c.Connections = 0 },
		"must be greater":           func(c *simulateCmd) { c.Interval = 0 },
	} {
		cmd := simulation(1)
		change(&cmd)
		var stderr bytes.Buffer
		code := report(&stderr, cmd.Run(&console{ctx: t.Context(), stdout: &stderr, stderr: &stderr}))
		if code != exitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("exit code %d: %s; want 2, and %q", code, stderr.String(), want)
		}
	}
}

func TestSimulate_Progress(t *testing.T) {
	for _, test := range []struct {
		done, total int64
		want        string
	}{
		{0, 4, "[                              ] 0 of 4 x"},
		{2, 4, "[===============               ] 2 of 4 x"},
		{4, 4, "[==============================] 4 of 4 x"},
		{0, 0, "[                              ] 0 of 0 x"},
		{5, 4, "[==============================] 5 of 4 x"}, // a file that grows
		{5, 0, "[                              ] 5 of 0 x"},
	} {
		if got := bar("x", test.done, test.total); got != test.want {
			t.Errorf("bar is %q; want %q", got, test.want)
		}
	}
	got := summary(simulate.Reading{Taken: 300, Repeated: 2, Failed: 1}, 2*time.Second)
	if want := "300 heartbeats in 2s, 150/s, p50 0s, p99 0s, 2 told to retry later, 1 failed"; got != want {
		t.Errorf("summary is %q; want %q", got, want)
	}
}
