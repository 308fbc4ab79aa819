package geo

// Distance returns the length of the great-circle arc in metres, on the mean sphere
// (decision N13), to the micrometre: see Vec.Meters.
func Distance(a, b Point) float64 {
	return a.Vec().Meters(b.Vec())
}
