package earnings

import (
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/places"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// How much ground a hotspot shares with an older one is a distance, and the older one may be
// a home that the network hides. So where homes are hidden every explanation is coarse: if
// only those of newer hotspots were, it would tell which is older.
const (
	coarseMinutes = 10
	coarseShare   = places.Whole / 10
)

// coarse returns what an explanation shows of the facts of a day, and whether that is less
// than they say. found says that an exact visit had found the hotspot: before, nothing is said
// that depends on others.
//
// Own and Shared are not rounded alone: what is rounded is the ground that was lost in a shared
// minute, which is the same for any number of minutes. Otherwise an operator who chooses when to be
// on the air would choose where the rounding falls.
func coarse(rules *policy.Policy, f beacon.Facts, found bool) (beacon.Facts, bool) {
	g := &f.Ground
	if !found {
		hidden := beacon.Ground{Counts: g.Counts, Standing: g.Standing, Lat: g.Lat, Lng: g.Lng}
		less := *g != hidden
		*g = hidden
		return f, less
	}
	less := g.Spare > 0 || g.Recent%places.Whole > 0
	if g.Shared > 0 {
		lost := (places.Whole*int64(f.Served) - g.Own) / int64(g.Shared)
		g.Shared = min(nearest(g.Shared, coarseMinutes), f.Served)
		g.Own = places.Whole*int64(f.Served) - int64(g.Shared)*nearest(lost, coarseShare)
		less = true
	}
	g.Recent, g.Spare = some(g.Recent, coarseShare), some(g.Spare, max(rules.Cap/10, 1))
	return f, less
}

// some is nearest, but makes nothing of nothing alone.
func some[T ~int64](n, step T) T { return max(nearest(n, step), min(n, 1)*step) }

// nearest returns the multiple of a step that is nearest to n.
func nearest[T ~int | ~int64](n, step T) T { return (n + step/2) / step * step }
