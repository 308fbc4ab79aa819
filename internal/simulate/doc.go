// Package simulate simulates devices that talk to a server over HTTP as real ones do.
// It shares no code with the server, so that it is a fair client. Package client
// registers and links the devices; heartbeats go over connections of our own, because
// a generator that uses net/http costs about as much as the server under test.
//
// Its one invariant: what a device sends depends only on the seed and on the times at
// which it is asked.
package simulate
