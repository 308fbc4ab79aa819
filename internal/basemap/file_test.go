package basemap_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/basemap"
	"github.com/beacon-wifi/beacon/internal/basemap/basemaptest"
)

var lumeford = basemaptest.City{Lat: 52.52, Lng: 13.405, Schema: "protomaps"}

func open(t *testing.T, c basemaptest.City) *basemap.Map {
	t.Helper()
	m, err := basemap.Open(c.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func TestOpen(t *testing.T) {
	for schema, layer := range map[basemap.Schema]string{basemap.Protomaps: "roads", basemap.OpenMapTiles: "transportation_name", basemap.Plain: "parks"} {
		c := lumeford
		c.Schema = string(schema)
		m := open(t, c)
		if m.Schema != schema || !slices.Contains(m.Layers, layer) || m.MinZoom != 0 || m.MaxZoom != 14 || m.Kind != "vector" || m.Compression != "gzip" || m.Name != "Lumeford" {
			t.Errorf("%s: read %+v", schema, m.Info)
		}
		if b := m.Bounds; b.West > c.Lng || b.East < c.Lng || b.South > c.Lat || b.North < c.Lat || b.East-b.West > 0.1 || b.North-b.South > 0.1 {
			t.Errorf("%s: the bounds are %+v", schema, b)
		}
		if err := m.Check(); err != nil {
			t.Errorf("%s: cannot be drawn: %v", schema, err)
		}
	}
}

// Who names a wrong file hears what is wrong with it.
func TestOpen_Refuses(t *testing.T) {
	good := lumeford.Encode()
	changed := func(at int, b byte) []byte {
		body := bytes.Clone(good)
		body[at] = b
		return body
	}
	for _, tc := range []struct {
		name, want string
		body       []byte
	}{
		{"empty", "not a PMTiles file", nil},
		{"text", "not a PMTiles file", bytes.Repeat([]byte("streets"), 40)},
		{"older", "version 2 of PMTiles; convert it to version 3", changed(7, 2)},
		{"half", "the file is not complete", good[:len(good)/2]},
		{"negative offset", "the file is not complete", changed(15, 0xff)},
		{"large directory", "the file is not complete", changed(20, 1)},
		{"compression", "compressed with zstd; only gzip can be read", changed(97, 4)},
		{"damaged directory", "directory of tiles", changed(127, 0)},
	} {
		path := filepath.Join(t.TempDir(), "x.pmtiles")
		if err := os.WriteFile(path, tc.body, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := basemap.Open(path)
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
	if _, err := basemap.Open(t.TempDir()); err == nil {
		t.Error("a folder was opened")
	}
	if _, err := basemap.Open("/nowhere.pmtiles"); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestCheck(t *testing.T) {
	good := lumeford.Encode()
	other := lumeford
	other.Schema = "openmaptiles"
	for name, tc := range map[string]struct {
		at   int
		b    byte
		want string
	}{
		"images": {99, 2, "its tiles are PNG images"},
		"brotli": {98, 3, "compressed with brotli; browsers read gzip only"},
	} {
		body := bytes.Clone(good)
		body[tc.at] = tc.b
		path := filepath.Join(t.TempDir(), "x.pmtiles")
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := basemap.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
