package browser_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// today is what the servers and the pages take for the time: at first noon in the middle of a
// month, so that what they show depends neither on the day on which a test is run, nor on a
// midnight that passes meanwhile. It is next month, because commands write by the machine's
// clock, and what they wrote must not be newer than what follows.
func today() time.Time { return time.Now().UTC().Add(ahead) }

var ahead = func(now time.Time) time.Duration {
	return time.Date(now.Year(), now.Month()+1, 15, 12, 0, 0, 0, time.UTC).Sub(now)
}(time.Now().UTC())

// network is a running server with a small network on it.
type network struct {
	url, db         string
	log             string // a file
	address         string // kept when the server is started again
	operator, staff string // keys
	hotspots        []hotspot
	stop            func()
	whole           testing.TB // that the server lives as long as
	lastMonth       string     // which is settled
}

// hotspot is one of the operator, with its device's key.
type hotspot struct {
	id, name, key string
	lat, lng      float64
	beats         int
}

// hostile is a name that would run something if it ever became markup.
const hostile = `<img src=x onerror=alert(1)>"'&{{7*7}}`

var names = []string{
	"Bryant Park Reading Room", "Corner Books", hostile, "Café Ünïcödé ☕", "Prospect Park Boathouse", "Flushing Library",
	"St. George Ferry", "Grand Concourse 900", "Chelsea Market Stairs", "Domino Park Pier", "Astoria Rooftop", "Harlem Stoop",
}

// The places of the hotspots: the first few are close together.
var hotspotPlaces = [][2]float64{
	{40.7536, -73.9832},
	{40.7540, -73.9840},
	{40.7531, -73.9825},
	{40.7545, -73.9815},
	{40.6602, -73.9654},
	{40.7579, -73.8289},
	{40.6437, -74.0736},
	{40.8277, -73.9211},
	{40.7424, -74.0061},
	{40.7150, -73.9675},
	{40.7720, -73.9300},
	{40.8116, -73.9465},
}

// start makes the network: last month ends in seconds, with everyone online, and
// is settled; then the server runs on by the clock of this package.
func start(t testing.TB) *network {
	t.Helper()
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t}
	n.operator = n.command(t, "keys", "create", "--user", "new", "--scopes", "hotspots:write,rewards:read,keys:manage", "--name", "Ada")
	n.staff = n.command(t, "keys", "create", "--user", "new", "--scopes", "admin", "--name", "Staff")

	monthEnd := time.Date(today().Year(), today().Month(), 1, 0, 0, 0, 0, time.UTC)
	n.lastMonth = monthEnd.AddDate(0, -1, 0).Format("2006-01")
	// The clock runs as it should while there is something to do, and fast while
	// the server has to decide that the month is over.
	stop := n.serve(t, "--clock-start", monthEnd.Add(-10*time.Minute).Format(time.RFC3339), "--rate-limit", "off")
	for i, name := range names {
		n.hotspots = append(n.hotspots, n.bringUp(t, i, name))
	}
	n.ask(t, n.operator, "PATCH", "/v1/hotspots/"+n.hotspots[wideRadius].id, map[string]any{"settings": map[string]any{"coverage_radius_m": 400}})
	n.beat(t, n.hotspots...)
	stop()
	stop = n.serve(t, "--clock-start", monthEnd.Add(-2*time.Minute).Format(time.RFC3339), "--clock-rate", "1200")
	harness.Eventually(t, "the month is settled", func() bool {
		_, err := n.try("rewards", "settle", "--month", n.lastMonth, "--force", "--clock-start", monthEnd.Add(12*time.Hour).Format(time.RFC3339))
		return err == nil
	})
	stop()

	n.stop = n.serve(t)
	return n
}

// serve runs the server until the end of the test, or until it is stopped.
func (n *network) serve(t testing.TB, flags ...string) (stop func()) {
	t.Helper()
	if n.address == "" {
		n.address = harness.FreeAddress()
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	n.log = log.Name()
	if !slices.Contains(flags, "--clock-start") {
		flags = append(flags, "--clock-start", today().Format(time.RFC3339Nano))
	}
	cmd := exec.Command(harness.Binary, append([]string{"serve", "--addr", n.address, "--admin-addr", "off", "--db", n.db}, flags...)...)
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait()
			log.Close()
		}
	}
	t.Cleanup(stop)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		told, _ := os.ReadFile(log.Name())
		t.Fatalf("the server did not become ready: %v; its log: %s", err, told)
	}
	n.url = strings.TrimPrefix(strings.TrimSpace(line), "beacon: listening on ")
	return stop
}

