package importer

import (
	"bytes"
	"encoding/csv"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Whatever a table holds, it ends; what is read from it is read again from a
// table that it was written to.
func FuzzCSVRows(f *testing.F) {
	for _, seed := range []string{
		"name,type,lat,lng,ssid,mac_address\nCorner Cafe,business,40.7,-74,Cafe,02:00:5e:10:00:01\n", "\ufeffname;type;lat;lng\r\n\"a;\"\"b\";home;1;2\r\n", "name\n\"open", "name,name\na,b\n", "\n\n", "",
		"name,type,lat,lng,ssid,mac_address,max_connections,operating_hours\nabc,home,1e400,NaN,x,02,1.5,{}\n", "NAME,Type\nx\n,,,,\n", "name\ttype\nabc\thome\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rows, err := Read(bytes.NewReader(text), Mapping{})
		if err != nil {
			return
		}
		checkRows(t, rows, func(cells map[string]string) (Rows, error) {
			var table bytes.Buffer
			w := csv.NewWriter(&table)
			names := slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return cells[name] == "" })
			values := make([]string, len(names))
			for i, name := range names {
				values[i] = cells[name]
			}
			if err := w.WriteAll([][]string{names, values}); err != nil {
				return nil, err
			}
			return Read(&table, Mapping{})
		})
	})
}

// The same of GeoJSON; what it says of a hotspot can stand in a table too.
func FuzzGeoJSONRows(f *testing.F) {
	for _, seed := range []string{
		`{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[-74,40.7]},"properties":{"name":"Corner Cafe","type":"business","ssid":"Cafe","mac_address":"02:00:5e:10:00:01","max_connections":12,"operating_hours":{"timezone":"UTC","weekly":[]}}}]}`,
		`{"features":[{"geometry":null,"properties":null},7,{"geometry":{"type":"Point","coordinates":[1]}}],"type":"FeatureCollection"}`, `{"type":"Feature"}`, `{"type":"FeatureCollection","features":[`, `[]`, `{}`, "\ufeff{}", `{"type":"FeatureCollection","features":[]}x`,
		`{"links":[{"a":[1]}],"nodes":[{"hostname":"One","node_id":"02005e000001","location":{"latitude":1,"longitude":"2,5"}}]}`, `{"version":1,"nodes":{"02005e000001":{"nodeinfo":{"hostname":"One","location":null}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rows, err := Read(bytes.NewReader(text), Mapping{})
		if err != nil {
			return
		}
		checkRows(t, rows, nil)
	})
}

// checkRows reads all rows of a source. They stand on lines that only grow, and
// each is a hotspot or says what is wrong with it.
func checkRows(t *testing.T, rows Rows, again func(cells map[string]string) (Rows, error)) {
	line, ended := 1, false
	for r, err := range rows {
		if ended {
			t.Fatal("a row follows the error that ended them")
		}
		if err != nil {
			ended = true
			continue
		}
		if r.line < line {
			t.Errorf("line %d follows line %d", r.line, line)
		}
		line = r.line
		found, err := r.read()
		if err != nil {
			if err.Error() == "" {
				t.Error("a fault without a reason")
			}
			continue
		}
		for column, text := range map[string]string{
			"name": found.registration.Name, "type": string(found.registration.Type), "address": found.registration.Location.Address,
			"ssid": found.registration.Device.SSID, "mac_address": found.registration.Device.MACAddress,
		} {
			if strings.TrimSpace(text) != strings.TrimSpace(r.cells[column]) {
				t.Errorf("%s is %q in the file, and read as %q", column, r.cells[column], text)
			}
		}
		if again == nil {
			continue
		}
		copied, err := again(r.cells)
		if err != nil {
			t.Fatalf("%v cannot be written to a table: %v", r.cells, err)
		}
		for r2, err := range copied {
			second, fault := r2.read()
			if err != nil || fault != nil || !reflect.DeepEqual(found.registration, second.registration) {
				t.Errorf("%+v is %+v in another table: %v %v", found.registration, second.registration, err, fault)
			}
		}
	}
}
