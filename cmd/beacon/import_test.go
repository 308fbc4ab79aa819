package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/beacon-wifi/beacon/client"
)

// cellText is text with everything in it that a table could stumble over.
var cellText = rapid.StringOfN(rapid.RuneFrom([]rune("aZ0 ,;|\t\"'\n{}[]:\\é漢")), 0, 12, -1)

// Whatever stands in the cells, and between them, a table is read as it was
// written.
func TestCSVRows_ReadWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		comma := rapid.SampledFrom([]rune(",;\t|")).Draw(t, "comma")
		columns := rapid.Permutation(append([]string{"extra"}, importColumns...)).Draw(t, "columns")
		var text bytes.Buffer
		if rapid.Bool().Draw(t, "mark") {
			text.WriteString("\xef\xbb\xbf")
		}
		w := csv.NewWriter(&text)
		w.Comma, w.UseCRLF = comma, rapid.Bool().Draw(t, "crlf")
		_ = w.Write(columns)
		want := rapid.SliceOfN(rapid.SliceOfN(cellText, len(columns), len(columns)), 0, 5).Draw(t, "rows")
		_ = w.WriteAll(want)
		rows, err := csvRows(&text)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for r, err := range rows {
			if err != nil || r.fault != "" {
				t.Fatalf("row %d: %v %s", n, err, r.fault)
			}
			for i, column := range columns {
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
func TestGeoJSONRows_ReadWhatWasWritten(t *testing.T) {
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
		rows, err := geojsonRows(io.MultiReader(strings.NewReader(text.String()))) // no WriteTo: it is read in pieces
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for r, err := range rows {
			if err != nil || r.fault != "" || r.line != lines[n] || r.feature != n+1 {
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
	for name, source := range map[string]func() (rowSource, error){
		"csv": func() (rowSource, error) {
			return csvRows(&endless{
				begin: strings.NewReader("name,type,lat,lng,ssid,mac_address\n"), left: size,
				line: func(n int) string { return fmt.Sprintf("\"%s\",home,1,2,x,%012x\n", filler, n) },
			})
		},
		"geojson": func() (rowSource, error) {
			return geojsonRows(&endless{
				begin: strings.NewReader("{\"type\":\"FeatureCollection\",\"features\":[\n{}"), left: size,
				line: func(int) string { return ",{\"properties\":{\"name\":\"" + filler + "\"}}\n" },
			})
		},
		"no line": func() (rowSource, error) {
			return csvRows(&endless{
				begin: strings.NewReader("name,type,lat,lng,ssid,mac_address\n\""), left: size, line: func(int) string { return filler },
			})
		},
	} {
		rows, err := source()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		var most uint64
		for range rows {
			if n++; n%5_000 == 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
		if most > 20<<20 {
			t.Errorf("%s: after %d rows, %d MB are in use", name, n, most>>20)
		}
		if want := map[string]int{"csv": 25_000, "geojson": 25_000, "no line": 1}[name]; n < want {
			t.Errorf("%s: %d rows were read", name, n)
		}
	}
}

// table writes a file of so many hotspots.
func table(t testing.TB, count int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hotspots.csv")
	var text strings.Builder
	text.WriteString("name,type,lat,lng,ssid,mac_address\n")
	for n := range count {
		fmt.Fprintf(&text, "Hotspot %d,home,%d,2,x,02005e%06x\n", n, n%90, n)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// importServer is a server, and an operator at it.
func importServer(t *testing.T) (address, key string, own *client.Client) {
	t.Helper()
	p := startServer(t, nil, "--rate-limit", "off")
	t.Cleanup(func() { p.stop(t) })
	var out, diagnosis bytes.Buffer
	if run(t.Context(), []string{"keys", "create", "--user", "new", "--scopes", "hotspots:write", "--db", filepath.Join(p.cmd.Dir, "beacon.db")}, &out, &diagnosis) != 0 {
		t.Fatal(diagnosis.String())
	}
	key = strings.TrimSpace(out.String())
	own, err := client.New(p.url, key)
	if err != nil {
		t.Fatal(err)
	}
	return p.url, key, own
}

func total(t *testing.T, c *client.Client) int {
	t.Helper()
	page, err := c.HotspotsPage(context.WithoutCancel(t.Context()), "me", client.PageQuery{PerPage: 1})
	if err != nil {
		t.Fatal(err)
	}
	return page.Total
}

// interruptAt passes requests on to a server, and interrupts something just before the
// n-th.
func interruptAt(t *testing.T, server string, n int64, interrupt func()) http.Handler {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	var seen atomic.Int64
	proxy := &httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorLog: log.New(io.Discard, "", 0), // that a client has left is what it is about
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if seen.Add(1) == n {
			interrupt()
		}
		proxy.ServeHTTP(w, r)
	})
}

// An import that is interrupted leaves what it did, and the next one does the rest.
func TestImport_Interrupted(t *testing.T) {
	t.Parallel()
	const count = 100
	server, key, own := importServer(t)
	file := table(t, count)
	ctx, cancel := context.WithCancel(t.Context())
	between := httptest.NewServer(interruptAt(t, server, 20, cancel))
	defer between.Close()
	var out, diagnosis bytes.Buffer
	code := run(ctx, []string{"import", file, "--url", between.URL, "--key", key, "--connections", "2"}, &out, &diagnosis)
	if code != exitFailed || !strings.Contains(diagnosis.String(), "interrupted; import the file again to continue") || !strings.Contains(out.String(), " registered, ") {
		t.Fatalf("exit code %d, %s %s", code, &out, &diagnosis)
	}
	before := total(t, own)
	if before >= count {
		t.Fatal("all was imported although it was interrupted")
	}
	out.Reset()
	if code := run(t.Context(), []string{"import", file, "--url", server, "--key", key}, &out, &diagnosis); code != exitDone {
		t.Fatalf("exit code %d, %s", code, &diagnosis)
	}
	var registered, there int // what was on its way may have arrived after we looked
	_, err := fmt.Sscanf(out.String(), "%d registered, %d already there, 0 failed", &registered, &there)
	if err != nil || there < before || registered+there != count || total(t, own) != count {
		t.Errorf("%d were there; it says %s, %v; %d are there now", before, &out, err, total(t, own))
	}
}

// Two imports of one file at once register each hotspot once, and neither fails.
func TestImport_Twice(t *testing.T) {
	t.Parallel()
	const count = 200
	server, key, own := importServer(t)
	file := table(t, count)
	var importing sync.WaitGroup
	var out [2]bytes.Buffer
	for i := range out {
		importing.Go(func() {
			var diagnosis bytes.Buffer
			if code := run(t.Context(), []string{"import", file, "--url", server, "--key", key}, &out[i], &diagnosis); code != exitDone {
				t.Errorf("exit code %d, %s", code, &diagnosis)
			}
		})
	}
	importing.Wait()
	sum := 0
	for i := range out {
		var registered, there int
		if _, err := fmt.Sscanf(out[i].String(), "%d registered, %d already there, 0 failed", &registered, &there); err != nil || registered+there != count {
			t.Errorf("it says %s, %v", &out[i], err)
		}
		sum += registered
	}
	if sum != count || total(t, own) != count {
		t.Errorf("%d were registered, %d are there; want %d", sum, total(t, own), count)
	}
}

// When the server goes away, the import ends and says how to go on.
func TestImport_ServerGone(t *testing.T) {
	im := importer{connections: 3, seen: map[string]int{}, unused: map[string]bool{}}
	done := 0
	im.register = func(_ context.Context, c candidate) (outcome, error) {
		if c.registration.Name == "Hotspot 50" {
			return outcome{}, &client.Error{Status: 500, Message: "away"}
		}
		return outcome{kind: isRegistered}, nil
	}
	file, err := os.Open(table(t, 10_000))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csvRows(file)
	if err != nil {
		t.Fatal(err)
	}
	err = im.run(t.Context(), rows, func(row, outcome) { done++ })
	if err == nil || !strings.HasPrefix(err.Error(), "line 52: the server answers 500") || !strings.HasSuffix(err.Error(), "to go on, import the file again") {
		t.Errorf("it ends with %v", err)
	}
	if done < 50 || done > 200 {
		t.Errorf("%d rows were told of", done)
	}
}
