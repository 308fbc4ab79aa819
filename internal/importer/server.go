package importer

import (
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
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Server is a server to register hotspots at. It knows which hotspots its user has.
type Server struct {
	client *client.Client
	own    map[string]ownHotspot // by canonical MAC address
}

type ownHotspot struct {
	id     string
	values []value
}

// longestWait is how long the import waits when the server asks it to.
const longestWait = time.Minute

// Connect checks the key, and reads the hotspots of its user.
func Connect(ctx context.Context, url, key string, connections int) (*Server, error) {
	options := []client.Option{client.WithUserAgent("beacon-import"), client.WithHTTPClient(pooled(connections))}
	self, err := checkKey(ctx, url, key, append(options, client.WithRetries(3, time.Second)))
	if err != nil {
		return nil, err
	}
	c, err := client.New(url, key, append(options, client.WithRetries(10, longestWait))...)
	if err != nil {
		return nil, err
	}
	s := &Server{client: c, own: map[string]ownHotspot{}}
	for h, err := range c.Hotspots(ctx, self.UserID) {
		if err != nil {
			return nil, fmt.Errorf("look for existing hotspots: %w", err)
		}
		s.own[beacon.MAC(h.Device.MACAddress).Canonical()] = ownHotspot{h.ID, valuesThere(h)}
	}
	return s, nil
}

// checkKey checks that there is a server, and that the key is valid. It retries less
// than what follows: an address may be misspelt.
func checkKey(ctx context.Context, url, key string, options []client.Option) (client.Key, error) {
	c, err := client.New(url, key, options...)
	if err != nil {
		return client.Key{}, err
	}
	self, err := c.OwnKey(ctx)
	switch _, refused := errors.AsType[*client.Error](err); {
	case errors.Is(err, client.ErrUnauthorized):
		err = errors.New("the server does not know this key; create one with: beacon keys create --user new --scopes hotspots:write")
	case err != nil && !refused:
		err = fmt.Errorf("cannot reach a server at %s: %w", url, err)
	case err == nil && !slices.Contains(self.Scopes, client.ScopeHotspotsWrite) && !slices.Contains(self.Scopes, client.ScopeAdmin):
		err = fmt.Errorf("the key has the scopes %v; registering hotspots needs %s", self.Scopes, client.ScopeHotspotsWrite)
	}
	return self, err
}

// Register registers one hotspot, unless it exists. Its idempotency key is derived
// from its contents, so that two imports at the same time register it once.
func (s *Server) Register(ctx context.Context, c candidate) (Outcome, error) {
	if there, ok := s.own[c.hotspot.Device.MAC.Canonical()]; ok {
		return compare(there, c), nil
	}
	text, err := json.Marshal(c.registration)
	if err != nil {
		return Outcome{}, err
	}
	sum := sha256.Sum256(text)
	c.registration.IdempotencyKey = "import-" + hex.EncodeToString(sum[:])
	made, err := s.client.RegisterHotspot(ctx, c.registration)
	if err == nil && made.Replayed {
		return s.replayed(ctx, c, made)
	}
	return judge(err)
}

// replayed handles a hotspot that the same request registered before: either it still
// exists, or it was deleted within the day and is registered again.
func (s *Server) replayed(ctx context.Context, c candidate, first client.Hotspot) (Outcome, error) {
	now, err := s.client.Hotspot(ctx, first.ID)
	if errors.Is(err, client.ErrNotFound) {
		c.registration.IdempotencyKey = "" // use a new one
		_, err = s.client.RegisterHotspot(ctx, c.registration)
		return judge(err)
	}
	if err != nil {
		return Outcome{}, err
	}
	return compare(ownHotspot{now.ID, valuesThere(now)}, c), nil
}

// judge distinguishes an error of one row from one that affects everything.
func judge(err error) (Outcome, error) {
	e, refused := errors.AsType[*client.Error](err)
	switch {
	case err == nil:
		return Outcome{Kind: Registered}, nil
	case errors.Is(err, client.ErrConflict):
		return Outcome{Failed, "mac_address is registered already, by someone else"}, nil
	case refused && len(e.Details) > 0:
		var faults rowFaults
		for _, d := range e.Details {
			faults.add(columnOf(d.Field), d.Message)
		}
		return Outcome{Failed, faults.String()}, nil
	}
	return Outcome{}, err
}

// value is what a hotspot has in a column, as text to compare.
type value struct{ column, text string }

// compare reports whether the existing hotspot is as the file says. It changes
// nothing: the operator may have edited it since.
func compare(there ownHotspot, c candidate) Outcome {
	var other []string
	for i, wanted := range valuesWanted(c) {
		if there.values[i] != wanted {
			other = append(other, wanted.column)
		}
	}
	if len(other) == 0 {
		return Outcome{Kind: Present}
	}
	return Outcome{Different, fmt.Sprintf("already there as %s, and left as it is: it differs in %s", there.id, strings.Join(other, ", "))}
}

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
