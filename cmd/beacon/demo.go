package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/demo"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
	"github.com/beacon-wifi/beacon/internal/node"
	"github.com/beacon-wifi/beacon/internal/simulate"
)

type demoCmd struct {
	Addr string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"The address to listen on; port 0 picks a free one. Default ${default}."`
	// No environment variable: BEACON_DB names the database of a real network.
	DB        string          `name:"db" env:"-" placeholder:"FILE" help:"Keep the network in this file and continue with it next time. Default: a temporary file."`
	AdminAddr string          `default:"off" placeholder:"HOST:PORT" help:"The address for /metrics and /debug/pprof, or 'off'. Default ${default}."`
	RateLimit ratelimit.Limit `default:"${rate_limit}" placeholder:"RATE" help:"How many requests a key may send, and in a burst; 'off' turns all limits off. Default ${default}."`
	Seed      uint64          `default:"1" help:"Random seed: the same seed and --clock-start give the same network. Default ${default}."`
	City      string          `default:"new-york" enum:"new-york,berlin,nairobi,paris,mexico-city" help:"Where the network is: ${enum}. The places of New York are real; those of the others are made up, within a circle around the real middle. Default ${default}."`
	Hotspots  int             `default:"3167" help:"How many of the 3167 hotspots to use. Default: all."`
	streets
	LogLevel logLevel `default:"warn" help:"Lowest level to log: debug, info, warn or error; requests are info. Default ${default}."`
	clockFlags
}

// maxDemoRate is how fast the clock may run. Beyond that, the server would refuse
// each device's heartbeats as too frequent.
const maxDemoRate = 30

// demoDays is how many days of history there are before today.
const demoDays = 90

// Validate checks --db as in every command.
func (c demoCmd) Validate() error { return database{DB: c.DB}.Validate() }

func (demoCmd) Examples() string {
	return `  beacon demo                                   3,167 hotspots of New York on http://127.0.0.1:8080, until Ctrl-C
  beacon demo --addr 127.0.0.1:0 --hotspots 200 a smaller one, on a free port
  beacon demo --city berlin --basemap berlin.pmtiles
                                                made-up hotspots in Berlin, with its streets
  beacon demo --db demo.db                      keep it and continue next time
  beacon demo --basemap new-york.pmtiles        with streets, from beacon basemap get "new york" new-york.pmtiles
`
}

// Run shows a network until it is interrupted (decision C3).
func (c demoCmd) Run(out *console) error { return unlessStopped(out, c.run(out)) }

func (c demoCmd) run(out *console) (err error) {
	if c.Hotspots < 1 || c.Hotspots > demo.Hotspots {
		return usageError(fmt.Sprintf("--hotspots must be 1 to %d", demo.Hotspots))
	}
	if (database{DB: c.DB}).remote() {
		return usageError("--db must be a file: a demo never uses a shared database")
	}
	if c.ClockRate > maxDemoRate {
		return usageError(fmt.Sprintf("--clock-rate must be at most %d: devices send a heartbeat once a minute by that clock", maxDemoRate))
	}
	now, err := c.now()
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(node.TuneCollector())
	ln, err := listen(out.ctx, "--addr", c.Addr) // before anything that takes time
	if err != nil {
		return err
	}
	defer ln.Close()
	file := c.DB
	if file == "" {
		dir, failed := os.MkdirTemp("", "beacon-demo-")
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		file = filepath.Join(dir, "demo.db")
	}
	began := time.Now()
	stage, past, err := c.stage(out, file, now)
	if err != nil {
		return err
	}
	return c.show(out, file, stage, past, ln, now, began)
}

// history is how far the history of a network is written.
type history struct {
	days    atomic.Int64
	written chan struct{}                                                                       // closed when it is complete
	write   func(ctx context.Context, wrote func(), recorded func(context.Context) error) error // writes it
}

// progress returns how many days are written, and of how many. All of them are once the
// server knows them too.
func (h *history) progress() (days, of int) {
	select {
	case <-h.written:
		return demoDays, demoDays
	default:
		return int(min(h.days.Load(), demoDays-1)), demoDays
	}
}

// stage creates the network without its history, or continues the one in the file.
func (c demoCmd) stage(out *console, file string, now func() time.Time) (stage *demo.Stage, past *history, err error) {
	past = &history{written: make(chan struct{})}
	if _, missing := os.Stat(file); missing == nil && !demo.Unfinished(file) {
		stage, err = demo.Continue(out.ctx, file, now())
		if errors.Is(err, demo.ErrForeign) {
			err = fmt.Errorf("%s is not the database of a demo; choose another with --db", file)
		}
	} else {
		stage, err = demo.Create(out.ctx, file, demo.Config{City: c.City, Seed: c.Seed, Hotspots: c.Hotspots, Days: demoDays, Now: now(), Lively: true})
	}
	if err == nil {
		past.write = stage.WriteHistory
	}
	return stage, past, err
}

// show serves the network, writes its history and runs its devices, until it is
// interrupted. The server outlives its devices.
func (c demoCmd) show(out *console, file string, s *demo.Stage, past *history, ln net.Listener, now func() time.Time, began time.Time) error {
	server := serveCmd{
		database: database{DB: file}, AdminAddr: c.AdminAddr, RateLimit: c.RateLimit, Public: true, streets: c.streets, PreviewKeyPrefix: "svc", LogFormat: "text", LogLevel: c.LogLevel,
		History: past, Demo: s.City.Key,
	}
	url, err := server.url(ln.Addr())
	if err != nil {
		return errors.Join(err, s.Discard())
	}
	running, err := server.start(out, ln, now, c.ClockRate)
	if err != nil {
		return errors.Join(err, s.Discard())
	}
	ctx, cancel := context.WithCancel(out.ctx)
	defer cancel()
	context.AfterFunc(running.ctx, cancel)
	if err = c.tellPast(ctx, out, past, running.server, url); err == nil {
		_, err = fmt.Fprint(out.stdout, c.welcome(s, linksOf(s, running.server.Keys(), url), url, time.Since(began)))
	}
	if err == nil {
		err = c.beat(ctx, s, url, now)
	}
	return errors.Join(err, running.stop(), s.Discard())
}

// tellPast writes the history while the map is shown, and lets the server go on from there.
func (c demoCmd) tellPast(ctx context.Context, out *console, past *history, server *node.Server, url string) error {
	if _, err := fmt.Fprintf(out.stdout, "beacon: the map is on %s/; its history follows.\n", url); err != nil {
		return err
	}
	stop := showProgress(out.stderr, func() string {
		days, of := past.progress()
		return bar("days", int64(days), int64(of))
	})
	defer stop()
	if err := past.write(ctx, func() { past.days.Add(1) }, server.Reread); err != nil {
		return err
	}
	close(past.written)
	return nil
}

// beatConnections is how many connections all devices share. Few are enough for 53
// heartbeats a second.
const beatConnections = 8

// beat sends the devices' heartbeats until ctx ends.
func (c demoCmd) beat(ctx context.Context, s *demo.Stage, url string, now func() time.Time) error {
	client, err := simulate.NewClient(url, "", beatConnections)
	if err != nil {
		return err
	}
	defer client.Close()
	client.Clock = now
	if len(s.Devices) > 0 {
		client.Drive(ctx, s.Devices, time.Duration(float64(time.Minute)/c.ClockRate), new(simulate.Meter))
	}
	<-ctx.Done()
	return nil
}

// links are addresses that sign a browser in, once. The tokens are in the fragment, which
// browsers do not send.
type links struct{ operator, staff string }

func linksOf(s *demo.Stage, keys *access.Keys, url string) links {
	to := func(key beacon.Key) string { return url + "/#/sign-in/" + keys.Offer(key) }
	return links{to(s.Operator), to(s.Staff)}
}

// welcome returns the text that says what there is to see.
func (c demoCmd) welcome(s *demo.Stage, to links, url string, took time.Duration) string {
	ask := func(path string) string {
		return fmt.Sprintf("  curl -s -H 'Authorization: Bearer %s' '%s/v1%s'\n", s.OperatorKey, url, path)
	}
	at, madeUp := s.City.Middle, ""
	if s.City.Key != demo.NewYork {
		madeUp = " (all places are made up)"
	}
	ending := "Press Ctrl-C to stop it and delete its data."
	if c.DB != "" {
		ending = fmt.Sprintf("Press Ctrl-C to stop it. %s keeps the network for next time, with new keys.", c.DB)
	}
	return fmt.Sprintf(`beacon: %s in %s%s, %d days of history, %s running; ready in %.1f s.

  console       %s/
  operator key  %s
  staff key     %s

Look around as one of these; the links sign a browser in once, within %d minutes:

  visitor       %s/
  operator      %s
  staff         %s

The nearest hotspots to connect to, coverage around them, last month's earnings:

%s%s%s
%s
`, count(s.Hotspots, "hotspot"), s.City.Name, madeUp, demoDays, count(len(s.Devices), "device"), took.Seconds(), url, s.OperatorKey, s.StaffKey,
		access.LinkLasts/time.Minute, url, to.operator, to.staff,
		ask(fmt.Sprintf("/hotspots/nearby?lat=%.4f&lng=%.4f&connectable=true&limit=3", at.Lat, at.Lng)),
		ask(fmt.Sprintf("/coverage?north=%.3f&south=%.3f&east=%.3f&west=%.3f", at.Lat+0.008, at.Lat-0.005, at.Lng+0.012, at.Lng-0.004)),
		ask("/users/me/rewards?period=last"), ending)
}
