package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/simulate"
	"github.com/beacon-wifi/beacon/internal/store"
)

type simulateCmd struct {
	URL         string        `name:"url" placeholder:"URL" help:"The server to use, such as http://127.0.0.1:8080. Default: its own server, with a temporary database and a simulated clock."`
	Key         string        `placeholder:"bcn_…" help:"A key of that server with the scope admin. Better set as BEACON_KEY: other users can see a command line."`
	Hotspots    int           `default:"100" help:"How many hotspots to simulate. Default ${default}."`
	Seed        uint64        `default:"1" help:"Random seed: the same seed gives the same hotspots and behavior. Default ${default}."`
	Days        int           `help:"How many days to simulate, without --url. Default 1."`
	Interval    time.Duration `default:"60s" help:"How often each device sends a heartbeat, with --url. Default ${default}."`
	Rate        float64       `placeholder:"N" help:"Heartbeats per second of all devices together, instead of --interval."`
	Duration    time.Duration `placeholder:"5m" help:"How long to run, with --url. Default: until interrupted."`
	At          string        `placeholder:"LAT,LNG[,KM]" help:"Where the hotspots are, with --url: within so many kilometres of a place, or 3. Default: where the server's network is."`
	Clean       bool          `help:"Delete the hotspots that simulations have registered on the server at --url, and do nothing else. One that was renamed stays."`
	Connections int           `default:"64" help:"The most connections to use. Default ${default}."`
}

func (simulateCmd) Examples() string {
	return `  beacon simulate --hotspots 50 --days 7 --seed 42           a week of 50 hotspots; prints a digest of the result
  beacon serve --rate-limit off                              for many hotspots: only 10 devices a minute can be
                                                             linked from one address otherwise
  BEACON_KEY=$(beacon keys create --user new --scopes admin) \
    beacon simulate --url http://127.0.0.1:8080 --hotspots 5000
  beacon simulate --url http://127.0.0.1:8080 --key bcn_… --hotspots 20000 --rate 10000 --duration 5m
  beacon simulate --url http://127.0.0.1:8080 --at 52.52,13.405,5     in the middle of Berlin
  beacon simulate --url http://127.0.0.1:8080 --clean                 delete what was simulated
`
}

// Run simulates (decision C4).
func (c simulateCmd) Run(out *console) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.URL != "" {
		return c.onServer(out)
	}
	return c.march(out, time.Duration(max(c.Days, 1))*24*time.Hour)
}

const (
	maxSimulated = 1_000_000
	maxDays      = 365
)

func (c simulateCmd) check() error {
	switch {
	case c.Hotspots < 1 || c.Hotspots > maxSimulated:
		return usageError(fmt.Sprintf("--hotspots must be 1 to %d", maxSimulated))
	case c.Connections < 1 || c.Connections > 10_000:
		return usageError("--connections must be 1 to 10000")
	case c.URL == "" && (c.Rate != 0 || c.Duration != 0):
		return usageError("--rate and --duration need --url")
	case c.URL != "" && c.Days != 0:
		return usageError("--days cannot be used with --url: that server has its own clock")
	case c.URL == "" && (c.At != "" || c.Clean):
		return usageError("--at and --clean need --url")
	case c.Clean && (c.At != "" || c.Rate != 0 || c.Duration != 0):
		return usageError("--clean only deletes: it goes with --url and --key alone")
	case c.Days < 0 || c.Days > maxDays:
		return usageError(fmt.Sprintf("--days must be 1 to %d", maxDays))
	case c.URL != "" && c.Key == "":
		return usageError("--url needs --key, or BEACON_KEY")
	case !(c.Rate >= 0) || c.Interval <= 0 || c.Duration < 0:
		return usageError("--rate, --interval and --duration must be greater than 0")
	}
	return nil
}

// onServer sends heartbeats to the server at --url, in real time.
func (c simulateCmd) onServer(out *console) error {
	client, err := simulate.NewClient(c.URL, c.Key, c.Connections)
	if err != nil {
		return usageError("--url " + err.Error())
	}
	defer client.Close()
	if err := client.Check(out.ctx); err != nil || c.Clean {
		return cmp.Or(err, c.clean(out, client))
	}
	around, err := c.around(out, client)
	if err != nil {
		return err
	}
	devices := simulate.Devices(c.Hotspots, c.Seed, around)
	simulate.Distinguish(devices, rand.Uint64())
	if err := c.setUp(out, client, devices); err != nil {
		if out.ctx.Err() != nil {
			return nil // stopped
		}
		return err
	}
	interval := c.Interval
	if c.Rate > 0 {
		interval = time.Duration(float64(c.Hotspots) / c.Rate * float64(time.Second))
	}
	ctx := out.ctx
	if c.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Duration)
		defer cancel()
	}
	var meter simulate.Meter
	began := time.Now()
	stop := showProgress(out.stderr, rates(&meter))
	client.Drive(ctx, devices, interval, &meter)
	stop()
	reading := meter.Read()
	fmt.Fprintln(out.stdout, summary(reading, time.Since(began)))
	if reading.Failed > 0 {
		return fmt.Errorf("%d heartbeats failed; the last: %s", reading.Failed, reading.Trouble)
	}
	return nil
}