// restart stops the server and starts it again at the same address.
func (n *network) restart() {
	n.stop()
	n.stop = n.serve(n.whole)
}

// newcomer registers a hotspot that nobody verified yet.
func (n *network) newcomer(t testing.TB, name string, mac byte, lat, lng float64) (id string) {
	t.Helper()
	made := n.ask(t, n.operator, "POST", "/v1/hotspots", map[string]any{
		"name": name, "type": "home", "location": map[string]any{"lat": lat, "lng": lng},
		"device": map[string]any{"ssid": "New", "mac_address": fmt.Sprintf("02:00:5e:10:01:%02x", mac)},
	})
	return made["id"].(string)
}

// bringUp registers, verifies and links a hotspot.
func (n *network) bringUp(t testing.TB, i int, name string) hotspot {
	t.Helper()
	s := hotspot{name: name, lat: hotspotPlaces[i][0], lng: hotspotPlaces[i][1]}
	mac := fmt.Sprintf("02:00:5e:10:00:%02x", i)
	made := n.ask(t, n.operator, "POST", "/v1/hotspots", map[string]any{
		"name": name, "type": []string{"public", "business", "home"}[i%3],
		"location": map[string]any{"lat": s.lat, "lng": s.lng, "address": hostile},
		"device":   map[string]any{"ssid": "Beacon Guest", "mac_address": mac},
	})
	s.id = made["id"].(string)
	n.ask(t, n.staff, "POST", "/v1/hotspots/"+s.id+"/verification", map[string]any{"lat": s.lat, "lng": s.lng, "accuracy_m": 5, "method": "gps"})
	code := n.ask(t, n.operator, "POST", "/v1/hotspots/"+s.id+"/link-code", nil)["code"]
	s.key = n.ask(t, "", "POST", "/v1/devices/link", map[string]any{"code": code, "mac_address": mac})["device_key"].(string)
	return s
}

// stayAwake keeps all but two of the hotspots online for the next minutes.
func (n *network) stayAwake(t testing.TB) {
	t.Helper()
	n.beat(t, n.hotspots[:len(n.hotspots)-2]...)
}

// beat lets devices be heard.
func (n *network) beat(t testing.TB, hotspots ...hotspot) {
	t.Helper()
	for i := range hotspots {
		s := &hotspots[i]
		s.beats++
		n.ask(t, s.key, "POST", "/v1/hotspots/"+s.id+"/heartbeats", map[string]any{
			"boot_id": "boot", "seq": time.Now().UnixNano() / 1000, "clients": 3 + i, "rx_bytes": s.beats * 40_000_000, "tx_bytes": s.beats * 90_000_000, "rssi_dbm": -58,
		})
	}
}

// ask makes a request that must succeed, and gives the data of its answer.
func (n *network) ask(t testing.TB, key, method, path string, body any) map[string]any {
	t.Helper()
	status, answer := n.send(t, key, method, path, body)
	if status < 200 || status > 299 {
		t.Fatalf("%s %s answered %d %v", method, path, status, answer)
	}
	data, _ := answer["data"].(map[string]any)
	return data
}

func (n *network) send(t testing.TB, key, method, path string, body any) (int, map[string]any) {
	t.Helper()
	var encoded io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		encoded = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, n.url+path, encoded)
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer map[string]any
	_ = json.NewDecoder(response.Body).Decode(&answer) // 204 has none
	return response.StatusCode, answer
}

// command runs beacon on the network's database, which must succeed.
func (n *network) command(t testing.TB, args ...string) string {
	t.Helper()
	out, err := n.try(args...)
	if err != nil {
		t.Fatalf("beacon %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (n *network) try(args ...string) (string, error) {
	out, err := exec.Command(harness.Binary, append(args, "--db", n.db)...).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		out = failed.Stderr
	}
	return strings.TrimSpace(string(out)), err
}
