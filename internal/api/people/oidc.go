package people

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/people"
	"github.com/beacon-wifi/beacon/internal/people/doors"
	"github.com/beacon-wifi/beacon/internal/people/oidc"
)

// visitLasts is how long the provider may take to be asked: less than a response may.
const visitLasts = 12 * time.Second

// Names of the cookie that ties a visit to the provider to its browser. The provider sends the
// browser back by a link, so its SameSite is Lax.
const (
	secureVisit   = "__Host-beacon-oidc"
	loopbackVisit = "beacon-oidc"
)

// visitCookie returns the name of that cookie for the page that sent a request, or "".
func visitCookie(r *http.Request) string {
	switch edge.CookieName(r.Header.Get("Origin")) {
	case edge.SecureCookie:
		return secureVisit
	case edge.LoopbackCookie:
		return loopbackVisit
	}
	return ""
}

func decodeDeparture(_ *http.Request, o *edge.Object) (in doors.Departure, err error) {
	var f beacon.Faults
	purpose, _ := beacon.Optional(o.Text("purpose"), "purpose", &f)
	if in.Purpose = doors.Purpose(purpose); purpose == "" {
		in.Purpose = doors.ToSignIn
	}
	if !slices.Contains([]doors.Purpose{doors.ToSignIn, doors.ToLink, doors.ToFreshen}, in.Purpose) {
		f.Add("purpose", "must be sign-in, link or fresh")
	}
	in.Invitation, _ = beacon.Optional(o.Text("invitation"), "invitation", &f)
	if code, ok := beacon.Optional(o.Text("language"), "language", &f); ok {
		f.Check("language", beacon.CheckLanguage(code))
		in.Language = code
	}
	return in, o.Conclude(f.Err)
}

// leave sends a browser to the provider.
func (a *API) leave(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	name := visitCookie(r)
	if name == "" {
		return errNotSecure
	}
	in := doors.Departure{Purpose: doors.ToSignIn}
	if r.ContentLength != 0 {
		var err error
		if in, err = edge.FromBody(decodeDeparture)(w, r); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), visitLasts)
	defer cancel()
	left, err := a.doors.Leave(ctx, p, in)
	if err != nil {
		return err
	}
	http.SetCookie(w, visit(name, left.Token, int(oidc.StateLasts.Seconds())))
	return a.Write(w, http.StatusOK, edge.Payload{Data: client.Departure{URL: left.URL}})
}

func visit(name, token string, lasts int) *http.Cookie {
	return &http.Cookie{Name: name, Value: token, Path: "/", MaxAge: lasts, Secure: name == secureVisit, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}

func decodeReturn(r *http.Request, o *edge.Object) (in doors.Return, err error) {
	in.Device = deviceOf(r)
	if found := r.CookiesNamed(visitCookie(r)); len(found) == 1 {
		in.Token = found[0].Value
	}
	in.Query, err = decodeText(o, "query")
	return in, err
}

// decodeUnlinked reads who is to sign in by the provider no more: "me", or someone by id.
func decodeUnlinked(_ *http.Request, o *edge.Object) (beacon.PersonID, error) {
	person, err := decodeText(o, "person")
	return beacon.PersonID(person), err
}

func (a *API) unlink(ctx context.Context, p beacon.Principal, person beacon.PersonID) (struct{}, error) {
	return people.Unlink(ctx, a.people, p, person)
}
