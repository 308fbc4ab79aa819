package network

import (
	"net/http"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/oversight"
)

func decodeSettings(_ *http.Request, o *edge.Object) (patch oversight.SettingsPatch, err error) {
	homes := o.Text("home_privacy")
	start := edge.Inner(o, "start_view", func(o *edge.Object) beacon.StartViewForm {
		return beacon.StartViewForm{Lat: o.Number("lat"), Lng: o.Number("lng"), Zoom: o.Number("zoom")}
	})
	patch.Language = o.Text("language")
	var f beacon.Faults
	if text, ok := beacon.Optional(homes, "home_privacy", &f); ok {
		patch.Homes = beacon.HomePrivacy(text)
		f.Check("home_privacy", beacon.CheckHomePrivacy(patch.Homes))
	}
	patch.Start = beacon.Opt[beacon.StartView]{Set: start.Set, Null: start.Null}
	if start.Set && !start.Null {
		patch.Start.V = start.V.Validate(&f)
	}
	if patch.Language.Set && !patch.Language.Null {
		f.Check("language", beacon.CheckLanguage(patch.Language.V))
	}
	return patch, o.Conclude(f.Err)
}

func encodeSettings(_ http.Header, in oversight.Settings) edge.Payload {
	s := client.NetworkSettings{HomePrivacy: client.HomePrivacy(in.Homes), StartView: (*client.StartView)(in.Maps.Start)}
	if in.Maps.Language != "" {
		s.Language = &in.Maps.Language
	}
	return edge.Payload{Data: s}
}
