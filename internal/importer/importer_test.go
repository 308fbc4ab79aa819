package importer

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/beacon-wifi/beacon/client"
)

// cellText is text with everything in it that a table could stumble over.
var cellText = rapid.StringOfN(rapid.RuneFrom([]rune("aZ0 ,;|\t\"'\n{}[]:\\é漢")), 0, 12, -1)

// Whatever stands in the cells, and between them, a table is read as it was
// written.
func TestCSV_ReadWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		comma := rapid.SampledFrom([]rune(",;\t|")).Draw(t, "comma")
		order := rapid.Permutation(append([]string{"extra"}, columns...)).Draw(t, "columns")
		var text bytes.Buffer
		if rapid.Bool().Draw(t, "mark") {
			text.WriteString("\xef\xbb\xbf")
		}
		w := csv.NewWriter(&text)
		w.Comma, w.UseCRLF = comma, rapid.Bool().Draw(t, "crlf")
		_ = w.Write(order)
		want := rapid.SliceOfN(rapid.SliceOfN(cellText, len(order), len(order)), 0, 5).Draw(t, "rows")
		_ = w.WriteAll(want)
		rows, err := Read(&text, Mapping{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for r, err := range rows {
			if err != nil || r.fault != "" {
				t.Fatalf("row %d: %v %s", n, err, r.fault)
			}
			for i, column := range order {
				wanted := strings.ReplaceAll(want[n][i], "\r\n", "\n")
				if got, ok := r.cells[column]; ok != (column != "extra") || ok && got != wanted {
					t.Fatalf("row %d has %s %q; want %q", n, column, got, wanted)
				}
			}
			n++
		}
		if n != len(want) {
			t.Fatalf("%d rows were read, %d written", n, len(want))
		}
	})
}

// Features are found on their lines, however the document is laid out.
func TestGeoJSON_ReadWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(cellText, 0, 8).Draw(t, "names")
		gap := rapid.SampledFrom([]string{"", " ", "\n", "\r\n", "\n\n  "}).Draw(t, "gap")
		var text strings.Builder
		var lines []int
		text.WriteString(gap + `{"features":[` + gap)
		for i, name := range names {
			if i > 0 {
				text.WriteString("," + gap)
			}
			lines = append(lines, 1+strings.Count(text.String(), "\n"))
			encoded, _ := json.Marshal(name)
			fmt.Fprintf(&text, `{"type":"Feature",%s"properties":{"name":%s,"max_connections":%d},"geometry":{"type":"Point","coordinates":[%d.5,-1e1]}}`, gap, encoded, i, i)
		}
		text.WriteString(`],"type":"FeatureCollection"}`)
		rows, err := Read(io.MultiReader(strings.NewReader(text.String())), Mapping{}) // no WriteTo: it is read in pieces
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for r, err := range rows {
			if err != nil || r.fault != "" || r.line != lines[n] || r.item != fmt.Sprint("feature ", n+1) {
				t.Fatalf("feature %d on line %d is %+v, %v", n+1, lines[n], r, err)
			}
			want := map[string]string{"name": names[n], "lng": fmt.Sprintf("%d.5", n), "lat": "-1e1", "max_connections": fmt.Sprint(n)}
			for column, value := range want {
				if r.cells[column] != value {
					t.Fatalf("%s is %q; want %q", column, r.cells[column], value)
				}
			}
			n++
		}
		if n != len(names) {
			t.Fatalf("%d features were read, %d written", n, len(names))
		}
	})
}

// A file of two collections is not read in half: what follows the first is an error.
func TestGeoJSON_TwoCollections(t *testing.T) {
	const one = `{"type":"FeatureCollection","features":[]}`
	for text, want := range map[string]string{
		one: "", one + "\n\n ": "",
		one + "\n" + one: "after line 2: there is text after the end of the document",
		one + "\n]":      "after line 2: there is text after the end of the document",
	} {
		rows, err := Read(strings.NewReader(text), Mapping{})
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, err := range rows {
			if err != nil {
				said = err.Error()
			}
		}
		if said != want {
			t.Errorf("%q: %q; want %q", text, said, want)
		}
	}
}

// endless gives the beginning of a file, and then the same line again and again.
type endless struct {
	begin io.Reader
	line  func(n int) string
	n     int
	rest  []byte
	left  int64
}

func (e *endless) Read(p []byte) (int, error) {
	if n, _ := e.begin.Read(p); n > 0 {
		return n, nil
	}
	if e.left <= 0 {
		return 0, io.EOF
	}
	if len(e.rest) == 0 {
		e.n++
		e.rest = []byte(e.line(e.n))
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	e.left -= int64(n)
	return n, nil
}

// A file may be far larger than the memory: 60 MB are read in a few.
func TestRows_TakeLittleMemory(t *testing.T) {
	const size = 60 << 20
	filler := strings.Repeat("x", 2000)
	for name, source := range map[string]func() (Rows, error){
		"csv": func() (Rows, error) {
			return Read(&endless{
				begin: strings.NewReader("name,type,lat,lng,ssid,mac_address\n"), left: size,
				line: func(n int) string { return fmt.Sprintf("\"%s\",home,1,2,x,%012x\n", filler, n) },
			}, Mapping{})
		},
		"geojson": func() (Rows, error) {
			return Read(&endless{
				begin: strings.NewReader("{\"type\":\"FeatureCollection\",\"features\":[\n{}"), left: size,
				line: func(int) string { return ",{\"properties\":{\"name\":\"" + filler + "\"}}\n" },
			}, Mapping{})
		},
		"links": func() (Rows, error) {
			return Read(&endless{
				begin: strings.NewReader("{\"links\":[\n{}"), left: size,
				line: func(int) string { return ",\n{\"type\":\"" + filler + "\",\"tq\":[1,2,{\"a\":null}]}" },
			}, Mapping{})
		},
		"no line": func() (Rows, error) {
			return Read(&endless{
				begin: strings.NewReader("name,type,lat,lng,ssid,mac_address\n\""), left: size, line: func(int) string { return filler },
			}, Mapping{})
		},
	} {
		rows, err := source()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		var most uint64
		for _, err := range rows {
			if n++; n%5_000 == 0 || err != nil {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
		if most > 20<<20 {
			t.Errorf("%s: after %d rows, %d MB are in use", name, n, most>>20)
		}
		if want := map[string]int{"csv": 25_000, "geojson": 25_000, "no line": 1, "links": 1}[name]; n < want {
			t.Errorf("%s: %d rows were read", name, n)
		}
	}
}

// When the server goes away, the import ends and says how to go on.
func TestRun_ServerGone(t *testing.T) {
	register := func(_ context.Context, all []candidate) []Outcome {
		out := make([]Outcome, len(all))
		for i, c := range all {
			if c.registration.Name == "Hotspot 50" {
				out[i].err = &client.Error{Status: 500, Message: "away"}
			}
		}
		return out
	}
	var text strings.Builder
	text.WriteString("name,type,lat,lng,ssid,mac_address\n")
	for n := range 10_000 {
		fmt.Fprintf(&text, "Hotspot %d,home,%d,2,x,02005e%06x\n", n, n%90, n)
	}
	rows, err := Read(strings.NewReader(text.String()), Mapping{})
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	_, err = Run(t.Context(), rows, register, 3, func(string, Outcome) { done++ })
	if err == nil || !strings.HasPrefix(err.Error(), "line 52: the server answers 500") || !strings.HasSuffix(err.Error(), "to go on, import the file again") {
		t.Errorf("it ends with %v", err)
	}
	if done < 50 || done > 1000 {
		t.Errorf("%d rows were told of", done)
	}
}
