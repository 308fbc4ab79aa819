// Package demo generates a network for demonstrations: the public hotspots of New
// York City, which are real, and operators, devices and months of history, which are
// not. It is pure: it writes no files, starts nothing and reads no clock.
//
// Its one invariant: the same seed and time give the same network and history.
package demo
