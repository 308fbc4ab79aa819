package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/beacon-wifi/beacon/beacon"
)

// micros is a time as a row holds it; 0 stands for the zero time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// hotspotRow is a hotspot in the order of hotspotColumns, and mac_live.
type hotspotRow struct {
	id, operator, name, kind                 string
	lat, lng                                 float64
	address                                  string
	verifiedAt                               int64
	ssid, mac                                string
	linkedAt, maxConnections                 int64
	bandwidth                                float64
	hours                                    string
	radius                                   float64
	createdAt, updatedAt, deletedAt, version int64

	macLive any // NULL once the hotspot is gone, which frees its MAC
}

// scanHotspot reads a row of hotspotColumns.
func scanHotspot(scan func(...any) error) (beacon.Hotspot, error) {
	var r hotspotRow
	if err := scan(r.targets()...); err != nil {
		return beacon.Hotspot{}, err
	}
	return r.hotspot()
}

// targets are what hotspotColumns are scanned into.
func (r *hotspotRow) targets() []any {
	return []any{
		&r.id, &r.operator, &r.name, &r.kind, &r.lat, &r.lng, &r.address, &r.verifiedAt, &r.ssid, &r.mac, &r.linkedAt,
		&r.maxConnections, &r.bandwidth, &r.hours, &r.radius, &r.createdAt, &r.updatedAt, &r.deletedAt, &r.version,
	}
}

func (r *hotspotRow) hotspot() (beacon.Hotspot, error) {
	h := beacon.Hotspot{
		ID:        beacon.HotspotID(r.id),
		Operator:  beacon.UserID(r.operator),
		Name:      r.name,
		Type:      sharedType(r.kind),
		CreatedAt: fromMicros(r.createdAt),
		UpdatedAt: fromMicros(r.updatedAt),
		DeletedAt: fromMicros(r.deletedAt),
		Version:   r.version,
	}
	h.Location.Point.Lat, h.Location.Point.Lng = r.lat, r.lng
	h.Location.Address = r.address
	h.Location.VerifiedAt = fromMicros(r.verifiedAt)
	h.Device = beacon.Device{SSID: r.ssid, MAC: beacon.MAC(r.mac), LinkedAt: fromMicros(r.linkedAt)}
	h.Settings = beacon.Settings{
		MaxConnections:     int(r.maxConnections),
		BandwidthLimitMbps: r.bandwidth,
		CoverageRadiusM:    r.radius,
	}
	var err error
	h.Settings.OperatingHours, err = decodeHours(r.hours)
	return h, err
}

// sharedType returns one of the constants, so that a million hotspots do not
// hold a million copies of "home".
func sharedType(text string) beacon.Type {
	for _, known := range [...]beacon.Type{beacon.Home, beacon.Business, beacon.Public} {
		if text == string(known) {
			return known
		}
	}
	return beacon.Type(text)
}

func rowOf(h beacon.Hotspot) (*hotspotRow, error) {
	hours, err := encodeHours(h.Settings.OperatingHours)
	if err := errors.Join(err, storable(h)); err != nil {
		return nil, err
	}
	row := &hotspotRow{
		id: string(h.ID), operator: string(h.Operator), name: h.Name, kind: string(h.Type),
		lat: h.Location.Point.Lat, lng: h.Location.Point.Lng, address: h.Location.Address,
		verifiedAt: micros(h.Location.VerifiedAt),
		ssid:       h.Device.SSID, mac: string(h.Device.MAC), linkedAt: micros(h.Device.LinkedAt),
		maxConnections: int64(h.Settings.MaxConnections), bandwidth: h.Settings.BandwidthLimitMbps,
		hours: hours, radius: h.Settings.CoverageRadiusM,
		createdAt: micros(h.CreatedAt), updatedAt: micros(h.UpdatedAt), deletedAt: micros(h.DeletedAt),
		version: h.Version,
	}
	if !h.Deleted() {
		row.macLive = h.Device.MAC.Canonical()
	}
	return row, nil
}

