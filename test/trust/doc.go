// Package trust holds tests alone: they run the attacks of package simulate against a
// real server for some simulated days, and compare what they earned with the service
// that they gave. docs/trust.md has the figures.
//
// Its one invariant: no attack earns more than its service, but for the residue that the
// page names.
package trust
