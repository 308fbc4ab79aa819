// Package api is the interface of the live network, under /v1: routes on
// one screen (see api.go), and for each a decoder, a verb of a use case, and an
// encoder. It decides nothing about hotspots. Its one invariant: an answer has
// the documented envelope or the documented error, whatever was asked.
package api
