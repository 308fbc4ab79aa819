package client

import "encoding/json"

// Settings are an operator's settings of a hotspot.
type Settings struct {
	MaxConnections     int             `json:"max_connections"`
	BandwidthLimitMbps float64         `json:"bandwidth_limit_mbps"`
	OperatingHours     *OperatingHours `json:"operating_hours"`             // nil: always open
	CoverageRadiusM    *float64        `json:"coverage_radius_m,omitempty"` // nil: the default of the type
	ShowSSID           bool            `json:"show_ssid,omitzero"`          // of a home that is hidden
}

// SettingsForm is settings to change. Nil fields keep their value or, at
// registration, get the default of the type.
type SettingsForm struct {
	MaxConnections     *int
	BandwidthLimitMbps *float64
	CoverageRadiusM    *float64
	DefaultRadius      bool            // restores the radius of the type
	ShowSSID           *bool           // to strangers, of a home that is hidden
	OperatingHours     *OperatingHours // replaces the operating hours, with all exceptions
	AlwaysOpen         bool            // removes the operating hours
}

// settingsForm is the JSON form of a SettingsForm: a default is a null, which differs
// from an absent field.
type settingsForm struct {
	MaxConnections     *int            `json:"max_connections,omitempty"`
	BandwidthLimitMbps *float64        `json:"bandwidth_limit_mbps,omitempty"`
	CoverageRadiusM    json.RawMessage `json:"coverage_radius_m,omitempty"`
	ShowSSID           *bool           `json:"show_ssid,omitempty"`
	OperatingHours     json.RawMessage `json:"operating_hours,omitempty"`
}

// MarshalJSON encodes the fields to change.
func (s SettingsForm) MarshalJSON() ([]byte, error) {
	form := settingsForm{MaxConnections: s.MaxConnections, BandwidthLimitMbps: s.BandwidthLimitMbps, ShowSSID: s.ShowSSID}
	if hours := s.OperatingHours; hours != nil && hours.Exceptions == nil {
		whole := *hours
		whole.Exceptions = []HoursException{} // absent ones would be kept
		s.OperatingHours = &whole
	}
	var err error
	if form.CoverageRadiusM, err = nullOr(s.DefaultRadius, s.CoverageRadiusM); err != nil {
		return nil, err
	}
	if form.OperatingHours, err = nullOr(s.AlwaysOpen, s.OperatingHours); err != nil {
		return nil, err
	}
	return json.Marshal(form)
}

// nullOr encodes null or a value, or nothing if there is no value.
func nullOr[T any](null bool, value *T) (json.RawMessage, error) {
	switch {
	case null:
		return json.RawMessage("null"), nil
	case value == nil:
		return nil, nil
	default:
		return json.Marshal(value)
	}
}

// OperatingHours say when a hotspot intends to be open, in local time.
type OperatingHours struct {
	Timezone   string           `json:"timezone"` // "America/New_York"
	Weekly     []WeeklyHours    `json:"weekly"`
	Exceptions []HoursException `json:"exceptions"`
}

// WeeklyHours are the hours on some days of the week. They extend past midnight if
// Close is not later than Open.
type WeeklyHours struct {
	Days  []string `json:"days"` // "mon" to "sun"
	Open  string   `json:"open"` // "08:00"
	Close string   `json:"close"`
}

// HoursException is a date with other hours.
type HoursException struct {
	Date   string `json:"date"` // "2026-12-25"
	Closed bool   `json:"closed,omitzero"`
	Open   string `json:"open,omitempty"`
	Close  string `json:"close,omitempty"`
}
