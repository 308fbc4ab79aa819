package network

import (
	"context"
	"net/http"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// settingsPatch is a merge patch of the settings.
type settingsPatch struct {
	homes    beacon.HomePrivacy // empty: stays
	start    beacon.Opt[beacon.StartView]
	language beacon.Opt[string]
}

func decodeSettings(_ *http.Request, o *edge.Object) (patch settingsPatch, err error) {
	homes := o.Text("home_privacy")
	start := edge.Inner(o, "start_view", func(o *edge.Object) beacon.StartViewForm {
		return beacon.StartViewForm{Lat: o.Number("lat"), Lng: o.Number("lng"), Zoom: o.Number("zoom")}
	})
	patch.language = o.Text("language")
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
	return patch, o.Conclude(f.Err)
}

// readSettings returns the settings as they are stored. Servers follow within seconds.
func (a *API) readSettings(ctx context.Context, _ beacon.Principal, _ struct{}) (client.NetworkSettings, error) {
	blur, err := a.store.Blur(ctx)
	if err != nil {
		return client.NetworkSettings{}, err
	}
	shown, err := a.store.MapSettings(ctx)
	s := client.NetworkSettings{HomePrivacy: client.HomePrivacy(blur.Homes), StartView: (*client.StartView)(shown.Start)}
	if shown.Language != "" {
		s.Language = &shown.Language
	}
	return s, err
}

// changeSettings changes one setting after the other, each with its own trace. What
// concerns people comes first.
func (a *API) changeSettings(ctx context.Context, p beacon.Principal, patch settingsPatch) (client.NetworkSettings, error) {
	var err error
	if patch.homes != "" {
		err = a.store.SetHomePrivacy(ctx, patch.homes, p.Actor(), a.Now())
	}
	if err == nil && patch.start.Set {
		var view *beacon.StartView
		if !patch.start.Null {
			view = &patch.start.V
		}
		err = a.store.SetStartView(ctx, view, p.Actor(), a.Now())
	}
	if err == nil && patch.language.Set {
		err = a.store.SetLanguage(ctx, patch.language.V, p.Actor(), a.Now())
	}
	if err != nil {
		return client.NetworkSettings{}, err
	}
	return a.readSettings(ctx, p, struct{}{})
}
