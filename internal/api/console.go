package api

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// consoleBase is the path prefix of what only the console uses. It is no part of the
// network API: it may change with the console, and pages of other origins cannot use it.
const consoleBase = "/console/"

func isConsole(path string) bool { return strings.HasPrefix(path, consoleBase) }

// consoleRoutes lists the console's own endpoints.
func (a *API) consoleRoutes() []openRoute {
	return []openRoute{
		{"POST " + consoleBase + "first-key", http.HandlerFunc(a.firstKey)},
		{"POST " + consoleBase + "session", a.guard(route{pattern: "POST " + consoleBase + "session", run: a.beginSession})},
		{"DELETE " + consoleBase + "session", http.HandlerFunc(a.endSession)},
	}
}

// firstKey creates the first key of a network (decision D170). Tries are counted by
// address, like wrong keys.
func (a *API) firstKey(w http.ResponseWriter, r *http.Request) {
	w.Header()["Cache-Control"] = noStore
	now := time.Now() // of the machine: limits count real time
	a.limits.showFailures(w.Header(), r, now)
	err := a.limits.checkFailures(w.Header(), r, now)
	if err == nil {
		p := beacon.Principal{Scopes: []beacon.Scope{beacon.Admin}, Request: httpserver.RequestID(w)}
		err = serve(a, http.StatusOK, fromBody(decodeToken), a.keys.CreateFirst, encodeCreated)(w, r, p)
	}
	if err != nil && kindOf(err) == beacon.Unauthorized {
		if limited := a.limits.spendFailure(w.Header(), r, now); limited != nil {
			err = limited
		}
	}
	if err != nil {
		a.fail(w, r, err)
	}
}

func decodeToken(_ *http.Request, o *object) (string, error) {
	var f beacon.Faults
	token, _ := beacon.Required(o.text("token"), "token", &f)
	return token, o.conclude(f.Err)
}

// Names of the cookie (decision D171). A browser accepts the first only over HTTPS, and
// never from another host or for others.
const (
	secureCookie   = "__Host-beacon-session"
	loopbackCookie = "beacon-session" // over HTTP on this machine
)

var (
	errForeignPage error = &beacon.Error{Kind: beacon.Forbidden, Message: "a session is only valid for requests of the console's own pages"}
	errNoKey             = &beacon.Error{Kind: beacon.Forbidden, Message: "a session can only be made from a key"}
	errNotSecure         = &beacon.Error{Kind: beacon.Forbidden, Message: "a browser can stay signed in over HTTPS only, or on the machine that the server runs on"}
)

// beginSession gives a browser a session in place of its key.
func (a *API) beginSession(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	plain, ok := bearer(r)
	cookie := cookieFor(r)
	switch {
	case !ok:
		return errNoKey
	case !fromOwnPage(r):
		return errForeignPage
	case cookie == nil:
		return errNotSecure
	}
	text, _, err := a.keys.NewSession(plain)
	if err != nil {
		return err
	}
	held, err := a.keys.Self(r.Context(), p, struct{}{})
	if err != nil {
		return err
	}
	cookie.Value, cookie.MaxAge = text, int(access.SessionLasts.Seconds())
	http.SetCookie(w, cookie)
	return a.write(w, http.StatusOK, encodeKey(w.Header(), held))
}

// endSession makes a browser forget its session.
func (a *API) endSession(w http.ResponseWriter, r *http.Request) {
	w.Header()["Cache-Control"] = noStore
	a.limits.showFailures(w.Header(), r, time.Now())
	if !fromOwnPage(r) {
		a.fail(w, r, errForeignPage)
		return
	}
	if cookie := cookieFor(r); cookie != nil {
		cookie.MaxAge = -1
		http.SetCookie(w, cookie)
	}
	w.WriteHeader(http.StatusNoContent)
}

// cookieFor returns an empty cookie for the page that a request is from, or nil if a
// session would not be safe there. It goes by the page's origin, because a server behind a
// proxy does not know how its clients connect.
func cookieFor(r *http.Request) *http.Cookie {
	cookie := &http.Cookie{Name: secureCookie, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode}
	switch page, err := url.Parse(r.Header.Get("Origin")); {
	case err != nil:
		return nil
	case page.Scheme == "https":
		return cookie
	case page.Scheme == "http" && isLoopback(page.Host):
		cookie.Name, cookie.Secure = loopbackCookie, false
		return cookie
	}
	return nil
}

// sessionOf returns the session in a request, or "". The cookie that other hosts could set
// counts on this machine only.
func sessionOf(r *http.Request) string {
	if len(r.Header["Cookie"]) == 0 || len(r.Header["Authorization"]) > 0 {
		return ""
	}
	found := r.CookiesNamed(secureCookie)
	if len(found) == 0 && isLoopback(r.Host) {
		found = r.CookiesNamed(loopbackCookie)
	}
	if len(found) != 1 {
		return ""
	}
	return found[0].Value
}

// isLoopback reports whether a host, with or without a port, is this machine.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}

// fromOwnPage reports whether a browser sent a request for a page of this server. Cookies
// do not tell pages of other ports and subdomains apart, so neither does SameSite. Only
// requests that read may come without an Origin.
func fromOwnPage(r *http.Request) bool {
	if site := r.Header["Sec-Fetch-Site"]; len(site) > 0 && (len(site) > 1 || site[0] != "same-origin") {
		return false
	}
	switch origin := r.Header["Origin"]; len(origin) {
	case 0:
		return r.Method == http.MethodGet || r.Method == http.MethodHead
	case 1:
		page, err := url.Parse(origin[0])
		return err == nil && page.Host != "" && strings.EqualFold(page.Host, r.Host)
	default:
		return false
	}
}
