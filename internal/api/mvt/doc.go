// Package mvt writes Mapbox Vector Tiles, version 2 of the specification: a
// layer of points with properties, which is all that the network has to show. It
// reads none, and knows nothing of maps: places come in the units of the tile. Its
// one invariant: the same points give the same bytes.
package mvt
