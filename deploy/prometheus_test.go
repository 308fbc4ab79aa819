package deploy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

func TestPromtool(t *testing.T) {
	t.Parallel()
	level.Tool(t, "promtool", "prometheus")
	for _, args := range [][]string{
		{"check", "rules", "monitoring/alerts.yml"},
		{"check", "config", "monitoring/prometheus.yml"},
		{"test", "rules", "monitoring/alerts_test.yml"},
	} {
		if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}

// quiet are panels that show nothing on a server that is well and young, and why.
var quiet = map[string]string{
	"Errors":       "nothing was answered with 500",
	"Closed until": "no day was over since the first start",
}

// unripe are alerts that may begin to wait, if not to fire, in a test.
var unripe = map[string]string{
	"BeaconClockNotBelieved": "a clock is believed after ten minutes",
	"BeaconSlow":             "the machine may be busy with other tests",
	"BeaconTurnsAway":        "so it may",
	"BeaconBehind":           "so it may",
	"BeaconCommitsSlow":      "so it may",
}

// A real Prometheus watches a real server: it understands every expression of the
// dashboard and of the rules, finds something for each, and has nothing to alert
// about.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	level.Tool(t, "prometheus", "prometheus")
	s := startBeacon(t)
	s.traffic(t)
	p := startPrometheus(t, s.admin)
	checkMetrics(t, s.metrics(t))
	for _, panel := range readDashboard(t).Panels {
		for _, target := range panel.Targets {
			p.awaitData(t, panel.Title, inTest(target.Expr), quiet[panel.Title] != "")
		}
	}
	for _, a := range alerts(t) {
		// For a moment it may: a busy machine does not answer within the 100 ms of a scrape.
		harness.Eventually(t, a.Alert+" would not fire at a server that is well", func() bool {
			return len(p.query(t, a.Expr)) == 0 || unripe[a.Alert] != "" || t.Failed()
		})
	}
	p.checkRules(t)
}

// inTest puts in what Grafana would.
func inTest(expr string) string {
	return strings.NewReplacer("$instance", ".*", "$__rate_interval", "5s").Replace(expr)
}

// checkMetrics: the server has every metric that the files name, and promtool
// finds nothing to say against how they are called.
func checkMetrics(t *testing.T, served string) {
	t.Helper()
	names := map[string]bool{"up": true} // Prometheus' own
	for _, found := range regexp.MustCompile(`(?m)^([a-z_]+)[{ ]`).FindAllStringSubmatch(served, -1) {
		names[found[1]] = true
	}
	var exprs []string
	for _, panel := range readDashboard(t).Panels {
		for _, target := range panel.Targets {
			exprs = append(exprs, target.Expr)
		}
	}
	for _, a := range alerts(t) {
		exprs = append(exprs, a.Expr)
	}
	named := 0
	for _, expr := range exprs {
		for _, name := range regexp.MustCompile(`\b(up|(beacon|go|process)_[a-z_]+)\b`).FindAllString(expr, -1) {
			named++
			if !names[name] {
				t.Errorf("the server has no %s, which %s asks for", name, expr)
			}
		}
	}
	if named < 60 {
		t.Errorf("the files name metrics %d times", named)
	}
	lint := exec.Command("promtool", "check", "metrics")
	lint.Stdin = strings.NewReader(served)
	if out, err := lint.CombinedOutput(); err != nil {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

// beaconServer is a real one, as a process of its own.
type beaconServer struct{ folder, url, admin, key string }

func startBeacon(t *testing.T) *beaconServer {
	t.Helper()
	s := &beaconServer{folder: t.TempDir(), url: harness.FreeAddress(), admin: harness.FreeAddress()}
	serve := exec.Command(harness.Binary, "serve", "--addr", s.url, "--admin-addr", s.admin, "--rate-limit", "100/s:200")
	serve.Dir = s.folder
	s.url = "http://" + s.url
	stdout, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	run(t, serve)
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatalf("no ready line: %q, %v", line, err)
	}
	keys := exec.Command(harness.Binary, "keys", "create", "--user", "new", "--scopes", "admin")
	keys.Dir = s.folder
	key, err := keys.Output()
	if err != nil {
		t.Fatal(err)
	}
	s.key = strings.TrimSpace(string(key))
	return s
}

// run starts a process that is ended, and waited for, after the test.
func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
}

