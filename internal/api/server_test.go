package api_test

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/api/hotspots"
	"github.com/beacon-wifi/beacon/internal/api/payments"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/events"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
	"github.com/beacon-wifi/beacon/internal/node"
	"github.com/beacon-wifi/beacon/internal/registry"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/postgres"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
	"github.com/beacon-wifi/beacon/test/openapi"
)

// noon is when every test begins. The clock stands still until it is moved.
var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// server is the interface behind a real socket, on a real store. Every response
// that passes through it is held to the OpenAPI document.
type server struct {
	*httptest.Server
	*node.Node
	api      *api.API // that of the node, or one with some parts replaced
	db       *store.DB
	document *openapi.Document
	limited  bool

	crossOrigin bool // pages of other origins are allowed
	log         *lockedBuilder
	time        atomic.Int64 // in microseconds
}

func (s *server) now() time.Time          { return time.UnixMicro(s.time.Load()).UTC() }
func (s *server) advance(d time.Duration) { s.time.Add(d.Microseconds()) }

// options are what a test may change about a server.
type options struct {
	limits edge.Limits

	origins []string // whose pages may use the interface

	store registry.Store // of the registry, in the place of the database

	live      bool               // the node runs: heartbeats are taken, events told, changes of others followed
	telemetry hotspots.Telemetry // in the place of the real one
	rewards   payments.Rewards   // in the place of the real ones
	closing   payments.Closing   // in the place of the real one
	events    events.Log         // in the place of the database
	timeout   time.Duration      // of the server, for each request and answer; 0: minutes
	arrival   time.Duration      // how long a request may take to arrive; 0: minutes

	policies policy.Set // nil: the default

	proxied bool // the tests are a trusted proxy, and say from where a request comes

	refusing int       // a status that everything is refused with, as before the service is ready
	begins   time.Time // zero: noon

	named bool               // it is reached at localhost, where passkeys work
	node  func(*node.Config) // changes it; may be nil
}

// replaceParts returns the API of a server with other parts in the place of some.
func (o options) replaceParts(s *server) *api.API {
	if o.store == nil && o.telemetry == nil && o.rewards == nil && o.closing == nil && o.events == nil {
		return s.API
	}
	parts := s.APIConfig()
	if o.store != nil {
		parts.Registry = registry.New(o.store, s.db.Hotspots, s.db.Hotspots, s.db.People, s.Fleet, s.now)
	}
	if o.telemetry != nil {
		parts.Telemetry = o.telemetry
	}
	if o.rewards != nil {
		parts.Rewards = o.rewards
	}
	if o.closing != nil {
		parts.Closing = o.closing
	}
	if o.events != nil {
		s.Hub = events.NewHub(o.events, parts.Log)
		parts.Events = s.Hub
	}
	return api.New(parts)
}

// ample are limits that no test runs into, but that are shown.
var ample = edge.Limits{
	PerKey:    ratelimit.Limit{Every: time.Microsecond, Burst: 1_000_000},
	Failures:  ratelimit.Limit{Every: time.Microsecond, Burst: 1_000_000},
	Devices:   ratelimit.Limit{Every: time.Microsecond, Burst: 1_000_000},
	LinkTries: ratelimit.Limit{Every: time.Microsecond, Burst: 1_000_000},
	Enrolling: ratelimit.Limit{Every: time.Microsecond, Burst: 1_000_000},
}

// alive is a server that runs as the binary does, with ample limits.
var alive = options{limits: ample, live: true}

var stores = map[string]func(t testing.TB) *store.DB{
	"sqlite":   func(t testing.TB) *store.DB { db, _ := onFile(t); return db },
	"postgres": func(t testing.TB) *store.DB { db, _ := onPostgres(t); return db },
	"pooled": func(t testing.TB) *store.DB {
		return opened(t, func(url string) string { return harness.NewPooler(t, url).URL(t, url) })
	},
}

// since says from which level on a store is tried.
var since = map[string]level.Level{"sqlite": level.Test, "postgres": level.Check, "pooled": level.Torture}

