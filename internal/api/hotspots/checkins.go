package hotspots

import (
	"net/http"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/checkins"
)

func decodeCheckIn(r *http.Request, o *edge.Object) (checkins.Report, error) {
	in := checkins.Report{Hotspot: beacon.HotspotID(r.PathValue("id")), From: edge.Address(r)}
	in.Form = beacon.CheckInForm{
		Install: o.Text("install"), Works: o.Flag("works"), RSSI: o.Number("rssi_dbm"),
		Speed: edge.Inner(o, "speed", func(o *edge.Object) beacon.SpeedForm {
			return beacon.SpeedForm{DownMbps: o.Number("down_mbps"), UpMbps: o.Number("up_mbps")}
		}),
	}
	return in, o.Finish(func() error {
		_, _, _, err := in.Form.Validate()
		return err
	})
}

func encodeCheckIn(_ http.Header, done checkins.Outcome) edge.Payload {
	return edge.Payload{Data: client.CheckedIn{
		HotspotID: string(done.Hotspot), Day: done.Day.String(), Works: done.Works, Counts: done.Why == "", Reason: string(done.Why),
	}}
}
