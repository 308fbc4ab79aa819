package ratelimit

import "net/netip"

// AddrKey returns the key under which an address is limited (decision N21): the address
// itself or, for IPv6, its /64, which one customer gets and can choose from at will. An
// IPv4 address has the same key in any notation; a zone is ignored.
func AddrKey(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap()
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	key, _ := addr.Prefix(bits) // fails only for the zero Addr, whose key is the zero Prefix
	return key
}
