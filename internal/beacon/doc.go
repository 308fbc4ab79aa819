// Package beacon holds the words of the network: hotspots, operators, keys,
// changes, and the rules that make each of them valid. It reads no clock, opens
// no file (the time zones that the standard library knows aside) and knows
// neither HTTP nor SQL; its structs carry no tags.
//
// A type named …Form is what a client wrote, with absent and null told apart;
// what comes out of one without an error is valid, and stays so.
package beacon
