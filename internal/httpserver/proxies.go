package httpserver

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the addresses of those who may say for whom they ask: everyone else
// could say what he likes.
type Proxies []netip.Prefix

// ParseProxies reads addresses and ranges of them, such as 10.0.0.7 or 10.0.0.0/8.
func ParseProxies(texts []string) (Proxies, error) {
	var all Proxies
	for _, text := range texts {
		text = strings.TrimSpace(text)
		if addr, err := netip.ParseAddr(text); err == nil {
			addr = addr.Unmap().WithZone("")
			all = append(all, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q is neither an address nor a range like 10.0.0.0/8", text)
		}
		if network != network.Masked() {
			return nil, fmt.Errorf("%s has bits beyond its range: did you mean %s?", text, network.Masked())
		}
		if network.Addr().Is4In6() {
			return nil, fmt.Errorf("%s: write ranges of IPv4 like 10.0.0.0/8", text)
		}
		all = append(all, network)
	}
	return all, nil
}

// trusts reports whether an address is one of them.
func (p Proxies) trusts(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	for _, network := range p {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

const forwardedFor = "X-Forwarded-For"

// resolve puts the address of the client into the request, in place of that of
// the proxy. Each proxy appends to X-Forwarded-For whom it heard from, so that the
// list is read from its end for as long as its parts come from proxies of ours; the
// first that is none is the client, and what stands before it is only its claim.
func (p Proxies) resolve(r *http.Request) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return
	}
	client := peer.Addr()
	for rest := strings.Join(r.Header[forwardedFor], ","); rest != "" && p.trusts(client); {
		at := strings.LastIndexByte(rest, ',')
		hop, ok := parseHop(rest[at+1:])
		if !ok {
			break // whoever sent this is as far as we know
		}
		client, rest = hop, rest[:max(at, 0)]
	}
	if client != peer.Addr() {
		r.RemoteAddr = netip.AddrPortFrom(client, 0).String()
	}
}

// parseHop reads a part of the list: an address, to which some proxies add the port.
func parseHop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return withPort.Addr().Unmap().WithZone(""), true
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		text = strings.TrimSuffix(inner, "]")
	}
	addr, err := netip.ParseAddr(text)
	return addr.Unmap().WithZone(""), err == nil
}
