package beacon

import (
	"time"

	"github.com/beacon-wifi/beacon/geo"
)

// HotspotID names a hotspot: "hs_" and 26 characters (decision N22).
type HotspotID string

// UserID names an operator or a member of staff: "usr_" and 26 characters.
type UserID string

// Prefixes of the ids, with their underscore.
const (
	HotspotPrefix = "hs_"
	UserPrefix    = "usr_"
	KeyPrefix     = "key_"
)

// Type says what kind of place a hotspot serves.
type Type string

// The three types of the network document.
const (
	Home     Type = "home"
	Business Type = "business"
	Public   Type = "public"
)

// Hotspot is one registered access point, as the database keeps it.
type Hotspot struct {
	ID        HotspotID
	Operator  UserID
	Name      string
	Type      Type
	Location  Location
	Device    Device
	Settings  Settings
	CreatedAt time.Time
	UpdatedAt time.Time
	DeletedAt time.Time // zero while it lives

	// Version is 1 at registration and grows by one with every change. Where
	// two copies of a hotspot meet, the higher version wins.
	Version int64
}

// Location is where a hotspot stands.
type Location struct {
	Point      geo.Point
	Address    string    // optional
	VerifiedAt time.Time // zero until staff verified it
}

// Device is the access point itself.
type Device struct {
	SSID     string
	MAC      MAC
	LinkedAt time.Time // zero until a device is linked
}

// Settings are what an operator may change.
type Settings struct {
	MaxConnections     int
	BandwidthLimitMbps float64
	OperatingHours     *OperatingHours // nil: always open
	CoverageRadiusM    float64         // zero: the default of the type
}

// Deleted reports whether the hotspot is gone.
func (h Hotspot) Deleted() bool { return !h.DeletedAt.IsZero() }
