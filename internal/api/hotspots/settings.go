package hotspots

import (
	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// readSettings decodes the settings of a registration or of a change.
func readSettings(o *edge.Object) beacon.SettingsForm {
	return beacon.SettingsForm{
		MaxConnections:     o.Number("max_connections"),
		BandwidthLimitMbps: o.Number("bandwidth_limit_mbps"),
		OperatingHours:     edge.Inner(o, "operating_hours", readHours),
		CoverageRadiusM:    o.Number("coverage_radius_m"),
		ShowSSID:           o.Flag("show_ssid"),
	}
}

func readHours(o *edge.Object) beacon.HoursForm {
	return beacon.HoursForm{
		Timezone: o.Text("timezone"),
		Weekly: edge.Objects(o, "weekly", func(o *edge.Object) beacon.SpanForm {
			return beacon.SpanForm{Days: o.Texts("days"), Open: o.Text("open"), Close: o.Text("close")}
		}),
		Exceptions: edge.Objects(o, "exceptions", func(o *edge.Object) beacon.ExceptionForm {
			return beacon.ExceptionForm{Date: o.Text("date"), Closed: o.Flag("closed"), Open: o.Text("open"), Close: o.Text("close")}
		}),
	}
}

// showSettings returns the settings in the form of responses.
func showSettings(s beacon.Settings) client.Settings {
	out := client.Settings{MaxConnections: s.MaxConnections, BandwidthLimitMbps: s.BandwidthLimitMbps, ShowSSID: s.ShowSSID}
	if s.CoverageRadiusM != 0 {
		out.CoverageRadiusM = &s.CoverageRadiusM
	}
	if s.OperatingHours != nil {
		out.OperatingHours = showHours(*s.OperatingHours)
	}
	return out
}

func showHours(o beacon.OperatingHours) *client.OperatingHours {
	out := &client.OperatingHours{Timezone: o.Timezone}
	for _, s := range o.Weekly {
		out.Weekly = append(out.Weekly, client.WeeklyHours{Days: edge.Texts(s.Days), Open: beacon.FormatClock(s.Open), Close: beacon.FormatClock(s.Close)})
	}
	for _, e := range o.Exceptions {
		shown := client.HoursException{Date: e.Date, Closed: e.Closed}
		for _, s := range e.Spans { // the API accepts only one
			shown.Open, shown.Close = beacon.FormatClock(s.Open), beacon.FormatClock(s.Close)
		}
		out.Exceptions = append(out.Exceptions, shown)
	}
	return out
}
