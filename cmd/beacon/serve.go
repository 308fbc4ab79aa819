package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	webconsole "github.com/beacon-wifi/beacon/console"
	"github.com/beacon-wifi/beacon/deploy"
	"github.com/beacon-wifi/beacon/docs"
	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/docsite"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/httpserver/metrics"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
	"github.com/beacon-wifi/beacon/internal/preview"
)

type serveCmd struct {
	Addr string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Where to listen; port 0 takes a free one. Default ${default}."`
	database
	AdminAddr        string          `default:"127.0.0.1:9090" placeholder:"HOST:PORT" help:"Where to serve /metrics and /debug/pprof, or 'off'. Keep it private. Default ${default}."`
	RateLimit        ratelimit.Limit `default:"100/s:200" placeholder:"RATE" help:"How often a key may ask, and at once; 'off' turns all limits off. Default ${default}."`
	TrustedProxies   []string        `placeholder:"ADDRESS|RANGE" help:"Proxies in front of the server, such as 10.0.0.0/8: from these, X-Forwarded-For tells whom limits count. Default: none."`
	PerAddress       int             `name:"max-connections-per-address" default:"5000" placeholder:"N" help:"How many of the 10,000 connections one address may have, proxies aside; 0: all. Default ${default}."`
	LoadShedding     string          `enum:"on,off" default:"on" help:"Whether to turn requests other than heartbeats away while there is more to do than the machine can: on or off. Default ${default}."`
	PublicURL        string          `placeholder:"URL" help:"Where clients reach the server, when it stands behind a proxy. Default: the address it listens on."`
	PreviewKeyPrefix string          `default:"svc" help:"First word of the preview's demo keys: svc_test_…. Default ${default}."`
	LogFormat        string          `enum:"json,text" default:"json" help:"Form of the log on stderr: json or text. Default ${default}."`
	LogLevel         slog.Level      `default:"info" help:"Least level that is logged: debug, info, warn or error; requests are info. Default ${default}."`
	policies
	clock
}

// Examples are shown by --help.
func (serveCmd) Examples() string {
	return `  beacon serve
  beacon serve --db postgres://beacon@db.example.org/beacon --addr 0.0.0.0:80
  BEACON_LOG_LEVEL=warn beacon serve --addr 127.0.0.1:0 --admin-addr off
`
}

// Run serves until the context ends, then drains.
func (c serveCmd) Run(out *console) error {
	err := c.serve(out)
	if out.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // stopped while it was still starting
	}
	return err
}

func (c serveCmd) serve(out *console) error {
	defer runtime.KeepAlive(tuneCollector())
	now, err := c.now()
	if err != nil {
		return err
	}
	return c.serveAt(now, c.ClockRate, out)
}

// serveBy serves with a clock that the caller may set to any time.
func (c serveCmd) serveBy(now func() time.Time, out *console) error { return c.serveAt(now, 0, out) }

func (c serveCmd) serveAt(now func() time.Time, rate float64, out *console) error {
	ln, err := listen(out.ctx, "--addr", c.Addr)
	if err != nil {
		return err
	}
	ready := func() { fmt.Fprintf(out.stdout, "beacon: listening on http://%s\n", ln.Addr()) }
	return c.serveOn(ln, now, rate, out, ready)
}

// serveOn serves on a listener, which it closes, and calls ready once the network
// interface can respond.
func (c serveCmd) serveOn(ln net.Listener, now func() time.Time, rate float64, out *console, ready func()) error {
	defer ln.Close()
	proxies, err := c.proxies()
	if err != nil {
		return err
	}
	buffer := newLogBuffer(out.stderr)
	defer buffer.Close()
	s := &server{log: newLogger(buffer, c.LogFormat, c.LogLevel), metrics: metrics.New(), shed: c.LoadShedding != "off"}
	if err := s.assemble(out.ctx, c, ln.Addr(), now, rate); err != nil {
		return err
	}
	defer s.node.db.Close()
	s.front = &httpserver.Handler{
		Next:    s.router,
		Refuse:  s.router.refuse,
		Now:     time.Now,
		Log:     s.log,
		Observe: observers(s.metrics.Observe, c.accessLog(buffer)),

		Proxies:        proxies,
		MaxConnections: c.PerAddress,
	}
	s.metrics.Counter("beacon_connections_refused_total", "Connections closed at once, because their address had as many as one may have.",
		nil, func() float64 { return float64(s.front.Refused()) })
	admin, err := c.listenAdmin(out.ctx)
	if err != nil {
		return err
	}
	return s.run(out.ctx, ln, admin, ready)
}

