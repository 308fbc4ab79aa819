package network

import (
	"context"
	"net/http"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

type macRelease struct {
	mac    beacon.MAC
	reason string
}

// decodeRelease reads the address from the body: paths end up in logs.
func decodeRelease(_ *http.Request, o *edge.Object) (in macRelease, err error) {
	if text, ok := edge.Needed(o, "mac_address", (*edge.Object).Text); ok {
		in.mac, err = beacon.ParseMAC(text)
		o.Faults.Check("mac_address", err)
	}
	if text, ok := edge.Needed(o, "reason", (*edge.Object).Text); ok {
		in.reason, err = beacon.CleanKeyName(text)
		o.Faults.Check("reason", err)
		if err == nil && in.reason == "" {
			o.Faults.Add("reason", "must say why")
		}
	}
	return in, o.Finish(edge.Valid)
}

func (a *API) releaseMAC(ctx context.Context, p beacon.Principal, in macRelease) (beacon.ReleasedMAC, error) {
	owner, err := a.store.ReleaseMAC(ctx, in.mac, in.reason, p.Actor(), a.Now())
	return beacon.ReleasedMAC{MAC: in.mac, User: owner}, err
}

func encodeReleased(_ http.Header, m beacon.ReleasedMAC) edge.Payload {
	return edge.Payload{Data: client.ReleasedMAC{MACAddress: m.MAC.Canonical(), UserID: string(m.User)}}
}
