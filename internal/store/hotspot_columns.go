package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// hotspotColumn is a column of the table hotspots.
type hotspotColumn struct {
	name  string
	field func(h *beacon.Hotspot) any // see fields
	kind  columnKind
}

type columnKind int

const (
	usual columnKind = iota
	fixed            // an update does not write it
	later            // a seal covers it only if it is set: it was added after the first seals
	version
)

// hotspotTable has all columns but mac_live and the seal. What follows from it: the columns
// of statements, what they are read into and written from, and the order in which a seal
// covers them, which is this one among columns of a type. Append a new column as one of kind
// later.
var hotspotTable = []hotspotColumn{
	{"id", func(h *beacon.Hotspot) any { return (*string)(&h.ID) }, fixed},
	{"operator_id", func(h *beacon.Hotspot) any { return (*string)(&h.Operator) }, usual},
	{"name", func(h *beacon.Hotspot) any { return &h.Name }, usual},
	{"type", func(h *beacon.Hotspot) any { return as(&h.Type, always(typeText), always(sharedType)) }, usual},
	{"lat", func(h *beacon.Hotspot) any { return &h.Location.Point.Lat }, usual},
	{"lng", func(h *beacon.Hotspot) any { return &h.Location.Point.Lng }, usual},
	{"address", func(h *beacon.Hotspot) any { return &h.Location.Address }, usual},
	{"verified_at", func(h *beacon.Hotspot) any { return moment(&h.Location.VerifiedAt) }, usual},
	{"ssid", func(h *beacon.Hotspot) any { return &h.Device.SSID }, usual},
	{"mac", func(h *beacon.Hotspot) any { return (*string)(&h.Device.MAC) }, usual},
	{"linked_at", func(h *beacon.Hotspot) any { return moment(&h.Device.LinkedAt) }, usual},
	{"max_connections", func(h *beacon.Hotspot) any { return &h.Settings.MaxConnections }, usual},
	{"created_at", func(h *beacon.Hotspot) any { return moment(&h.CreatedAt) }, fixed},
	{"bandwidth_limit_mbps", func(h *beacon.Hotspot) any { return &h.Settings.BandwidthLimitMbps }, usual},
	{"operating_hours", func(h *beacon.Hotspot) any { return as(&h.Settings.OperatingHours, encodeHours, decodeHours) }, usual},
	{"coverage_radius_m", func(h *beacon.Hotspot) any { return &h.Settings.CoverageRadiusM }, usual},
	{"updated_at", func(h *beacon.Hotspot) any { return moment(&h.UpdatedAt) }, usual},
	{"deleted_at", func(h *beacon.Hotspot) any { return moment(&h.DeletedAt) }, usual},
	{"version", func(h *beacon.Hotspot) any { return &h.Version }, version},
	{"device_hash", func(h *beacon.Hotspot) any { return as(&h.Device.KeyHash, always(encodeHash), decodeHash) }, usual},
	{"past_hours", func(h *beacon.Hotspot) any { return as(&h.PastHours, encodePastHours, decodePastHours) }, usual},
	{"past_service", func(h *beacon.Hotspot) any { return as(&h.PastService, encodePastService, decodePastService) }, usual},
	{unverifiedReason, func(h *beacon.Hotspot) any { return &h.Location.UnverifiedReason }, later},
	{"agent", func(h *beacon.Hotspot) any { return as(&h.Device.Agent, encodeAgent, decodeAgent) }, later},
	{"visits", func(h *beacon.Hotspot) any { return as(&h.Visits, encodeVisits, decodeVisits) }, later},
	{"vouches", func(h *beacon.Hotspot) any { return as(&h.Vouches, encodeVouches, decodeVouches) }, later},
	{"show_ssid", func(h *beacon.Hotspot) any { return set(&h.Settings.ShowSSID, "shown") }, later},
	{"former", func(h *beacon.Hotspot) any { return as(&h.Former, encodeFormer, decodeFormer) }, later},
}

// unverifiedReason is in seals without its name, unlike the columns of kind later after it.
const unverifiedReason = "unverified_reason"

// set is a setting that is stored as a word if it is on.
func set(field *bool, word string) cell {
	return as(field, func(on bool) (string, error) {
		if on {
			return word, nil
		}
		return "", nil
	}, func(text string) (bool, error) { return text != "", nil })
}

// types are shared, so that a million hotspots do not hold a million copies of "home".
var types = beacon.Types()

func sharedType(text string) beacon.Type {
	if i := slices.Index(types, beacon.Type(text)); i >= 0 {
		return types[i]
	}
	return beacon.Type(text)
}

func typeText(t beacon.Type) string { return string(t) }

var (
	hotspotColumns = columnNames(func(columnKind) bool { return true }) + `, seal`
	mutableColumns = columnNames(func(k columnKind) bool { return k != fixed }) + `, seal`
)

