package api

import (
	"net/http"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/registry"
)

type hotspot struct {
	ID         beacon.HotspotID `json:"id"`
	Name       string           `json:"name"`
	Type       beacon.Type      `json:"type"`
	Status     beacon.Status    `json:"status"`
	Location   location         `json:"location"`
	Device     device           `json:"device"`
	Settings   settings         `json:"settings"`
	RadiusM    float64          `json:"coverage_radius_m"` // in force, set explicitly or not
	OpenNow    bool             `json:"open_now"`
	OpenUntil  **stamp          `json:"open_until,omitempty"` // if it is open; null: for good
	OpensAt    **stamp          `json:"opens_at,omitempty"`   // if it is not; null: never
	Metrics    metrics          `json:"metrics"`
	Quality    *quality         `json:"quality,omitempty"`
	OperatorID beacon.UserID    `json:"operator_id"`
	CreatedAt  stamp            `json:"created_at"`
	UpdatedAt  stamp            `json:"updated_at"`
}

type location struct {
	Lat         float64 `json:"lat"`
	Lng         float64 `json:"lng"`
	Approximate bool    `json:"approximate,omitempty"`
	Address     *string `json:"address,omitempty"` // empty, not absent, if it is hidden
	Verified    bool    `json:"verified"`
	VerifiedAt  *stamp  `json:"verified_at,omitempty"`

	UnverifiedReason string `json:"unverified_reason,omitempty"`
	ProvenUntil      *stamp `json:"proven_until,omitempty"`
}

type device struct {
	SSID       string     `json:"ssid"`
	MACAddress beacon.MAC `json:"mac_address"`
	Linked     bool       `json:"linked"`
	LinkedAt   *stamp     `json:"linked_at,omitempty"`
	Agent      *agent     `json:"agent,omitempty"`
}

// agent is what a device reports of itself.
type agent struct {
	Version    string     `json:"version"`
	Model      string     `json:"model,omitempty"`
	Firmware   string     `json:"firmware,omitempty"`
	Kernel     string     `json:"kernel,omitempty"`
	BSSID      beacon.MAC `json:"bssid,omitempty"`
	Channel    int        `json:"channel,omitempty"`
	Radios     int        `json:"radios,omitempty"`
	ReportedAt stamp      `json:"reported_at"`
}

func showAgent(a beacon.Agent) *agent {
	if a == (beacon.Agent{}) {
		return nil
	}
	return &agent{a.Version, a.Model, a.Firmware, a.Kernel, a.BSSID, a.Channel, a.Radios, stamp(a.At)}
}

type settings struct {
	MaxConnections     int     `json:"max_connections"`
	BandwidthLimitMbps float64 `json:"bandwidth_limit_mbps"`
	OperatingHours     *hours  `json:"operating_hours"`
	CoverageRadiusM    float64 `json:"coverage_radius_m,omitempty"`
	ShowSSID           bool    `json:"show_ssid,omitempty"`
}

type metrics struct {
	Uptime30d          tenThousandths `json:"uptime_30d"`
	Connections24h     int            `json:"connections_24h"`
	BandwidthUsed24hGB gigabytes      `json:"bandwidth_used_24h_gb"`
	PerformanceTier    string         `json:"performance_tier"`
	SignalQuality      string         `json:"signal_quality"`
	CurrentLoad        tenThousandths `json:"current_load"`
	LastSeenAt         *stamp         `json:"last_seen_at"`
	CountersFellAt     *stamp         `json:"counters_fell_at,omitempty"`
	LastUncounted      *uncounted     `json:"last_uncounted,omitempty"`
}

// quality is what people found at a hotspot.
type quality struct {
	CheckIns30d int            `json:"checkins_30d"`
	SuccessRate tenThousandths `json:"success_rate"`
}

func showQuality(q beacon.Quality) *quality {
	if !q.Shown() {
		return nil
	}
	return &quality{q.CheckIns, tenThousandths(q.SuccessRate())}
}

// uncounted is a heartbeat that did not count.
type uncounted struct {
	At     stamp  `json:"at"`
	Reason string `json:"reason"`
}

func showUncounted(m beacon.Metrics) *uncounted {
	if m.Uncounted == beacon.Counted {
		return nil
	}
	return &uncounted{stamp(m.UncountedAt), m.Uncounted.String()}
}

type hours struct {
	Timezone   string       `json:"timezone"`
	Weekly     []weeklySpan `json:"weekly"`
	Exceptions []exception  `json:"exceptions"`
}

type weeklySpan struct {
	Days  []beacon.Weekday `json:"days"`
	Open  string           `json:"open"`
	Close string           `json:"close"`
}

