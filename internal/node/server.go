package node

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/beacon-wifi/beacon/console"
	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/httpserver/metrics"
	"github.com/beacon-wifi/beacon/internal/openfeeds"
	"github.com/beacon-wifi/beacon/internal/people/doors"
	"github.com/beacon-wifi/beacon/internal/store"
)

// Server is a node together with everything that its process serves.
type Server struct {
	node    *Node
	router  *router
	front   *httpserver.Handler
	health  httpserver.Health
	metrics *metrics.Set
	shed    bool
	hosts   []string // of the admin interface
}

// ServerConfig configures a server.
type ServerConfig struct {
	Config

	// Open opens the database. It is called last: a mistake in the configuration
	// must not create one.
	Open func(context.Context) (*store.DB, error)

	Public           bool // serve open feeds, without a key
	Basemap          Basemap
	History          func() (days, of int) // how far the history of a demo is written; nil: it is no demo
	Demo             string                // the city of a demo
	PreviewKeyPrefix string                // first word of the preview's demo keys
	Proxies          httpserver.Proxies
	AdminHosts       []string                                    // names of the admin interface, besides localhost
	MaxConnections   int                                         // of one address; 0: no limit
	NoFastPath       bool                                        // let net/http read every request
	ShedLoad         bool                                        // refuse requests under too much load
	Observe          func(*http.Request, httpserver.RequestInfo) // is called for each request; may be nil
}

// Open opens the database and creates the interfaces. The caller closes the server.
func Open(ctx context.Context, cfg ServerConfig) (*Server, error) {
	s := &Server{metrics: metrics.New(), shed: cfg.ShedLoad, hosts: cfg.AdminHosts}
	pages, err := newPages(cfg, known{s.start, s.identity, s.rewards, s.dots})
	if err != nil {
		return nil, err
	}
	db, err := cfg.Open(ctx)
	if err != nil {
		return nil, err
	}
	if cfg.LinkBase == "" {
		cfg.LinkBase = doors.Site(cfg.PublicURL)
	}
	s.node = New(db, cfg.Config)
	var open openInterfaces
	if cfg.Public {
		config := openfeeds.Config{API: s.node.API, Fleet: s.node.Fleet, PublicURL: cfg.PublicURL, Now: cfg.Now, Uptime: s.node.uptime, Traffic: db.Ledger.Carried, Plan: s.node.Plan, Identity: s.node.Follower.Identity, Rewards: s.rewards}
		open.feeds = openfeeds.New(config)
		open.hotspots = openfeeds.NewPages(open.feeds, config)
	}
	s.router = newRouter(&s.health, s.node.API, open, pages)
	s.router.history = cfg.History
	s.health.Log = cfg.Log
	s.health.Checks = map[string]func(context.Context) error{
		"database": db.Ping,
		"hotspots": s.loaded,
	}
	s.front = &httpserver.Handler{
		Next:   s.router,
		Refuse: s.router.refuse,
		Now:    time.Now,
		Log:    cfg.Log,
		Observe: func(r *http.Request, e httpserver.RequestInfo) {
			s.metrics.Observe(r, e)
			if cfg.Observe != nil {
				cfg.Observe(r, e)
			}
		},

		Proxies:        cfg.Proxies,
		MaxConnections: cfg.MaxConnections,
		NoFastPath:     cfg.NoFastPath,
	}
	s.show()
	return s, nil
}

// start says where a public network is: where its staff say, or else where its hotspots
// are. Of a private one it says nothing.
func (s *Server) start() console.Start {
	if s.router.feeds == nil || !s.router.loaded.Load() {
		return console.Start{}
	}
	if v := s.node.Follower.MapSettings().Start; v != nil {
		return console.Start{View: &console.View{Lat: v.Lat, Lng: v.Lng, Zoom: v.Zoom}}
	}
	box, found := s.router.feeds.Box()
	if !found {
		return console.Start{}
	}
	if box.CrossesAntimeridian() {
		box.East += 360 // as maps in browsers have it
	}
	return console.Start{Box: &[4]float64{box.West, box.South, box.East, box.North}}
}

