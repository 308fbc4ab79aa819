package network

import (
	"net/http"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/oversight"
)

// decodeRelease reads the address from the body: paths end up in logs.
func decodeRelease(_ *http.Request, o *edge.Object) (in oversight.Release, err error) {
	if text, ok := edge.Needed(o, "mac_address", (*edge.Object).Text); ok {
		in.MAC, err = beacon.ParseMAC(text)
		o.Faults.Check("mac_address", err)
	}
	if text, ok := edge.Needed(o, "reason", (*edge.Object).Text); ok {
		in.Reason, err = beacon.CleanKeyName(text)
		o.Faults.Check("reason", err)
		if err == nil && in.Reason == "" {
			o.Faults.Add("reason", "must say why")
		}
	}
	return in, o.Finish(edge.Valid)
}

func encodeReleased(_ http.Header, m beacon.ReleasedMAC) edge.Payload {
	return edge.Payload{Data: client.ReleasedMAC{MACAddress: m.MAC.Canonical(), UserID: string(m.User)}}
}
