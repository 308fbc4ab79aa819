package ground_test

import (
	"math"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
)

// This oracle knows the rule and nothing of the code: floating-point vectors, one
// square and one minute after the other.

const oracleEarth = 6_371_008.8

type vector [3]float64

func vectorAt(lat, lng float64) vector {
	lat, lng = lat*math.Pi/180, lng*math.Pi/180
	return vector{math.Cos(lat) * math.Cos(lng), math.Cos(lat) * math.Sin(lng), math.Sin(lat)}
}

func vectorOf(p ground.Place) vector { return vectorAt(float64(p.Lat)/1e7, float64(p.Lng)/1e7) }

// place is where a vector of any length points to.
func (v vector) place() ground.Place {
	return ground.Place{
		Lat: int32(math.Round(math.Atan2(v[2], math.Hypot(v[0], v[1])) * 180e7 / math.Pi)),
		Lng: int32(math.Round(math.Atan2(v[1], v[0]) * 180e7 / math.Pi)),
	}
}

func (v vector) meters(w vector) float64 {
	return oracleEarth * 2 * math.Asin(math.Hypot(math.Hypot(v[0]-w[0], v[1]-w[1]), v[2]-w[2])/2)
}

type oracleSquare struct{ row, number int }

// oracleSquares finds the squares within a radius of a place by trying all that may
// be.
func oracleSquares(p ground.Place, radiusM float64) (found []oracleSquare) {
	const degrees = 0.000045
	at := vectorOf(p)
	reach := radiusM/111_195 + degrees
	for row := int((float64(p.Lat)/1e7 + 90 - reach) / degrees); row <= int((float64(p.Lat)/1e7+90+reach)/degrees); row++ {
		if row < 0 || row >= 4_000_000 {
			continue
		}
		lat := (float64(row)+0.5)*degrees - 90
		n := int(math.Round(8_000_000 * math.Cos(lat*math.Pi/180)))
		from, to := 0, n
		if n > 2000 { // else the pole may be within
			near := int((float64(p.Lng)/1e7 + 180) / 360 * float64(n))
			from, to = near-int(radiusM), near+int(radiusM)
		}
		for k := from; k < to; k++ {
			if vectorAt(lat, (float64(k)+0.5)*360/float64(n)-180).meters(at) <= radiusM {
				found = append(found, oracleSquare{row, (k + n) % n})
			}
		}
	}
	return found
}

// oracle divides a day. It also returns how many square-minutes were served by at
// least one.
func oracle(day []ground.Hotspot, radiusM int) (shares []ground.Share, union int) {
	owners := map[oracleSquare]*[beacon.MinutesADay]int{} // the hotspot's number, from 1
	for i, h := range day {
		squares := oracleSquares(h.Place, float64(radiusM))
		s, lost := ground.Share{Squares: int32(len(squares))}, [beacon.MinutesADay]bool{}
		for _, square := range squares {
			ownersOf := owners[square]
			if ownersOf == nil {
				ownersOf = new([beacon.MinutesADay]int)
				owners[square] = ownersOf
			}
			for m := range ownersOf {
				switch owner := &ownersOf[m]; {
				case !servedIn(h, m):
				case *owner == 0:
					*owner = i + 1
					s.Owned++
					union++
				default:
					lost[m] = true
				}
			}
		}
		for _, l := range lost {
			if l {
				s.Minutes++
			}
		}
		for j, other := range day[:i] {
			if s.Minutes > 0 && vectorOf(other.Place).meters(vectorOf(h.Place)) <= 2*float64(radiusM) && serveTogether(day[i], day[j]) {
				s.Older++
			}
		}
		shares = append(shares, s)
	}
	return shares, union
}

func servedIn(h ground.Hotspot, minute int) bool {
	return h.Served != nil && h.Served[minute/64]>>(minute%64)&1 != 0
}

func serveTogether(a, b ground.Hotspot) bool {
	for m := range beacon.MinutesADay {
		if servedIn(a, m) && servedIn(b, m) {
			return true
		}
	}
	return false
}
