package api

import (
	"net/http"

	"github.com/beacon-wifi/beacon/internal/httpserver/coding"
)

// compressed returns a writer that compresses what is worth it, if the client accepts it.
// The caller calls its Finish.
//
// Only responses to GET are compressed (decision D106). A secret is only ever in the
// response to a POST: the length of such a response must not depend on how much of the
// secret occurs elsewhere in it, or a page that can repeat the request could guess it.
func compressed(w http.ResponseWriter, accepted []string) *coding.ResponseWriter {
	return &coding.ResponseWriter{ResponseWriter: w, Coding: coding.Accepted(accepted)}
}
