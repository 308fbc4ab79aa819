// Package api serves the HTTP API of the live network, under /v1. It joins the subjects:
// each is a package with a table of its routes, most of which combine a decoder, a method
// of a use case and an encoder.
//
//	edge.On("GET /v1/hotspots/{id}", beacon.Read, edge.Serve(a.Edge, 200, edge.PathID, a.registry.Get, encodeHotspot)),
//
// Package edge has what they share. Its invariant is this package's: every response is the
// documented envelope or the documented error, whatever the request.
package api
