package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// A record gives back the whole registration, and its text is what it was: a
// later build must read what an earlier one wrote.
func TestRegistration(t *testing.T) {
	at := time.Date(2026, 11, 15, 12, 0, 0, 123_000_000, time.UTC)
	fresh := beacon.Hotspot{
		ID: "hs_1", Operator: "usr_1", Name: "Café", Type: beacon.Public,
		Location: beacon.Location{Point: geo.Point{Lat: 1.5, Lng: -2.5}, Address: "1 Long Street"},
		Device:   beacon.Device{SSID: "guest", MAC: "AA-BB-CC-00-11-22"},
		Settings: beacon.Settings{
			MaxConnections: 7, BandwidthLimitMbps: 8.5, CoverageRadiusM: 90,
			OperatingHours: &beacon.OperatingHours{
				Timezone: "America/New_York",
				Weekly:   []beacon.WeeklySpan{{Days: []beacon.Weekday{"mon", "tue"}, Open: 480, Close: 1320}},
				Exceptions: []beacon.HoursException{
					{Date: "2026-12-25", Closed: true},
					{Date: "2026-12-31", Spans: []beacon.ExceptionSpan{{Open: 600, Close: 840}}},
				},
			},
		},
		CreatedAt: at, UpdatedAt: at, Version: 1,
	}
	text, err := encodeRegistration(fresh)
	if err != nil {
		t.Fatal(err)
	}
	const start = `{"id":"hs_1","operator":"usr_1","name":"Café","type":"public","lat":1.5,"lng":-2.5,"address":"1 Long Street",` +
		`"ssid":"guest","mac":"AA-BB-CC-00-11-22","max_connections":7,"bandwidth_mbps":8.5,"coverage_m":90,` +
		`"hours":{"timezone":"America/New_York","weekly":[{"days":["mon","tue"],"open":480,"close":1320}],"exceptions":[`
	const end = `]},"created_at":"2026-11-15T12:00:00.123Z"}`
	const want = start + `{"date":"2026-12-25","closed":true},{"date":"2026-12-31","spans":[{"open":600,"close":840}]}` + end
	const earlier = start + `{"date":"2026-12-25","closed":true,"spans":null},{"date":"2026-12-31","closed":false,"spans":[{"open":600,"close":840}]}` + end
	if string(text) != want {
		t.Errorf("the record is %s; want %s", text, want)
	}
	for _, text := range []string{want, earlier} {
		back, err := decodeRegistration([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fresh, back); diff != "" {
			t.Errorf("written (-) and read back (+):\n%s", diff)
		}
	}
	if _, err := decodeRegistration([]byte(`{"id":`)); err == nil {
		t.Error("half a record is read")
	}
}
