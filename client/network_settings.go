package client

import (
	"context"
	"net/http"
)

// HomePrivacy is what others than its operator and staff see of a home.
type HomePrivacy string

// The settings of home privacy.
const (
	HomesOpen    HomePrivacy = "off"  // all that is documented
	HomesBlurred HomePrivacy = "blur" // another place, and nothing that names the house or its people
)

// NetworkSettings are what staff have set for the whole network.
type NetworkSettings struct {
	HomePrivacy HomePrivacy   `json:"home_privacy"`
	Rewards     RewardsSwitch `json:"rewards"`
	StartView   *StartView    `json:"start_view"` // what maps show at first; nil: where the hotspots are
	Language    *string       `json:"language"`   // of names on maps; nil: as people there write them

	// How the network presents itself to everyone; nil: not set.
	Name        *string `json:"name"`
	Description *string `json:"description"`
	Contact     *string `json:"contact"`   // a mail address or a URL
	Color       *string `json:"color"`     // such as #0b62ba
	LogoType    *string `json:"logo_type"` // image/svg+xml or image/png; the logo is at /logo

	// What open feeds say of their data; nil: nothing.
	License     *string `json:"license"`     // the URL of its text
	Attribution *string `json:"attribution"` // whom to name

	TimeZone *string `json:"timezone"` // an IANA zone, in which people there read times; nil: UTC

	ShowClients bool `json:"show_clients"` // whether open feeds have how many clients hotspots have, in fives
}

// RewardsSwitch says whether hotspots earn something. AdoptPolicy changes it.
type RewardsSwitch struct {
	On        bool    `json:"on"`
	ChangesOn *string `json:"changes_on"` // the first day on which it is otherwise; nil: none is known
}

// StartView is the middle of a map, and how close it is looked at.
type StartView struct {
	Lat  float64 `json:"lat"`
	Lng  float64 `json:"lng"`
	Zoom float64 `json:"zoom"`
}

// NetworkSettingsPatch is what to change of them. What is empty stays.
type NetworkSettingsPatch struct {
	HomePrivacy HomePrivacy `json:"home_privacy,omitempty"`
	StartView   *StartView  `json:"start_view,omitempty"`
	Language    *string     `json:"language,omitempty"`
	Name        *string     `json:"name,omitempty"`
	Description *string     `json:"description,omitempty"`
	Contact     *string     `json:"contact,omitempty"`
	Color       *string     `json:"color,omitempty"`
	Logo        *string     `json:"logo,omitempty"` // a data URL
	License     *string     `json:"license,omitempty"`
	Attribution *string     `json:"attribution,omitempty"`
	ShowClients *bool       `json:"show_clients,omitempty"`
	TimeZone    *string     `json:"timezone,omitempty"`
}

// NetworkSettings returns the settings of the network.
func (c *Client) NetworkSettings(ctx context.Context) (NetworkSettings, error) {
	return call[NetworkSettings](ctx, c, get(path("settings"), nil))
}

// ChangeNetworkSettings changes the settings of the network. All servers follow within
// seconds. It needs the scope admin.
func (c *Client) ChangeNetworkSettings(ctx context.Context, patch NetworkSettingsPatch) (NetworkSettings, error) {
	return call[NetworkSettings](ctx, c, request{method: http.MethodPatch, path: path("settings"), body: patch})
}
