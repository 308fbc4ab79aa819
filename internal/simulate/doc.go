// Package simulate makes devices that do not exist, and lets them talk to a
// server over HTTP as real ones do. It knows the interface from its document
// alone and shares no code with the server, so that it is a fair client.
//
// Its one invariant: what a device says depends on the seed and on the times at
// which it is asked, and on nothing else.
package simulate
