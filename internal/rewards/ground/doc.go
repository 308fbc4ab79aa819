// Package ground divides the ground among the hotspots of a day: each square of about
// five metres belongs, in each minute, to the first of the hotspots that cover it and
// served that minute. It knows neither money nor who is first: its caller puts the
// hotspots in order.
//
// The Earth is cut into 4,000,000 rows of latitude, each 0.000045° (5.004 m) high. A
// row has n = round(8,000,000 × cos φ) squares, where φ is the latitude of its middle:
// squares as wide as they are high, three around each pole. The first begins at 180°
// W. A hotspot covers the squares whose middle lies within the radius of its place, on
// the sphere of package geo.
//
// Only whole numbers decide, so every machine computes the same. Angles, sines and
// cosines are fractions of 2⁶², rounded down; what that leaves out moves the border of
// a circle by less than a micrometre.
//
// Its invariant: in each minute, the squares that hotspots own add up to the squares
// that at least one of them covers and serves.
package ground
