package edge

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Names of the cookie (decision D171). A browser accepts the first only over HTTPS, and
// never from another host or for others.
const (
	SecureCookie   = "__Host-beacon-session"
	LoopbackCookie = "beacon-session" // over HTTP on this machine
)

var ErrForeignPage error = &beacon.Error{Kind: beacon.Forbidden, Message: "a session is only valid for requests of the console's own pages"}

// CookieName returns the name of the cookie for pages of an origin, or "" if a session would
// not be safe there.
func CookieName(origin string) string {
	switch page, err := url.Parse(origin); {
	case err != nil:
		return ""
	case page.Scheme == "https":
		return SecureCookie
	case page.Scheme == "http" && IsLoopback(page.Host):
		return LoopbackCookie
	}
	return ""
}

// accountHeader says for which account a person acts. Requests that change something must have
// it, be it empty: pages of other origins cannot send it.
const accountHeader = "Beacon-Account"

var errNoAccount error = &beacon.Error{Kind: beacon.Forbidden, Message: "requests of a person that change something need the header " + accountHeader + ": an account of theirs, or nothing"}

// verifyPerson returns the principal of a person's session.
func (e *Edge) verifyPerson(r *http.Request, session string, mayAsk func() error) (beacon.Principal, error) {
	if e.people == nil {
		return beacon.Principal{}, access.ErrUnauthorized
	}
	account := r.Header[accountHeader]
	if len(account) > 1 || len(account) == 0 && r.Method != http.MethodGet && r.Method != http.MethodHead {
		return beacon.Principal{}, errNoAccount
	}
	return e.people.Verify(r.Context(), session, beacon.UserID(strings.Join(account, "")), mayAsk)
}

// SessionOf returns the text of the session in a request of one of our own pages, or "".
func (e *Edge) SessionOf(r *http.Request) string {
	if !e.fromSessionsPage(r) {
		return ""
	}
	return sessionOf(r)
}

// sessionOf returns the session in a request, or "". The cookie that other hosts could set
// counts on this machine only.
func sessionOf(r *http.Request) string {
	if len(r.Header["Cookie"]) == 0 || len(r.Header["Authorization"]) > 0 {
		return ""
	}
	found := r.CookiesNamed(SecureCookie)
	if IsLoopback(r.Host) && (len(found) == 0 || CookieName(r.Header.Get("Origin")) == LoopbackCookie) {
		found = r.CookiesNamed(LoopbackCookie)
	}
	if len(found) != 1 {
		return ""
	}
	return found[0].Value
}

// fromSessionsPage reports whether a browser sent a request for a page of this server that
// can have a session: one over plain HTTP may be anyone's on the way.
func (e *Edge) fromSessionsPage(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	return e.FromOwnPage(r) && (origin == "" || CookieName(origin) != "")
}

// FromOwnPage reports whether a browser sent a request for a page of this server. Cookies
// do not tell pages of other ports and subdomains apart, so neither does SameSite. Only
// requests that read may come without an Origin. A proxy may have changed the Host: pages of
// the server's public address are its own all the same.
func (e *Edge) FromOwnPage(r *http.Request) bool {
	if site := r.Header["Sec-Fetch-Site"]; len(site) > 0 && (len(site) > 1 || site[0] != "same-origin") {
		return false
	}
	if e.foreign.Check(r) != nil {
		return false
	}
	switch origin := r.Header["Origin"]; len(origin) {
	case 0:
		return r.Method == http.MethodGet || r.Method == http.MethodHead
	case 1:
		page, err := url.Parse(origin[0])
		return err == nil && page.Host != "" && (strings.EqualFold(page.Host, r.Host) || strings.EqualFold(origin[0], e.public))
	default:
		return false
	}
}

// originOf returns the origin of an address, or "" if it has none.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// foreignTo returns what refuses pages that are not of the server, whose public origin may be
// empty.
func foreignTo(public string) *http.CrossOriginProtection {
	foreign := http.NewCrossOriginProtection()
	if public != "" {
		_ = foreign.AddTrustedOrigin(public) // originOf made it
	}
	return foreign
}

// IsLoopback reports whether a host, with or without a port, is this machine.
func IsLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}