// around returns where to put the hotspots, and tells.
func (c simulateCmd) around(out *console, client *simulate.Client) (a simulate.Around, err error) {
	known, why := true, "as --at says"
	if c.At != "" {
		a, err = simulate.ParseAround(c.At)
		if err != nil {
			return a, usageError(fmt.Sprintf("--at %v", err))
		}
	} else {
		why = "where the network is; --at says another place"
		if a, known, err = client.Around(out.ctx); err != nil {
			return a, err
		}
	}
	where := fmt.Sprintf("within %.3g km of %.4f, %.4f, %s", a.KM, a.Lat, a.Lng, why)
	if !known {
		where = "in New York, since the network has no place yet; --at says another"
	}
	_, err = fmt.Fprintf(out.stderr, "beacon: %s %s. --clean deletes simulated hotspots.\n", count(c.Hotspots, "hotspot"), where)
	return a, err
}

// clean deletes what simulations have registered.
func (c simulateCmd) clean(out *console, client *simulate.Client) error {
	var deleted atomic.Int64
	err := client.Clean(out.ctx, func() { deleted.Add(1) })
	if deleted.Load() > 0 || err == nil {
		_, said := fmt.Fprintf(out.stdout, "%s deleted\n", count(int(deleted.Load()), "simulated hotspot"))
		err = cmp.Or(err, said)
	}
	return err
}

// setUp registers, verifies and links devices, and shows how many are done.
func (c simulateCmd) setUp(out *console, client *simulate.Client, devices []*simulate.Device) error {
	var done atomic.Int64
	stop := showProgress(out.stderr, func() string {
		line := bar("registering, verifying, linking", done.Load(), int64(len(devices)))
		if client.Limited() {
			line += "; the server limits this (start it with --rate-limit off to avoid it)"
		}
		return line
	})
	defer stop()
	return client.SetUp(out.ctx, devices, &done)
}

// simulationStart is when the clock of a simulation begins: a Monday.
var simulationStart = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

// march runs a server with its own clock, for some time by that clock.
func (c simulateCmd) march(out *console, span time.Duration) error {
	outcome, err := c.onHost(out, simulationStart.Add(span))
	switch {
	case err != nil && out.ctx.Err() != nil:
		return errors.New("interrupted, so there is no digest")
	case err != nil:
		return err
	}
	_, err = fmt.Fprint(out.stdout, outcome)
	return err
}

// onHost simulates devices until a time, on a server inside this process that has a
// temporary database.
func (c simulateCmd) onHost(out *console, end time.Time) (outcome string, err error) {
	dir, err := os.MkdirTemp("", "beacon-simulate-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db := database{DB: filepath.Join(dir, "beacon.db")}
	key, err := adminKey(out, db)
	if err != nil {
		return "", err
	}
	ln, err := listen(out.ctx, "--addr", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	clock := new(handClock)
	clock.set(simulationStart)
	server := serveCmd{database: db, AdminAddr: "off", PreviewKeyPrefix: "svc", LogFormat: "text", LogLevel: logLevel(slog.LevelWarn)}
	running, err := server.start(out, ln, clock.now, 0)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, running.stop()) }()
	client, err := simulate.NewClient("http://"+ln.Addr().String(), key, c.Connections)
	if err != nil {
		return "", err
	}
	defer client.Close()
	return c.marchOn(out, clock, client, end)
}

func (c simulateCmd) marchOn(out *console, clock *handClock, client *simulate.Client, end time.Time) (outcome string, err error) {
	devices := simulate.Devices(c.Hotspots, c.Seed, simulate.Around{})
	if err := c.setUp(out, client, devices); err != nil {
		return "", err
	}
	var meter simulate.Meter
	began := time.Now()
	stop := showProgress(out.stderr, func() string {
		return bar("minutes", int64(clock.now().Sub(simulationStart).Minutes()), int64(end.Sub(simulationStart).Minutes()))
	})
	err = client.March(out.ctx, devices, simulationStart, end, clock.set, &meter)
	stop()
	if err != nil {
		return "", err
	}
	took := time.Since(began)
	digest, err := client.Digest(out.ctx, devices, simulationStart, end)
	return fmt.Sprintf("%s\ndigest %s\n", summary(meter.Read(), took), digest), err
}

// handClock is a clock that is set by hand, in µs since 1970.
type handClock struct{ at atomic.Int64 }

func (h *handClock) now() time.Time    { return time.UnixMicro(h.at.Load()).UTC() }
func (h *handClock) set(now time.Time) { h.at.Store(now.UnixMicro()) }

func adminKey(out *console, db database) (key string, err error) {
	err = db.run(out, store.FromEmpty, func(db *store.DB) error {
		in := access.Creation{User: beacon.Some("new"), Scopes: beacon.Some([]string{string(beacon.Admin)})}
		made, err := keysOf(db).Create(out.ctx, commandLine, in)
		key = made.Plain
		return err
	})
	return key, err
}

// rates returns a function that describes what happened since its last call.
func rates(meter *simulate.Meter) func() string {
	before, at := meter.Read(), time.Now()
	return func() string {
		now, reading := time.Now(), meter.Read()
		line := summary(reading.Since(before), now.Sub(at))
		before, at = reading, now
		return line
	}
}

// summary describes the heartbeats sent in some time.
func summary(r simulate.Reading, took time.Duration) string {
	line := fmt.Sprintf("%d heartbeats in %s, %.0f/s, p50 %s, p99 %s", r.Taken, took.Round(time.Millisecond),
		float64(r.Taken)/max(took.Seconds(), 0.001), r.Quantile(0.5), r.Quantile(0.99))
	if r.Repeated > 0 {
		line += fmt.Sprintf(", %d told to retry later", r.Repeated)
	}
	if r.Uncounted > 0 {
		line += fmt.Sprintf(", %d more that did not count (%s)", r.Uncounted, r.Why)
	}
	if r.Failed > 0 {
		line += fmt.Sprintf(", %d failed", r.Failed)
	}
	return line
}
