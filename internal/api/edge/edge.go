// Package edge is what all subjects of the API share: who sends a request and how often,
// how bodies and queries are read, envelopes, errors, downloads, and requests that take
// effect once. It knows no subject.
//
// Its one invariant: every response is the documented envelope or the documented error,
// whatever the request.
package edge

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/people"
)

// Store is what all subjects need from the database.
type Store interface {
	// Once returns an earlier request with an Idempotency-Key, or nil if none is remembered.
	Once(ctx context.Context, owner, key string, now time.Time) (*beacon.Once, error)
	// Quota returns what staff allow a user, or else what everyone may have.
	Quota(ctx context.Context, user beacon.UserID) (beacon.Quota, error)
}

// Config holds the dependencies of an Edge.
type Config struct {
	Keys    *access.Keys
	People  *people.Sessions
	Fleet   *fleet.Fleet
	Store   Store
	Limits  Limits
	Origins []string // whose pages may use the API; see ParseOrigins
	Public  string   // where browsers reach the server; may be empty
	Now     func() time.Time
	Log     *slog.Logger
}

// Edge is what the subjects of an API share.
type Edge struct {
	keys   *access.Keys
	people *people.Sessions
	fleet  *fleet.Fleet // for the keys of devices
	store  Store

	public  string                      // the server's origin behind a proxy; may be empty
	foreign *http.CrossOriginProtection // which refuses pages of others

	Limits *limiters
	CORS   *cors
	Now    func() time.Time
	Log    *slog.Logger

	VaryEncoding, VaryForm []string // values of Vary: of GET, and of GET and errors in more than one form

	stopping context.Context // canceled by Stop
	stop     context.CancelFunc

	// Deadlines: see the constants. Tests change them.
	Patience, QuotaPatience, ReaderTime, Grace time.Duration
}

// New returns what the subjects of an API share.
func New(cfg Config) *Edge {
	e := &Edge{
		keys: cfg.Keys, people: cfg.People, fleet: cfg.Fleet, store: cfg.Store, Limits: NewLimiters(cfg.Limits), CORS: newCORS(cfg.Origins), Now: cfg.Now, Log: cfg.Log,
		Patience: patience, QuotaPatience: quotaPatience, ReaderTime: readerTime, Grace: patience,
	}
	e.public = originOf(cfg.Public)
	e.foreign = foreignTo(e.public)
	e.VaryEncoding, e.VaryForm = e.CORS.varies("Accept-Encoding"), e.CORS.varies("Accept, Accept-Encoding")
	e.stopping, e.stop = context.WithCancel(context.Background())
	return e
}

// Stop lets long responses finish for a while, then ends them. Call it when the server
// is about to stop.
func (e *Edge) Stop() { e.stop() }
