// Package events puts the network's changes into one order and delivers them to
// subscribers. It does not decide what happens: that is recorded in the streams of
// changes, one for each node, and by the code that sees hotspots come and go.
//
// Its one invariant: a subscriber that resumes after an event misses none and gets
// none twice, whichever server it asks.
package events
