// Package events gives what happens in the network one order, and tells those
// who listen. It does not decide what happens: that is written down in the
// streams of changes, one for each node, and by whoever sees hotspots come and
// go.
//
// Its one invariant: who reads on from an event misses none and gets none twice,
// whichever server he asks.
package events
