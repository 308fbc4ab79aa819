package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
	"github.com/beacon-wifi/beacon/internal/node"
	"github.com/beacon-wifi/beacon/internal/people"
	"github.com/beacon-wifi/beacon/internal/store"
)

type serveCmd struct {
	Addr string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"The address to listen on; port 0 picks a free one. Default ${default}."`
	database
	AdminAddr      string          `default:"127.0.0.1:9090" placeholder:"HOST:PORT" help:"The address for /metrics and /debug/pprof, or 'off'. Keep it private. Default ${default}."`
	AdminHosts     []string        `placeholder:"NAME" help:"Host names by which the admin interface is reached, such as beacon-1. Its address and localhost need not be named. Default: none."`
	RateLimit      ratelimit.Limit `default:"${rate_limit}" placeholder:"RATE" help:"How many requests a key may send, and in a burst; 'off' turns all limits off. Default ${default}."`
	TrustedProxies []string        `placeholder:"ADDRESS|RANGE" help:"Proxies in front of the server, such as 10.0.0.0/8. Only their X-Forwarded-For is used to find the client that limits count. Default: none."`
	PerAddress     int             `name:"max-connections-per-address" default:"5000" placeholder:"N" help:"How many of the 10,000 connections one address may have (trusted proxies are not limited); 0 means all. Default ${default}."`
	CORSOrigins    []string        `name:"cors-origins" placeholder:"URL" help:"Web pages that may use the network API from a browser, such as https://app.example.org; '*' allows all. Default: none."`
	LoadShedding   string          `enum:"on,off" default:"on" help:"Whether to refuse requests other than heartbeats when the server is overloaded: on or off. Default ${default}."`
	FastPath       string          `enum:"on,off" default:"on" help:"Whether plain requests take a faster path than net/http, with the same responses: on or off. Default ${default}."`
	Public         bool            `help:"Show the network to anyone, without a key: its map, a page for each hotspot at /h/ID, and open feeds at /open (GeoJSON, vector tiles, OGC API Features and others). Homes are never shown. Default: no."`
	Signup         string          `enum:"open,invite,off" default:"invite" help:"Who may become an operator: anyone (open), whom staff invite (invite), or only whom beacon people invites (off). Default ${default}."`
	mailFlags
	oidcFlags
	streets
	publicURL
	PreviewKeyPrefix string   `default:"svc" help:"First word of demo keys for the preview, as in svc_test_…. Default ${default}."`
	LogFormat        string   `enum:"json,text" default:"json" help:"Format of the log on stderr: json or text. Default ${default}."`
	LogLevel         logLevel `default:"info" help:"Lowest level to log: debug, info, warn or error; requests are info. Default ${default}."`
	policies
	clockFlags

	History *history `kong:"-"` // that a demo writes meanwhile; nil: none
	Demo    string   `kong:"-"` // its city
}

func (serveCmd) Examples() string {
	return `  beacon serve
  beacon serve --db postgres://beacon@db.example.org/beacon --addr 0.0.0.0:80
  BEACON_LOG_LEVEL=warn beacon serve --addr 127.0.0.1:0 --admin-addr off
`
}

// Run serves until the context ends, then drains.
func (c serveCmd) Run(out *console) error { return unlessStopped(out, c.serve(out)) }

// unlessStopped returns nil for an error of a server that was stopped while it was still
// starting.
func unlessStopped(out *console, err error) error {
	if out.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (c serveCmd) serve(out *console) error {
	defer runtime.KeepAlive(node.TuneCollector())
	now, err := c.now()
	if err != nil {
		return err
	}
	ln, err := listen(out.ctx, "--addr", c.Addr)
	if err != nil {
		return err
	}
	return c.serveOn(ln, now, c.ClockRate, out, func(*node.Server) { fmt.Fprintf(out.stdout, "beacon: listening on http://%s\n", ln.Addr()) })
}

// background is a server that outlives its clients.
type background struct {
	server *node.Server
	ctx    context.Context // ends when the server has stopped, or is to stop
	cancel context.CancelFunc
	ended  chan error
}

// start serves on a listener in the background. It returns once the network interface can
// respond.
func (c serveCmd) start(out *console, ln net.Listener, now func() time.Time, rate float64) (*background, error) {
	b, ready := &background{ended: make(chan error, 1)}, make(chan struct{})
	b.ctx, b.cancel = context.WithCancel(context.WithoutCancel(out.ctx))
	go func() {
		defer b.cancel()
		b.ended <- c.serveOn(ln, now, rate, &console{ctx: b.ctx, stdout: out.stdout, stderr: out.stderr}, func(s *node.Server) {
			b.server = s
			close(ready)
		})
	}()
	select {
	case <-ready:
		return b, nil
	case err := <-b.ended:
		return nil, err
	case <-out.ctx.Done():
		return nil, cmp.Or(b.stop(), out.ctx.Err())
	}
}

// stop returns once the server has drained.
func (b *background) stop() error {
	b.cancel()
	return <-b.ended
}

// serveOn serves on a listener, which it closes, and calls ready once the network
// interface can respond.
func (c serveCmd) serveOn(ln net.Listener, now func() time.Time, rate float64, out *console, ready func(*node.Server)) error {
	defer ln.Close()
	proxies, err := c.proxies()
	if err != nil {
		return err
	}
	origins, err := edge.ParseOrigins(c.CORSOrigins)
	if err != nil {
		return usageError(fmt.Sprintf("--cors-origins %v", err))
	}
	url, err := c.url(ln.Addr())
	if err != nil {
		return err
	}
	mailer, err := c.mailer()
	if err != nil {
		return err
	}
	provider, err := c.provider(url, now)
	if err != nil {
		return err
	}
	set, founding, err := c.load()
	if err != nil {
		return err
	}
	base, err := c.openBasemap()
	if err != nil {
		return err
	}
	if base.File != nil {
		defer base.File.Close()
	}
	log := node.OpenLog(out.stderr, c.LogFormat == "text", slog.Level(c.LogLevel))
	defer log.Close()
	config := node.ServerConfig{
		Config:           node.Config{PublicURL: url, Provider: provider, Limits: c.limits(), Origins: origins, Policies: set, Founding: founding, Now: now, Rate: rate, RealTime: rate == 1 && c.ClockStart.IsZero(), SignUp: people.SignUp(c.Signup), Log: log.Logger},
		Open:             func(ctx context.Context) (*store.DB, error) { return c.openPrivate(ctx, now(), log.Logger) },
		Public:           c.Public,
		Basemap:          base,
		PreviewKeyPrefix: c.PreviewKeyPrefix,
		Proxies:          proxies,
		AdminHosts:       c.adminHosts(),
		MaxConnections:   c.PerAddress,
		NoFastPath:       c.FastPath == "off",
		ShedLoad:         c.LoadShedding != "off",
		Observe:          log.Requests,
	}
	if mailer != nil {
		config.Mail = mailer
	}
	if c.History != nil {
		config.Free, config.History, config.Demo = c.History.written, c.History.progress, c.Demo
	}
	server, err := node.Open(out.ctx, config)
	if err != nil {
		return err
	}
	defer server.Close()
	admin, err := c.listenAdmin(out.ctx)
	if err != nil {
		return err
	}
	return server.Serve(out.ctx, ln, admin, func() {
		ready(server)
		invite(out, server, url, log.Logger)
	})
}

// invite tells how to create the first key, if there is none, and nobody either. On stdout a program expects
// one line (decision C1); a person at a terminal sees two. The log, which others may read,
// has no token.
func invite(out *console, server *node.Server, url string, log *slog.Logger) {
	there, err := server.Founded(out.ctx)
	address := ""
	if err == nil && !there && onTerminal(out.stdout) {
		address, err = invitation(out.ctx, server.Keys(), url)
	}
	switch {
	case err != nil:
		log.Warn("could not see whether there is a key", "err", err)
	case address != "":
		fmt.Fprintf(out.stdout, "beacon: nobody is here yet; set the network up, within an hour, at %s\n", address)
	case !there:
		log.Info("there is no key yet; beacon keys invite, with the database of this server, prints an address at which the first admin begins")
	}
}

// logLevel is a level of the log, by its name.
type logLevel slog.Level

// UnmarshalText reads a name in any case, or one with an offset, such as info+2.
func (l *logLevel) UnmarshalText(text []byte) error {
	if (*slog.Level)(l).UnmarshalText(text) != nil {
		return fmt.Errorf("%q is not a level: use debug, info, warn or error", text)
	}
	return nil
}

// openPrivate opens the database, and logs a warning if others than its owner may: it
// holds the locations of homes, and write access is enough to create keys.
func (c serveCmd) openPrivate(ctx context.Context, now time.Time, log *slog.Logger) (*store.DB, error) {
	db, err := c.open(ctx, store.ToCurrent, "", now, 0)
	if err != nil || c.remote() {
		return db, err
	}
	if info, err := os.Stat(c.DB); err == nil && info.Mode().Perm()&0o077 != 0 {
		mode := fmt.Sprintf("%04o", info.Mode().Perm())
		log.Warn("the database is readable by other users; run chmod 600 on it and on its -wal and -shm files", "file", c.DB, "mode", mode)
	}
	return db, nil
}

// limits returns those of decision N21 with the flag's for keys, or none.
func (c serveCmd) limits() edge.Limits {
	if c.RateLimit.Off() {
		return edge.Limits{}
	}
	limits := edge.DefaultLimits()
	limits.PerKey = c.RateLimit
	return limits
}

func (c serveCmd) listenAdmin(ctx context.Context) (net.Listener, error) {
	if c.AdminAddr == "off" {
		return nil, nil
	}
	return listen(ctx, "--admin-addr", c.AdminAddr)
}

// adminHosts returns the names of the admin interface. A name that it listens on is one
// of them.
func (c serveCmd) adminHosts() []string {
	host, _, err := net.SplitHostPort(c.AdminAddr)
	if err != nil || host == "" {
		return c.AdminHosts
	}
	return append(slices.Clone(c.AdminHosts), host)
}

func listen(ctx context.Context, flag, addr string) (net.Listener, error) {
	var config net.ListenConfig
	ln, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s %s: %w; choose another address (port 0 picks a free one)", flag, addr, err)
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

// publicURL is the flag of commands that name the URL of a server.
type publicURL struct {
	PublicURL string `placeholder:"URL" help:"The URL by which clients reach the server behind a proxy. Default: the address it listens on."`
}

// url returns the flag, checked, or the address that the server listens on.
func (c publicURL) url(at net.Addr) (string, error) {
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		switch {
		case strings.Contains(c.PublicURL, "@"): // there may be a password in it, so it is not shown
			return "", usageError("--public-url: must look like https://wifi.example.org, without a user or an @")
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.ContainsAny(c.PublicURL, "?#"):
			return "", usageError(fmt.Sprintf("--public-url %q: must look like https://wifi.example.org", c.PublicURL))
		}
		return strings.TrimSuffix(c.PublicURL, "/"), nil
	}
	tcp, ok := at.(*net.TCPAddr)
	if ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d", tcp.Port), nil
	}
	return "http://" + at.String(), nil
}
