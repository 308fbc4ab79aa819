package coverage_test

import (
	"math"
	"slices"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// The oracle integrates over the latitude how much of the parallel the discs
// cover: for one parallel that is a union of intervals of longitude in closed
// form. It knows no arcs, no projection and no cells, and shares no code with
// the package.

type oracleDisc struct {
	place   geo.Point
	radiusM float64
}

type interval struct{ low, high float64 }

// oracleArea gives the covered part of the box in square metres.
func oracleArea(box geo.Box, discs []oracleDisc) float64 {
	o := oracle{west: box.West, width: box.Width() * math.Pi / 180}
	south, north := box.South*math.Pi/180, box.North*math.Pi/180
	for _, d := range discs {
		o.add(d)
	}
	at := slices.DeleteFunc(o.breaks(south, north), func(lat float64) bool { return !(lat > south && lat < north) })
	at = append(at, south, north)
	slices.Sort(at)
	sum := 0.0
	for i := 1; i < len(at); i++ {
		if at[i] > at[i-1] {
			sum += o.integrate(at[i-1], at[i], o.rule(at[i-1], at[i]), 0)
		}
	}
	return sum * geo.EarthRadius * geo.EarthRadius
}

type oracle struct {
	west, width float64 // degrees, radians
	lats, radii []float64
	lngs        []float64 // east of the box's west side, radians
	scratch     []interval
	tolerance   float64
}

func (o *oracle) add(d oracleDisc) {
	lng := math.Mod(d.place.Lng-o.west, 360)
	if lng > 180 {
		lng -= 360
	}
	if lng <= -180 {
		lng += 360
	}
	o.lats = append(o.lats, d.place.Lat*math.Pi/180)
	o.lngs = append(o.lngs, lng*math.Pi/180)
	o.radii = append(o.radii, d.radiusM/geo.EarthRadius)
	o.tolerance += 1e-13 * math.Pi * math.Pow(d.radiusM/geo.EarthRadius, 2) / float64(len(o.lats))
}

// breaks gives the latitudes at which the covered part of a parallel changes
// its formula.
func (o *oracle) breaks(south, north float64) []float64 {
	at := []float64{0}
	for i, lat := range o.lats {
		r := o.radii[i]
		if lat+r < south || lat-r > north {
			continue
		}
		at = append(at, lat-r, lat, lat+r, math.Pi-lat-r, -math.Pi-lat+r)
		for _, side := range []float64{0, o.width} {
			foot := math.Atan2(math.Sin(lat), math.Cos(lat)*math.Cos(side-o.lngs[i]))
			if half, ok := leg(r, math.Asin(math.Cos(lat)*math.Sin(side-o.lngs[i]))); ok {
				at = append(at, foot-half, foot+half)
			}
		}
		for j := range i {
			at = append(at, o.crossings(i, j)...)
		}
	}
	return at
}

// leg is the side of a right-angled triangle on the sphere, given its longest
// and its other side.
func leg(longest, other float64) (side float64, ok bool) {
	square := (math.Sin(longest) - math.Sin(other)) * (math.Sin(longest) + math.Sin(other))
	if !(square >= 0) {
		return 0, false
	}
	return math.Asin(min(1, math.Sqrt(square)/math.Cos(other))), true
}

// crossings gives the latitudes at which the rims of two discs cross: from the
// middle of the first some way towards the other, then as far to either side.
func (o *oracle) crossings(i, j int) []float64 {
	if math.Abs(o.lats[i]-o.lats[j]) > o.radii[i]+o.radii[j] {
		return nil
	}
	square := func(x float64) float64 { return math.Sin(x/2) * math.Sin(x/2) }
	lat, r, away := o.lats[i], o.radii[i], o.lngs[j]-o.lngs[i]
	between := square(o.lats[j]-lat) + math.Cos(lat)*math.Cos(o.lats[j])*square(away)
	if between == 0 || between >= 1 {
		return nil
	}
	distance := 2 * math.Asin(math.Sqrt(between))
	along := math.Atan2(2*(square(r)-square(o.radii[j])+math.Cos(r)*between), math.Cos(r)*math.Sin(distance))
	across, ok := leg(r, along)
	if !ok {
		return nil
	}
	bearing := math.Atan2(
		math.Cos(o.lats[j])*math.Sin(away),
		math.Sin(o.lats[j]-lat)+2*math.Sin(lat)*math.Cos(o.lats[j])*square(away))
	turn := math.Atan2(math.Tan(across), math.Sin(along))
	var at []float64
	for _, b := range []float64{bearing - turn, bearing + turn} {
		rise := math.Cos(lat)*math.Sin(r)*math.Cos(b) - 2*math.Sin(lat)*square(r)
		at = append(at, math.Asin(max(-1, min(1, math.Sin(lat)+rise))))
	}
	return at
}

// covered gives how many radians of the parallel, within the box, are covered.
func (o *oracle) covered(lat float64) float64 {
	parts := o.scratch[:0]
	for i := range o.lats {
		off := lat - o.lats[i]
		if math.Abs(off) >= o.radii[i] {
			continue
		}
		square := math.Sin((o.radii[i]+off)/2) * math.Sin((o.radii[i]-off)/2) / (math.Cos(lat) * math.Cos(o.lats[i]))
		half := math.Pi
		if square < 1 {
			half = 2 * math.Asin(math.Sqrt(square))
		}
		for _, shift := range []float64{-2 * math.Pi, 0, 2 * math.Pi} {
			part := interval{max(0, o.lngs[i]-half+shift), min(o.width, o.lngs[i]+half+shift)}
			if part.low < part.high {
				parts = append(parts, part)
			}
		}
	}
	o.scratch = parts
	slices.SortFunc(parts, func(a, b interval) int {
		switch {
		case a.low < b.low:
			return -1
		case a.low > b.low:
			return 1
		default:
			return 0
		}
	})
	sum, reached := 0.0, 0.0
	for _, part := range parts {
		if low := max(part.low, reached); part.high > low {
			sum += part.high - low
			reached = part.high
		}
	}
	return sum
}

// gauss are the nodes and weights of Gauss and Legendre's rule of ten points.
var gauss = [5][2]float64{
	{0.1488743389816312, 0.2955242247147529},
	{0.4333953941292472, 0.2692667193099963},
	{0.6794095682990244, 0.2190863625159820},
	{0.8650633666889845, 0.1494513491505806},
	{0.9739065285171717, 0.0666713443086881},
}

// rule integrates between two latitudes. Roots at both ends, where a disc begins
// or ends, become smooth by lat = middle - half·cos(u).
func (o *oracle) rule(low, high float64) float64 {
	middle, half := (low+high)/2, (high-low)/2
	sum := 0.0
	for _, g := range gauss {
		for _, x := range []float64{-g[0], g[0]} {
			u := (x + 1) * math.Pi / 2
			lat := middle - half*math.Cos(u)
			sum += g[1] * o.covered(lat) * math.Cos(lat) * half * math.Sin(u)
		}
	}
	return sum * math.Pi / 2
}

// integrate halves the range until the halves agree with the whole.
func (o *oracle) integrate(low, high, whole float64, depth int) float64 {
	middle := (low + high) / 2
	left, right := o.rule(low, middle), o.rule(middle, high)
	off := math.Abs(left + right - whole)
	if off <= 1e-12*math.Abs(whole) || off <= o.tolerance || depth > 30 {
		return left + right
	}
	return o.integrate(low, middle, left, depth+1) + o.integrate(middle, high, right, depth+1)
}
