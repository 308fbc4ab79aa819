package main

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// demonstration is "beacon demo" as its users run it.
type demonstration struct {
	cmd                  *exec.Cmd
	log                  lockedBuffer
	text                 string // that it printed
	url, operator, staff string
}

// demoTime is a day on which September is settled and October is not.
const demoTime = "2026-11-03T15:20:00Z"

// startDemo runs it with a folder for what is temporary.
func startDemo(t *testing.T, temporary string, args ...string) *demonstration {
	t.Helper()
	d := &demonstration{cmd: exec.Command("beacon", append([]string{"demo", "--addr", "127.0.0.1:0", "--hotspots", "45"}, args...)...)}
	d.cmd.Dir, d.cmd.Stderr = t.TempDir(), &d.log
	d.cmd.Env = append(os.Environ(), "TMPDIR="+temporary)
	stdout, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	for lines := bufio.NewScanner(stdout); !strings.Contains(d.text, "Ctrl-C ") && lines.Scan(); {
		d.text += lines.Text() + "\n"
	}
	word := func(form string) string {
		found := regexp.MustCompile(form).FindStringSubmatch(d.text)
		if found == nil {
			t.Fatalf("no %s in %q; it said %s", form, d.text, d.log.String())
		}
		return found[1]
	}
	d.url, d.operator, d.staff = word(`console +(http://\S+)/\n`), word(`operator key +(bcn_\w+)\n`), word(`staff key +(bcn_\w+)\n`)
	return d
}

// stop ends it as Ctrl-C does, or a supervisor.
func (d *demonstration) stop(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := d.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Wait(); err != nil {
		t.Errorf("after %s: %v; it said %s", signal, err, d.log.String())
	}
}

// ask repeats a request that the server asks to repeat: a demonstration limits how
// often a key may ask, and turns requests away on a busy machine.
func (d *demonstration) ask(t *testing.T, key, path string) (status int, body string) {
	t.Helper()
	for deadline := time.Now().Add(harness.Patience); ; time.Sleep(20 * time.Millisecond) {
		status, body = fetch(t, d.url+"/v1"+path, "Authorization", "Bearer "+key)
		if status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests || time.Now().After(deadline) {
			return status, body
		}
	}
}

// get reads the data of an answer.
func (d *demonstration) get(t *testing.T, key, path string, data any) {
	t.Helper()
	status, body := d.ask(t, key, path)
	envelope := struct{ Data any }{data}
	if err := json.Unmarshal([]byte(body), &envelope); status != http.StatusOK || err != nil {
		t.Fatalf("%s answers %d %s, %v", path, status, body, err)
	}
}

type demoHotspot struct {
	ID, Name, Status string
	CreatedAt        time.Time `json:"created_at"`
	Metrics          struct {
		Uptime float64   `json:"uptime_30d"`
		Seen   time.Time `json:"last_seen_at"`
	}
}

type demoSummary struct {
	Breakdown struct{ Availability, Performance, Utilization float64 }
	Period    struct{ Status string }
	Hotspots  []struct {
		HotspotID string `json:"hotspot_id"`
		Earned    float64
	}
}

func TestDemo(t *testing.T) {
	t.Parallel()
	temporary := t.TempDir()
	d := startDemo(t, temporary, "--clock-start", demoTime)
	t.Run("curl", d.testCurl)
	t.Run("hotspots", d.testHotspots)
	t.Run("homes", d.testHomes)
	t.Run("rewards", d.testRewards)
	t.Run("explain", d.testExplain)
	t.Run("statements", d.testStatements)
	t.Run("history", d.testHistory)
	t.Run("beats", d.testBeats)
	t.Run("links", d.testLinks)
	t.Run("staff", d.testStaff)
	t.Run("attention", d.testAttention)
	d.stop(t, os.Interrupt)
	if left, _ := filepath.Glob(filepath.Join(temporary, "*")); len(left) > 0 {
		t.Errorf("it left %v behind", left)
	}
	if said := slowMachine.ReplaceAllString(d.log.String(), ""); said != "" {
		t.Errorf("it complained: %s", said)
	}
}

// slowMachine is what is said on a slow machine: every ten seconds how far the days are,
// and that the lease ran out, if the machine stood still for longer than it lasts.
var slowMachine = regexp.MustCompile(`(?m)^(\[=* *\] \d+ of \d+ days|time=\S+ level=WARN msg="this server has lost the lease" .*)\n`)

