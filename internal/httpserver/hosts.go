package httpserver

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// OnlyHosts serves requests whose Host is an IP address, localhost, or one of names; a
// port does not matter. Others get 421. It is for interfaces without keys: a web page
// whose name was made to point at this machine (DNS rebinding) is of the same origin as
// such an interface, and could read it through the browser of someone who can reach it.
// The page's name then stands in Host, and an address cannot be made to point elsewhere.
func OnlyHosts(names []string, refusal string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostName(r.Host)
		_, err := netip.ParseAddr(host)
		known := func(name string) bool { return strings.EqualFold(host, name) }
		if err != nil && !known("localhost") && !slices.ContainsFunc(names, known) {
			http.Error(w, refusal, http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostName returns a Host without its port, brackets and final dot.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ".")
}