// values are those of hotspotColumns.
func (r *hotspotRow) values() []any {
	return []any{
		r.id, r.operator, r.name, r.kind, r.lat, r.lng, r.address, r.verifiedAt, r.ssid, r.mac, r.linkedAt,
		r.maxConnections, r.bandwidth, r.hours, r.radius, r.createdAt, r.updatedAt, r.deletedAt, r.version,
	}
}

// mutable are the values that an update writes, in its order.
func (r *hotspotRow) mutable() []any {
	return []any{
		r.name, r.kind, r.lat, r.lng, r.address, r.verifiedAt, r.ssid, r.mac, r.linkedAt,
		r.maxConnections, r.bandwidth, r.hours, r.radius, r.updatedAt, r.deletedAt, r.version,
	}
}

// storable refuses what databases keep in different ways: PostgreSQL refuses
// NUL and broken UTF-8 and SQLite stores them; SQLite turns NaN into NULL.
func storable(h beacon.Hotspot) error {
	err := storableText(string(h.ID), string(h.Operator), h.Name, string(h.Type), h.Location.Address, h.Device.SSID)
	if err != nil {
		return err
	}
	if h.Device.MAC.Canonical() == "" {
		return fmt.Errorf("hotspot %s has no MAC address", h.ID)
	}
	for _, x := range []float64{
		h.Location.Point.Lat, h.Location.Point.Lng, h.Settings.BandwidthLimitMbps, h.Settings.CoverageRadiusM,
	} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("hotspot %s has a number that cannot be stored", h.ID)
		}
	}
	return nil
}

func storableText(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return errors.New("a text cannot be stored: it is not UTF-8, or has a NUL in it") // it may be someone's address
		}
	}
	return nil
}

// hoursRow is the JSON of operating hours. Its names are part of the schema:
// released rows hold them.
type hoursRow struct {
	Timezone   string         `json:"timezone"`
	Weekly     []weeklyRow    `json:"weekly,omitempty"`
	Exceptions []exceptionRow `json:"exceptions,omitempty"`
}

type weeklyRow struct {
	Days  []beacon.Day `json:"days"`
	Open  int          `json:"open"`
	Close int          `json:"close"`
}

type exceptionRow struct {
	Date   string    `json:"date"`
	Closed bool      `json:"closed,omitempty"`
	Spans  []spanRow `json:"spans,omitempty"`
}

type spanRow struct {
	Open  int `json:"open"`
	Close int `json:"close"`
}

func encodeHours(hours *beacon.OperatingHours) (string, error) {
	if hours == nil {
		return "", nil
	}
	row := hoursRow{Timezone: hours.Timezone}
	for _, w := range hours.Weekly {
		row.Weekly = append(row.Weekly, weeklyRow(w))
	}
	for _, e := range hours.Exceptions {
		exception := exceptionRow{Date: e.Date, Closed: e.Closed}
		for _, s := range e.Spans {
			exception.Spans = append(exception.Spans, spanRow(s))
		}
		row.Exceptions = append(row.Exceptions, exception)
	}
	text, err := json.Marshal(row)
	return string(text), errors.Join(err, storableText(hours.Timezone))
}

func decodeHours(text string) (*beacon.OperatingHours, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // nil is a value here: always open
	}
	var row hoursRow
	if err := json.Unmarshal([]byte(text), &row); err != nil {
		return nil, fmt.Errorf("operating_hours: %w", err)
	}
	hours := &beacon.OperatingHours{Timezone: row.Timezone}
	for _, w := range row.Weekly {
		hours.Weekly = append(hours.Weekly, beacon.WeeklySpan(w))
	}
	for _, e := range row.Exceptions {
		exception := beacon.HoursException{Date: e.Date, Closed: e.Closed}
		for _, s := range e.Spans {
			exception.Spans = append(exception.Spans, beacon.ExceptionSpan(s))
		}
		hours.Exceptions = append(hours.Exceptions, exception)
	}
	return hours, nil
}
