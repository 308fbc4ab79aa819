package importer

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/client"
)

// The console reads tables as this package does: both read these.
func TestCSV_Tables(t *testing.T) {
	text, err := os.ReadFile("testdata/tables.json")
	if err != nil {
		t.Fatal(err)
	}
	var tables []struct {
		Name, Text string
		Rows       []struct {
			Line   int
			Cells  map[string]string
			Broken bool
		}
	}
	if err := json.Unmarshal(text, &tables); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		rows, err := Read(strings.NewReader(table.Text), Mapping{})
		if refused := table.Rows == nil; (err != nil) != refused {
			t.Errorf("%s: it is refused with %v", table.Name, err)
		}
		if err != nil {
			continue
		}
		n := 0
		for r, err := range rows {
			if err != nil || n == len(table.Rows) {
				t.Fatalf("%s: after %d rows there is %+v, %v", table.Name, n, r, err)
			}
			want := table.Rows[n]
			maps.DeleteFunc(r.cells, func(_, cell string) bool { return cell == "" })
			if r.line != want.Line || (r.fault != "") != want.Broken || !want.Broken && !maps.Equal(r.cells, want.Cells) {
				t.Errorf("%s: row %d is %+v; want %+v", table.Name, n, r, want)
			}
			n++
		}
		if n != len(table.Rows) {
			t.Errorf("%s: %d rows were read; want %d", table.Name, n, len(table.Rows))
		}
	}
}

// schema is what a document says of a setting.
type schema struct {
	Ref     string `json:"$ref"`
	OneOf   []schema
	Type    string
	Maximum float64
}

// Every setting of the API has a column, is sent as the table says, and is compared with what
// a hotspot has.
func TestSettings_AllOfThem(t *testing.T) {
	text, err := os.ReadFile("../api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Components struct {
			Schemas map[string]struct {
				schema
				Properties map[string]schema
			}
		}
	}
	if err := json.Unmarshal(text, &api); err != nil {
		t.Fatal(err)
	}
	schemas := api.Components.Schemas
	form := schemas["SettingsForm"].Properties
	if want := slices.Sorted(maps.Keys(form)); len(want) < 5 || !slices.Equal(slices.Sorted(slices.Values(settingColumns())), want) {
		t.Errorf("tables have the settings %v; the API has %v", settingColumns(), want)
	}
	for column, s := range form {
		for len(s.OneOf) > 0 {
			s = s.OneOf[0]
		}
		if s.Ref != "" {
			s = schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")].schema
		}
		value := map[string]string{
			"boolean": "true", "integer": fmt.Sprint(s.Maximum), "number": fmt.Sprint(s.Maximum),
			"object": `{"timezone":"UTC","weekly":[{"days":["mon"],"open":"08:00","close":"22:00"}],"exceptions":[]}`,
		}[s.Type]
		if value == "" {
			t.Errorf("%s is of type %q: say what a table has", column, s.Type)
			continue
		}
		c, err := row{cells: map[string]string{
			"name": "One", "type": "home", "lat": "1", "lng": "2", "ssid": "x", "mac_address": "02005e000001", column: value,
		}}.read()
		if err != nil {
			t.Errorf("%s: %v", value, err)
			continue
		}
		sent, _ := json.Marshal(c.registration)
		var got struct{ Settings map[string]any }
		var want any
		if _ = json.Unmarshal([]byte(value), &want); json.Unmarshal(sent, &got) != nil || !reflect.DeepEqual(got.Settings, map[string]any{column: want}) {
			t.Errorf("of %s = %s it sends %s", column, value, sent)
		}
		there := client.Hotspot{
			Name: "One", Type: "home", Location: client.Location{Lat: 1, Lng: 2}, Device: client.Device{SSID: "x"},
			Settings: client.Settings{MaxConnections: 16, BandwidthLimitMbps: 50},
		}
		if o := compare(ownHotspot{values: joined(valuesThere(there))}, c); o.Kind != Different || !strings.HasSuffix(o.Text, "it differs in "+column) {
			t.Errorf("%s = %s is another than the default: %+v", column, value, o)
		}
		_ = json.Unmarshal([]byte(`{"`+column+`":`+value+`}`), &there.Settings)
		if o := compare(ownHotspot{values: joined(valuesThere(there))}, c); o.Kind != Present {
			t.Errorf("%s = %s is what is there: %+v", column, value, o)
		}
	}
	r := row{cells: map[string]string{"show_ssid": "yes"}}
	if _, err := r.read(); err == nil || !strings.Contains(err.Error(), "show_ssid must be true or false") {
		t.Errorf("show_ssid = yes: %v", err)
	}
}
