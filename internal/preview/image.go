package preview

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// A location image is a small map: the city's outline, the record's borough tinted, and a
// pin. It is drawn from the outlines at startup, so the dataset needs no external URL.

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

// coarseness is how far, in image units, a drawn outline may deviate from the real one.
const coarseness = 1

func project(lat, lng float64) (x, y float64) {
	return (lng - west) * lngScale, (north - lat) * latScale
}

// addImages draws the map of every record that has one, and stores its URL in the record.
func (a *API) addImages(records []record, boroughs []borough, publicURL string) {
	outlines := make([][]byte, len(boroughs))
	for i, b := range boroughs {
		outlines[i] = outline(b)
	}
	for i := range records {
		rec := &records[i]
		if !rec.Image {
			continue
		}
		path := Base + "/images/" + strconv.Itoa(rec.ID) + ".svg"
		rec.LocationImage = publicURL + path
		a.open[path] = newFixed(routeImage, svgType, keepOpenly, drawMap(rec, boroughs, outlines))
	}
}

func drawMap(rec *record, boroughs []borough, outlines [][]byte) []byte {
	var svg bytes.Buffer
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" role="img">`+
		`<title>Hotspot %d on a map of %s, New York City</title>`+
		`<rect width="100%%" height="100%%" fill="#dfe9ee"/>`, imageWidth, imageHeight, rec.ID, rec.region)
	for i, b := range boroughs {
		fill := "#f7f5ef"
		if b.name == rec.region {
			fill = "#f3d9a4"
		}
		fmt.Fprintf(&svg, `<path fill="%s" stroke="#9aa7ad" stroke-width=".6" d="%s"/>`, fill, outlines[i])
	}
	x, y := project(rec.Lat, rec.Lng)
	fmt.Fprintf(&svg, `<circle cx="%.1f" cy="%.1f" r="13" fill="#c2402b" fill-opacity=".22"/>`+
		`<circle cx="%.1f" cy="%.1f" r="5" fill="#c2402b" stroke="#fff" stroke-width="1.5"/></svg>`, x, y, x, y)
	svg.WriteByte('\n')
	return svg.Bytes()
}

// outline returns the path of a borough in whole units, each point relative to the
// previous one, which is the shortest form. Islands too small to be seen are left out.
func outline(b borough) []byte {
	const smallest = 4 // points
	var path []byte
	for _, polygon := range b.polygons {
		for _, r := range polygon {
			points := thin(projectRing(r))
			if len(points) < smallest {
				continue
			}
			var x, y int64
			command := byte('M')
			for _, p := range points {
				toX, toY := int64(math.Round(p[0])), int64(math.Round(p[1]))
				path = append(path, command)
				path = strconv.AppendInt(path, toX-x, 10)
				path = append(path, ' ')
				path = strconv.AppendInt(path, toY-y, 10)
				x, y, command = toX, toY, 'l'
			}
			path = append(path, 'z')
		}
	}
	return path
}

func projectRing(r ring) ring {
	points := make(ring, len(r))
	for i, p := range r {
		points[i][0], points[i][1] = project(p[1], p[0])
	}
	return points
}

// thin removes the points that are within coarseness of a line between their neighbours
// (the Douglas–Peucker algorithm).
func thin(points ring) ring {
	if len(points) < 3 {
		return points
	}
	first, last := points[0], points[len(points)-1]
	worst, at := 0.0, 0
	for i, p := range points[1 : len(points)-1] {
		if d := offLine(p, first, last); d > worst {
			worst, at = d, i+1
		}
	}
	if worst <= coarseness {
		return ring{first, last}
	}
	before, after := thin(points[:at+1]), thin(points[at:])
	return append(before[:len(before)-1:len(before)-1], after...)
}

// offLine returns the distance of p from the line through a and b, or from a if they are
// the same point, as the two ends of a ring are.
func offLine(p, a, b [2]float64) float64 {
	dx, dy := b[0]-a[0], b[1]-a[1]
	length := math.Hypot(dx, dy)
	if length == 0 {
		return math.Hypot(p[0]-a[0], p[1]-a[1])
	}
	return math.Abs(dx*(p[1]-a[1])-dy*(p[0]-a[0])) / length
}
