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
	identity := beacon.IdentityForm{
		Name: o.Text("name"), Description: o.Text("description"), Contact: o.Text("contact"), Color: o.Text("color"), Logo: o.Text("logo"),
		License: o.Text("license"), Attribution: o.Text("attribution"), ShowClients: o.Flag("show_clients"), TimeZone: o.Text("timezone"),
	}
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
	patch.Identity = identity.Validate(&f)
	return patch, o.Conclude(f.Err)
}

func (a *API) encodeSettings(_ http.Header, in oversight.Settings) edge.Payload {
	now := a.rewards.Switch()
	switched := client.RewardsSwitch{On: now.On}
	if now.Changes != 0 {
		switched.ChangesOn = new(now.Changes.String())
	}
	set := func(text string) *string {
		if text == "" {
			return nil
		}
		return &text
	}
	i := in.Identity
	return edge.Payload{Data: client.NetworkSettings{
		HomePrivacy: client.HomePrivacy(in.Homes), Rewards: switched, StartView: (*client.StartView)(in.Maps.Start), Language: set(in.Maps.Language),
		Name: set(i.Name), Description: set(i.Description), Contact: set(i.Contact), Color: set(string(i.Color)), LogoType: set(i.Logo.Type),
		License: set(i.License), Attribution: set(i.Attribution), ShowClients: i.ShowClients, TimeZone: set(i.TimeZone),
	}}
}
