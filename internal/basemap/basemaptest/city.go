// Package basemaptest draws a small city that does not exist, and writes it as a PMTiles
// file: streets, water, parks, buildings and names of a few blocks. It shares no code with
// the reader of package basemap.
package basemaptest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// maxZoom is the closest zoom of the file.
const maxZoom = 14

// City is a city around a place. Its streets follow the compass, a block is some 200 m
// wide, and a river passes in the west.
type City struct {
	Lat, Lng float64
	Schema   string // protomaps, openmaptiles or plain
	MinZoom  int    // the file has no tiles for looking at it from further away
	Times    int    // how many times as wide everything is; 0 is once
}

// block is the width of a block, as a part of the width of the Earth's map.
func (c City) block() float64 { return block * float64(max(c.Times, 1)) }

// Write writes the city as a file of the test's, and returns its path.
func (c City) Write(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "city.pmtiles")
	if err := os.WriteFile(path, c.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Encode returns the file.
func (c City) Encode() []byte {
	layers := c.layers()
	tiles := map[tileID][]byte{}
	side := blocks * c.block()
	x, y := project(c.Lat, c.Lng)
	for z := c.MinZoom; z <= maxZoom; z++ {
		n := math.Exp2(float64(z))
		for tx := int((x - side) * n); tx <= int((x+side)*n); tx++ {
			for ty := int((y - side) * n); ty <= int((y+side)*n); ty++ {
				if body := encodeTile(layers, z, tx, ty); len(body) > 0 {
					tiles[tileID{z, tx, ty}] = body
				}
			}
		}
	}
	south, west := unproject(x-side, y+side)
	north, east := unproject(x+side, y-side)
	return encodeFile(tiles, c.MinZoom, c.metadata(layers), [4]float64{west, south, east, north})
}

// The city's measures, in parts of the width of the Earth's map.
const (
	block  = 1.0 / (1 << 14) / 8
	blocks = 9 // from the middle to each side
)

// street is a street's name, and what it is called in another language.
type street struct{ name, german string }

var (
	avenues = []street{{"Harbour Avenue", "Hafenallee"}, {"Mill Avenue", "Mühlenallee"}, {"Central Avenue", "Hauptallee"}, {"Orchard Avenue", "Obstallee"}}
	roads   = []street{{"Acacia Street", "Akazienstraße"}, {"Baker Street", "Bäckerstraße"}, {"Canal Street", "Kanalstraße"}, {"Calçada do Carmo", ""}, {"東通り", "Oststraße"}}
)

func (c City) metadata(layers []*layer) string {
	list := ""
	for i, l := range layers {
		if i > 0 {
			list += ","
		}
		fields := map[string]string{}
		for _, f := range l.features {
			for _, p := range f.properties {
				fields[p[0]] = "String"
			}
		}
		text, _ := json.Marshal(fields)
		list += fmt.Sprintf(`{"id":%q,"fields":%s}`, l.name, text)
	}
	return `{"name":"Lumeford","attribution":"<a href=\"https://example.org/copyright\">© Surveyors of Lumeford</a><script>alert(1)</script>","vector_layers":[` + list + `]}`
}

// layers draws the city in its schema.
func (c City) layers() []*layer {
	d := &drawing{openMapTiles: c.Schema == "openmaptiles", plain: c.Schema == "plain"}
	x, y := project(c.Lat, c.Lng)
	wide := c.block()
	at := func(bx, by float64) (px, py float64) { return x + bx*wide, y + by*wide }
	rect := func(x0, y0, x1, y1 float64) shape {
		ax, ay := at(x0, y0)
		bx, by := at(x1, y1)
		return shape{area, ax, ay, bx, by}
	}
	line := func(x0, y0, x1, y1 float64) shape {
		s := rect(x0, y0, x1, y1)
		s.kind = way
		return s
	}
	point := func(bx, by float64) shape {
		px, py := at(bx, by)
		return shape{spot, px, py, px, py}
	}
	const edge = blocks
	d.land(rect(-edge, -edge, edge, edge))
	d.water(rect(-8, -edge, -6.5, edge))
	d.waterName(point(-7.25, 2), "River Lume")
	d.park(rect(1.1, -2.9, 2.9, -1.1), "Linden Park")
	d.park(rect(-4.9, 3.1, -3.1, 3.9), "")
	for i := -5; i < 8; i++ {
		for j := -8; j < 8; j++ {
			park := i >= 1 && i < 3 && j >= -3 && j < -1 || i >= -5 && i < -3 && j == 3
			if !park {
				d.building(rect(float64(i)+0.2, float64(j)+0.2, float64(i)+0.5+0.05*float64((i+j+16)%5), float64(j)+0.75))
			}
		}
	}
	for i := -6; i <= 8; i++ {
		name := street{fmt.Sprintf("%d Avenue", i+7), ""}
		if i%4 == 0 {
			name = avenues[(i+8)/4%len(avenues)]
		}
		d.road(line(float64(i), -edge, float64(i), edge), name, i%4 == 0)
	}
	for j := -8; j <= 8; j++ {
		name := roads[(j+8)%len(roads)]
		d.road(line(-edge, float64(j), edge, float64(j)), name, j == 0)
	}
	d.way(line(-5.5, -edge, -5.5, edge), 6, "highway", "motorway", street{"Ring Road", ""})
	d.place(point(0.5, 0.5), 4, "locality", "city", "city", street{"Lumeford", "Lumefurt"})
	d.place(point(-4, -4), 11, "neighbourhood", "", "suburb", street{"Old Harbour", "Alter Hafen"})
	return d.layers
}

func project(lat, lng float64) (x, y float64) {
	phi := lat * math.Pi / 180
	return (lng + 180) / 360, (1 - math.Log(math.Tan(phi)+1/math.Cos(phi))/math.Pi) / 2
}

func unproject(x, y float64) (lat, lng float64) {
	return math.Atan(math.Sinh(math.Pi*(1-2*y))) * 180 / math.Pi, x*360 - 180
}
