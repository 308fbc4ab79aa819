package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// process is a beacon server that runs as its users run it.
type process struct {
	url string
	cmd *exec.Cmd
	log *lockedBuffer
}

// lockedBuffer is written by the process and read by the test.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// A start with nothing wrong, and the stop after it, log no warning, also while somebody asks
// whether the server is ready.
func TestServe_CleanStart(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		for range 2 { // a new database, and one that is there
			addr := harness.FreeAddress()
			var asking sync.WaitGroup
			asking.Go(func() {
				harness.Eventually(t, "the server is ready", func() bool {
					r, err := http.Get("http://" + addr + "/readyz")
					if err != nil {
						return false
					}
					r.Body.Close()
					return r.StatusCode == http.StatusOK
				})
			})
			p := startServer(t, nil, "--addr", addr, "--db", db)
			asking.Wait()
			harness.Eventually(t, "the server leads", func() bool { return strings.Contains(p.log.String(), "now holds the lease") })
			p.stop(t)
			for line := range strings.Lines(p.log.String()) {
				if !strings.Contains(line, `"level":"INFO"`) {
					t.Errorf("a clean start logs %s", line)
				}
			}
		}
	})
}

func startServer(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{
		cmd: exec.Command("beacon", append([]string{"serve", "--addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0"}, args...)...),
		log: &lockedBuffer{},
	}
	p.cmd.Dir = t.TempDir()
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = p.log
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("no ready line: %v; the log says %s", err, p.log)
	}
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "beacon: listening on ")
	if !ok {
		t.Fatalf("the first line is %q", line)
	}
	p.url = addr
	return p
}

// stop ends the process as a supervisor does, and expects a clean exit.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v; the log says %s", err, p.log)
	}
}

// adminURL waits for the log line that names the admin address.
func (p *process) adminURL(t *testing.T) string {
	t.Helper()
	pattern := regexp.MustCompile(`"msg":"admin interface","addr":"([^"]+)"`)
	var found []string
	harness.Eventually(t, "the log names the admin address", func() bool {
		found = pattern.FindStringSubmatch(p.log.String())
		return found != nil
	})
	return "http://" + found[1]
}

func fetch(t *testing.T, url string, header ...string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestServe(t *testing.T) {
	t.Parallel()
	p := startServer(t, nil)
	admin := p.adminURL(t)
	for _, tc := range []struct {
		url      string
		status   int
		contains string
	}{
		{p.url + "/healthz", 200, `{"status":"ok"}`},
		{p.url + "/readyz", 200, `"status":"ok"`},
		{p.url + "/api/v1/hotspots/1", 200, `"locationImage":"` + p.url + `/api/v1/images/1.svg"`},
		{p.url + "/api/v1/images/1.svg", 200, "<svg"},
		{p.url + "/", 200, `<meta name="beacon-demo-key" content="svc_test_console"`},
		{p.url + "/docs", 200, "<title>Beacon documentation</title>"},
		{p.url + "/docs/api/network", 200, `curl`},
		{p.url + "/docs/nothing", 404, "Page not found"},
		{p.url + "/index.html", 404, `"error":"Not found"`},
		{p.url + "/assets/", 404, `"error":"Not found"`},
		{p.url + "/metrics", 404, `"error":"Not found"`},
		{p.url + "/debug/pprof/", 404, `"error":"Not found"`},
		{admin + "/metrics", 200, `beacon_http_requests_total{method="GET",route="GET /api/v1/hotspots/{id}",status="200"} 1`},
		{admin + "/metrics", 200, `beacon_http_requests_total{method="GET",route="GET /docs/api/{name}",status="200"} 1`},
		{admin + "/metrics", 200, "\nbeacon_rewards_closed_until_timestamp_seconds 0\n"}, // nothing was, yet
		{admin + "/metrics", 200, "\nbeacon_rewards_closing_rows 0\n"},
		{admin + "/debug/pprof/heap?debug=1", 200, "heap profile"},
		{admin + "/api/v1/hotspots", 404, ""},
	} {
		if status, body := fetch(t, tc.url, "x-api-key", "svc_test_demo01"); status != tc.status || !strings.Contains(body, tc.contains) {
			t.Errorf("%s answered %d %.300s; want %d with %s", tc.url, status, body, tc.status, tc.contains)
		}
	}
	p.stop(t)

	requests := 0
	for line := range strings.Lines(p.log.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("a log line is not JSON: %v in %s", err, line)
		}
		if entry["msg"] == "request" {
			requests++
		}
	}
	if requests != 12 {
		t.Errorf("the log has %d requests; want the 12 of the public address", requests)
	}
}

