package client

import (
	"context"
	"crypto/rand"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Type says what kind of place a hotspot is at.
type Type string

const (
	Home     Type = "home"
	Business Type = "business"
	Public   Type = "public"
)

// Status says whether a hotspot serves.
type Status string

const (
	Pending Status = "pending" // not verified, or not linked
	Online  Status = "online"
	Offline Status = "offline"
)

// Hotspot is an access point as everyone with a key sees it.
type Hotspot struct {
	ID              string    `json:"id"`
	Name            string    `json:"name"`
	Type            Type      `json:"type"`
	Status          Status    `json:"status"`
	Location        Location  `json:"location"`
	Device          Device    `json:"device"`
	Settings        Settings  `json:"settings"`
	CoverageRadiusM float64   `json:"coverage_radius_m"`
	Metrics         Metrics   `json:"metrics"`
	OperatorID      string    `json:"operator_id"`
	CreatedAt       time.Time `json:"created_at"`
	UpdatedAt       time.Time `json:"updated_at"`

	ETag     string `json:"-"` // for IfMatch; empty in a list
	Replayed bool   `json:"-"` // it was registered before, by the same request
}

// Location is where a hotspot is.
type Location struct {
	Lat        float64    `json:"lat"`
	Lng        float64    `json:"lng"`
	Address    string     `json:"address,omitempty"`
	Verified   bool       `json:"verified"`
	VerifiedAt *time.Time `json:"verified_at,omitempty"`
}

// Device is the access point itself.
type Device struct {
	SSID       string     `json:"ssid"`
	MACAddress string     `json:"mac_address"`
	Linked     bool       `json:"linked"`
	LinkedAt   *time.Time `json:"linked_at,omitempty"`
}

// Metrics is how a hotspot does.
type Metrics struct {
	Uptime30d          float64    `json:"uptime_30d"` // a fraction
	Connections24h     int        `json:"connections_24h"`
	BandwidthUsed24hGB float64    `json:"bandwidth_used_24h_gb"`
	PerformanceTier    string     `json:"performance_tier"`
	SignalQuality      string     `json:"signal_quality"`
	CurrentLoad        float64    `json:"current_load"` // a fraction
	LastSeenAt         *time.Time `json:"last_seen_at"` // nil until the first heartbeat
}

// Registration asks for a hotspot.
type Registration struct {
	Name     string        `json:"name"`
	Type     Type          `json:"type"`
	Location Place         `json:"location"`
	Device   AccessPoint   `json:"device"`
	Settings *SettingsForm `json:"settings,omitempty"` // nil: those of the type

	// IdempotencyKey makes it safe to repeat the registration within 24 hours: the
	// same key and the same registration give the same hotspot. When it is empty,
	// each call has one of its own, under which the call itself may repeat it.
	IdempotencyKey string `json:"-"`
}

// Place is where a hotspot is to be.
type Place struct {
	Lat     float64 `json:"lat"`
	Lng     float64 `json:"lng"`
	Address string  `json:"address,omitempty"`
}

// AccessPoint is the device of a hotspot that is to be.
type AccessPoint struct {
	SSID       string `json:"ssid"`
	MACAddress string `json:"mac_address"`
}

// RegisterHotspot registers a hotspot of the key's user. It needs the scope
// hotspots:write.
func (c *Client) RegisterHotspot(ctx context.Context, in Registration) (Hotspot, error) {
	if in.IdempotencyKey == "" {
		in.IdempotencyKey = rand.Text()
	}
	r := post(path("hotspots"), in).with("Idempotency-Key", in.IdempotencyKey)
	r.again = true
	return tagged(call[Hotspot](ctx, c, r))
}

// tagged adds to a hotspot what stands in the header.
func tagged(h Hotspot, header http.Header, err error) (Hotspot, error) {
	h.ETag, h.Replayed = header.Get("ETag"), header.Get("Idempotency-Replayed") == "true"
	return h, err
}

// Hotspot gives one hotspot.
func (c *Client) Hotspot(ctx context.Context, id string) (Hotspot, error) {
	return tagged(call[Hotspot](ctx, c, get(path("hotspots", id), nil)))
}

// Change is what to change about a hotspot; what is nil stays as it is.
type Change struct {
	Name     *string       `json:"name,omitempty"`
	Settings *SettingsForm `json:"settings,omitempty"`

	// IfMatch is the ETag of the hotspot that the change is meant for. If the
	// hotspot has changed since, nothing is done, and the error is ErrConflict.
	IfMatch string `json:"-"`
}

// Changed is what a change led to.
type Changed struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Settings  Settings  `json:"settings"`
	UpdatedAt time.Time `json:"updated_at"`

	ETag string `json:"-"`
}

