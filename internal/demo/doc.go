// Package demo generates a network for demonstrations: the public hotspots of New
// York City, which are real, and operators, devices and months of history, which are
// not; some of the places are taken for homes. Create writes it to a database, as servers
// would have, and Continue takes up one that it wrote. It serves nothing: what shows the
// network is a server like any other.
//
// Its one invariant: the same seed and time give the same network and history.
package demo
