package client

import (
	"context"
	"time"
)

// Overview is how the network is, for its staff.
type Overview struct {
	Online  int `json:"online"`
	Offline int `json:"offline"`
	Pending int `json:"pending"`

	Silent       []SilentHotspot `json:"silent"`        // offline for longest; at most 10
	Uptime       []DayUptime     `json:"uptime"`        // of all hotspots together on the last closed days
	Registered7d int             `json:"registered_7d"` // in the last seven days
	ToVisit      int             `json:"to_visit"`      // their place is neither verified nor rejected
	Rejected     int             `json:"rejected"`      // until their operator moves them, or staff verify them
	Flags        int             `json:"flags"`         // lines of the review queue
	Holds        int             `json:"holds"`         // that are active

	ClosedThrough *string `json:"closed_through"` // the last closed day; nil: none is
	DaysDue       int     `json:"days_due"`       // over, and not closed
	ClockWaiting  bool    `json:"clock_waiting"`  // until staff confirm what day it is
}

// SilentHotspot is a hotspot that is offline.
type SilentHotspot struct {
	HotspotID  string     `json:"hotspot_id"`
	Name       string     `json:"name"`
	LastSeenAt *time.Time `json:"last_seen_at"` // nil: never
}

// DayUptime is which share of the minutes of a day all hotspots together served.
type DayUptime struct {
	Date   string  `json:"date"`
	Uptime float64 `json:"uptime"` // a fraction
}

// Overview returns how the network is. It needs the scope hotspots:verify.
func (c *Client) Overview(ctx context.Context) (Overview, error) {
	return call[Overview](ctx, c, get(path("overview"), nil))
}
