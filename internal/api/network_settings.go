package api

import (
	"context"
	"net/http"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Settings is where what staff set for the whole network is kept.
type Settings interface {
	Blur(ctx context.Context) (beacon.Blur, error)
	SetHomePrivacy(ctx context.Context, p beacon.HomePrivacy, by beacon.Actor, now time.Time) error
}

type networkSettings struct {
	HomePrivacy beacon.HomePrivacy `json:"home_privacy"`
}

func encodeSettings(_ http.Header, s networkSettings) payload { return payload{Data: s} }

// decodeSettings reads a merge patch of the settings: the value of home_privacy, or empty
// if it stays.
func decodeSettings(w http.ResponseWriter, r *http.Request) (beacon.HomePrivacy, error) {
	o, _, err := readBody(w, r)
	if err != nil {
		return "", err
	}
	form := o.text("home_privacy")
	var privacy beacon.HomePrivacy
	validate := func() error {
		var f beacon.Faults
		if text, ok := beacon.Optional(form, "home_privacy", &f); ok {
			privacy = beacon.HomePrivacy(text)
			f.Check("home_privacy", beacon.CheckHomePrivacy(privacy))
		}
		return f.Err()
	}
	if err := o.settle(validate); err != nil {
		return "", err
	}
	return privacy, validate()
}

// readSettings returns the settings as they are stored. Servers follow within seconds.
func (a *API) readSettings(ctx context.Context, _ beacon.Principal, _ struct{}) (networkSettings, error) {
	blur, err := a.settings.Blur(ctx)
	return networkSettings{blur.Homes}, err
}

func (a *API) changeSettings(ctx context.Context, p beacon.Principal, privacy beacon.HomePrivacy) (networkSettings, error) {
	if privacy != "" {
		if err := a.settings.SetHomePrivacy(ctx, privacy, p.Actor(), a.now()); err != nil {
			return networkSettings{}, err
		}
	}
	return a.readSettings(ctx, p, struct{}{})
}
