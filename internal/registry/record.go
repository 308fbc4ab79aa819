package registry

import (
	"encoding/json"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// record is a new registration as an idempotency record stores it for a day. Its
// field names are part of the database, like column names: a later build reads what
// this one wrote. What it omits is the same for every new hotspot.
type record struct {
	ID             string       `json:"id"`
	Operator       string       `json:"operator"`
	Name           string       `json:"name"`
	Type           string       `json:"type"`
	Lat            float64      `json:"lat"`
	Lng            float64      `json:"lng"`
	Address        string       `json:"address"`
	SSID           string       `json:"ssid"`
	MAC            string       `json:"mac"`
	MaxConnections int          `json:"max_connections"`
	BandwidthMbps  float64      `json:"bandwidth_mbps"`
	CoverageM      float64      `json:"coverage_m"`
	Hours          *hoursRecord `json:"hours"`
	CreatedAt      time.Time    `json:"created_at"`
}

func encodeRecord(h beacon.Hotspot) ([]byte, error) {
	return json.Marshal(record{
		ID: string(h.ID), Operator: string(h.Operator), Name: h.Name, Type: string(h.Type),
		Lat: h.Location.Point.Lat, Lng: h.Location.Point.Lng, Address: h.Location.Address,
		SSID: h.Device.SSID, MAC: string(h.Device.MAC),
		MaxConnections: h.Settings.MaxConnections, BandwidthMbps: h.Settings.BandwidthLimitMbps,
		CoverageM: h.Settings.CoverageRadiusM, Hours: recordHours(h.Settings.OperatingHours), CreatedAt: h.CreatedAt,
	})
}

func decodeRecord(text []byte) (beacon.Hotspot, error) {
	var r record
	err := json.Unmarshal(text, &r)
	return beacon.Hotspot{
		ID: beacon.HotspotID(r.ID), Operator: beacon.UserID(r.Operator), Name: r.Name, Type: beacon.Type(r.Type),
		Location: beacon.Location{Point: geo.Point{Lat: r.Lat, Lng: r.Lng}, Address: r.Address},
		Device:   beacon.Device{SSID: r.SSID, MAC: beacon.MAC(r.MAC)},
		Settings: beacon.Settings{
			MaxConnections: r.MaxConnections, BandwidthLimitMbps: r.BandwidthMbps,
			CoverageRadiusM: r.CoverageM, OperatingHours: r.Hours.hours(),
		},
		CreatedAt: r.CreatedAt, UpdatedAt: r.CreatedAt, Version: 1,
	}, err
}

// hoursRecord is operating hours in a record; times are minutes after midnight.
type hoursRecord struct {
	Timezone   string            `json:"timezone"`
	Weekly     []spanRecord      `json:"weekly"`
	Exceptions []exceptionRecord `json:"exceptions"`
}

type spanRecord struct {
	Days  []beacon.Weekday `json:"days,omitempty"`
	Open  int              `json:"open"`
	Close int              `json:"close"`
}

type exceptionRecord struct {
	Date   string       `json:"date"`
	Closed bool         `json:"closed"`
	Spans  []spanRecord `json:"spans"`
}

func recordHours(o *beacon.OperatingHours) *hoursRecord {
	if o == nil {
		return nil
	}
	r := &hoursRecord{Timezone: o.Timezone}
	for _, s := range o.Weekly {
		r.Weekly = append(r.Weekly, spanRecord{s.Days, s.Open, s.Close})
	}
	for _, e := range o.Exceptions {
		kept := exceptionRecord{Date: e.Date, Closed: e.Closed}
		for _, s := range e.Spans {
			kept.Spans = append(kept.Spans, spanRecord{Open: s.Open, Close: s.Close})
		}
		r.Exceptions = append(r.Exceptions, kept)
	}
	return r
}

func (r *hoursRecord) hours() *beacon.OperatingHours {
	if r == nil {
		return nil
	}
	o := &beacon.OperatingHours{Timezone: r.Timezone}
	for _, s := range r.Weekly {
		o.Weekly = append(o.Weekly, beacon.WeeklySpan{Days: s.Days, Open: s.Open, Close: s.Close})
	}
	for _, e := range r.Exceptions {
		exception := beacon.HoursException{Date: e.Date, Closed: e.Closed}
		for _, s := range e.Spans {
			exception.Spans = append(exception.Spans, beacon.ExceptionSpan{Open: s.Open, Close: s.Close})
		}
		o.Exceptions = append(o.Exceptions, exception)
	}
	return o
}
