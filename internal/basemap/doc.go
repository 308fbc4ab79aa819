// Package basemap reads a PMTiles file with vector tiles of streets, water and places,
// and serves it to the console. The console reads ranges of bytes, so the server only
// reads what the map of a page shows. It draws nothing, and knows nothing of hotspots.
//
// Its one invariant: a damaged file is an error, never a panic or an allocation that the
// file's own numbers ask for.
package basemap
