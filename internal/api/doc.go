// Package api serves the HTTP API of the live network, under /v1. Every route is one
// line of API.routes (see api.go): most combine a decoder, a method of a use case and
// an encoder.
//
//	{"GET /v1/hotspots/{id}", "", serve(a, 200, pathID, a.registry.Get, encodeHotspot)},
//
// The package makes no decision about hotspots. Its one invariant: every response is
// the documented envelope or the documented error, whatever the request.
package api