// traffic lets devices beat, clients ask and one of them be refused, until the test
// ends; nobody as often as to meet a limit.
func (s *beaconServer) traffic(t *testing.T) {
	t.Helper()
	simulate := exec.Command(harness.Binary, "simulate", "--url", s.url, "--hotspots", "5", "--interval", "1500ms")
	simulate.Env = append(os.Environ(), "BEACON_KEY="+s.key)
	run(t, simulate)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(100 * time.Millisecond) // 20 wrong keys a second would be too many
		defer ticker.Stop()
		for ctx.Err() == nil {
			for _, key := range []string{s.key, "wrong"} {
				request, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/v1/hotspots/nearby?lat=40.75&lng=-73.98", nil)
				request.Header.Set("Authorization", "Bearer "+key)
				if answer, err := http.DefaultClient.Do(request); err == nil {
					answer.Body.Close()
				}
			}
			<-ticker.C
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
}

func (s *beaconServer) metrics(t *testing.T) string {
	t.Helper()
	answer, err := http.Get("http://" + s.admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// prometheus is a real one.
type prometheus struct{ url string }

// startPrometheus runs one with our own configuration, but for the address of the
// server and for how often it looks: a test has no minutes.
func startPrometheus(t *testing.T, target string) *prometheus {
	t.Helper()
	folder := t.TempDir()
	config := read(t, "monitoring/prometheus.yml")
	for from, to := range map[string]string{"15s": "100ms", "127.0.0.1:9090": target} {
		if !strings.Contains(config, from) {
			t.Fatalf("prometheus.yml does not say %s", from)
		}
		config = regexp.MustCompile(`(?m)^([^#\n]*)`+regexp.QuoteMeta(from)).ReplaceAllString(config, "${1}"+to)
	}
	for name, text := range map[string]string{"prometheus.yml": config, "alerts.yml": read(t, "monitoring/alerts.yml")} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	addr := harness.FreeAddress()
	cmd := exec.Command("prometheus", "--config.file", filepath.Join(folder, "prometheus.yml"),
		"--storage.tsdb.path", filepath.Join(folder, "data"), "--web.listen-address", addr)
	cmd.Stderr = t.Output()
	run(t, cmd)
	p := &prometheus{url: "http://" + addr}
	harness.Eventually(t, "Prometheus is ready", func() bool {
		answer, err := http.Get(p.url + "/-/ready")
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	return p
}

// ask calls Prometheus' interface.
func (p *prometheus) ask(t *testing.T, path string, into any) {
	t.Helper()
	answer, err := http.Get(p.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var body struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	if body.Status != "success" {
		t.Errorf("%s: %s", path, body.Error)
		return
	}
	if err := json.Unmarshal(body.Data, into); err != nil {
		t.Fatal(err)
	}
}

// query answers what an expression finds now.
func (p *prometheus) query(t *testing.T, expr string) (found []string) {
	t.Helper()
	var data struct {
		Result []struct {
			Metric map[string]string
			Value  [2]any
		}
	}
	p.ask(t, "/api/v1/query?query="+url.QueryEscape(expr), &data)
	for _, r := range data.Result {
		if r.Value[1] != "NaN" { // 0 / 0
			found = append(found, fmt.Sprint(r.Metric, " ", r.Value[1]))
		}
	}
	return found
}

// awaitData waits until an expression finds something. One that need not is
// evaluated once.
func (p *prometheus) awaitData(t *testing.T, title, expr string, mayBeEmpty bool) {
	t.Helper()
	harness.Eventually(t, title+" shows something: "+expr, func() bool {
		return len(p.query(t, expr)) > 0 || mayBeEmpty || t.Failed()
	})
}

// checkRules: Prometheus has evaluated every rule without a fault, and none of
// them is about to fire.
func (p *prometheus) checkRules(t *testing.T) {
	t.Helper()
	var data struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError, State string }
		}
	}
	rules := 0
	harness.Eventually(t, "all rules are evaluated, and none is about to fire", func() bool {
		p.ask(t, "/api/v1/rules", &data)
		for _, g := range data.Groups {
			for _, r := range g.Rules {
				if r.Health == "unknown" || r.State != "inactive" && unripe[r.Name] == "" {
					return false
				}
			}
		}
		return true
	})
	for _, g := range data.Groups {
		for _, r := range g.Rules {
			rules++
			if r.Health != "ok" || r.LastError != "" {
				t.Errorf("%+v", r)
			}
		}
	}
	if want := len(alerts(t)); rules != want {
		t.Errorf("Prometheus has %d rules; want %d", rules, want)
	}
}
