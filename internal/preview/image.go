package preview

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

// A location image is a small map: the city's outline, the record's borough tinted, and a
// pin. It is drawn at startup, so the dataset needs no external URL.

// outlines has a line for each borough: its name, a tab, and its outline as the path of an
// SVG. Points that are within one unit of a line between others are left out, and so are
// islands too small to be seen.
//
//go:embed data/outlines.tsv
var outlines string

// The bounds of the map in degrees, and its size. A degree of longitude is shorter than
// one of latitude by the cosine of the city's latitude.
const (
	west, east   = -74.27, -73.69
	south, north = 40.49, 40.92
	imageWidth   = 440
	lngScale     = imageWidth / (east - west)
	latScale     = lngScale / 0.7587 // cos 40.65°
	imageHeight  = (north - south) * latScale
)

// addImages draws the map of every record that has one, and stores its URL in the record.
func (a *API) addImages(records []record, publicURL string) {
	for i := range records {
		rec := &records[i]
		if !rec.Image {
			continue
		}
		path := Base + "/images/" + strconv.Itoa(rec.ID) + ".svg"
		rec.LocationImage = publicURL + path
		a.open[path] = newFixed(routeImage, svgType, keepOpenly, drawMap(rec))
	}
}

func drawMap(rec *record) []byte {
	var svg bytes.Buffer
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" role="img">`+
		`<title>Hotspot %d on a map of %s, New York City</title>`+
		`<rect width="100%%" height="100%%" fill="#dfe9ee"/>`, imageWidth, imageHeight, rec.ID, rec.Region)
	for line := range strings.Lines(outlines) {
		fill := "#f7f5ef"
		name, outline, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if name == rec.Region {
			fill = "#f3d9a4"
		}
		fmt.Fprintf(&svg, `<path fill="%s" stroke="#9aa7ad" stroke-width=".6" d="%s"/>`, fill, outline)
	}
	x, y := (rec.Lng-west)*lngScale, (north-rec.Lat)*latScale
	fmt.Fprintf(&svg, `<circle cx="%.1f" cy="%.1f" r="13" fill="#c2402b" fill-opacity=".22"/>`+
		`<circle cx="%.1f" cy="%.1f" r="5" fill="#c2402b" stroke="#fff" stroke-width="1.5"/></svg>`, x, y, x, y)
	svg.WriteByte('\n')
	return svg.Bytes()
}