func columnNames(wanted func(columnKind) bool) string {
	var names []string
	for _, c := range hotspotTable {
		if wanted(c.kind) {
			names = append(names, c.name)
		}
	}
	return strings.Join(names, ", ")
}

// hotspotRow has the fields of hotspotColumns.
func hotspotRow(h *beacon.Hotspot) []any {
	fields := make([]any, 0, len(hotspotTable)+2)
	for _, c := range hotspotTable {
		fields = append(fields, c.field(h))
	}
	seal := &hotspotSeal{hotspot: h}
	seal.columns, _ = bind(fields)
	return append(fields, seal, named{"hotspot", (*string)(&h.ID)})
}

// hotspotSeal is the field of a hotspot's seal.
type hotspotSeal struct {
	hotspot *beacon.Hotspot
	columns []any // what those of hotspotTable are read into
	stored  int64
	said    content // reused from row to row
}

func (s *hotspotSeal) target() any { return &s.stored }

// finish also accepts the seal of an older program, which does not know the newest columns:
// it writes the next version and leaves them as they are.
func (s *hotspotSeal) finish() error {
	err := s.content(len(s.columns)).check(s.stored)
	for known := len(s.columns) - 1; err != nil && hotspotTable[known].kind == later; known-- {
		err = s.content(known).check(s.stored)
	}
	if h := s.hotspot; !h.Location.VerifiedAt.IsZero() { // an older program verifies and leaves the reason
		h.Location.UnverifiedReason = ""
	}
	if h := s.hotspot; h.Device.LinkedAt.IsZero() { // an older program unlinks and leaves the agent
		h.Device.Agent = beacon.Agent{}
	}
	return err
}

func (s *hotspotSeal) value() (any, error) {
	s.stored = s.content(len(s.columns)).seal()
	return s.stored, nil
}

// content returns the first columns of a hotspot. It reuses the memory of the previous call.
// mac_live is compared with the MAC address instead.
func (s *hotspotSeal) content(known int) *content {
	c := &s.said
	if c.said == nil {
		c.said = make([]byte, 0, usualContent)
	}
	c.version, c.said = s.hotspot.Version, c.said[:0]
	for i, column := range s.columns[:known] {
		text, ok := column.(*string)
		switch {
		case !ok:
		case hotspotTable[i].kind != later:
			c.text(*text)
		case *text != "" && hotspotTable[i].name == unverifiedReason:
			c.text(*text)
		case *text != "":
			c.text(hotspotTable[i].name, *text)
		}
	}
	for _, column := range s.columns[:known] {
		if x, ok := column.(*float64); ok {
			c.real(*x)
		}
	}
	for i, column := range s.columns[:known] {
		switch n := column.(type) {
		case *int:
			c.integer(int64(*n))
		case *int64:
			if hotspotTable[i].kind != version {
				c.integer(*n)
			}
		}
	}
	return c
}

// hotspotValues returns the values of hotspotColumns and of mac_live, which is NULL once the
// hotspot is deleted: that frees its MAC address.
func hotspotValues(h beacon.Hotspot) ([]any, error) {
	values, err := appendValues(nil, hotspotRow(&h))
	if err != nil {
		return nil, err
	}
	for i := range hotspotTable {
		switch value := values[i].(type) {
		case string:
			err = storableText(value)
		case float64: // SQLite turns NaN into NULL
			if math.IsNaN(value) || math.IsInf(value, 0) {
				err = fmt.Errorf("hotspot %s has a number that cannot be stored", h.ID)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	mac := h.Device.MAC.Canonical()
	switch {
	case mac == "":
		return nil, fmt.Errorf("hotspot %s has no MAC address", h.ID)
	case h.Deleted():
		return append(values, nil), nil
	default:
		return append(values, mac), nil
	}
}

// readBack returns the hotspot that is read once the values are written.
func readBack(values []any) (h beacon.Hotspot, err error) {
	targets, finish := bind(hotspotRow(&h))
	setTargets(targets, values)
	return h, finish()
}

// mutable returns those of the values that an update writes.
func mutable(values []any) []any {
	some := slices.Clone(values)
	for i := len(hotspotTable) - 1; i >= 0; i-- {
		if hotspotTable[i].kind == fixed {
			some = slices.Delete(some, i, i+1)
		}
	}
	return some
}

// encodeHash returns a hash as stored in a row; "" is the zero hash.
func encodeHash(hash [sha256.Size]byte) string {
	if hash == ([sha256.Size]byte{}) {
		return ""
	}
	return hex.EncodeToString(hash[:])
}

func decodeHash(text string) (hash [sha256.Size]byte, err error) {
	if text == "" {
		return hash, nil
	}
	if len(text) != hex.EncodedLen(len(hash)) {
		return hash, fmt.Errorf("hash of %d digits", len(text))
	}
	_, err = hex.Decode(hash[:], []byte(text))
	return hash, err
}
