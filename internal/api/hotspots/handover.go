package hotspots

import (
	"net/http"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/registry"
)

const toUser = "to_user_id"

func checkUser(o *edge.Object, user string) beacon.UserID {
	if !id.Valid(beacon.UserPrefix, user) {
		o.Faults.Add(toUser, "must be the id of a user")
	}
	return beacon.UserID(user)
}

func decodeOffering(r *http.Request, o *edge.Object) (registry.Offering, error) {
	in := registry.Offering{Hotspot: beacon.HotspotID(r.PathValue("id"))}
	if user, named := beacon.Optional(o.Text(toUser), toUser, o.Faults); named {
		in.To = checkUser(o, user)
	}
	return in, o.Finish(edge.Valid)
}

func decodeClaim(r *http.Request, o *edge.Object) (registry.Offering, error) {
	in := registry.Offering{Hotspot: beacon.HotspotID(r.PathValue("id"))}
	if user, named := beacon.Required(o.Text(toUser), toUser, o.Faults); named {
		in.To = checkUser(o, user)
	}
	if text, given := beacon.Required(o.Text("reason"), "reason", o.Faults); given {
		reason, err := beacon.CleanReason(text)
		o.Faults.Check("reason", err)
		in.Reason = reason
	}
	return in, o.Finish(edge.Valid)
}

func decodeAcceptance(r *http.Request, o *edge.Object) (registry.Acceptance, error) {
	in := registry.Acceptance{Hotspot: beacon.HotspotID(r.PathValue("id"))}
	in.Code, _ = beacon.Optional(o.Text("code"), "code", o.Faults)
	return in, o.Finish(edge.Valid)
}

func encodeOffer(_ http.Header, o registry.Offered) edge.Payload {
	return edge.Payload{Data: client.Offer{
		HotspotID: string(o.Hotspot), ToUserID: string(o.To), ByStaff: o.ByStaff(), OfferedAt: o.OfferedAt, ExpiresAt: o.ExpiresAt, Code: o.Code,
	}}
}

func encodeOffers(_ http.Header, offers []beacon.ListedOffer) edge.Payload {
	out := make([]client.ListedOffer, len(offers))
	for i := range offers {
		o := &offers[i]
		out[i] = client.ListedOffer{
			HotspotID: string(o.Hotspot), ToUserID: string(o.To), Name: o.Name, Type: client.Type(o.Type), ByStaff: o.ByStaff(), OfferedAt: o.OfferedAt, ExpiresAt: o.ExpiresAt,
		}
	}
	return edge.Payload{Data: out}
}
