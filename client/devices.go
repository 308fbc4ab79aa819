package client

import (
	"context"
	"net/http"
	"time"
)

// LinkCode is what an operator types into a device.
type LinkCode struct {
	Code      string    `json:"code"`
	ExpiresAt time.Time `json:"expires_at"`
}

// CreateLinkCode creates a code for linking a device to one of the caller's hotspots.
// It needs the scope hotspots:write.
func (c *Client) CreateLinkCode(ctx context.Context, hotspot string) (LinkCode, error) {
	return call[LinkCode](ctx, c, post(path("hotspots", hotspot, "link-code"), nil).once(""))
}

// Linked is what a device gets for its code.
type Linked struct {
	HotspotID     string    `json:"hotspot_id"`
	DeviceKey     string    `json:"device_key"` // for Client.WithKey; never shown again
	LinkedAt      time.Time `json:"linked_at"`
	HeartbeatPath string    `json:"heartbeat_path"`
	NextInS       int       `json:"next_in_s"`

	Accepts Accepts  `json:"accepts"`
	Ignored []string `json:"ignored,omitempty"` // see HeartbeatTaken
}

// LinkDevice exchanges a code for a device's key. It needs no key, and sends none.
func (c *Client) LinkDevice(ctx context.Context, code, macAddress string) (Linked, error) {
	r := post(path("devices", "link"), map[string]string{"code": code, "mac_address": macAddress}).once("")
	r.open = true
	return call[Linked](ctx, c, r)
}

// Enrolment is what a device sends to be enrolled. All but its MAC address is of use only
// if the key may register hotspots.
type Enrolment struct {
	MACAddress string          `json:"mac_address"`
	Name       string          `json:"name,omitempty"`
	SSID       string          `json:"ssid,omitempty"`
	Type       Type            `json:"type,omitempty"`     // home, business or public; empty: home
	Location   *EnrolmentPlace `json:"location,omitempty"` // required to register a hotspot
	Agent      *AgentReport    `json:"agent,omitempty"`
}

// EnrolmentPlace is where a device stands.
type EnrolmentPlace struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

// Enrolled is what a device gets for an enrolment key.
type Enrolled struct {
	Linked
	Registered bool `json:"registered"` // no hotspot had its MAC address: a new one has
}

// EnrolDevice exchanges an enrolment key, which the client must have, for a device's key.
func (c *Client) EnrolDevice(ctx context.Context, in Enrolment) (Enrolled, error) {
	return call[Enrolled](ctx, c, post(path("devices", "enrol"), in).once(""))
}

// UnlinkDevice revokes the key of a hotspot's device. It needs the scope
// hotspots:write.
func (c *Client) UnlinkDevice(ctx context.Context, hotspot string) error {
	return c.silent(ctx, request{method: http.MethodDelete, path: path("hotspots", hotspot, "device")})
}

// Heartbeat is what a device sends about once a minute. BootID and Seq identify it.
type Heartbeat struct {
	BootID       string       `json:"boot_id"` // a new one for each boot
	Seq          int64        `json:"seq"`     // a new one for each heartbeat since the boot
	Clients      int          `json:"clients"`
	RxBytes      int64        `json:"rx_bytes"`                // since the boot, or the epoch
	TxBytes      int64        `json:"tx_bytes"`                // since the boot, or the epoch
	CounterEpoch string       `json:"counter_epoch,omitempty"` // a new one when the counters start again inside a boot
	CounterBits  int          `json:"counter_bits,omitzero"`   // 32: they wrap; 64: they do not; 0: unknown
	RSSIdBm      *float64     `json:"rssi_dbm,omitempty"`
	Speedtest    *Speedtest   `json:"speedtest,omitempty"`
	Agent        *AgentReport `json:"agent,omitempty"` // once a day
}

// AgentReport is what a device says about itself.
type AgentReport struct {
	Version  string `json:"version"` // of the program that sends this
	Model    string `json:"model,omitempty"`
	Firmware string `json:"firmware,omitempty"`
	Kernel   string `json:"kernel,omitempty"`
	BSSID    string `json:"bssid,omitempty"`
	Channel  int    `json:"channel,omitzero"`
	Radios   int    `json:"radios,omitzero"`
}

// Agent is what a device last reported of itself.
type Agent struct {
	AgentReport
	ReportedAt time.Time `json:"reported_at"`
}

// Speedtest is a measurement of a device.
type Speedtest struct {
	DownMbps  float64 `json:"down_mbps"`
	UpMbps    float64 `json:"up_mbps"`
	LatencyMS float64 `json:"latency_ms"`
}

// HeartbeatTaken confirms that a heartbeat is durable.
type HeartbeatTaken struct {
	Status  Status `json:"status"`
	NextInS int    `json:"next_in_s"` // when the next one is due

	// Counted is false, and Reason says why, if the heartbeat changed nothing. Counted is
	// nil if it counted.
	Counted *bool  `json:"counted,omitempty"`
	Reason  string `json:"reason,omitempty"`

	// Warning is "counters_fell" if the counters are lower than before in the same boot,
	// and the device did not say why.
	Warning string `json:"warning,omitempty"`

	Accepts Accepts  `json:"accepts"`
	Ignored []string `json:"ignored,omitempty"` // fields that were sent and the server does not know
}

// Accepts has the version of each field of a heartbeat that the server knows; 0 means
// that it does not.
type Accepts struct {
	Agent        int `json:"agent"`
	BootID       int `json:"boot_id"`
	Clients      int `json:"clients"`
	CounterBits  int `json:"counter_bits"`
	CounterEpoch int `json:"counter_epoch"`
	RSSIdBm      int `json:"rssi_dbm"`
	RxBytes      int `json:"rx_bytes"`
	Seq          int `json:"seq"`
	Speedtest    int `json:"speedtest"`
	TxBytes      int `json:"tx_bytes"`
}

// SendHeartbeat sends a heartbeat. The client's key must be the device's:
//
//	device := c.WithKey(linked.DeviceKey)
func (c *Client) SendHeartbeat(ctx context.Context, hotspot string, beat Heartbeat) (HeartbeatTaken, error) {
	r := post(path("hotspots", hotspot, "heartbeats"), beat)
	r.again = true // it has an identity: a duplicate changes nothing
	return call[HeartbeatTaken](ctx, c, r)
}