// server is what a process serves.
type server struct {
	node    *node
	router  *router
	front   *httpserver.Handler
	health  httpserver.Health
	metrics *metrics.Set
	log     *slog.Logger
	shed    bool // refuse requests under too much load
}

// assemble opens the database and creates the interfaces.
func (s *server) assemble(ctx context.Context, c serveCmd, at net.Addr, now func() time.Time, rate float64) error {
	publicURL, err := c.publicURL(at)
	if err != nil {
		return err
	}
	fixed, err := preview.New(preview.Config{KeyPrefix: c.PreviewKeyPrefix, PublicURL: publicURL})
	if err != nil {
		return err
	}
	pages, err := webconsole.New(webconsole.Config{DemoKey: c.demoKey("console")})
	if err != nil {
		return err
	}
	guides, err := c.docs(publicURL)
	if err != nil {
		return err
	}
	book, err := c.book()
	if err != nil {
		return err
	}
	db, err := c.open(ctx, "", now())
	if err != nil {
		return err
	}
	if mode, exposed := c.exposure(); exposed {
		s.log.Warn("others than its owner may open the database: chmod 600 is for it and its -wal and -shm", "file", c.DB, "mode", fmt.Sprintf("%04o", mode))
	}
	s.node = newNode(db, nodeConfig{c.limits(), book, now, rate, s.log, rate == 1 && c.ClockStart.IsZero()})
	s.node.show(s.metrics)
	s.router = newRouter(&s.health, fixed, s.node.api, pages, guides)
	s.metrics.Gauge("beacon_turned_away_percent", "Requests other than heartbeats that are turned away because there is too much to do.",
		nil, func() float64 { return float64(s.router.pressure.Level()) })
	s.health.Log = s.log
	s.health.Checks = map[string]func(context.Context) error{
		"database": db.Ping,
		"hotspots": s.loaded,
	}
	return nil
}

// demoKey returns a key for the preview that names its user.
func (c serveCmd) demoKey(user string) string { return c.PreviewKeyPrefix + "_test_" + user }

// docs returns the guides, and the documents of both interfaces.
func (c serveCmd) docs(publicURL string) (*docsite.Docs, error) {
	files, err := downloads()
	if err != nil {
		return nil, err
	}
	return docsite.New(docsite.Config{
		PublicURL: publicURL,
		Guides:    docs.Files,
		Files:     files,
		APIs: []docsite.API{
			{Name: "network", Folder: "internal/api", Document: api.OpenAPIJSON()},
			{Name: "preview", Folder: "internal/preview", Document: preview.OpenAPIJSON(), Key: c.demoKey("demo01")},
		},
	})
}

// downloads returns the packaging files, which the documentation offers.
func downloads() (all []docsite.File, err error) {
	err = fs.WalkDir(deploy.Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := deploy.Files.ReadFile(path)
		kind := "text/plain; charset=utf-8"
		if strings.HasSuffix(path, ".json") {
			kind = "application/json"
		}
		all = append(all, docsite.File{Path: "packaging/" + path, Source: "deploy/" + path, Type: kind, Body: body})
		return err
	})
	return all, err
}

func (s *server) loaded(context.Context) error {
	if !s.router.loaded.Load() {
		return errors.New("the hotspots are still being loaded")
	}
	return nil
}

