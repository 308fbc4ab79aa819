package importer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Server is a server to register hotspots at. It knows which hotspots its user has.
type Server struct {
	client *client.Client
	batch  int // how many hotspots are registered by one request

	turn chan client.PageQuery // held by who reads on in the list of the user's hotspots: where it ends
	mu   sync.Mutex
	own  map[string]ownHotspot // by canonical MAC address
}

type ownHotspot struct {
	id     string
	values string // see joined
}

const (
	// longestWait is how long the import waits when the server asks it to.
	longestWait = time.Minute
	// smallBatch is for whom a batch counts as as many requests as it has hotspots: several
	// connections share what a key may send at once.
	smallBatch = 20
)

// Connect checks the key, and reads the hotspots of its user.
func Connect(ctx context.Context, url, key string, connections int) (*Server, error) {
	c, self, err := connect(ctx, "beacon-import", url, key, client.ScopeHotspotsWrite, connections)
	if err != nil {
		return nil, err
	}
	s := &Server{client: c, batch: smallBatch, turn: make(chan client.PageQuery, 1), own: map[string]ownHotspot{}}
	if has(self, client.ScopeHotspotsVerify) {
		s.batch = batchSize
	}
	s.turn <- client.PageQuery{PerPage: 100}
	return s, s.readOn(ctx)
}

// connect returns a client for a key that it has checked, and what that is.
func connect(ctx context.Context, agent, url, key, scope string, connections int) (*client.Client, client.Key, error) {
	options := []client.Option{client.WithUserAgent(agent), client.WithHTTPClient(pooled(connections))}
	self, err := checkKey(ctx, url, key, scope, append(options, client.WithRetries(3, time.Second)))
	if err != nil {
		return nil, self, err
	}
	c, err := client.New(url, key, append(options, client.WithRetries(10, longestWait))...)
	return c, self, err
}

func has(key client.Key, scope string) bool {
	return slices.Contains(key.Scopes, scope) || slices.Contains(key.Scopes, client.ScopeAdmin)
}

// readOn reads the hotspots of the user that it has not read yet.
func (s *Server) readOn(ctx context.Context) error {
	next := <-s.turn
	defer func() { s.turn <- next }()
	for {
		page, err := s.client.HotspotsPage(ctx, "me", next)
		if err != nil {
			return fmt.Errorf("look for existing hotspots: %w", err)
		}
		s.mu.Lock()
		for _, h := range page.Items {
			s.own[beacon.MAC(h.Device.MACAddress).Canonical()] = ownHotspot{h.ID, joined(valuesThere(h))}
		}
		s.mu.Unlock()
		if page.Next == nil {
			return nil // and new ones are on this page, or after it
		}
		next.Cursor = *page.Next
	}
}

// there compares a candidate with the user's hotspot of the same address, if there is one.
func (s *Server) there(c candidate) (Outcome, bool) {
	s.mu.Lock()
	own, ok := s.own[c.hotspot.Device.MAC.Canonical()]
	s.mu.Unlock()
	if !ok {
		return Outcome{}, false
	}
	return compare(own, c), true
}

// checkKey checks that there is a server, and that the key is valid. It retries less
// than what follows: an address may be misspelt.
func checkKey(ctx context.Context, url, key, scope string, options []client.Option) (client.Key, error) {
	c, err := client.New(url, key, options...)
	if err != nil {
		return client.Key{}, err
	}
	self, err := c.OwnKey(ctx)
	switch _, refused := errors.AsType[*client.Error](err); {
	case errors.Is(err, client.ErrUnauthorized):
		err = fmt.Errorf("the server does not know this key; create one with: beacon keys create --user new --scopes %s", scope)
	case err != nil && !refused:
		err = fmt.Errorf("cannot reach a server at %s: %w", url, err)
	case err == nil && !has(self, scope):
		err = fmt.Errorf("the key has the scopes %v; this needs %s", self.Scopes, scope)
	}
	return self, err
}

// Register registers hotspots that do not exist.
func (s *Server) Register(ctx context.Context, all []candidate) []Outcome {
	out := make([]Outcome, len(all))
	var missing []int
	for i, c := range all {
		there, ok := s.there(c)
		if out[i] = there; !ok {
			missing = append(missing, i)
		}
	}
	for batch := range slices.Chunk(missing, s.batch) {
		if err := s.send(ctx, all, batch, out); err != nil {
			for _, i := range batch {
				out[i] = Outcome{err: err}
			}
		}
	}
	return out
}

