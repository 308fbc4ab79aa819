package importer

import (
	"strconv"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// setting is a column that holds a setting of a hotspot. An empty cell leaves the default.
type setting struct {
	column, help string
	read         func(c cell, to *settingsOf)
	there        func(client.Settings) string // what a hotspot has
	wanted       func(settingsOf) string      // what it would get
}

// settingsOf is the settings of a row.
type settingsOf struct {
	form  beacon.SettingsForm // to be validated
	sent  client.SettingsForm // what the row says, and no more
	valid beacon.Settings     // with the defaults
}

// settings are those that a table can have, in the order of the API.
var settings = []setting{
	{
		"max_connections", "optional; default 16, 64 or 128, depending on the type",
		func(c cell, to *settingsOf) {
			if to.form.MaxConnections = c.number(); to.form.MaxConnections.Set {
				to.sent.MaxConnections = new(int(to.form.MaxConnections.V))
			}
		},
		func(s client.Settings) string { return strconv.Itoa(s.MaxConnections) },
		func(s settingsOf) string { return strconv.Itoa(s.valid.MaxConnections) },
	},
	{
		"bandwidth_limit_mbps", "optional; default 50, 200 or 300, depending on the type",
		func(c cell, to *settingsOf) {
			to.form.BandwidthLimitMbps = c.number()
			to.sent.BandwidthLimitMbps = pointer(to.form.BandwidthLimitMbps)
		},
		func(s client.Settings) string { return decimal(s.BandwidthLimitMbps) },
		func(s settingsOf) string { return decimal(s.valid.BandwidthLimitMbps) },
	},
	{
		"coverage_radius_m", "optional, 10 to 500; default 50, 75 or 100, by type",
		func(c cell, to *settingsOf) {
			to.form.CoverageRadiusM = c.number()
			to.sent.CoverageRadiusM = pointer(to.form.CoverageRadiusM)
		},
		func(s client.Settings) string {
			if s.CoverageRadiusM == nil {
				return decimal(0)
			}
			return decimal(*s.CoverageRadiusM)
		},
		func(s settingsOf) string { return decimal(s.valid.CoverageRadiusM) },
	},
	{
		"show_ssid", "optional, true or false; of a home that is hidden",
		func(c cell, to *settingsOf) {
			to.form.ShowSSID = c.flag()
			to.sent.ShowSSID = pointer(to.form.ShowSSID)
		},
		func(s client.Settings) string { return strconv.FormatBool(s.ShowSSID) },
		func(s settingsOf) string { return strconv.FormatBool(s.valid.ShowSSID) },
	},
	{
		"operating_hours", "optional, JSON as in the API; default: always open",
		func(c cell, to *settingsOf) {
			to.sent.OperatingHours = c.hours()
			to.form.OperatingHours = hoursForm(to.sent.OperatingHours)
		},
		func(s client.Settings) string { return hoursText(s.OperatingHours) },
		func(s settingsOf) string { return hoursText(s.sent.OperatingHours) },
	},
}
