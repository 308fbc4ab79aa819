// Package demo makes up a network to look at: the public hotspots of New York
// City, which are real, and operators, devices and months of history, which are
// not. It is pure: it keeps nothing on disk, starts nothing and reads no clock.
//
// Its one invariant: a seed and a moment lead to one network and one history.
package demo