// send registers some of all, and sets their outcomes. The idempotency key is derived from
// the contents, so that two imports at the same time register them once.
func (s *Server) send(ctx context.Context, all []candidate, some []int, out []Outcome) error {
	var in client.Batch
	for _, i := range some {
		in.Hotspots = append(in.Hotspots, all[i].registration)
	}
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	in.IdempotencyKey = "import-" + hex.EncodeToString(sum[:])
	made, err := s.client.RegisterHotspots(ctx, in)
	if err == nil && made.Replayed { // by another import, or before what it registered was deleted
		if err := s.readOn(ctx); err != nil {
			return err
		}
		in, some = s.notThere(in, all, some, out)
		if made = (client.Outcomes{}); len(some) > 0 {
			made, err = s.client.RegisterHotspots(ctx, in)
		}
	}
	if err != nil || len(made.Outcomes) != len(some) {
		return cmp.Or(err, errors.New("the response does not fit the request"))
	}
	for n, i := range some {
		if out[i] = judge(made.Outcomes[n].Err()); errors.Is(out[i].err, client.ErrConflict) {
			if out[i], err = s.conflict(ctx, all[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// notThere returns the rest of a batch, those that are not there, under a new key, and sets
// the outcomes of the others.
func (s *Server) notThere(in client.Batch, all []candidate, some []int, out []Outcome) (rest client.Batch, left []int) {
	for n, i := range some {
		there, ok := s.there(all[i])
		if out[i] = there; !ok {
			rest.Hotspots, left = append(rest.Hotspots, in.Hotspots[n]), append(left, i)
		}
	}
	return rest, left
}

// conflict tells whether it is the user's own hotspot that has an address, since another
// import registered it, or someone else's.
func (s *Server) conflict(ctx context.Context, c candidate) (Outcome, error) {
	there, ok := s.there(c)
	if !ok {
		if err := s.readOn(ctx); err != nil {
			return Outcome{}, err
		}
		there, ok = s.there(c)
	}
	if !ok {
		there = Outcome{Kind: Failed, Text: "mac_address is registered already, by someone else"}
	}
	return there, nil
}

// judge distinguishes an error of one row from one that affects everything.
func judge(err error) Outcome {
	if e, refused := errors.AsType[*client.Error](err); refused && len(e.Details) > 0 {
		var faults rowFaults
		for _, d := range e.Details {
			faults.add(columnOf(d.Field), d.Message)
		}
		return Outcome{Kind: Failed, Text: faults.String()}
	}
	return Outcome{Kind: Registered, err: err}
}

// value is what a hotspot has in a column, as text to compare.
type value struct{ column, text string }

// compare reports whether the existing hotspot is as the file says. It changes
// nothing: the operator may have edited it since.
func compare(there ownHotspot, c candidate) Outcome {
	var other []string
	is := strings.Split(there.values, separators)
	for i, wanted := range valuesWanted(c) {
		if is[i] != wanted.text {
			other = append(other, wanted.column)
		}
	}
	if len(other) == 0 {
		return Outcome{Kind: Present}
	}
	return Outcome{Kind: Different, Text: fmt.Sprintf("already there as %s, and left as it is: it differs in %s", there.id, strings.Join(other, ", "))}
}

// joined returns values as one text, which takes less memory.
func joined(values []value) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.text
	}
	return strings.Join(texts, separators)
}

const separators = "\x00" // which no value has

// valuesThere returns the values of all columns but the MAC address, like valuesWanted.
func valuesThere(h client.Hotspot) []value {
	address := ""
	if a := h.Location.Address; a != nil {
		address = *a
	}
	all := values(h.Name, string(h.Type), h.Location.Lat, h.Location.Lng, address, h.Device.SSID)
	for _, s := range settings {
		all = append(all, value{s.column, s.there(h.Settings)})
	}
	return all
}

func valuesWanted(c candidate) []value {
	h := c.hotspot
	all := values(h.Name, string(h.Type), h.Location.Point.Lat, h.Location.Point.Lng, h.Location.Address, h.Device.SSID)
	for _, s := range settings {
		all = append(all, value{s.column, s.wanted(c.settings)})
	}
	return all
}

func values(name, kind string, lat, lng float64, address, ssid string) []value {
	return []value{{"name", name}, {"type", kind}, {"lat", decimal(lat)}, {"lng", decimal(lng)}, {"address", address}, {"ssid", ssid}}
}

func hoursText(hours *client.OperatingHours) string {
	if hours != nil && len(hours.Exceptions) == 0 {
		same := *hours
		same.Exceptions = nil // as good as an empty list
		hours = &same
	}
	text, err := json.Marshal(hours)
	if err != nil {
		return err.Error() // only strings: cannot fail
	}
	return string(text)
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// pooled returns an HTTP client that keeps as many idle connections as are used.
func pooled(connections int) *http.Client {
	return &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: connections, IdleConnTimeout: time.Minute}}
}