// The lines that it prints work as printed.
func (d *demonstration) testCurl(t *testing.T) {
	level.Tool(t, "curl", "curl")
	lines := regexp.MustCompile(`(?m)^  curl .*$`).FindAllString(d.text, -1)
	if len(lines) != 3 {
		t.Fatalf("it prints %d lines with curl: %s", len(lines), d.text)
	}
	for i, want := range []string{`"distance_m":`, `"coverage_percentage":`, `"status":"finalizing"`} {
		var out []byte
		var err error
		for deadline := time.Now().Add(harness.Patience); ; time.Sleep(20 * time.Millisecond) {
			out, err = exec.Command("sh", "-euc", lines[i]).Output()
			if !strings.Contains(string(out), `"code":"overloaded"`) || time.Now().After(deadline) {
				break
			}
		}
		if err != nil || !strings.HasPrefix(string(out), `{"data":`) || !strings.Contains(string(out), want) {
			t.Errorf("%s printed %s, %v", lines[i], out, err)
		}
	}
}

func (d *demonstration) testHotspots(t *testing.T) {
	var own, near []demoHotspot
	d.get(t, d.operator, "/users/me/hotspots?per_page=100", &own)
	online, up := 0, 0.0
	for _, h := range own {
		if h.Status == "online" {
			online++
		}
		up += h.Metrics.Uptime / float64(len(own))
	}
	if len(own) != 30 || online < 20 || up < 0.85 || up > 0.9999 {
		t.Errorf("%d hotspots, %d online, uptime %.4f", len(own), online, up)
	}
	d.get(t, d.operator, "/hotspots/nearby?lat=40.74&lng=-73.95&radius=10000&limit=100&status=all", &near)
	if len(near) < 31 {
		t.Errorf("%d hotspots in the middle of the city", len(near))
	}
}

// The operator sees its homes where they are, and its publishable keys do not.
func (d *demonstration) testHomes(t *testing.T) {
	type place struct {
		Lat, Lng    float64
		Address     string
		Approximate bool
	}
	var own []struct {
		ID, Type string
		Location place
	}
	d.get(t, d.operator, "/users/me/hotspots?per_page=100", &own)
	public := d.publishableKey(t)
	homes := 0
	for _, h := range own {
		if h.Type != "home" {
			continue
		}
		var shown struct{ Location place }
		d.get(t, public, "/hotspots/"+h.ID, &shown)
		away := math.Hypot(shown.Location.Lat-h.Location.Lat, shown.Location.Lng-h.Location.Lng) * 111_000
		if homes++; h.Location.Approximate || h.Location.Address == "" || !shown.Location.Approximate || shown.Location.Address != "" || away < 1 || away > 600 {
			t.Errorf("its operator sees %+v, and others %+v, %.0f m away", h.Location, shown.Location, away)
		}
	}
	if homes < 2 {
		t.Errorf("the operator has %d homes", homes)
	}
}