// identity says how the network presents itself.
func (s *Server) identity() beacon.Identity { return s.node.Follower.Identity() }

func (s *Server) rewards() bool { return s.node.ledger.Switch().On }

// dots yields where the hotspots of a public network are, in a square.
func (s *Server) dots(size float64, yield func(x, y float64)) {
	if s.router.feeds != nil && s.router.loaded.Load() {
		s.router.feeds.Dots(size, yield)
	}
}

// Close closes the database.
func (s *Server) Close() error { return s.node.db.Close() }

// Reread reads the heartbeats that something else in the process wrote; see Config.Free.
func (s *Server) Reread(ctx context.Context) error { return s.node.telemetry.Reread(ctx) }

// Keys are those of the network.
func (s *Server) Keys() *access.Keys { return s.node.Keys }

// Founded reports whether there is a key, be it revoked, or a person: who sees to the network.
func (s *Server) Founded(ctx context.Context) (bool, error) {
	keys, err := s.node.Keys.Any(ctx)
	if err != nil || keys {
		return keys, err
	}
	open, err := s.node.People.Open(ctx)
	return open.Any, err
}

func (s *Server) loaded(context.Context) error {
	if !s.router.loaded.Load() {
		return fmt.Errorf("%w: hotspots are still loading", httpserver.ErrStarting)
	}
	return nil
}

// Serve serves on ln, and on admin what only the operator of the process may see;
// admin may be nil. It serves while the hotspots are loaded, so that a supervisor can
// see that it is live and not yet ready, and calls ready once they are loaded. When ctx
// ends, it drains and closes both listeners.
func (s *Server) Serve(ctx context.Context, ln, admin net.Listener, ready func()) error {
	group, ctx := errgroup.WithContext(ctx)
	context.AfterFunc(ctx, func() {
		s.health.Drain()
		s.node.Hub.Close() // streams of events would never end by themselves
		s.node.API.Stop()
		if s.router.feeds != nil {
			s.router.feeds.Stop()
		}
	})
	// The node runs until the last request has its response.
	serving, drained := context.WithCancel(context.WithoutCancel(ctx))
	group.Go(func() error {
		defer drained()
		return httpserver.Serve(ctx, ln, s.front)
	})
	if admin != nil {
		s.node.log.Info("admin interface", "addr", admin.Addr().String())
		group.Go(func() error { return serveAdmin(ctx, admin, s.hosts, adminHandler(s.metrics), s.node.log) })
	}
	if s.router.basemap != nil {
		group.Go(func() error { return s.readNames(ctx) })
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
			s.node.log.Warn("could not tell the supervisor that the server is ready", "err", err)
		}
		s.node.Run(serving)
		return nil
	})
	return group.Wait()
}

// readNames reads the names of the basemap, to be searched. A map without them is still a
// map.
func (s *Server) readNames(ctx context.Context) error {
	began := time.Now()
	count, whole, err := s.router.basemap.Index(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.node.log.Warn("the names of the basemap cannot be searched; copy the file again", "err", err)
	default:
		s.node.log.Info("names of the basemap read", "count", count, "all", whole, "took_ms", time.Since(began).Milliseconds())
	}
	return nil
}

// whileSound waits until ctx ends or the disk fails. After a failure the server must
// not continue: the supervisor starts another, which reads what is really on disk.
func (s *Server) whileSound(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.node.db.Broken():
		return fmt.Errorf("the database can no longer be trusted; restart the server: %w", s.node.db.Breakage())
	}
}

// load loads the hotspots, and then lets the network interface respond.
func (s *Server) load(ctx context.Context) error {
	began := time.Now()
	err := whileLoading(func() error { return s.node.Load(ctx) })
	if err != nil {
		return err
	}
	s.router.loaded.Store(true)
	s.node.log.Info("hotspots loaded", "count", s.node.Fleet.Len(), "took_ms", time.Since(began).Milliseconds())
	return nil
}
