package api

import (
	"context"
	"net/http"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

type networkSettings struct {
	HomePrivacy beacon.HomePrivacy `json:"home_privacy"`
	StartView   *startView         `json:"start_view"`
	Language    *string            `json:"language"`
}

// startView is a beacon.StartView in a response.
type startView struct {
	Lat  float64 `json:"lat"`
	Lng  float64 `json:"lng"`
	Zoom float64 `json:"zoom"`
}

// settingsPatch is a merge patch of the settings.
type settingsPatch struct {
	homes    beacon.HomePrivacy // empty: stays
	start    beacon.Opt[beacon.StartView]
	language beacon.Opt[string]
}

func decodeSettings(_ *http.Request, o *object) (patch settingsPatch, err error) {
	homes := o.text("home_privacy")
	start := inner(o, "start_view", func(o *object) beacon.StartViewForm {
		return beacon.StartViewForm{Lat: o.number("lat"), Lng: o.number("lng"), Zoom: o.number("zoom")}
	})
	patch.language = o.text("language")
	var f beacon.Faults
	if text, ok := beacon.Optional(homes, "home_privacy", &f); ok {
		patch.homes = beacon.HomePrivacy(text)
		f.Check("home_privacy", beacon.CheckHomePrivacy(patch.homes))
	}
	patch.start = beacon.Opt[beacon.StartView]{Set: start.Set, Null: start.Null}
	if start.Set && !start.Null {
		patch.start.V = start.V.Validate(&f)
	}
	if patch.language.Set && !patch.language.Null {
		f.Check("language", beacon.CheckLanguage(patch.language.V))
	}
	return patch, o.conclude(f.Err)
}

// readSettings returns the settings as they are stored. Servers follow within seconds.
func (a *API) readSettings(ctx context.Context, _ beacon.Principal, _ struct{}) (networkSettings, error) {
	blur, err := a.store.Blur(ctx)
	if err != nil {
		return networkSettings{}, err
	}
	shown, err := a.store.MapSettings(ctx)
	s := networkSettings{HomePrivacy: blur.Homes, StartView: (*startView)(shown.Start)}
	if shown.Language != "" {
		s.Language = &shown.Language
	}
	return s, err
}

// changeSettings changes one setting after the other, each with its own trace. What
// concerns people comes first.
func (a *API) changeSettings(ctx context.Context, p beacon.Principal, patch settingsPatch) (networkSettings, error) {
	var err error
	if patch.homes != "" {
		err = a.store.SetHomePrivacy(ctx, patch.homes, p.Actor(), a.now())
	}
	if err == nil && patch.start.Set {
		var view *beacon.StartView
		if !patch.start.Null {
			view = &patch.start.V
		}
		err = a.store.SetStartView(ctx, view, p.Actor(), a.now())
	}
	if err == nil && patch.language.Set {
		err = a.store.SetLanguage(ctx, patch.language.V, p.Actor(), a.now())
	}
	if err != nil {
		return networkSettings{}, err
	}
	return a.readSettings(ctx, p, struct{}{})
}
