//go:build linux

package torture_test

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/node"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/test/harness"
)

// yearService is our side of a simulated year: servers on one database, which are
// started, killed and given wrong clocks. All of it runs in a bubble of testing/synctest,
// in which time passes only while everyone waits. The servers run as the binary does,
// but for the listener: requests are handed to their handlers.
type yearService struct {
	t     *testing.T
	open  func(context.Context, time.Time) (*store.DB, error)
	log   *slog.Logger
	rate  int       // seconds that pass by the servers' clock in a second of the bubble
	start time.Time // the true time when the bubble began
	began time.Time // the same, in the bubble

	ahead     atomic.Int64 // how far the servers' clock is ahead of the true time
	unnoticed bool         // it was set right, and nothing has happened since
	servers   []*yearServer
	up        []minuteSpan // when some server was up
}

// yearServer is one server. It records every five seconds of the bubble that it is up.
type yearServer struct {
	db      *store.DB
	node    *node.Node
	handler http.Handler
	end     context.CancelFunc
	ended   chan struct{}
	since   harness.Minute
}

// minuteSpan is a range of minutes, both ends included.
type minuteSpan struct{ from, to harness.Minute }

const never = harness.Minute(1) << 40

// truth returns the true time.
func (s *yearService) truth() time.Time {
	return s.start.Add(time.Since(s.began) * time.Duration(s.rate))
}

// clock returns the time that the servers believe it is.
func (s *yearService) clock() time.Time { return s.truth().Add(time.Duration(s.ahead.Load())) }

// until waits for a second of a minute.
func (s *yearService) until(m harness.Minute, second int) {
	at := time.Unix(int64(m)*60+int64(second), 0)
	if wait := at.Sub(s.truth()); wait > 0 {
		time.Sleep((wait + time.Duration(s.rate) - 1) / time.Duration(s.rate))
	}
}

// marks is how many minutes pass between two records of a server that it is up, and
// notices how many until it finds that its clock was set. By the bubble it is five
// seconds, and one.
func (s *yearService) marks() harness.Minute   { return harness.Minute(5 * s.rate / 60) }
func (s *yearService) notices() harness.Minute { return harness.Minute(s.rate / 60) }

// launch starts a server, at the beginning of a minute.
func (s *yearService) launch(m harness.Minute) {
	s.until(m, 0)
	db, err := s.open(s.t.Context(), s.clock())
	if err != nil {
		s.t.Fatal(err)
	}
	n := node.New(db, node.Config{
		Limits: edge.Limits{}, Policies: policy.Devices(), Now: s.clock, Rate: float64(s.rate), Log: s.log,
	})
	if err := n.Load(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	front := &httpserver.Handler{
		Next: n.API, Refuse: n.API.Refuse, Now: s.clock, Log: s.log, Observe: func(*http.Request, httpserver.RequestInfo) {},
	}
	ctx, end := context.WithCancel(context.WithoutCancel(s.t.Context()))
	one := &yearServer{db: db, node: n, handler: front, end: end, ended: make(chan struct{}), since: m}
	go func() {
		n.Run(ctx)
		close(one.ended)
	}()
	s.servers = append(s.servers, one)
	if len(s.servers) == 1 {
		s.rises(m)
	}
}

// kill ends a server without notice: from one moment on, nothing that it does reaches
// the database.
func (s *yearService) kill(m harness.Minute, one *yearServer) {
	s.until(m, 5)
	one.node.API.Stop()
	if err := one.db.Close(); err != nil {
		s.t.Errorf("closing the database: %v", err)
	}
	one.end()
	<-one.ended
	s.servers = slices.DeleteFunc(s.servers, func(o *yearServer) bool { return o == one })
	if len(s.servers) == 0 {
		s.falls(m)
	}
}

// rises and falls note when the service is up.
func (s *yearService) rises(m harness.Minute) { s.up = append(s.up, minuteSpan{m, never}) }
func (s *yearService) falls(m harness.Minute) { s.up[len(s.up)-1].to = m }

// set sets the clock of all servers ahead of the true time; 0 sets it right. A clock
// that was set is an outage (D30): the servers were up until the last record before it,
// and are up again when they notice (D181).
func (s *yearService) set(m harness.Minute, ahead time.Duration) {
	s.until(m, 5)
	if s.ahead.Load() == 0 {
		s.falls(m)
	}
	s.ahead.Store(int64(ahead))
	if ahead == 0 {
		s.unnoticed = true
	}
}

// isUp reports whether a server is up, and right also that its clock is right.
func (s *yearService) isUp() bool  { return len(s.servers) > 0 }
func (s *yearService) right() bool { return s.isUp() && s.ahead.Load() == 0 }

// confirm is staff who say what day it is, as "beacon rewards clock --confirm" does.
func (s *yearService) confirm() {
	r := rewards.New(rewards.Config{Store: s.servers[0].db.Rewards(), Policies: policy.Devices(), Clock: clock.New(clock.Config{Store: s.servers[0].db.Clocks, Now: s.clock})})
	today := beacon.DayOf(s.clock())
	if err := r.ConfirmClock(s.t.Context(), beacon.Actor{Request: "cli"}, today); err != nil {
		s.t.Errorf("confirming %s: %v", today, err)
	}
}

// excused reports whether a minute is nobody's fault but ours (D30): no server was up
// in it or in one of the three before. The time before the first start is no outage.
func (s *yearService) excused(m harness.Minute) bool {
	for before := m; before > m-4 && before >= s.up[0].from; before-- {
		if !slices.ContainsFunc(s.up, func(u minuteSpan) bool { return u.from <= before && before <= u.to }) {
			return true
		}
	}
	return false
}