// onFile opens a new SQLite file, and says where it is.
func onFile(t testing.TB) (db *store.DB, file string) {
	file = filepath.Join(t.TempDir(), "beacon.db")
	leavesSound(t, func(context.Context) (*store.Examination, error) { return sqlite.Examine(file) })
	return storetest.Opened(t)(sqlite.Open(t.Context(), file, sqlite.Options{Now: noon})), file
}

// onPostgres opens a new database of PostgreSQL, and says where it is.
func onPostgres(t testing.TB) (db *store.DB, url string) {
	db = opened(t, func(made string) string { url = made; return made })
	return db, url
}

// opened opens a new database of PostgreSQL by some way to it.
func opened(t testing.TB, way func(url string) string) *store.DB {
	t.Helper()
	open := func(ctx context.Context, url string) (*store.DB, error) {
		return postgres.Open(ctx, storetest.Patient(t, url), postgres.Options{Now: noon})
	}
	url := way(storetest.Prepared(t, open))
	leavesSound(t, func(ctx context.Context) (*store.Examination, error) {
		return postgres.Examine(ctx, url, postgres.PoolerAuto)
	})
	return storetest.Opened(t)(open(t.Context(), url))
}

// eachStore runs a test on a fresh server for each store. make test has it on SQLite
// alone: what the two have in common is held by store/storetest.
func eachStore(t *testing.T, test func(t *testing.T, s *server)) {
	t.Helper()
	eachStoreWith(t, options{limits: ample}, test)
}

func eachStoreWith(t *testing.T, opts options, test func(t *testing.T, s *server)) {
	t.Helper()
	t.Parallel()
	for name, open := range stores {
		if level.Now() < since[name] {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t, open(t), opts))
		})
	}
}

// onSQLite is a server for what no database has a part in.
func onSQLite(t testing.TB, opts options) *server {
	t.Helper()
	return start(t, stores["sqlite"](t), opts)
}

// start serves a node.
func start(t testing.TB, db *store.DB, opts options) *server {
	t.Helper()
	s := &server{db: db, document: document(t), log: new(lockedBuilder), limited: opts.limits != edge.Limits{}, crossOrigin: len(opts.origins) > 0}
	s.time.Store(cmp.Or(opts.begins, noon).UnixMicro())
	log := slog.New(slog.NewJSONHandler(s.log, nil))
	policies := opts.policies
	if policies == nil {
		policies = policy.Devices()
	}
	config := node.Config{Limits: opts.limits, Origins: opts.origins, Policies: policies, Now: s.now, Log: log}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if opts.named {
		config.PublicURL = "http://" + ln.Addr().String()
	}
	if opts.node != nil {
		opts.node(&config)
	}
	s.Node = node.New(db, config)
	if err := s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if opts.live {
		inBackground(t, s.Run)
	}
	s.api = opts.replaceParts(s)
	s.api.SetDeadlines(5 * time.Minute)
	var next http.Handler = s.api
	if opts.refusing != 0 {
		next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.api.Refuse(w, r, opts.refusing) })
	}
	var proxies httpserver.Proxies
	if opts.proxied {
		proxies = httpserver.Proxies{netip.MustParsePrefix("127.0.0.0/8")}
	}
	front := &httpserver.Handler{
		Next: next, Refuse: s.api.Refuse, Now: s.now, Log: log, Observe: func(*http.Request, httpserver.RequestInfo) {},
		Proxies: proxies,
	}
	s.Server = httptest.NewUnstartedServer(front)
	_ = s.Listener.Close()
	s.Listener = ln
	s.Config = httpserver.NewServer(front, log)
	// A machine may be slow: only who asks for limits has any.
	s.api.SetReaderTime(harness.Patience)
	s.Config.ReadHeaderTimeout = harness.Patience
	s.Config.WriteTimeout = cmp.Or(opts.timeout, harness.Patience)
	s.Config.ReadTimeout = cmp.Or(opts.arrival, s.Config.WriteTimeout)
	s.Start()
	if opts.named {
		s.URL = strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	}
	s.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = 64
	t.Cleanup(func() {
		s.Hub.Close() // or those who listen would never go
		s.Close()
		if log := s.log.String(); strings.Contains(log, "bcn_") || strings.Contains(log, "02:00:5e") {
			t.Errorf("the log holds a key or a MAC address:\n%s", log)
		}
	})
	return s
}

