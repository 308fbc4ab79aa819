package hotspots

import (
	"encoding/json"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/registry"
)

// keptRegistration is what builds up to November 2026 kept of a registration for a day.
// When no server has been run by such a build for a day, this file can be deleted.
type keptRegistration struct {
	ID             beacon.HotspotID
	Operator       beacon.UserID
	Name           string
	Type           beacon.Type
	Lat, Lng       float64
	Address, SSID  string
	MAC            beacon.MAC
	MaxConnections int     `json:"max_connections"`
	BandwidthMbps  float64 `json:"bandwidth_mbps"`
	CoverageM      float64 `json:"coverage_m"`
	ShowSSID       bool    `json:"show_ssid"`
	Hours          *beacon.OperatingHours
	CreatedAt      time.Time `json:"created_at"`
}

// earlierRegistration returns what an earlier build registered.
func (a *API) earlierRegistration(result []byte) (registry.View, error) {
	var row keptRegistration
	err := json.Unmarshal(result, &row)
	return a.registry.Newborn(row.hotspot()), err
}

func (r *keptRegistration) hotspot() beacon.Hotspot {
	return beacon.Hotspot{
		ID: r.ID, Operator: r.Operator, Name: r.Name, Type: r.Type,
		Location: beacon.Location{Point: geo.Point{Lat: r.Lat, Lng: r.Lng}, Address: r.Address},
		Device:   beacon.Device{SSID: r.SSID, MAC: r.MAC},
		Settings: beacon.Settings{
			MaxConnections: r.MaxConnections, BandwidthLimitMbps: r.BandwidthMbps,
			CoverageRadiusM: r.CoverageM, ShowSSID: r.ShowSSID, OperatingHours: r.Hours,
		},
		CreatedAt: r.CreatedAt, UpdatedAt: r.CreatedAt, Version: 1,
	}
}
