package store

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// visitRow is the JSON of a visit. Its names are part of the schema: existing rows contain
// them.
type visitRow struct {
	At        int64   `json:"at"` // in microseconds
	Lat       float64 `json:"lat"`
	Lng       float64 `json:"lng"`
	AccuracyM float64 `json:"accuracy_m"`
	Proves    bool    `json:"proves,omitempty"`
	Down      float32 `json:"down_mbps,omitempty"`
	Up        float32 `json:"up_mbps,omitempty"`
	Latency   float32 `json:"latency_ms,omitempty"`
	Withdraws bool    `json:"withdraws,omitempty"`
}

func encodeVisits(visits []beacon.Visit) (string, error) {
	if len(visits) == 0 {
		return "", nil
	}
	rows := make([]visitRow, len(visits))
	for i, v := range visits {
		rows[i] = visitRow{micros(v.At), v.Point.Lat, v.Point.Lng, v.AccuracyM, v.Proves, v.Test.DownMbps, v.Test.UpMbps, v.Test.LatencyMs, v.Withdraws}
	}
	text, err := json.Marshal(rows)
	return string(text), err
}

func decodeVisits(text string) ([]beacon.Visit, error) {
	if text == "" {
		return nil, nil
	}
	var rows []visitRow
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		return nil, fmt.Errorf("visits: %w", err)
	}
	visits := make([]beacon.Visit, len(rows))
	for i, r := range rows {
		visits[i] = beacon.Visit{
			At: fromMicros(r.At), Point: geo.Point{Lat: r.Lat, Lng: r.Lng}, AccuracyM: r.AccuracyM, Proves: r.Proves,
			Test: beacon.SpeedTest{DownMbps: r.Down, UpMbps: r.Up, LatencyMs: r.Latency}, Withdraws: r.Withdraws,
		}
	}
	return visits, nil
}

// Vouches are stored as a JSON array of microseconds.
func encodeVouches(vouches []time.Time) (string, error) {
	if len(vouches) == 0 {
		return "", nil
	}
	rows := make([]int64, len(vouches))
	for i, at := range vouches {
		rows[i] = micros(at)
	}
	text, err := json.Marshal(rows)
	return string(text), err
}

func decodeVouches(text string) ([]time.Time, error) {
	if text == "" {
		return nil, nil
	}
	var rows []int64
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		return nil, fmt.Errorf("vouches: %w", err)
	}
	vouches := make([]time.Time, len(rows))
	for i, at := range rows {
		vouches[i] = fromMicros(at)
	}
	return vouches, nil
}
