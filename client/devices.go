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

// CreateLinkCode makes a code for the device of a hotspot of one's own. It needs
// the scope hotspots:write.
func (c *Client) CreateLinkCode(ctx context.Context, hotspot string) (LinkCode, error) {
	code, _, err := call[LinkCode](ctx, c, post(path("hotspots", hotspot, "link-code"), nil))
	return code, err
}

// Linked is what a device gets for its code.
type Linked struct {
	HotspotID     string    `json:"hotspot_id"`
	DeviceKey     string    `json:"device_key"` // for Client.WithKey; it is shown this once
	LinkedAt      time.Time `json:"linked_at"`
	HeartbeatPath string    `json:"heartbeat_path"`
	NextInS       int       `json:"next_in_s"`
}

// LinkDevice gives a device its key. It needs no key, and sends none.
func (c *Client) LinkDevice(ctx context.Context, code, macAddress string) (Linked, error) {
	r := post(path("devices", "link"), map[string]string{"code": code, "mac_address": macAddress})
	r.open = true
	linked, _, err := call[Linked](ctx, c, r)
	return linked, err
}

// UnlinkDevice makes the key of a hotspot's device invalid. It needs the scope
// hotspots:write.
func (c *Client) UnlinkDevice(ctx context.Context, hotspot string) error {
	return c.silent(ctx, request{method: http.MethodDelete, path: path("hotspots", hotspot, "device")})
}

// Heartbeat is what a device says about once a minute. Its name is BootID and Seq.
type Heartbeat struct {
	BootID    string     `json:"boot_id"` // another one after each boot
	Seq       int64      `json:"seq"`     // another one for each heartbeat since the boot
	Clients   int        `json:"clients"`
	RxBytes   int64      `json:"rx_bytes"` // since the boot
	TxBytes   int64      `json:"tx_bytes"` // since the boot
	RSSIdBm   *float64   `json:"rssi_dbm,omitempty"`
	Speedtest *Speedtest `json:"speedtest,omitempty"`
}

// Speedtest is what a device measured.
type Speedtest struct {
	DownMbps  float64 `json:"down_mbps"`
	UpMbps    float64 `json:"up_mbps"`
	LatencyMS float64 `json:"latency_ms"`
}

// HeartbeatTaken says that a heartbeat is stored for good.
type HeartbeatTaken struct {
	Status  Status `json:"status"`
	NextInS int    `json:"next_in_s"` // when the next one is due
}

// SendHeartbeat sends a heartbeat. The client's key is that of the device:
//
//	device := c.WithKey(linked.DeviceKey)
func (c *Client) SendHeartbeat(ctx context.Context, hotspot string, beat Heartbeat) (HeartbeatTaken, error) {
	r := post(path("hotspots", hotspot, "heartbeats"), beat)
	r.again = true // it has a name: one that comes again changes nothing
	taken, _, err := call[HeartbeatTaken](ctx, c, r)
	return taken, err
}
