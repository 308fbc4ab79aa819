package client

import (
	"context"
	"crypto/rand"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Type is the kind of place a hotspot is at.
type Type string

const (
	Home     Type = "home"
	Business Type = "business"
	Public   Type = "public"
)

// Status is whether a hotspot serves.
type Status string

const (
	Pending Status = "pending" // not verified, or not linked
	Online  Status = "online"
	Offline Status = "offline"

	AnyStatus Status = "all" // of no hotspot: to look for all of them
)

// Hotspot is an access point as everyone with a key sees it.
type Hotspot struct {
	ID              string   `json:"id"`
	Name            string   `json:"name"`
	Type            Type     `json:"type"`
	Status          Status   `json:"status"`
	Location        Location `json:"location"`
	Device          Device   `json:"device"`
	Settings        Settings `json:"settings"`
	CoverageRadiusM float64  `json:"coverage_radius_m"`
	Opening
	Metrics    Metrics   `json:"metrics"`
	Quality    *Quality  `json:"quality,omitempty"` // nil in a list, and if few people have checked in
	OperatorID string    `json:"operator_id"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`

	ETag     string `json:"-"` // for IfMatch; empty in a list
	Replayed bool   `json:"-"` // the same request registered it before
}

// Location is where a hotspot is.
type Location struct {
	Lat         float64    `json:"lat"`
	Lng         float64    `json:"lng"`
	Approximate bool       `json:"approximate,omitzero"` // not the true place: a home is hidden
	Address     *string    `json:"address,omitempty"`    // nil if it has none; empty if it is hidden
	Verified    bool       `json:"verified"`
	VerifiedAt  *time.Time `json:"verified_at,omitempty"`

	// UnverifiedReason is why the place is no longer verified, for its operator and
	// staff.
	UnverifiedReason string `json:"unverified_reason,omitempty"`

	// ProvenUntil is until when visits and check-ins prove the place, for its operator
	// and staff. Nil if nothing does.
	ProvenUntil *time.Time `json:"proven_until,omitempty"`
}

// Device is the access point itself.
type Device struct {
	SSID       string     `json:"ssid"`
	MACAddress string     `json:"mac_address"`
	Linked     bool       `json:"linked"`
	LinkedAt   *time.Time `json:"linked_at,omitempty"`
	Agent      *Agent     `json:"agent,omitempty"` // for the operator and staff
}

// Metrics is how a hotspot performs.
type Metrics struct {
	Uptime30d          float64    `json:"uptime_30d"`      // a fraction
	Connections24h     int        `json:"connections_24h"` // the sum of the most clients at once in each hour
	BandwidthUsed24hGB Gigabytes  `json:"bandwidth_used_24h_gb"`
	PerformanceTier    string     `json:"performance_tier"`
	SignalQuality      string     `json:"signal_quality"`
	CurrentLoad        float64    `json:"current_load"` // a fraction
	LastSeenAt         *time.Time `json:"last_seen_at"` // nil until the first heartbeat

	CountersFellAt *time.Time `json:"counters_fell_at,omitempty"` // see HeartbeatTaken.Warning
	LastUncounted  *Uncounted `json:"last_uncounted,omitempty"`
}

// Uncounted is a heartbeat that did not count, and why.
type Uncounted struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// Registration asks for a new hotspot.
type Registration struct {
	Name     string        `json:"name"`
	Type     Type          `json:"type"`
	Location Place         `json:"location"`
	Device   AccessPoint   `json:"device"`
	Settings *SettingsForm `json:"settings,omitempty"` // nil: the defaults of the type

	// IdempotencyKey makes it safe to repeat the registration within 24 hours: the
	// same key and registration return the same hotspot. If it is empty, each call
	// generates one, which makes its own retries safe.
	IdempotencyKey string `json:"-"`
}

// Place is the location of a new hotspot.
type Place struct {
	Lat     float64 `json:"lat"`
	Lng     float64 `json:"lng"`
	Address string  `json:"address,omitempty"`
}

// AccessPoint is the device of a new hotspot.
type AccessPoint struct {
	SSID       string `json:"ssid"`
	MACAddress string `json:"mac_address"`
}

// once makes it safe to repeat a request, under an Idempotency-Key. If the key is empty,
// it generates one.
func (r request) once(key string) request {
	if key == "" {
		key = rand.Text()
	}
	r.again = true
	return r.with("Idempotency-Key", key)
}

// RegisterHotspot registers a hotspot of the key's user. It needs the scope
// hotspots:write.
func (c *Client) RegisterHotspot(ctx context.Context, in Registration) (Hotspot, error) {
	return tagged(enveloped[Hotspot](ctx, c, post(path("hotspots"), in).once(in.IdempotencyKey)))
}

// tagged adds to a hotspot what the header contains.
func tagged(answer answer[Hotspot], err error) (Hotspot, error) {
	h := *answer.Data
	h.ETag, h.Replayed = answer.header.Get("ETag"), answer.header.Get("Idempotency-Replayed") == "true"
	return h, err
}

// MaxBatch is how many hotspots a batch may have.
const MaxBatch = 200

// Outcome is the result for a hotspot of a batch: its id, or why it was refused, as
// RegisterHotspot would have been.
type Outcome struct {
	Status int        `json:"status"`
	ID     string     `json:"id,omitempty"`
	Error  *ErrorBody `json:"error,omitempty"`
}

// Err returns the error that RegisterHotspot would have returned, or nil.
func (o Outcome) Err() error {
	if o.Error == nil {
		return nil
	}
	return &Error{Status: o.Status, Code: o.Error.Code, Message: o.Error.Message, Details: o.Error.Details}
}

// Batch asks for many hotspots, up to MaxBatch.
type Batch struct {
	Hotspots []Registration `json:"hotspots"`

	IdempotencyKey string `json:"-"` // as that of a Registration
}

// Outcomes are those of a batch, in its order.
type Outcomes struct {
	Outcomes []Outcome
	Replayed bool // the same request was sent before, and this was its outcome
}

// RegisterHotspots registers many hotspots of the key's user, each as RegisterHotspot does.
// What is wrong with one does not affect the others. It needs the scope hotspots:write.
func (c *Client) RegisterHotspots(ctx context.Context, in Batch) (Outcomes, error) {
	answer, err := enveloped[[]Outcome](ctx, c, post(path("hotspots", "batch"), in).once(in.IdempotencyKey))
	return Outcomes{*answer.Data, answer.header.Get("Idempotency-Replayed") == "true"}, err
}

// Hotspot returns one hotspot.
func (c *Client) Hotspot(ctx context.Context, id string) (Hotspot, error) {
	return tagged(enveloped[Hotspot](ctx, c, get(path("hotspots", id), nil)))
}

// Change is what to change about a hotspot; nil fields keep their value.
type Change struct {
	Name     *string       `json:"name,omitempty"`
	Type     *Type         `json:"type,omitempty"`
	Settings *SettingsForm `json:"settings,omitempty"`

	// A hotspot at another place is pending until staff have verified it; one with
	// another MAC address, until the new device is linked.
	Location *PlaceChange       `json:"location,omitempty"`
	Device   *AccessPointChange `json:"device,omitempty"`

	// IfMatch is the ETag of the hotspot that the change is meant for. If the hotspot
	// has changed since, nothing is done, and the error is ErrConflict.
	IfMatch string `json:"-"`
}

// PlaceChange is what to change about the place of a hotspot.
type PlaceChange struct {
	Lat     *float64 `json:"lat,omitempty"`
	Lng     *float64 `json:"lng,omitempty"`
	Address *string  `json:"address,omitempty"`
}

// AccessPointChange is what to change about the device of a hotspot.
type AccessPointChange struct {
	SSID       *string `json:"ssid,omitempty"`
	MACAddress *string `json:"mac_address,omitempty"`
}

// Changed is the result of a change.
type Changed struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Settings  Settings  `json:"settings"`
	UpdatedAt time.Time `json:"updated_at"`

	ETag string `json:"-"`
}

