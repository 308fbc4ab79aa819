//go:build linux

package endtoend_test

import (
	"math"
	"testing"
)

// TestCoverageOracle holds the oracle to areas that have a formula.
func TestCoverageOracle(t *testing.T) {
	// In whole or half: 1 - cos is small.
	disc := func(radiusM float64) float64 {
		half := math.Sin(radiusM / sphereM / 2)
		return 4 * math.Pi * sphereM * sphereM * half * half
	}
	// What two discs of one size have in common, on a plane: the Earth is round by
	// a part in 10^9 over 500 m.
	lens := func(radius, apart float64) float64 {
		return 2*radius*radius*math.Acos(apart/2/radius) - apart/2*math.Sqrt(4*radius*radius-apart*apart)
	}
	const metre = 1 / (sphereM * degree)
	tests := []struct {
		name  string
		box   groundBox
		discs []groundDisc
		want  float64
	}{
		{"none", wholeWorld, nil, 0},
		{"one", wholeWorld, []groundDisc{{40, -74, 100}}, disc(100)},
		{"the smallest", groundBox{41, 40, -73, -75}, []groundDisc{{40.5, -74, 10}}, disc(10)},
		{"on 180°", wholeWorld, []groundDisc{{-16, 180, 500}}, disc(500)},
		{"on 180°, from the other side", groundBox{-15, -17, -179, 179}, []groundDisc{{-16, -180, 500}}, disc(500)},
		{"half of one on 180°", groundBox{-15, -17, 180, 179}, []groundDisc{{-16, 180, 500}}, disc(500) / 2},
		{"half of one on the equator", groundBox{1, 0, 8, 6}, []groundDisc{{0, 7, 300}}, disc(300) / 2},
		{"quarter", groundBox{1, 0, 8, 7}, []groundDisc{{0, 7, 300}}, disc(300) / 4},
		{"on the pole", wholeWorld, []groundDisc{{90, 12, 500}}, disc(500)},
		{"a twelfth, on the pole", groundBox{-80, -90, 40, 10}, []groundDisc{{-90, 99, 500}}, disc(500) / 12},
		{"over the pole", wholeWorld, []groundDisc{{90 - 100*metre, 12, 300}}, disc(300)},
		{"beside the pole", wholeWorld, []groundDisc{{90 - 301*metre, 12, 300}}, disc(300)},
		{"apart", wholeWorld, []groundDisc{{40, -74, 100}, {-33, 151, 200}}, disc(100) + disc(200)},
		{"the same", wholeWorld, []groundDisc{{40, -74, 100}, {40, -74, 100}}, disc(100)},
		{"one in another", wholeWorld, []groundDisc{{40, -74, 100}, {40, -74.0001, 50}}, disc(100)},
		{"north of another", wholeWorld, []groundDisc{{40, 5, 100}, {40 + 150*metre, 5, 100}}, 2*disc(100) - lens(100, 150)},
		{"east of another", wholeWorld, []groundDisc{{0, 5, 100}, {0, 5 + 199*metre, 100}}, 2*disc(100) - lens(100, 199)},
		{"all of the box", groundBox{10.0001, 10, 20.0001, 20}, []groundDisc{{10, 20, 50}}, groundBox{10.0001, 10, 20.0001, 20}.m2()},
		{"a continent", wholeWorld, []groundDisc{{12, 34, 3_000_000}}, disc(3_000_000)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.box.covered(tt.discs); math.Abs(got-tt.want) > 1e-8*tt.want {
				t.Errorf("got %v m²; want %v", got, tt.want)
			}
		})
	}
}
