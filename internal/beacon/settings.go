package beacon

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Settings are what an operator may change.
type Settings struct {
	MaxConnections     int
	BandwidthLimitMbps float64
	OperatingHours     *OperatingHours // nil: always open
	CoverageRadiusM    float64         // zero: the default of the type
	ShowSSID           bool            // of a home that is hidden, to strangers
}

// settingsForAnyKey are those that every key sees; operating hours have a wider audience.
var settingsForAnyKey = []Detail{
	"Hotspot.settings.max_connections", "Hotspot.settings.bandwidth_limit_mbps", "Hotspot.settings.coverage_radius_m", "Hotspot.settings.show_ssid",
}

// Limits of the settings (decisions N9 and N14).
const (
	MaxConnectionsLimit = 10_000
	MaxBandwidthMbps    = 100_000
	MinCoverageRadiusM  = 10
	MaxCoverageRadiusM  = 500
)

// Valid reports whether the type is one of the three.
func (t Type) Valid() bool { return slices.Contains(Types(), t) }

// DefaultSettings returns the settings of a hotspot whose operator chose none
// (decision N9): always open, with room for the usual visitors of such a place.
func DefaultSettings(t Type) Settings {
	switch t {
	case Business:
		return Settings{MaxConnections: 64, BandwidthLimitMbps: 200}
	case Public:
		return Settings{MaxConnections: 128, BandwidthLimitMbps: 300}
	}
	return Settings{MaxConnections: 16, BandwidthLimitMbps: 50}
}

// CoverageRadius returns how far the hotspot reaches, in metres: as its operator
// measured it, or what is usual for its type (decision N14).
func (s Settings) CoverageRadius(t Type) float64 {
	switch {
	case s.CoverageRadiusM > 0:
		return s.CoverageRadiusM
	case t == Business:
		return 75
	case t == Public:
		return 100
	}
	return 50
}

// SettingsForm is the settings as sent by a client. Numbers are as in JSON, so that
// 1.5 connections can be rejected by name.
type SettingsForm struct {
	MaxConnections     Opt[float64]
	BandwidthLimitMbps Opt[float64]
	OperatingHours     Opt[HoursForm] // null: always open
	CoverageRadiusM    Opt[float64]   // null: the default of the type
	ShowSSID           Opt[bool]
}

// apply overwrites s with what the form holds. Faults go into f, and leave s in a
// state that must not be kept.
func (form SettingsForm) apply(s *Settings, f *Faults) {
	const path = "settings."
	if v, ok := Optional(form.MaxConnections, path+"max_connections", f); ok {
		f.Check(path+"max_connections", checkWhole(v, 1, MaxConnectionsLimit))
		s.MaxConnections = int(v)
	}
	if v, ok := Optional(form.BandwidthLimitMbps, path+"bandwidth_limit_mbps", f); ok {
		f.Check(path+"bandwidth_limit_mbps", checkPositive(v, MaxBandwidthMbps))
		s.BandwidthLimitMbps = v
	}
	if v, ok := Optional(form.ShowSSID, path+"show_ssid", f); ok {
		s.ShowSSID = v
	}
	switch radius := form.CoverageRadiusM; {
	case radius.Null:
		s.CoverageRadiusM = 0
	case radius.Set:
		f.Check(path+"coverage_radius_m", checkRange(radius.V, MinCoverageRadiusM, MaxCoverageRadiusM))
		s.CoverageRadiusM = radius.V
	}
	switch hours := form.OperatingHours; {
	case hours.Null:
		s.OperatingHours = nil
	case hours.Set:
		s.OperatingHours = hours.V.merge(s.OperatingHours, path+"operating_hours", f)
	}
}

// The comparisons below are written so that NaN fails them.

func checkWhole(v, least, most float64) error {
	if v != math.Trunc(v) {
		return errors.New("must be a whole number")
	}
	return checkRange(v, least, most)
}

func checkRange(v, least, most float64) error {
	if !(v >= least && v <= most) {
		return fmt.Errorf("must be %.0f to %.0f", least, most)
	}
	return nil
}

func checkPositive(v, most float64) error {
	if !(v > 0 && v <= most) {
		return fmt.Errorf("must be more than 0 and at most %.0f", most)
	}
	return nil
}
