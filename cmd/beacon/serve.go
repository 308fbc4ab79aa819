package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/url"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/beacon-wifi/beacon/metrics"
	"github.com/beacon-wifi/beacon/preview"
	"github.com/beacon-wifi/beacon/web"
)

type serveCmd struct {
	Addr             string     `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Where to listen; port 0 takes a free one. Default ${default}."`
	AdminAddr        string     `default:"127.0.0.1:9090" placeholder:"HOST:PORT" help:"Where to serve /metrics and /debug/pprof, or 'off'. Keep it private. Default ${default}."`
	PublicURL        string     `placeholder:"URL" help:"Where clients reach the server, when it stands behind a proxy. Default: the address it listens on."`
	PreviewKeyPrefix string     `default:"svc" help:"First word of the preview's demo keys: svc_test_…. Default ${default}."`
	LogFormat        string     `enum:"json,text" default:"json" help:"Form of the log on stderr: json or text. Default ${default}."`
	LogLevel         slog.Level `default:"info" help:"Least level that is logged: debug, info, warn or error; requests are info. Default ${default}."`
}

// Examples are shown by --help.
func (serveCmd) Examples() string {
	return `  beacon serve
  beacon serve --addr 0.0.0.0:80 --public-url https://wifi.example.org
  BEACON_LOG_LEVEL=warn beacon serve --addr 127.0.0.1:0 --admin-addr off
`
}

// ballastBytes is memory that is reserved and never touched, so it costs no
// RAM. The collector counts it as alive and lets as much garbage gather again
// before it runs: with the few megabytes that a small network needs, it would
// otherwise run every thousand requests, and take a tenth of their CPU time.
const ballastBytes = 32 << 20

// Run serves until the context ends, then drains.
func (c serveCmd) Run(out *console) error {
	ballast := make([]byte, ballastBytes)
	defer runtime.KeepAlive(ballast)
	ln, err := listen(out.ctx, "--addr", c.Addr)
	if err != nil {
		return err
	}
	defer ln.Close()
	admin, err := c.listenAdmin(out.ctx)
	if err != nil {
		return err
	}
	publicURL, err := c.publicURL(ln.Addr())
	if err != nil {
		return err
	}

	buffer := newLogBuffer(out.stderr)
	defer buffer.Close()
	log := newLogger(buffer, c.LogFormat, c.LogLevel)
	measured := metrics.New()
	api, err := preview.New(preview.Config{KeyPrefix: c.PreviewKeyPrefix, PublicURL: publicURL})
	if err != nil {
		return err
	}
	var health web.Health
	front := &web.Front{
		Next:    newRouter(api, &health),
		Refuse:  api.Refuse,
		Now:     time.Now,
		Log:     log,
		Observe: observers(measured.Observe, c.accessLog(buffer)),
	}

	fmt.Fprintf(out.stdout, "beacon: listening on http://%s\n", ln.Addr())
	group, ctx := errgroup.WithContext(out.ctx)
	context.AfterFunc(ctx, health.Drain)
	group.Go(func() error { return web.Serve(ctx, ln, front) })
	if admin != nil {
		defer admin.Close()
		log.Info("admin interface", "addr", admin.Addr().String())
		group.Go(func() error { return serveAdmin(ctx, admin, adminHandler(measured), log) })
	}
	return group.Wait()
}

// accessLog gives the observer that logs requests, or nil where the level
// leaves them out.
func (c serveCmd) accessLog(out io.Writer) func(*http.Request, web.Exchange) {
	if c.LogLevel > slog.LevelInfo {
		return nil
	}
	return web.NewAccessLog(out, c.LogFormat == "text").Observe
}

// observers makes one of two; the second may be nil.
func observers(first, second func(*http.Request, web.Exchange)) func(*http.Request, web.Exchange) {
	if second == nil {
		return first
	}
	return func(r *http.Request, e web.Exchange) {
		first(r, e)
		second(r, e)
	}
}

// router sends a request to the interface that it is for.
type router struct {
	health  http.Handler
	preview *preview.API
}

func newRouter(api *preview.API, health *web.Health) http.Handler {
	return &router{health: health.Handler(api.Refuse), preview: api}
}

func (rt *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/healthz", "/readyz":
		rt.health.ServeHTTP(w, r)
	default:
		rt.preview.ServeHTTP(w, r)
	}
}

// adminHandler serves what only the operator of the process may see.
func adminHandler(measured *metrics.Set) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", measured.Handler())
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	return mux
}

func serveAdmin(ctx context.Context, ln net.Listener, handler http.Handler, log *slog.Logger) error {
	srv := web.NewServer(handler, log)
	srv.WriteTimeout = time.Minute // a CPU profile takes its time
	defer context.AfterFunc(ctx, func() { srv.Close() })()
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (c serveCmd) listenAdmin(ctx context.Context) (net.Listener, error) {
	if c.AdminAddr == "off" {
		return nil, nil
	}
	return listen(ctx, "--admin-addr", c.AdminAddr)
}

func listen(ctx context.Context, flag, addr string) (net.Listener, error) {
	var config net.ListenConfig
	ln, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s %s: %w; choose another address (port 0 takes a free one)", flag, addr, err)
	}
	return ln, nil
}

// publicURL is the flag, checked, or the address that the server listens on.
func (c serveCmd) publicURL(at net.Addr) (string, error) {
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" {
			return "", fmt.Errorf("--public-url %q: give it like https://wifi.example.org", c.PublicURL)
		}
		return strings.TrimSuffix(c.PublicURL, "/"), nil
	}
	tcp, ok := at.(*net.TCPAddr)
	if ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d", tcp.Port), nil
	}
	return "http://" + at.String(), nil
}