// ChangeHotspot changes one of the caller's hotspots. It needs the scope
// hotspots:write.
func (c *Client) ChangeHotspot(ctx context.Context, id string, change Change) (Changed, error) {
	r := request{method: http.MethodPatch, path: path("hotspots", id), body: change}.with("If-Match", change.IfMatch)
	answer, err := enveloped[Changed](ctx, c, r)
	answer.Data.ETag = answer.header.Get("ETag")
	return *answer.Data, err
}

// DeleteHotspot deletes one of the caller's hotspots; what it earned stays. With an
// ETag, it does so only if the hotspot has not changed since. It needs the scope
// hotspots:write.
func (c *Client) DeleteHotspot(ctx context.Context, id, ifMatch string) error {
	return c.silent(ctx, request{method: http.MethodDelete, path: path("hotspots", id)}.with("If-Match", ifMatch))
}

// RestoreHotspot brings back a hotspot that the caller deleted less than 24 hours ago, with
// its device linked as before. It needs the scope hotspots:write.
func (c *Client) RestoreHotspot(ctx context.Context, id string) (Changed, error) {
	answer, err := enveloped[Changed](ctx, c, post(path("hotspots", id, "restoration"), nil).once(""))
	answer.Data.ETag = answer.header.Get("ETag")
	return *answer.Data, err
}

// DeletedHotspot is one that can be brought back.
type DeletedHotspot struct {
	ID              string    `json:"id"`
	Name            string    `json:"name"`
	DeletedAt       time.Time `json:"deleted_at"`
	RestorableUntil time.Time `json:"restorable_until"`
}

// DeletedHotspots returns the hotspots that a user can bring back, the latest first, and at
// most 100. Those of others need the scope admin; "me" is the key's user.
func (c *Client) DeletedHotspots(ctx context.Context, user string) ([]DeletedHotspot, error) {
	return call[[]DeletedHotspot](ctx, c, request{path: path("users", user, "hotspots", "deleted")})
}