// ChangeHotspot changes a hotspot of one's own. It needs the scope
// hotspots:write.
func (c *Client) ChangeHotspot(ctx context.Context, id string, change Change) (Changed, error) {
	r := request{method: http.MethodPatch, path: path("hotspots", id), body: change}.with("If-Match", change.IfMatch)
	changed, header, err := call[Changed](ctx, c, r)
	changed.ETag = header.Get("ETag")
	return changed, err
}

// DeleteHotspot removes a hotspot of one's own; what it earned stays. With an
// ETag, only if it has not changed since. It needs the scope hotspots:write.
func (c *Client) DeleteHotspot(ctx context.Context, id, ifMatch string) error {
	return c.silent(ctx, request{method: http.MethodDelete, path: path("hotspots", id)}.with("If-Match", ifMatch))
}

// Verification says where staff found a hotspot.
type Verification struct {
	Lat       float64 `json:"lat"`
	Lng       float64 `json:"lng"`
	AccuracyM float64 `json:"accuracy_m"`
	Method    string  `json:"method"` // "gps", "survey"
}

// VerifyHotspot says that a hotspot is where it is registered. It needs the scope
// hotspots:verify.
func (c *Client) VerifyHotspot(ctx context.Context, id string, v Verification) (Hotspot, error) {
	r := post(path("hotspots", id, "verification"), v)
	r.again = true // a hotspot that is verified stays so
	return tagged(call[Hotspot](ctx, c, r))
}

// HotspotsPage gives a page of the hotspots of a user, in the order in which they
// were registered. Those of others need the scope admin; "me" is the key's user.
func (c *Client) HotspotsPage(ctx context.Context, user string, p PageQuery) (Page[Hotspot], error) {
	return page[Hotspot](ctx, c, path("users", user, "hotspots"), nil, p)
}

// Hotspots gives all hotspots of a user, page by page. A hotspot that is deleted
// meanwhile moves those after it: one of them may be left out.
func (c *Client) Hotspots(ctx context.Context, user string) iter.Seq2[Hotspot, error] {
	return pages(func(p PageQuery) (Page[Hotspot], error) { return c.HotspotsPage(ctx, user, p) })
}

// SearchHotspots gives a page of those hotspots of a user that have a text in their
// name, whatever its case.
func (c *Client) SearchHotspots(ctx context.Context, user, text string, p PageQuery) (Page[Hotspot], error) {
	return page[Hotspot](ctx, c, path("users", user, "hotspots"), url.Values{"q": {text}}, p)
}

// HistoryQuery asks how a hotspot did. What is zero is up to the server.
type HistoryQuery struct {
	From, To time.Time
	Step     string // "1h", "6h" or "1d"
}

// History is how a hotspot did, as a series.
type History struct {
	HotspotID string         `json:"hotspot_id"`
	From      time.Time      `json:"from"`
	To        time.Time      `json:"to"`
	Step      string         `json:"step"`
	Points    []HistoryPoint `json:"points"`
}

// HistoryPoint is one step of a history.
type HistoryPoint struct {
	At              time.Time `json:"at"`
	Uptime          *float64  `json:"uptime"` // a fraction; nil where no service was expected
	Clients         int       `json:"clients"`
	TrafficGB       float64   `json:"traffic_gb"`
	PerformanceTier string    `json:"performance_tier"`
}

// History gives uptime, clients and traffic of a hotspot over some time.
func (c *Client) History(ctx context.Context, id string, q HistoryQuery) (History, error) {
	query := url.Values{}
	for name, at := range map[string]time.Time{"from": q.From, "to": q.To} {
		if !at.IsZero() {
			query.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	if q.Step != "" {
		query.Set("step", q.Step)
	}
	history, _, err := call[History](ctx, c, get(path("hotspots", id, "history"), query))
	return history, err
}
