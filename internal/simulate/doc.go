// Package simulate simulates devices that talk to a server over HTTP as real ones do.
// It is written from the API's document alone and shares no code with the server, so
// that it is a fair client.
//
// Its one invariant: what a device sends depends only on the seed and on the times at
// which it is asked.
package simulate
