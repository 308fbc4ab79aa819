// Package mvt encodes Mapbox Vector Tiles, version 2 of the specification: one layer of
// points with properties, which is all the network has to show. It does not decode
// tiles and knows nothing of maps: coordinates come in tile units. Its one invariant:
// the same points always produce the same bytes.
//
//	l := mvt.NewLayer("hotspots", "id")
//	l.Point(2048, 2048)
//	l.Unique(0, "hs_1")
//	body := l.AppendTile(nil)
package mvt
