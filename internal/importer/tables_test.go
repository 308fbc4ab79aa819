package importer

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"
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
		rows, err := CSV(strings.NewReader(table.Text))
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
