package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// The types below are the JSON in columns of text, which are empty for the zero value.
// Their names are part of the schema: existing rows contain them. Times are in
// microseconds.

type agentRow struct {
	Version  string `json:"version"`
	Model    string `json:"model,omitempty"`
	Firmware string `json:"firmware,omitempty"`
	Kernel   string `json:"kernel,omitempty"`
	BSSID    string `json:"bssid,omitempty"`
	Channel  int    `json:"channel,omitempty"`
	Radios   int    `json:"radios,omitempty"`
	At       int64  `json:"at"`
}

type measuredRow struct {
	DownMbps float32 `json:"down_mbps,omitempty"`
	UpMbps   float32 `json:"up_mbps,omitempty"`
	RSSI     int     `json:"rssi_dbm,omitempty"`
}

type visitRow struct {
	At        int64   `json:"at"`
	By        string  `json:"by,omitempty"`
	People    string  `json:"people,omitempty"` // with blanks between
	Lat       float64 `json:"lat"`
	Lng       float64 `json:"lng"`
	AccuracyM float64 `json:"accuracy_m"`
	Proves    bool    `json:"proves,omitempty"`
	Down      float32 `json:"down_mbps,omitempty"`
	Up        float32 `json:"up_mbps,omitempty"`
	Latency   float32 `json:"latency_ms,omitempty"`
	Withdraws bool    `json:"withdraws,omitempty"`
	Again     bool    `json:"again,omitempty"`
}

// periodRow is a period in which a hotspot was in service.
type periodRow struct {
	From  int64 `json:"from"`
	Until int64 `json:"until"`
}

// tenureRow is who a hotspot belonged to, and the last day.
type tenureRow struct {
	User    string `json:"user"`
	Through int64  `json:"through"`
}

func encodeAgent(a beacon.Agent) (string, error) {
	if a == (beacon.Agent{}) {
		return "", nil
	}
	text, err := json.Marshal(agentRow{a.Version, a.Model, a.Firmware, a.Kernel, string(a.BSSID), a.Channel, a.Radios, micros(a.At)})
	return string(text), errors.Join(err, storableText(a.Version, a.Model, a.Firmware, a.Kernel))
}

func decodeAgent(text string) (beacon.Agent, error) {
	if text == "" {
		return beacon.Agent{}, nil
	}
	var r agentRow
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return beacon.Agent{}, fmt.Errorf("agent: %w", err)
	}
	return beacon.Agent{
		Version: r.Version, Model: r.Model, Firmware: r.Firmware, Kernel: r.Kernel, BSSID: beacon.MAC(r.BSSID),
		Channel: r.Channel, Radios: r.Radios, At: fromMicros(r.At),
	}, nil
}

func encodeMeasured(m beacon.Measured) (string, error) {
	if m == (beacon.Measured{}) {
		return "", nil
	}
	text, err := json.Marshal(measuredRow(m))
	return string(text), err
}

func encodeVisits(visits []beacon.Visit) (string, error) {
	return encodeList(visits, func(v beacon.Visit) visitRow {
		return visitRow{
			micros(v.At), string(v.By.User), wordsText(v.By.People), v.Point.Lat, v.Point.Lng, v.AccuracyM, v.Proves,
			v.Test.DownMbps, v.Test.UpMbps, v.Test.LatencyMs, v.Withdraws, v.Again,
		}
	})
}

func decodeVisits(text string) ([]beacon.Visit, error) {
	return decodeList("visits", text, func(r visitRow) beacon.Visit {
		return beacon.Visit{
			At: fromMicros(r.At), By: beacon.Visitor{User: beacon.UserID(r.By), People: parseWords[beacon.PersonID](r.People)},
			Point: geo.Point{Lat: r.Lat, Lng: r.Lng}, AccuracyM: r.AccuracyM, Proves: r.Proves,
			Test: beacon.SpeedTest{DownMbps: r.Down, UpMbps: r.Up, LatencyMs: r.Latency}, Withdraws: r.Withdraws, Again: r.Again,
		}
	})
}

func encodeVouches(vouches []time.Time) (string, error) { return encodeList(vouches, micros) }

func decodeVouches(text string) ([]time.Time, error) { return decodeList("vouches", text, fromMicros) }

func encodePastService(past []beacon.Period) (string, error) {
	return encodeList(past, func(p beacon.Period) periodRow { return periodRow{From: micros(p.From), Until: micros(p.Until)} })
}

func decodePastService(text string) ([]beacon.Period, error) {
	return decodeList("past_service", text, func(r periodRow) beacon.Period {
		return beacon.Period{From: fromMicros(r.From), Until: fromMicros(r.Until)}
	})
}

func encodeFormer(former []beacon.Tenure) (string, error) {
	return encodeList(former, func(t beacon.Tenure) tenureRow { return tenureRow{string(t.User), int64(t.Through)} })
}

func decodeFormer(text string) ([]beacon.Tenure, error) {
	return decodeList("former", text, func(r tenureRow) beacon.Tenure {
		return beacon.Tenure{User: beacon.UserID(r.User), Through: beacon.Day(r.Through)}
	})
}

// encodeList returns the rows of items as JSON.
func encodeList[T, R any](items []T, row func(T) R) (string, error) {
	if len(items) == 0 {
		return "", nil
	}
	text, err := json.Marshal(mapped(items, row))
	return string(text), err
}

// decodeList is the inverse of encodeList, for the column that an error names.
func decodeList[T, R any](column, text string, item func(R) T) ([]T, error) {
	if text == "" {
		return nil, nil
	}
	var rows []R
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		return nil, fmt.Errorf("%s: %w", column, err)
	}
	return mapped(rows, item), nil
}

// mapped returns what to makes of each item, or nil if there are none.
func mapped[T, R any](items []T, to func(T) R) []R {
	if len(items) == 0 {
		return nil
	}
	all := make([]R, len(items))
	for i, item := range items {
		all[i] = to(item)
	}
	return all
}

type memberRow struct {
	User    string `json:"user"`
	Hotspot string `json:"hotspot"`
}

func encodeGroup(group []beacon.Owned) (string, error) {
	if len(group) == 0 {
		return "", nil
	}
	rows := make([]memberRow, len(group))
	for i, o := range group {
		rows[i] = memberRow{string(o.User), string(o.Hotspot)}
	}
	text, err := json.Marshal(rows)
	return string(text), err
}

func decodeGroup(text string) (group []beacon.Owned, err error) {
	if text == "" {
		return nil, nil
	}
	var rows []memberRow
	err = json.Unmarshal([]byte(text), &rows)
	for _, r := range rows {
		group = append(group, beacon.Owned{User: beacon.UserID(r.User), Hotspot: beacon.HotspotID(r.Hotspot)})
	}
	return group, err
}