type exception struct {
	Date   string `json:"date"`
	Closed bool   `json:"closed,omitempty"`
	Open   string `json:"open,omitempty"`
	Close  string `json:"close,omitempty"`
}

func showHotspot(h registry.View) hotspot {
	shown := hotspot{
		ID:     h.ID,
		Name:   h.Name,
		Type:   h.Type,
		Status: h.Status,
		Location: location{
			Lat: h.Location.Point.Lat, Lng: h.Location.Point.Lng, Approximate: h.Approximate,
			Verified: !h.Location.VerifiedAt.IsZero(), VerifiedAt: maybe(h.Location.VerifiedAt),
			UnverifiedReason: h.Location.UnverifiedReason, ProvenUntil: maybe(h.ProvenUntil),
		},
		Device: device{
			SSID: h.Device.SSID, MACAddress: h.Device.MAC,
			Linked: !h.Device.LinkedAt.IsZero(), LinkedAt: maybe(h.Device.LinkedAt),
			Agent: showAgent(h.Device.Agent),
		},
		Settings: showSettings(h.Settings),
		RadiusM:  h.Settings.CoverageRadius(h.Type),
		Metrics: metrics{
			Uptime30d:          tenThousandths(h.Metrics.Uptime30d),
			Connections24h:     h.Metrics.Connections24h,
			BandwidthUsed24hGB: gigabytes(h.Metrics.Bytes24h),
			PerformanceTier:    h.Metrics.Tier.String(),
			SignalQuality:      h.Metrics.Signal.String(),
			CurrentLoad:        tenThousandths(beacon.Load(h.Status, h.Metrics.Clients, h.Settings.MaxConnections)),
			LastSeenAt:         maybe(h.Metrics.Seen),
			CountersFellAt:     maybe(h.Metrics.FellAt),
			LastUncounted:      showUncounted(h.Metrics),
		},
		Quality:    showQuality(h.Quality),
		OperatorID: h.Operator,
		CreatedAt:  stamp(h.CreatedAt),
		UpdatedAt:  stamp(h.UpdatedAt),
		OpenNow:    h.Open,
	}
	if h.Location.Address != "" || h.Approximate {
		shown.Location.Address = &h.Location.Address
	}
	if h.Open {
		shown.OpenUntil = new(maybe(h.OpenUntil))
	} else {
		shown.OpensAt = new(maybe(h.OpenUntil))
	}
	return shown
}

func showSettings(s beacon.Settings) settings {
	out := settings{
		MaxConnections: s.MaxConnections, BandwidthLimitMbps: s.BandwidthLimitMbps, CoverageRadiusM: s.CoverageRadiusM, ShowSSID: s.ShowSSID,
	}
	if s.OperatingHours != nil {
		out.OperatingHours = showHours(*s.OperatingHours)
	}
	return out
}

func showHours(o beacon.OperatingHours) *hours {
	out := &hours{Timezone: o.Timezone, Weekly: []weeklySpan{}, Exceptions: []exception{}}
	for _, s := range o.Weekly {
		out.Weekly = append(out.Weekly, weeklySpan{s.Days, beacon.FormatClock(s.Open), beacon.FormatClock(s.Close)})
	}
	for _, e := range o.Exceptions {
		shown := exception{Date: e.Date, Closed: e.Closed}
		for _, s := range e.Spans { // the API accepts only one
			shown.Open, shown.Close = beacon.FormatClock(s.Open), beacon.FormatClock(s.Close)
		}
		out.Exceptions = append(out.Exceptions, shown)
	}
	return out
}

func encodeHotspot(h http.Header, hotspot registry.View) payload {
	h.Set("ETag", tagOf(hotspot.Version))
	return payload{Data: showHotspot(hotspot)}
}

func encodeRegistered(h http.Header, done registry.Registered) payload {
	h.Set("Location", Base+"/hotspots/"+string(done.Hotspot.ID))
	if done.Replayed {
		h.Set("Idempotency-Replayed", "true")
	}
	return encodeHotspot(h, done.Hotspot)
}

// changed is the response to a PATCH: the parts that it can change.
type changed struct {
	ID        beacon.HotspotID `json:"id"`
	Name      string           `json:"name"`
	Settings  settings         `json:"settings"`
	UpdatedAt stamp            `json:"updated_at"`
}

func encodeChanged(h http.Header, hotspot beacon.Hotspot) payload {
	h.Set("ETag", tagOf(hotspot.Version))
	return payload{Data: changed{hotspot.ID, hotspot.Name, showSettings(hotspot.Settings), stamp(hotspot.UpdatedAt)}}
}
