package httpserver

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/beacon-wifi/beacon/internal/netrange"
)

// Proxies are the addresses that may name the client they forward for. Anyone else could
// name any address.
type Proxies []netip.Prefix

// ParseProxies parses addresses and ranges, such as 10.0.0.7 or 10.0.0.0/8.
func ParseProxies(texts []string) (Proxies, error) {
	var all Proxies
	for _, text := range texts {
		network, err := netrange.Parse(text)
		if err != nil {
			return nil, err
		}
		all = append(all, network)
	}
	return all, nil
}

// trusts reports whether an address is that of a trusted proxy.
func (p Proxies) trusts(addr netip.Addr) bool {
	addr = netrange.Plain(addr)
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(addr) })
}

const forwardedFor = "X-Forwarded-For"

// resolve replaces the proxy's address in the request with the client's. Each proxy
// appends the address of its peer to X-Forwarded-For, so the list is read from the end
// for as long as its entries are our proxies. The first other entry is the client; what
// precedes it is only the client's claim.
func (p Proxies) resolve(r *http.Request) {
	peer := Client(r)
	client := peer
	for rest := strings.Join(r.Header[forwardedFor], ","); rest != "" && p.trusts(client); {
		at := strings.LastIndexByte(rest, ',')
		hop, ok := parseHop(rest[at+1:])
		if !ok {
			break // the last known hop is the best we have
		}
		client, rest = hop, rest[:max(at, 0)]
	}
	if client != peer {
		r.RemoteAddr = netip.AddrPortFrom(client, 0).String()
	}
}

// parseHop parses an entry of the list: an address, to which some proxies add the port.
func parseHop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return netrange.Plain(withPort.Addr()), true
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		text = strings.TrimSuffix(inner, "]")
	}
	addr, err := netip.ParseAddr(text)
	return netrange.Plain(addr), err == nil
}