// inBackground runs jobs until the test ends.
func inBackground(t testing.TB, jobs ...func(context.Context)) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	for _, job := range jobs {
		running.Go(func() { job(ctx) })
	}
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

// document is read once: to compile it takes longer than most tests.
var (
	documentOnce sync.Once
	documentRead *openapi.Document
)

func document(t testing.TB) *openapi.Document {
	t.Helper()
	documentOnce.Do(func() {
		documentRead = openapi.Load(t, api.OpenAPI())
		documentRead.Alike = alike
	})
	if documentRead == nil {
		t.Fatal("the OpenAPI document could not be read")
	}
	return documentRead
}

var sayings = regexp.MustCompile(`"(message|field)":"([^"\\]|\\.)+"`)

// alike leaves out what is another every time: ids of one form, and what an
// error says.
func alike(response string) string {
	return sayings.ReplaceAllString(anyID.ReplaceAllString(response, "${1}_…"), `"$1":"…"`)
}

// step takes over what was written past the interface. A node that is live does so
// by itself.
func (s *server) step(t testing.TB) {
	t.Helper()
	if err := s.Follower.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// client is someone with a key.
type client struct {
	*server
	plain string
	key   beacon.KeyID
	user  beacon.UserID
}

// anyone makes a new user with a key of the given scopes.
func (s *server) anyone(t testing.TB, scopes ...string) client {
	t.Helper()
	return s.keyOf(t, access.NewUser, access.Creation{Scopes: beacon.Some(scopes)})
}

// operator makes a new user who may register hotspots.
func (s *server) operator(t testing.TB) client {
	t.Helper()
	return s.anyone(t, "hotspots:write")
}

// keyOf makes a key as the command line does.
func (s *server) keyOf(t testing.TB, user beacon.UserID, in access.Creation) client {
	t.Helper()
	in.User = beacon.Some(string(user))
	staff := beacon.Principal{Scopes: []beacon.Scope{beacon.Admin}, Request: "cli"}
	made, err := s.Keys.Create(t.Context(), staff, in)
	if err != nil {
		t.Fatal(err)
	}
	return client{server: s, plain: made.Plain, key: made.Key.ID, user: made.Key.User}
}

// answer is a response with its body read.
type answer struct {
	*http.Response
	body []byte
}

func (a answer) String() string {
	return a.Request.Method + " " + a.Request.URL.String() + " answered " + a.Status + " " + string(a.body[:min(len(a.body), 2000)])
}

// do sends a request of the client; header is pairs of name and value.
func (c client) do(t testing.TB, method, path, body string, header ...string) answer {
	t.Helper()
	return c.call(t, method, path, body, append([]string{"Authorization", "Bearer " + c.plain}, header...)...)
}

func (c client) get(t testing.TB, path string, header ...string) answer {
	t.Helper()
	return c.do(t, http.MethodGet, path, "", header...)
}

func (c client) post(t testing.TB, path, body string, header ...string) answer {
	t.Helper()
	return c.do(t, http.MethodPost, path, body, header...)
}

func (c client) patch(t testing.TB, path, body string, header ...string) answer {
	t.Helper()
	return c.do(t, http.MethodPatch, path, body, header...)
}

func (c client) delete(t testing.TB, path string) answer {
	t.Helper()
	return c.do(t, http.MethodDelete, path, "")
}

// call sends a request and holds the answer to what is true of all answers. A
// body is sent as JSON unless the header says otherwise.
func (s *server) call(t testing.TB, method, path, body string, header ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body == "" {
		request.Body = nil
	}
	if body != "" || method == http.MethodPost || method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Content-Type" {
			request.Header.Del("Content-Type")
		}
		if header[i] == "Host" {
			request.Host = header[i+1]
		}
		if header[i+1] != absent {
			request.Header.Add(header[i], header[i+1])
		}
	}
	response, err := s.Client().Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	a := answer{response, read}
	if !strings.HasPrefix(path, "/console/") { // which no document describes
		s.document.Check(t, request, response, read)
	}
	s.checkCommon(t, a)
	return a
}

// absent as the value of a header leaves out one that call would add.
const absent = "\x00"

// lockedBuilder is a log that may be read while it is written.
type lockedBuilder struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuilder) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
