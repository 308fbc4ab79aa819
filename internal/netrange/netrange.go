// Package netrange reads ranges of IP addresses as people write them. Its one invariant:
// a range has one spelling, so that two are equal if and only if their texts are.
package netrange

import (
	"fmt"
	"net/netip"
	"strings"
)

// Parse parses an address or a range, such as 10.0.0.7 or 10.0.0.0/8.
func Parse(text string) (netip.Prefix, error) {
	text = strings.TrimSpace(text)
	if addr, err := netip.ParseAddr(text); err == nil {
		addr = Plain(addr)
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return network, fmt.Errorf("%q is neither an address nor a range like 10.0.0.0/8", text)
	case network != network.Masked():
		return network, fmt.Errorf("%s has bits beyond its range: did you mean %s?", text, network.Masked())
	case network.Addr().Is4In6():
		return network, fmt.Errorf("%s: write ranges of IPv4 like 10.0.0.0/8", text)
	}
	return network, nil
}

// Plain returns an address as ranges contain it: an IPv4 address as such, without a zone.
func Plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }
