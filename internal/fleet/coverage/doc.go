// Package coverage is the geometry of discs: how much ground the online ones
// cover together, exactly, in a box of any size; how many there are; and what a
// map shows of them from afar. It keeps everything in memory and knows nothing
// of hotspots but what it is given.
//
// Its invariant: what a snapshot answers depends on the discs in it alone, never
// on the order in which they came and went. The tree has the shape that the
// discs dictate, and sums are formed in the order of the tree, so that after any
// history it is to the bit the tree that would be built from scratch.
//
// The Earth is cut into the tiles of the web's maps, and two zones of their own
// around the poles. Each cell knows the discs whose middle is in it, and the area
// that discs from anywhere cover in it. An area is measured on the sphere itself
// by Green's theorem, along the rims and sides that bound what is covered: no
// raster, no sampling. A box is made of the whole cells in it and of those on its
// border, which are measured on the spot.
package coverage
