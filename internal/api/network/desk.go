package network

import (
	"net/http"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/api/fragments"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/oversight"
)

func encodeDesk(_ http.Header, o *oversight.Overview) edge.Payload {
	due, _ := o.Clock.Due(beacon.DayOf(o.Clock.Now))
	out := client.Overview{
		Online: o.Online, Offline: o.Offline, Pending: o.Pending, Registered7d: o.New, ToVisit: o.ToVisit, Rejected: o.Rejected,
		Silent: make([]client.SilentHotspot, len(o.Silent)), Uptime: make([]client.DayUptime, len(o.Trend)),
		Flags: o.Flags, Holds: o.Holds, DaysDue: due, ClockWaiting: o.Clock.Waits(),
	}
	for i, s := range o.Silent {
		out.Silent[i] = client.SilentHotspot{HotspotID: s.ID(), Name: fragments.TrueName(s), LastSeenAt: edge.Maybe(s.SeenAt())}
	}
	for i, d := range o.Trend {
		out.Uptime[i] = client.DayUptime{Date: d.Day.String(), Uptime: edge.Fraction(edge.ShareOf(int(d.Served), int(d.Expected)))}
	}
	if o.Closed {
		out.ClosedThrough = new(o.Through.String())
	}
	return edge.Payload{Data: out}
}
