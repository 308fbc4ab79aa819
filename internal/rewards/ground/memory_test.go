package ground_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/rewards/ground"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// A memory of other days changes nothing: of the same hotspots in another order, with other
// minutes, with fewer of them, and with another radius.
func TestMemory(t *testing.T) {
	eachScene(t, level.Rounds(60, 150, 3000), func(r *rand.Rand, day []ground.Hotspot, radiusM int) {
		var memory ground.Memory
		for range 12 {
			want := divide(t, day, radiusM)
			got, err := memory.Divide(t.Context(), day, radiusM)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("with a memory %+v, %v; without %+v", got, err, want)
			}
			day = slices.Clone(day)
			switch i := r.IntN(len(day)); r.IntN(5) {
			case 0:
				r.Shuffle(len(day), func(i, j int) { day[i], day[j] = day[j], day[i] })
			case 1:
				day[i].Served = anyMinutes(r)
			case 2:
				day[i].Place = nearby(r, day[i].Place, 20)
			case 3:
				day = slices.Delete(day, i, min(i+1, len(day)-1))
			case 4:
				radiusM = ground.MinRadiusM + r.IntN(ground.MaxRadiusM-ground.MinRadiusM)
			}
		}
	})
}