// Flags have twins in the environment; a flag wins.
func TestServe_Environment(t *testing.T) {
	t.Parallel()
	env := []string{"BEACON_PREVIEW_KEY_PREFIX=acme", "BEACON_LOG_FORMAT=text", "BEACON_PUBLIC_URL=https://ignored.example"}
	p := startServer(t, env, "--public-url", "https://wifi.example.org/")
	status, body := fetch(t, p.url+"/api/v1/hotspots/1", "x-api-key", "acme_live_abcdef")
	if want := `"locationImage":"https://wifi.example.org/api/v1/images/1.svg"`; status != 200 || !strings.Contains(body, want) {
		t.Errorf("answered %d %s; want %s", status, body, want)
	}
	if status, body := fetch(t, p.url+"/api/v1/hotspots/1", "x-api-key", "svc_live_abcdef"); status != 401 || !strings.Contains(body, "acme_test_") {
		t.Errorf("with the default prefix: %d %s", status, body)
	}
	p.stop(t)
	if !strings.Contains(p.log.String(), `msg="request"`) {
		t.Errorf("the log is not text: %s", p.log)
	}
}

// A supervisor that waits is told once the server can be asked, and not before.
func TestServe_TellsItsSupervisor(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("", "beacon") // that of the test may be too long for the name of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	supervisor, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(folder, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer supervisor.Close()
	p := startServer(t, []string{"NOTIFY_SOCKET=" + supervisor.LocalAddr().String()})
	told := make([]byte, 100)
	if err := supervisor.SetReadDeadline(time.Now().Add(harness.Patience)); err != nil {
		t.Fatal(err)
	}
	n, err := supervisor.Read(told)
	if err != nil || string(told[:n]) != "READY=1" {
		t.Errorf("the supervisor was told %q, %v", told[:n], err)
	}
	if status, body := fetch(t, p.url+"/readyz"); status != http.StatusOK {
		t.Errorf("it is not ready: %d %s", status, body)
	}
	p.stop(t)

	alone := startServer(t, []string{"NOTIFY_SOCKET=" + filepath.Join(folder, "nobody")})
	alone.stop(t) // it serves all the same
	if !strings.Contains(alone.log.String(), `"msg":"could not tell the supervisor that the server is ready"`) {
		t.Errorf("nobody heard it, and it says %s", alone.log)
	}
}

func TestServe_AddressInUse(t *testing.T) {
	t.Parallel()
	p := startServer(t, nil)
	out, err := exec.Command("beacon", "serve", "--addr", strings.TrimPrefix(p.url, "http://"), "--admin-addr", "off").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "address already in use") || !strings.Contains(string(out), "--addr") {
		t.Errorf("a second server on %s: %v, %s", p.url, err, out)
	}
	p.stop(t)
}

// Where there is no key, the log says which command prints an address that creates the
// first one. The address works on every server of the network, once; and no token is in a
// log or in the database, whose readers could take the network with it.
func TestServe_FirstKey(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		p, other := startServer(t, nil, "--db", db), startServer(t, nil, "--db", db)
		harness.Eventually(t, "the log names the command", func() bool {
			return strings.Contains(p.log.String(), "there is no key yet; beacon keys invite")
		})
		address := regexp.MustCompile(`^(http://localhost:\d+)/#/first-key/([0-9A-Za-z]{30})\n$`)
		named := strings.Replace(p.url, "127.0.0.1", "localhost", 1) // passkeys need a name
		var found []string
		for range 2 { // the second address replaces the first
			printed := beaconCommand(t, "keys", "invite", "--db", db, "--addr", strings.TrimPrefix(p.url, "http://"))
			if found = address.FindStringSubmatch(printed); found == nil || found[1] != named {
				t.Fatalf("it prints %q; the server is on %s", printed, named)
			}
		}
		if printed := beaconCommand(t, "keys", "invite", "--db", db, "--public-url", "https://wifi.example.org/"); !strings.HasPrefix(printed, "https://wifi.example.org/#/first-key/") {
			t.Errorf("with a public URL it prints %s", printed)
		} else {
			found[2] = strings.TrimSpace(printed[strings.LastIndex(printed, "/")+1:])
		}
		for _, want := range []int{http.StatusOK, http.StatusUnauthorized} {
			if got := firstKey(t, other.url, found[2]); got != want {
				t.Errorf("the answer is %d, want %d", got, want)
			}
		}
		if got := firstKey(t, p.url, found[2]); got != http.StatusUnauthorized {
			t.Errorf("on the other server the answer is %d", got)
		}
		p.stop(t)
		other.stop(t)
		again := startServer(t, nil, "--db", db)
		again.stop(t)
		for _, log := range []string{p.log.String(), other.log.String(), again.log.String()} {
			if strings.Contains(log, found[2]) || strings.Contains(log, "first-key/") {
				t.Errorf("the token is in the log: %s", log)
			}
		}
		if strings.Contains(again.log.String(), "there is no key") {
			t.Errorf("with a key, the log says %s", again.log)
		}
		var said bytes.Buffer
		if code := run(t.Context(), []string{"keys", "invite", "--db", db}, &said, &said); code != exitFailed || !strings.Contains(said.String(), "there is a key already") {
			t.Errorf("with a key, keys invite exits with %d and says %s", code, &said)
		}
	})
}

// firstKey sends a token to a server, and returns the status.
func firstKey(t *testing.T, url, token string) int {
	t.Helper()
	response, err := http.Post(url+"/console/first-key?token="+token, "application/json", strings.NewReader(`{"token":"`+token+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}