// run serves while the hotspots are loaded, so that a supervisor can see that it is
// live and not yet ready. It calls ready once they are loaded.
func (s *server) run(ctx context.Context, ln, admin net.Listener, ready func()) error {
	group, ctx := errgroup.WithContext(ctx)
	context.AfterFunc(ctx, func() {
		s.health.Drain()
		s.node.hub.Close() // who listens for events would never end by himself
		s.node.api.Stop()
	})
	// The node runs until the last request has its response.
	serving, drained := context.WithCancel(context.WithoutCancel(ctx))
	group.Go(func() error {
		defer drained()
		return httpserver.Serve(ctx, ln, s.front)
	})
	if admin != nil {
		s.log.Info("admin interface", "addr", admin.Addr().String())
		group.Go(func() error { return serveAdmin(ctx, admin, adminHandler(s.metrics), s.log) })
	}
	if s.shed {
		group.Go(func() error { return s.router.pressure.Run(serving) })
	}
	group.Go(func() error { return s.whileSound(ctx) })
	group.Go(func() error {
		if err := s.load(ctx); err != nil {
			return err
		}
		ready()
		if err := tellSupervisor(ctx); err != nil {
			s.log.Warn("the supervisor does not know that the server is ready", "error", err)
		}
		s.node.run(serving)
		return nil
	})
	return group.Wait()
}

// whileSound waits until ctx ends or the disk fails. After a failure the server must
// not continue: the supervisor starts another, which reads what is really on disk.
func (s *server) whileSound(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.node.db.Broken():
		return fmt.Errorf("the database cannot be relied on until the server is started again: %w", s.node.db.Breakage())
	}
}

// load loads the hotspots, and then lets the network interface respond.
func (s *server) load(ctx context.Context) error {
	began := time.Now()
	err := whileLoading(func() error { return s.node.load(ctx) })
	if err != nil {
		return err
	}
	s.router.loaded.Store(true)
	s.log.Info("hotspots loaded", "count", s.node.fleet.Len(), "took_ms", time.Since(began).Milliseconds())
	return nil
}

// limits returns those of decision N21 with the flag's for keys, or none.
func (c serveCmd) limits() api.Limits {
	if c.RateLimit.Off() {
		return api.Limits{}
	}
	limits := api.DefaultLimits()
	limits.PerKey = c.RateLimit
	return limits
}

// accessLog returns the observer that logs requests, or nil if the level excludes
// them. It omits heartbeats that succeed or get a temporary refusal: a million
// devices would make 16,700 lines a second, and the metrics count them.
func (c serveCmd) accessLog(out io.Writer) func(*http.Request, httpserver.RequestInfo) {
	if c.LogLevel > slog.LevelInfo {
		return nil
	}
	log := httpserver.NewAccessLog(out, c.LogFormat == "text").Observe
	return func(r *http.Request, e httpserver.RequestInfo) {
		usual := e.Status == http.StatusOK || e.Status == http.StatusServiceUnavailable
		if !usual || !api.IsHeartbeat(r) {
			log(r, e)
		}
	}
}

// observers combines two observers; the second may be nil.
func observers(first, second func(*http.Request, httpserver.RequestInfo)) func(*http.Request, httpserver.RequestInfo) {
	if second == nil {
		return first
	}
	return func(r *http.Request, e httpserver.RequestInfo) {
		first(r, e)
		second(r, e)
	}
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

// proxies parses the flag, and checks the limit that goes with it.
func (c serveCmd) proxies() (httpserver.Proxies, error) {
	all, err := httpserver.ParseProxies(c.TrustedProxies)
	if err != nil {
		return nil, usageError(fmt.Sprintf("--trusted-proxies %v", err))
	}
	if c.PerAddress < 0 {
		return nil, usageError("--max-connections-per-address must not be negative")
	}
	return all, nil
}

// publicURL returns the flag, checked, or the address that the server listens on.
func (c serveCmd) publicURL(at net.Addr) (string, error) {
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" {
			return "", usageError(fmt.Sprintf("--public-url %q: give it like https://wifi.example.org", c.PublicURL))
		}
		return strings.TrimSuffix(c.PublicURL, "/"), nil
	}
	tcp, ok := at.(*net.TCPAddr)
	if ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d", tcp.Port), nil
	}
	return "http://" + at.String(), nil
}
