package node

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
)

func testConfig(t *testing.T) ServerConfig {
	t.Helper()
	return ServerConfig{
		Config: Config{PublicURL: "http://x", Policies: policy.Devices(), Now: time.Now, Rate: 1, Log: slog.New(slog.DiscardHandler)},
		Open: func(ctx context.Context) (*store.DB, error) {
			return sqlite.Open(ctx, filepath.Join(t.TempDir(), "beacon.db"), sqlite.Options{Now: time.Now()})
		},
		PreviewKeyPrefix: "svc",
	}
}

// A server serves until its context ends, and then leaves nothing running.
func TestServer(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), testConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended, ready := make(chan error, 1), make(chan struct{})
	go func() { ended <- s.Serve(ctx, ln, nil, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatalf("it ended before it was ready: %v", err)
	}
	for path, want := range map[string]int{"/readyz": 200, "/": 200, "/docs": 200, "/api/v1/hotspots": 401, "/v1/keys/self": 401, "/metrics": 404} {
		response, err := http.Get("http://" + ln.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s returns %d; want %d", path, response.StatusCode, want)
		}
	}
	for path, want := range map[string]string{
		"/v1/keys/self": `"code":"headers_too_large"`, "/api/v1/hotspots": `"error":"Headers too large"`, "/": `"error":"Headers too large"`,
	} {
		request, err := http.NewRequest(http.MethodGet, "http://"+ln.Addr().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Long", strings.Repeat("x", 22_000))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusRequestHeaderFieldsTooLarge || !strings.Contains(string(body), want) || response.Header.Get("X-Request-Id") == "" {
			t.Errorf("long headers for %s: %s %s %v", path, response.Status, body, err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	if _, err := net.Dial("tcp", ln.Addr().String()); err == nil {
		t.Error("it still listens")
	}
}

// A mistake in the configuration creates no database.
func TestOpen_DatabaseLast(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.PreviewKeyPrefix = "not a prefix"
	cfg.Open = func(context.Context) (*store.DB, error) {
		t.Error("the database is opened")
		return nil, errors.New("no database")
	}
	if _, err := Open(t.Context(), cfg); err == nil {
		t.Error("the prefix of keys is taken")
	}
}

// What the level excludes is not logged, requests included.
func TestOpenLog(t *testing.T) {
	for level, logs := range map[slog.Level]bool{slog.LevelDebug: true, slog.LevelInfo: true, slog.LevelWarn: false} {
		log := OpenLog(t.Output(), true, level)
		if log.Logger.Enabled(t.Context(), slog.LevelInfo) != logs || (log.Requests != nil) != logs {
			t.Errorf("level %s: lines of requests and of level info are logged; want %t", level, logs)
		}
		log.Close()
	}
}

// The page of a public network says where the map begins, as staff have set it; that of a
// private one does not.
func TestServer_Start(t *testing.T) {
	t.Parallel()
	for _, public := range []bool{true, false} {
		cfg := testConfig(t)
		cfg.Public = public
		s, err := Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		page := func() string {
			w := httptest.NewRecorder()
			s.router.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
			return w.Body.String()
		}
		const nowhere = `name="beacon-start" content="{}"`
		if !strings.Contains(page(), nowhere) { // while it is loading, too
			t.Errorf("before it has loaded: %s", page())
		}
		if err := s.load(t.Context()); err != nil {
			t.Fatal(err)
		}
		berlin := beacon.StartView{Lat: 52.52, Lng: 13.405, Zoom: 11}
		if err := s.node.db.Settings.SetStartView(t.Context(), &berlin, beacon.Actor{Request: "req_1"}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := s.node.Follower.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := nowhere
		if public {
			want = `name="beacon-start" content="{&#34;view&#34;:{&#34;lat&#34;:52.52,&#34;lng&#34;:13.405,&#34;zoom&#34;:11}}"`
		}
		if !strings.Contains(page(), want) {
			t.Errorf("public: %v; want %s in %s", public, want, page())
		}
	}
}
