package store

import (
	"encoding/json"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// registrationRow is the JSON of a new registration, as an idempotency record keeps it
// for a day. Its names are part of the schema: a later build reads what this one wrote.
// What it omits is the same for every new hotspot.
type registrationRow struct {
	ID             string    `json:"id"`
	Operator       string    `json:"operator"`
	Name           string    `json:"name"`
	Type           string    `json:"type"`
	Lat            float64   `json:"lat"`
	Lng            float64   `json:"lng"`
	Address        string    `json:"address"`
	SSID           string    `json:"ssid"`
	MAC            string    `json:"mac"`
	MaxConnections int       `json:"max_connections"`
	BandwidthMbps  float64   `json:"bandwidth_mbps"`
	CoverageM      float64   `json:"coverage_m"`
	ShowSSID       bool      `json:"show_ssid,omitempty"`
	Hours          *hoursRow `json:"hours"`
	CreatedAt      time.Time `json:"created_at"`
}

func encodeRegistration(h beacon.Hotspot) ([]byte, error) {
	return json.Marshal(registrationRow{
		ID: string(h.ID), Operator: string(h.Operator), Name: h.Name, Type: string(h.Type),
		Lat: h.Location.Point.Lat, Lng: h.Location.Point.Lng, Address: h.Location.Address,
		SSID: h.Device.SSID, MAC: string(h.Device.MAC),
		MaxConnections: h.Settings.MaxConnections, BandwidthMbps: h.Settings.BandwidthLimitMbps,
		CoverageM: h.Settings.CoverageRadiusM, ShowSSID: h.Settings.ShowSSID, Hours: newHoursRow(h.Settings.OperatingHours), CreatedAt: h.CreatedAt,
	})
}

func decodeRegistration(text []byte) (beacon.Hotspot, error) {
	var r registrationRow
	err := json.Unmarshal(text, &r)
	return beacon.Hotspot{
		ID: beacon.HotspotID(r.ID), Operator: beacon.UserID(r.Operator), Name: r.Name, Type: beacon.Type(r.Type),
		Location: beacon.Location{Point: geo.Point{Lat: r.Lat, Lng: r.Lng}, Address: r.Address},
		Device:   beacon.Device{SSID: r.SSID, MAC: beacon.MAC(r.MAC)},
		Settings: beacon.Settings{
			MaxConnections: r.MaxConnections, BandwidthLimitMbps: r.BandwidthMbps,
			CoverageRadiusM: r.CoverageM, ShowSSID: r.ShowSSID, OperatingHours: r.Hours.hours(),
		},
		CreatedAt: r.CreatedAt, UpdatedAt: r.CreatedAt, Version: 1,
	}, err
}
