package hotspots

import (
	"net/http"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/registry"
)

func showAgent(a beacon.Agent) *client.Agent {
	if a == (beacon.Agent{}) {
		return nil
	}
	return &client.Agent{ReportedAt: a.At, AgentReport: client.AgentReport{
		Version: a.Version, Model: a.Model, Firmware: a.Firmware, Kernel: a.Kernel, BSSID: string(a.BSSID), Channel: a.Channel, Radios: a.Radios,
	}}
}

func showQuality(q beacon.Quality) *client.Quality {
	if !q.Shown() {
		return nil
	}
	return &client.Quality{CheckIns30d: q.CheckIns, SuccessRate: edge.Fraction(q.SuccessRate())}
}

func showUncounted(m beacon.Metrics) *client.Uncounted {
	if m.Uncounted == beacon.Counted {
		return nil
	}
	return &client.Uncounted{At: m.UncountedAt, Reason: m.Uncounted.String()}
}

func ShowHotspot(h registry.View) client.Hotspot {
	shown := client.Hotspot{
		ID:     string(h.ID),
		Name:   h.Name,
		Type:   client.Type(h.Type),
		Status: client.Status(h.Status),
		Location: client.Location{
			Lat: h.Location.Point.Lat, Lng: h.Location.Point.Lng, Approximate: h.Approximate,
			Verified: !h.Location.VerifiedAt.IsZero(), VerifiedAt: edge.Maybe(h.Location.VerifiedAt),
			UnverifiedReason: h.Location.UnverifiedReason, ProvenUntil: edge.Maybe(h.ProvenUntil),
		},
		Device: client.Device{
			SSID: h.Device.SSID, MACAddress: string(h.Device.MAC),
			Linked: !h.Device.LinkedAt.IsZero(), LinkedAt: edge.Maybe(h.Device.LinkedAt),
			Agent: showAgent(h.Device.Agent),
		},
		Settings:        showSettings(h.Settings),
		CoverageRadiusM: h.Settings.CoverageRadius(h.Type),
		Metrics: client.Metrics{
			Uptime30d:          edge.Fraction(h.Metrics.Uptime30d),
			Connections24h:     h.Metrics.Connections24h,
			BandwidthUsed24hGB: client.Gigabytes(h.Metrics.Bytes24h),
			PerformanceTier:    h.Metrics.Tier.String(),
			SignalQuality:      h.Metrics.Signal.String(),
			CurrentLoad:        edge.Fraction(beacon.Load(h.Status, h.Metrics.Clients, h.Settings.MaxConnections)),
			LastSeenAt:         edge.Maybe(h.Metrics.Seen),
			CountersFellAt:     edge.Maybe(h.Metrics.FellAt),
			LastUncounted:      showUncounted(h.Metrics),
		},
		Quality:    showQuality(h.Quality),
		OperatorID: string(h.Operator),
		CreatedAt:  h.CreatedAt,
		UpdatedAt:  h.UpdatedAt,
		Opening:    client.Opening{OpenNow: h.Open},
	}
	if h.Location.Address != "" || h.Approximate {
		shown.Location.Address = &h.Location.Address
	}
	if h.Open {
		shown.OpenUntil = &h.OpenUntil // zero, and null: for good
	} else {
		shown.OpensAt = &h.OpenUntil
	}
	return shown
}

func encodeHotspot(h http.Header, hotspot registry.View) edge.Payload {
	h.Set("ETag", TagOf(hotspot.Version))
	return edge.Payload{Data: ShowHotspot(hotspot)}
}

func encodeRegistered(h http.Header, made registry.View) edge.Payload {
	h.Set("Location", edge.Base+"/hotspots/"+string(made.ID))
	return encodeHotspot(h, made)
}

func encodeChanged(h http.Header, hotspot beacon.Hotspot) edge.Payload {
	h.Set("ETag", TagOf(hotspot.Version))
	return edge.Payload{Data: client.Changed{
		ID: string(hotspot.ID), Name: hotspot.Name, Settings: showSettings(hotspot.Settings), UpdatedAt: hotspot.UpdatedAt,
	}}
}

func encodeDeleted(_ http.Header, hotspots []beacon.HotspotName) edge.Payload {
	out := make([]client.DeletedHotspot, len(hotspots))
	for i, h := range hotspots {
		out[i] = client.DeletedHotspot{ID: string(h.ID), Name: h.Name, DeletedAt: h.DeletedAt, RestorableUntil: h.DeletedAt.Add(beacon.RestoreTime)}
	}
	return edge.Payload{Data: out}
}