// Verification says where staff found a hotspot.
type Verification struct {
	Lat       float64 `json:"lat"`
	Lng       float64 `json:"lng"`
	AccuracyM float64 `json:"accuracy_m"`
	Method    string  `json:"method"` // "gps", "survey"

	Type      Type       `json:"type,omitempty"`      // if it is another than registered
	Speedtest *Speedtest `json:"speedtest,omitempty"` // at the hotspot, with the device of the visitor
	Moved     bool       `json:"moved,omitempty"`     // it is not where visits found it before

	// VisitedAt is when the hotspot was visited, if not just now. If a visit was recorded
	// after that, the error is ErrConflict.
	VisitedAt *time.Time `json:"visited_at,omitempty"`
	Note      string     `json:"note,omitempty"` // for the audit

	IdempotencyKey string `json:"-"` // as that of a Registration
}

// VerifyHotspot confirms that a hotspot is where it is registered. If it is not, the
// error is ErrConflict, and a hotspot that was verified is no longer. A hotspot that is
// farther from where visits found it before than the measurements allow is ErrConflict too,
// unless Moved says so. It needs the scope hotspots:verify.
func (c *Client) VerifyHotspot(ctx context.Context, id string, v Verification) (Hotspot, error) {
	return tagged(enveloped[Hotspot](ctx, c, post(path("hotspots", id, "verification"), v).once(v.IdempotencyKey)))
}

// WithdrawVerification makes a verified hotspot pending again. Its operator sees the
// reason, which may be empty. It needs the scope hotspots:verify.
func (c *Client) WithdrawVerification(ctx context.Context, id, reason string) error {
	return c.silent(ctx, request{method: http.MethodDelete, path: path("hotspots", id, "verification"), query: given("reason", reason)})
}

// HotspotsPage returns a page of a user's hotspots, in the order of registration.
// Those of others need the scope admin; "me" is the key's user.
func (c *Client) HotspotsPage(ctx context.Context, user string, p PageQuery) (Page[Hotspot], error) {
	return page[Hotspot](ctx, c, path("users", user, "hotspots"), nil, p)
}

// Hotspots returns all hotspots of a user, page by page. What is registered or deleted
// meanwhile does not move the others.
func (c *Client) Hotspots(ctx context.Context, user string) iter.Seq2[Hotspot, error] {
	return pages(func(p PageQuery) (Page[Hotspot], error) { return c.HotspotsPage(ctx, user, p) })
}

// SearchHotspots returns a page of a user's hotspots with a text in their name,
// ignoring case.
func (c *Client) SearchHotspots(ctx context.Context, user, text string, p PageQuery) (Page[Hotspot], error) {
	return page[Hotspot](ctx, c, path("users", user, "hotspots"), url.Values{"q": {text}}, p)
}

// OwnedQuery selects some of a user's hotspots. Zero fields do not matter.
type OwnedQuery struct {
	Text   string // with this in their name, ignoring case
	Status Status // in this state
	Type   Type   // of this type
	Order  string // such as "name", "-uptime" or "newest"; empty: in the order of registration
}

// FindHotspots returns a page of some of a user's hotspots. Of an order other than that of
// registration, read one page after the other by number.
func (c *Client) FindHotspots(ctx context.Context, user string, q OwnedQuery, p PageQuery) (Page[Hotspot], error) {
	query := given("q", q.Text, "status", string(q.Status), "type", string(q.Type), "order", q.Order)
	return page[Hotspot](ctx, c, path("users", user, "hotspots"), query, p)
}

// HistoryQuery selects a part of a hotspot's history. Zero fields get the server's
// defaults.
type HistoryQuery struct {
	From, To time.Time
	Step     string // "1h", "6h" or "1d"
}

// History is a hotspot's performance as a time series.
type History struct {
	HotspotID string         `json:"hotspot_id"`
	From      time.Time      `json:"from"`
	To        time.Time      `json:"to"`
	Step      string         `json:"step"`
	Points    []HistoryPoint `json:"points"`
}

// HistoryPoint is one step of a history.
type HistoryPoint struct {
	At              time.Time  `json:"at"`
	Uptime          *float64   `json:"uptime"`     // a fraction; nil if no service was expected
	Clients         *int       `json:"clients"`    // nil unless the key is the operator's or of staff
	TrafficGB       *Gigabytes `json:"traffic_gb"` // likewise
	PerformanceTier string     `json:"performance_tier"`
}

// History returns uptime, clients and traffic of a hotspot over time.
func (c *Client) History(ctx context.Context, id string, q HistoryQuery) (History, error) {
	query := given("step", q.Step)
	for name, at := range map[string]time.Time{"from": q.From, "to": q.To} {
		if !at.IsZero() {
			query.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	return call[History](ctx, c, get(path("hotspots", id, "history"), query))
}
