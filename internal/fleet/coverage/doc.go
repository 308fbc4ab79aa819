// Package coverage is the geometry of discs: how much ground the online ones cover
// together, exactly, in a box of any size; how many there are; and what a map shows
// of them from afar. It keeps everything in memory and knows nothing of hotspots
// except what it is given.
//
// Its invariant: what a snapshot returns depends only on the discs in it, never on
// the order in which they came and went. The discs determine the shape of the tree,
// and sums are formed in tree order. So after any history the tree is, to the bit,
// the one that would be built from scratch.
//
// The Earth is divided into the tiles of web maps, and two separate zones around the
// poles. Each cell has the discs whose middle is in it, and the area that discs from
// anywhere cover in it. An area is measured on the sphere itself by Green's theorem,
// along the rims and sides that bound the covered ground: no raster, no sampling. A
// box consists of the whole cells in it and of those on its border, which are
// measured on demand.
package coverage
