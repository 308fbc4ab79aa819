package ground_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/rewards/ground"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// Every machine divides the same way: the shares of some days have the digests that
// are kept. The days are made of whole numbers, so that they are the same everywhere
// too.
func TestDivide_Digests(t *testing.T) {
	level.Repeats(t)
	var got strings.Builder
	for _, tt := range []struct {
		name    string
		middles int
		spread  int32 // in units: 9,000 are about 100 m
	}{
		{"alone", 3000, 0},
		{"streets", 150, 40_000},
		{"crowds", 30, 1000},
	} {
		for _, radiusM := range []int{ground.MinRadiusM, 50, ground.MaxRadiusM} {
			r := rand.New(rand.NewPCG(20, uint64(radiusM)))
			middles := make([]ground.Place, tt.middles)
			for i := range middles {
				middles[i] = somewhere(r)
			}
			day := make([]ground.Hotspot, 3000)
			for i := range day {
				day[i] = ground.Hotspot{Place: unitsAway(r, middles[i%tt.middles], tt.spread), Served: anyMinutes(r)}
			}
			hash, owned := sha256.New(), int64(0)
			for _, s := range divide(t, day, radiusM) {
				fmt.Fprintln(hash, s.Squares, s.Owned, s.Minutes, s.Older, s.Weight())
				owned += int64(s.Owned)
			}
			fmt.Fprintf(&got, "%s, %d m: %d square-minutes, %x\n", tt.name, radiusM, owned, hash.Sum(nil))
		}
	}
	const file = "testdata/digests.txt"
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the digests are not those of %s:\n%s", file, got.String())
	}
}

// unitsAway moves a place by whole units. East and west it may go farther, as towards
// a pole there is less of it.
func unitsAway(r *rand.Rand, p ground.Place, spread int32) ground.Place {
	if spread == 0 {
		return p
	}
	lat := int64(p.Lat) + int64(r.Int32N(2*spread)-spread)
	lng := int64(p.Lng) + int64(r.Int32N(2*spread)-spread)
	lat = min(max(lat, -900_000_000), 900_000_000)
	lng = (lng+1_800_000_000+3_600_000_000)%3_600_000_000 - 1_800_000_000
	return ground.Place{Lat: int32(lat), Lng: int32(lng)}
}
