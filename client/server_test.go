package client_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// server is a running "beacon serve".
type server struct {
	url, db string
	end     func() error
}

// launch runs a server on a database. Its stop ends it in an orderly way.
func launch(db string, flags ...string) (*server, error) {
	cmd := exec.Command(harness.Binary, append([]string{"serve", "--addr", "127.0.0.1:0", "--admin-addr", "off", "--db", db}, flags...)...)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := sync.OnceValue(func() error {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("the server ended with %w: %s", err, &log)
		}
		return nil
	})
	line, _ := bufio.NewReader(out).ReadString('\n')
	url, ready := strings.CutPrefix(strings.TrimSpace(line), "beacon: listening on ")
	if !ready {
		return nil, fmt.Errorf("the server said %q: %w", line, stop())
	}
	return &server{url: url, db: db, end: stop}, nil
}

// start runs a server until the end of the test, on a database of its own or the
// one that is named.
func start(t testing.TB, db string, flags ...string) *server {
	t.Helper()
	if db == "" {
		db = filepath.Join(t.TempDir(), "beacon.db")
	}
	s, err := launch(db, flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop(t) })
	return s
}

func (s *server) stop(t testing.TB) {
	t.Helper()
	if err := s.end(); err != nil {
		t.Error(err)
	}
}

// unlimited is a server that may be asked as often as a test likes.
func unlimited(t testing.TB) *server {
	t.Helper()
	return start(t, "", "--rate-limit", "off")
}

// command runs the program and gives what it prints.
func command(args ...string) (string, error) {
	var diagnosis bytes.Buffer
	cmd := exec.Command(harness.Binary, args...)
	cmd.Stderr = &diagnosis
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("beacon %s: %w: %s", strings.Join(args, " "), err, &diagnosis)
	}
	return strings.TrimSpace(string(out)), nil
}

func beacon(t testing.TB, args ...string) string {
	t.Helper()
	return must(command(args...))(t)
}

// key makes a key of a new user with some scopes.
func (s *server) key(t testing.TB, scopes string) string {
	t.Helper()
	return beacon(t, "keys", "create", "--db", s.db, "--user", "new", "--scopes", scopes)
}

// as gives a client of such a user.
func (s *server) as(t testing.TB, scopes string, options ...client.Option) *client.Client {
	t.Helper()
	return newClient(t, s.url, s.key(t, scopes), options...)
}

func newClient(t testing.TB, url, key string, options ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New(url, key, options...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// recorder notes what goes over the wire.
type recorder struct {
	mu    sync.Mutex
	calls []string // "GET /v1/hotspots/nearby"
	bare  []string // those without a key
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.mu.Lock()
	call := request.Method + " " + request.URL.EscapedPath()
	r.calls = append(r.calls, call)
	if request.Header.Get("Authorization") == "" {
		r.bare = append(r.bare, call)
	}
	r.mu.Unlock()
	return http.DefaultTransport.RoundTrip(request)
}

func (r *recorder) made() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

func (r *recorder) option() client.Option {
	return client.WithHTTPClient(&http.Client{Transport: r})
}

// library is a hotspot that can be registered; n tells many apart.
func library(n int) client.Registration {
	return client.Registration{
		Name:     fmt.Sprintf("Library %d", n),
		Type:     client.Public,
		Location: client.Place{Lat: 40.7532 + float64(n)/1e5, Lng: -73.9822, Address: "476 5th Avenue, New York"},
		Device:   client.AccessPoint{SSID: "Library", MACAddress: fmt.Sprintf("02:00:5e:00:%02x:%02x", n/256, n%256)},
	}
}

// must fails the test when there is an error.
func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
