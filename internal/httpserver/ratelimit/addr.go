package ratelimit

import "net/netip"

// AddrKey is the key under which an address is limited (decision N21): itself,
// or for IPv6 its /64, which is what one customer gets and may choose within at
// will. An IPv4 address is the same key however it is written; a zone is no part
// of it.
func AddrKey(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap()
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	key, _ := addr.Prefix(bits) // fails only for the zero Addr, whose key is the zero Prefix
	return key
}
