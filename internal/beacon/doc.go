// Package beacon holds the domain types of the network: hotspots, operators, keys and
// changes, and the rules that make each of them valid. It reads no clock, opens no
// file (except the time zones that the standard library knows) and knows neither HTTP
// nor SQL; its structs carry no tags.
//
// A type named …Form is what a client sent, with absent and null distinguished. Its
// invariant: a value that a form yields without an error is valid, and stays so.
package beacon
