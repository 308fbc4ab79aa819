package api

import (
	"net/http"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/checkins"
)

func decodeCheckIn(r *http.Request, o *object) (checkins.Report, error) {
	in := checkins.Report{Hotspot: beacon.HotspotID(r.PathValue("id")), From: Address(r)}
	in.Form = beacon.CheckInForm{
		Install: o.text("install"), Works: o.flag("works"), RSSI: o.number("rssi_dbm"),
		Speed: inner(o, "speed", func(o *object) beacon.SpeedForm {
			return beacon.SpeedForm{DownMbps: o.number("down_mbps"), UpMbps: o.number("up_mbps")}
		}),
	}
	return in, o.settle(func() error {
		_, _, _, err := in.Form.Validate()
		return err
	})
}

type checkIn struct {
	HotspotID beacon.HotspotID  `json:"hotspot_id"`
	Day       string            `json:"day"`
	Works     bool              `json:"works"`
	Counts    bool              `json:"counts"`
	Reason    beacon.NoEvidence `json:"reason,omitempty"`
}

func encodeCheckIn(_ http.Header, done checkins.Outcome) payload {
	return payload{Data: checkIn{done.Hotspot, done.Day.String(), done.Works, done.Why == "", done.Why}}
}
