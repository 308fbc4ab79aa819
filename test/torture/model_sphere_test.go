//go:build linux

package torture_test

import (
	"cmp"
	"math"
	"slices"
)

// earth is the radius of the sphere in metres (decision N13).
const earth = 6_371_008.8

type place struct{ lat, lng float64 }

// modelPlaces are where hotspots of a run may stand: so near to each other that
// distances and discs meet, on the same spot, and where maps end.
var modelPlaces = []place{
	{40.75, -73.98},
	{40.75, -73.98},
	{40.751, -73.98},
	{40.749, -73.98},
	{40.7505, -73.9795},
	{40.75, -73.97},
	{40.7504, -73.9801},
	{0, 180},
	{0, -180},
	{0.0005, 179.9995},
	{math.Copysign(0, -1), -179.9992},
	{90, 0},
	{90, 77},
	{89.9995, -120},
	{-90, 10},
	{-33.86, 151.21},
}

func radians(degrees float64) float64 { return degrees * math.Pi / 180 }

// metres is how far two places are apart, by their chord.
func metres(a, b place) float64 {
	vector := func(p place) [3]float64 {
		lat, lng := radians(p.lat), radians(p.lng)
		return [3]float64{math.Cos(lat) * math.Cos(lng), math.Cos(lat) * math.Sin(lng), math.Sin(lat)}
	}
	u, v := vector(a), vector(b)
	chord := math.Sqrt((u[0]-v[0])*(u[0]-v[0]) + (u[1]-v[1])*(u[1]-v[1]) + (u[2]-v[2])*(u[2]-v[2]))
	return 2 * earth * math.Asin(math.Min(1, chord/2))
}

type box struct{ north, south, east, west float64 }

// width is how many degrees the box reaches from west eastwards.
func (b box) width() float64 {
	if b.east < b.west {
		return b.east - b.west + 360
	}
	return b.east - b.west
}

// has is decision D63: borders are in the box; ±180° is one meridian, and a pole
// is on every one.
func (b box) has(p place) bool {
	if p.lat < b.south || p.lat > b.north {
		return false
	}
	east := math.Mod(p.lng-b.west+720, 360)
	return east <= b.width() || math.Abs(p.lat) == 90 || b.width() == 360
}

func (b box) km2() float64 {
	return earth * earth / 1e6 * (math.Sin(radians(b.north)) - math.Sin(radians(b.south))) * radians(b.width())
}

type disc struct {
	place
	radius float64
}

// coveredKm2 is the area of a union of discs within a box: summed up over strips along
// the parallels, in each of which the discs are intervals. There are 64 between each two
// of the parallels where the covered part begins, ends or bends because of one disc.
func coveredKm2(discs []disc, b box) (km2 float64) {
	const strips = 64
	cuts := []float64{b.south, b.north}
	for _, d := range discs {
		reach := d.radius / earth * 180 / math.Pi
		cuts = append(cuts, d.lat-reach, d.lat+reach, 180-(d.lat+reach), -180-(d.lat-reach)) // the last two: from across a pole
		cuts = append(cuts, d.meets(b.west)...)
		cuts = append(cuts, d.meets(b.east)...)
	}
	slices.Sort(cuts)
	for i := range len(cuts) - 1 {
		from, to := max(cuts[i], b.south), min(cuts[i+1], b.north)
		for strip := range strips {
			if to <= from {
				break
			}
			height := (to - from) / float64(strips)
			lat := from + (float64(strip)+0.5)*height
			km2 += earth * earth / 1e6 * math.Cos(radians(lat)) * radians(height) * radians(coveredDegrees(discs, b, lat))
		}
	}
	return km2
}

// meets is at which latitudes the edge of the disc meets a meridian; one beyond a pole
// is on the meridian opposite.
func (d disc) meets(lng float64) []float64 {
	up, out := math.Sin(radians(d.lat)), math.Cos(radians(d.lat))*math.Cos(radians(lng-d.lng))
	cosine := math.Cos(d.radius/earth) / math.Hypot(up, out)
	if cosine > 1 {
		return nil
	}
	middle, half := math.Atan2(up, out)*180/math.Pi, math.Acos(cosine)*180/math.Pi
	return []float64{middle - half, middle + half}
}

// coveredDegrees is how much of a parallel within the box is in some disc.
func coveredDegrees(discs []disc, b box, lat float64) (degrees float64) {
	type interval struct{ from, to float64 }
	var intervals []interval
	for _, d := range discs {
		cosine := (math.Cos(d.radius/earth) - math.Sin(radians(lat))*math.Sin(radians(d.lat))) / (math.Cos(radians(lat)) * math.Cos(radians(d.lat)))
		if cosine > 1 {
			continue
		}
		half := math.Acos(max(-1, cosine)) * 180 / math.Pi
		middle := math.Mod(d.lng-b.west+720, 360)
		for _, turn := range []float64{-360, 0, 360} {
			intervals = append(intervals, interval{max(0, middle+turn-half), min(b.width(), middle+turn+half)})
		}
	}
	slices.SortFunc(intervals, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	reached := 0.0
	for _, i := range intervals {
		if i.to > max(reached, i.from) {
			degrees += i.to - max(reached, i.from)
			reached = i.to
		}
	}
	return degrees
}

// tileAt is the tile of the web's map that a place is in; a line belongs to the
// tile north and east of it, and beyond ±85.05° there are none.
func tileAt(p place, z int) (x, y int, there bool) {
	n := math.Exp2(float64(z))
	x = int(math.Floor((p.lng+180)/360*n)) % int(n)
	down := (1 - math.Asinh(math.Tan(radians(p.lat)))/math.Pi) / 2 * n
	y = int(math.Ceil(down)) - 1
	return x, y, y >= 0 && y < int(n)
}
