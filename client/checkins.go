package client

import "context"

// CheckIn is what a phone found at a hotspot that it uses.
type CheckIn struct {
	Install string   `json:"install"` // a random token that the app makes when it is installed
	Works   bool     `json:"works"`
	Speed   *Speed   `json:"speed,omitempty"`
	RSSI    *float64 `json:"rssi_dbm,omitempty"`
}

// Speed is what a phone measured, in Mbit/s.
type Speed struct {
	DownMbps float64 `json:"down_mbps"`
	UpMbps   float64 `json:"up_mbps"`
}

// CheckedIn says whether a check-in counts.
type CheckedIn struct {
	HotspotID string `json:"hotspot_id"`
	Day       string `json:"day"` // the UTC day that it is for
	Works     bool   `json:"works"`
	Counts    bool   `json:"counts"`
	Reason    string `json:"reason,omitempty"` // why not
}

// Quality is what people found at a hotspot in the last 30 days.
type Quality struct {
	CheckIns30d int     `json:"checkins_30d"`
	SuccessRate float64 `json:"success_rate"` // a fraction
}

// CheckIn says whether a hotspot works. It replaces what the same install said on the
// same day (UTC). It needs the scope checkins:write.
func (c *Client) CheckIn(ctx context.Context, hotspot string, in CheckIn) (CheckedIn, error) {
	return call[CheckedIn](ctx, c, post(path("hotspots", hotspot, "checkins"), in).once(""))
}