// publishableKey returns a new key that sees what strangers see.
func (d *demonstration) publishableKey(t *testing.T) string {
	t.Helper()
	var answer struct{ Data struct{ Key string } }
	for deadline := time.Now().Add(harness.Patience); answer.Data.Key == "" && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+"/v1/keys", strings.NewReader(`{"scopes":[],"publishable":true}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+d.operator)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(response.Body).Decode(&answer)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return answer.Data.Key
}

func (d *demonstration) testRewards(t *testing.T) {
	for period, status := range map[string]string{"current": "in_progress", "last": "finalizing", "all": "in_progress"} {
		var s demoSummary
		d.get(t, d.operator, "/users/me/rewards?period="+period, &s)
		var sum float64
		for _, h := range s.Hotspots {
			sum += h.Earned
		}
		total := s.Breakdown.Availability + s.Breakdown.Performance + s.Breakdown.Utilization
		if math.Abs(sum-total) > 1e-6 || s.Period.Status != status || len(s.Hotspots) < 20 ||
			s.Breakdown.Availability <= 0 || s.Breakdown.Performance <= 0 || s.Breakdown.Utilization <= 0 {
			t.Errorf("%s: %+v; the hotspots earn %f", period, s, sum)
		}
	}
}

// Every day of a hotspot that had an outage is explained to the millionth, by an
// arithmetic that is not ours.
func (d *demonstration) testExplain(t *testing.T) {
	var own []demoHotspot
	d.get(t, d.operator, "/users/me/hotspots?per_page=100", &own)
	lost := 0
	for _, h := range own[:8] {
		for day := time.Date(2026, 8, 10, 0, 0, 0, 0, time.UTC); day.Month() < time.November; day = day.AddDate(0, 0, 9) {
			var e struct {
				Facts struct {
					Served   int `json:"served_minutes"`
					Expected int `json:"expected_minutes"`
				}
				Potential, Earned struct{ Total float64 }
				Losses            []struct{ Total float64 }
			}
			d.get(t, d.operator, "/hotspots/"+h.ID+"/rewards/explain?date="+day.Format(time.DateOnly), &e)
			sum := e.Earned.Total
			for _, l := range e.Losses {
				sum += l.Total
				lost++
			}
			if math.Abs(sum-e.Potential.Total) > 5e-7 || e.Facts.Served > e.Facts.Expected {
				t.Errorf("%s on %s: %+v", h.Name, day.Format(time.DateOnly), e)
			}
		}
	}
	if lost == 0 {
		t.Error("nobody lost anything")
	}
}

// The statements of two months that are settled follow each other, and hold.
func (d *demonstration) testStatements(t *testing.T) {
	var holds []struct {
		Status   string
		Operator string `json:"operator_id"`
	}
	d.get(t, d.staff, "/holds", &holds)
	if len(holds) == 0 {
		t.Fatal("there are no holds")
	}
	held := holds[len(holds)-1].Operator // of whom days were held back in September, and paid
	var files []string
	for _, of := range [][2]string{{"me", "2026-08"}, {"me", "2026-09"}, {held, "2026-08"}, {held, "2026-09"}} {
		key := d.operator
		if of[0] == held {
			key = d.staff
		}
		status, body := d.ask(t, key, "/users/"+of[0]+"/rewards/statements/"+of[1])
		file := filepath.Join(t.TempDir(), strings.Join(of[:], " ")+".json")
		if paid := strings.Contains(body, "hld_"); paid != (of == [2]string{held, "2026-09"}) {
			t.Errorf("the statement of %s has a hold: %v", of, paid)
		}
		if err := os.WriteFile(file, []byte(body), 0o600); status != http.StatusOK || err != nil {
			t.Fatalf("%s: %d %s, %v", of, status, body, err)
		}
		files = append(files, file)
	}
	out, err := exec.Command("beacon", append([]string{"rewards", "verify"}, files...)...).CombinedOutput()
	if err != nil || strings.Count(string(out), " holds: ") != 4 {
		t.Errorf("verify: %v, %s", err, out)
	}
}

// Nights are quieter than afternoons.
func (d *demonstration) testHistory(t *testing.T) {
	var own []demoHotspot
	d.get(t, d.operator, "/users/me/hotspots?per_page=100", &own)
	var day, night float64
	for _, h := range own {
		var past struct {
			Points []struct {
				At      time.Time
				Traffic float64 `json:"traffic_gb"`
			}
		}
		d.get(t, d.operator, "/hotspots/"+h.ID+"/history?step=1h&from=2026-10-20T00:00:00Z&to=2026-10-27T00:00:00Z", &past)
		if len(past.Points) != 7*24 {
			t.Fatalf("%d points", len(past.Points))
		}
		for _, p := range past.Points {
			switch local := (p.At.Hour() + 20) % 24; {
			case local >= 2 && local < 6:
				night += p.Traffic
			case local >= 13 && local < 17:
				day += p.Traffic
			}
		}
	}
	if night <= 0 || day < 4*night {
		t.Errorf("%.1f GB in the afternoons, %.1f GB at night", day, night)
	}
}

// Devices go on from where their history ends.
func (d *demonstration) testBeats(t *testing.T) {
	start, err := time.Parse(time.RFC3339, demoTime)
	if err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "three devices have beaten", func() bool { // the last of all beats after a minute
		var own []demoHotspot
		d.get(t, d.operator, "/users/me/hotspots?per_page=100", &own)
		fresh := 0
		for _, h := range own {
			if h.Metrics.Seen.After(start) {
				fresh++
			}
		}
		return fresh >= 3
	})
}

// The same seed and time lead to the same books, and a file keeps them.
func TestDemo_Keep(t *testing.T) {
	t.Parallel()
	earned := func(d *demonstration) string {
		status, body := d.ask(t, d.operator, "/users/me/rewards?period=last")
		data, _, found := strings.Cut(body, `,"meta":`)
		if status != http.StatusOK || !found {
			t.Fatalf("%d %s", status, body)
		}
		return data
	}
	file, began := filepath.Join(t.TempDir(), "kept.db"), time.Now()
	first := startDemo(t, t.TempDir(), "--clock-start", demoTime, "--db", file)
	want := earned(first)
	first.stop(t, syscall.SIGTERM)
	checkDoctor(t, file)
	checkSpan(t, file, time.Since(began))

	again := startDemo(t, t.TempDir(), "--clock-start", "2026-11-03T15:40:00Z", "--db", file)
	if got := earned(again); got != want || again.operator == first.operator {
		t.Errorf("the next time it says %s; want %s, and another key", got, want)
	}
	if status, _ := again.ask(t, first.staff, "/keys/self"); status != http.StatusUnauthorized {
		t.Errorf("the key of the first time is answered %d", status)
	}
	harness.Eventually(t, "three hotspots are online again", func() bool { // their devices have other keys, and use them
		var near []demoHotspot
		again.get(t, again.operator, "/hotspots/nearby?lat=40.74&lng=-74&radius=10000&limit=100&status=online", &near)
		return len(near) >= 3
	})
	checkAddresses(t, file)
	again.stop(t, os.Interrupt)

	other := startDemo(t, t.TempDir(), "--clock-start", demoTime)
	if got := earned(other); got != want {
		t.Errorf("the same seed leads to %s and to %s", want, got)
	}
	other.stop(t, os.Interrupt)
	if left, _ := filepath.Glob(file + "*"); fmt.Sprint(left) != fmt.Sprint([]string{file}) {
		t.Errorf("it left %v", left)
	}
}

// checkDoctor makes sure that what is written is whole, with what was held back.
func checkDoctor(t *testing.T, file string) {
	t.Helper()
	if out, err := exec.Command("beacon", "doctor", "--db", file).CombinedOutput(); err != nil {
		t.Errorf("beacon doctor: %v: %s", err, out)
	}
}

// checkSpan makes sure that the service counts as up for as long as the history
// lasts and the demonstration ran, and no longer: what the machine takes to make it
// is nobody's outage.
func checkSpan(t *testing.T, file string, ran time.Duration) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var from, to int64
	if err := db.QueryRow(`SELECT from_minute, to_minute FROM service_spans ORDER BY from_minute LIMIT 1`).Scan(&from, &to); err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, demoTime)
	began, latest := at.Truncate(24*time.Hour).AddDate(0, 0, -demoDays), int64(ran/time.Minute)+1
	if late := to - at.Unix()/60; err != nil || from != began.Unix()/60 || late < 0 || late > latest {
		t.Errorf("the service was up from minute %d to %d", from, to)
	}
}

// checkAddresses waits until three devices have sent, each from an address of its own:
// devices all over the city with one address would be suspicious (one_address).
func checkAddresses(t *testing.T, file string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return // it has one address for itself
	}
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	harness.Eventually(t, "three devices have addresses of their own", func() bool {
		var addresses int
		err := db.QueryRow(`SELECT COUNT(DISTINCT address) FROM device_addresses`).Scan(&addresses)
		return err == nil && addresses >= 3
	})
}

// Told to stop while it is at work, it leaves nothing behind.
func TestDemo_Interrupted(t *testing.T) {
	t.Parallel()
	temporary := t.TempDir()
	kept := filepath.Join(t.TempDir(), "kept.db")
	for _, args := range [][]string{nil, {"--db", kept}} {
		cmd := exec.Command("beacon", append([]string{"demo", "--addr", "127.0.0.1:0"}, args...)...)
		var log lockedBuffer
		cmd.Stdout, cmd.Stderr = &log, &log
		cmd.Env = append(os.Environ(), "TMPDIR="+temporary)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		made := func() []string {
			files, _ := filepath.Glob(filepath.Join(temporary, "*"))
			database, _ := filepath.Glob(kept + "*")
			return append(files, database...)
		}
		harness.Eventually(t, "it is at work", func() bool { return len(made()) > 0 })
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("it ended with %v: %s", err, log.String())
		}
		if left := made(); len(left) > 0 {
			t.Errorf("it left %v behind", left)
		}
	}
}
