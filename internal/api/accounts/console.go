package accounts

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// consoleBase is the path prefix of what only the console uses. It is no part of the
// network API: it may change with the console, and pages of other origins cannot use it.
const consoleBase = "/console/"

// IsConsole reports whether a path is one of the console's own.
func IsConsole(path string) bool { return strings.HasPrefix(path, consoleBase) }

// ConsoleRoutes lists the console's own endpoints.
func (a *API) ConsoleRoutes() []edge.OpenRoute {
	session := consoleBase + "session"
	return []edge.OpenRoute{
		edge.Open("POST "+consoleBase+"first-key", a.byToken(a.keys.CreateFirst)),
		edge.Open("POST "+consoleBase+"sign-in", a.byToken(a.keys.SignIn)),
		edge.Open("POST "+session, a.Guard(edge.On("POST "+session, beacon.Read, a.beginSession)).ServeHTTP),
		edge.Open("DELETE "+session, a.endSession),
	}
}

// byToken creates a key with a token that works once: the first key of a network (decision
// D170), or that of a link. Tries are counted by address, like wrong keys.
func (a *API) byToken(create func(context.Context, beacon.Principal, string) (access.Created, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Cache-Control"] = edge.NoStore
		now := time.Now() // of the machine: limits count real time
		a.Limits.ShowFailures(w.Header(), r, now)
		err := a.Limits.CheckFailures(w.Header(), r, now)
		if err == nil {
			p := beacon.Principal{Scopes: []beacon.Scope{beacon.Admin}, Request: httpserver.RequestID(w)}
			err = edge.Serve(a.Edge, http.StatusOK, edge.FromBody(decodeToken), create, encodeCreated)(w, r, p)
		}
		if err != nil && edge.KindOf(err) == beacon.Unauthorized {
			if limited := a.Limits.SpendFailure(w.Header(), r, now); limited != nil {
				err = limited
			}
		}
		if err != nil {
			a.Fail(w, r, err)
		}
	}
}

func decodeToken(_ *http.Request, o *edge.Object) (string, error) {
	var f beacon.Faults
	token, _ := beacon.Required(o.Text("token"), "token", &f)
	return token, o.Conclude(f.Err)
}

var (
	errNoKey     = &beacon.Error{Kind: beacon.Forbidden, Message: "a session can only be made from a key"}
	errNotSecure = &beacon.Error{Kind: beacon.Forbidden, Message: "a browser can stay signed in over HTTPS only, or on the machine that the server runs on"}
)

// beginSession gives a browser a session in place of its key.
func (a *API) beginSession(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	plain, ok := edge.Bearer(r)
	cookie := cookieFor(r)
	switch {
	case !ok:
		return errNoKey
	case !a.FromOwnPage(r):
		return edge.ErrForeignPage
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
	return a.Write(w, http.StatusOK, encodeKey(w.Header(), held))
}

// endSession makes a browser forget its session.
func (a *API) endSession(w http.ResponseWriter, r *http.Request) {
	w.Header()["Cache-Control"] = edge.NoStore
	now := time.Now() // of the machine: limits count real time
	a.Limits.ShowFailures(w.Header(), r, now)
	if !a.FromOwnPage(r) {
		a.Fail(w, r, edge.ErrForeignPage)
		return
	}
	if cookie := cookieFor(r); cookie != nil {
		cookie.MaxAge = -1
		http.SetCookie(w, cookie)
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.Patience)
	defer cancel()
	err := a.signOut(ctx, a.SessionOf(r), func() error { return a.Limits.CheckFailures(w.Header(), r, now) })
	if edge.KindOf(err) == beacon.Unauthorized { // one that has ended, or that someone made up
		err = a.Limits.SpendFailure(w.Header(), r, now)
	}
	if err != nil { // the browser forgets it all the same
		a.Fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// cookieFor returns an empty cookie for the page that a request is from, or nil if a
// session would not be safe there. It goes by the page's origin, because a server behind a
// proxy does not know how its clients connect.
func cookieFor(r *http.Request) *http.Cookie {
	name := edge.CookieName(r.Header.Get("Origin"))
	if name == "" {
		return nil
	}
	return &http.Cookie{Name: name, Path: "/", Secure: name == edge.SecureCookie, HttpOnly: true, SameSite: http.SameSiteStrictMode}
}
