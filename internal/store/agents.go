package store

import (
	"encoding/json"
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// agentRow is the JSON of what a device reports of itself. Its names are part of the
// schema: existing rows contain them.
type agentRow struct {
	Version  string `json:"version"`
	Model    string `json:"model,omitempty"`
	Firmware string `json:"firmware,omitempty"`
	Kernel   string `json:"kernel,omitempty"`
	BSSID    string `json:"bssid,omitempty"`
	Channel  int    `json:"channel,omitempty"`
	Radios   int    `json:"radios,omitempty"`
	At       int64  `json:"at"` // in microseconds
}

func encodeAgent(a beacon.Agent) (string, error) {
	if a == (beacon.Agent{}) {
		return "", nil
	}
	text, err := json.Marshal(agentRow{a.Version, a.Model, a.Firmware, a.Kernel, string(a.BSSID), a.Channel, a.Radios, micros(a.At)})
	return string(text), err
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
