package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// endpoint serves a request whose key was verified. If it returns an error, it must
// have written nothing: fail writes the response.
type endpoint func(w http.ResponseWriter, r *http.Request, p beacon.Principal) error

// patience is the deadline for the work on one request. A database that takes longer
// is as good as down.
var patience = 5 * time.Second // tests have more

// guard wraps an endpoint in the checks that all endpoints share, in the order of
// decision N3: 401, 429, 403.
func (a *API) guard(rt route) http.Handler {
	reads, public := strings.HasPrefix(rt.pattern, http.MethodGet), slices.Contains(publicPatterns, rt.pattern)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Cache-Control"] = noStore
		if reads {
			w.Header()["Vary"] = a.varyEncoding
			if accepted := r.Header["Accept-Encoding"]; len(accepted) > 0 {
				small := compressed(w, accepted)
				defer small.Finish()
				w = small
			}
		}
		now := time.Now() // of the machine: limits count real time
		p, err := a.admit(w, r, now)
		if err == nil && !public && p.Publishable() {
			err = errPublishable
		}
		if err == nil && rt.scope != "" && !p.Has(rt.scope) {
			err = &beacon.Error{Kind: beacon.Forbidden, Message: fmt.Sprintf("this needs a key with the scope %s", rt.scope)}
		}
		if err == nil {
			err = rt.run(w, r, p)
		}
		if err != nil {
			a.fail(w, r, err)
		}
	})
}

var noStore = []string{"no-store"}

var errDevice = &beacon.Error{Kind: beacon.Forbidden, Message: "a device key is only valid for the heartbeats of its own hotspot"}

// admit accepts a request with a valid API key that is within its limit. The key of a
// device is valid too, but permits nothing here.
func (a *API) admit(w http.ResponseWriter, r *http.Request, now time.Time) (beacon.Principal, error) {
	p, device, err := a.authenticate(w, r, now)
	switch {
	case err != nil:
		return p, err
	case device == nil:
		return p, a.limits.spend(w.Header(), p, now)
	}
	if err := a.limits.spendDevice(w.Header(), beacon.HotspotID(device.ID()), now); err != nil {
		return p, err
	}
	return p, errDevice
}

// authenticate identifies the caller: the holder of an API key or of a session made from
// one, or the device of a hotspot. An address that floods wrong keys is refused before they
// are looked up (decision N21). Keys that are already cached are not affected.
func (a *API) authenticate(w http.ResponseWriter, r *http.Request, now time.Time) (p beacon.Principal, device *fleet.Hotspot, err error) {
	p, err = a.verify(r, func() error {
		key, _ := bearer(r)
		if device = a.deviceWith(key); device != nil {
			return errDevice
		}
		return a.limits.checkFailures(w.Header(), r, now)
	})
	if device != nil {
		return p, device, nil
	}
	if errors.Is(err, errForeignPage) {
		a.limits.showFailures(w.Header(), r, now)
	}
	p.Request = httpserver.RequestID(w)
	if err == nil {
		err = a.checkPlace(w, r, p, now)
	}
	if err == nil || kindOf(err) != beacon.Unauthorized {
		return p, nil, err
	}
	return beacon.Principal{}, nil, a.unauthorized(w, r, now)
}

// verify returns the principal of a request. A session counts only without a key. mayAsk is
// called before the database is asked for an unknown key; if it fails, verify does too.
func (a *API) verify(r *http.Request, mayAsk func() error) (beacon.Principal, error) {
	if key, ok := bearer(r); ok {
		return a.keys.VerifyIf(r.Context(), key, mayAsk)
	}
	session := sessionOf(r)
	switch {
	case session == "":
		return beacon.Principal{}, access.ErrUnauthorized
	case !fromOwnPage(r):
		return beacon.Principal{}, errForeignPage
	}
	return a.keys.VerifySession(r.Context(), session, mayAsk)
}

// deviceWith returns the hotspot whose device has the key, or nil.
func (a *API) deviceWith(key string) *fleet.Hotspot {
	presented, ok := access.Split(key)
	if !ok {
		return nil
	}
	if hotspot, ok := a.fleet.Find(presented.Hotspot()); ok && hotspot.Opens(presented.Hash()) {
		return hotspot
	}
	return nil
}

// unauthorized counts a wrong key and returns the error for it.
func (a *API) unauthorized(w http.ResponseWriter, r *http.Request, now time.Time) error {
	if err := a.limits.spendFailure(w.Header(), r, now); err != nil {
		return err
	}
	return access.ErrUnauthorized
}

const maxKeyBytes = 256

// bearer reads the key from the only Authorization header. A key in the URL does not
// count: URLs end up in logs.
func bearer(r *http.Request) (key string, ok bool) {
	values := r.Header["Authorization"]
	if len(values) != 1 || len(values[0]) > maxKeyBytes {
		return "", false
	}
	scheme, key, ok := strings.Cut(values[0], " ")
	return strings.TrimLeft(key, " "), ok && strings.EqualFold(scheme, "Bearer")
}

// The three steps that nearly all endpoints consist of. The verb is a use case's.
type (
	decoder[In any]   func(http.ResponseWriter, *http.Request) (In, error)
	verb[In, Out any] func(context.Context, beacon.Principal, In) (Out, error)
	encoder[Out any]  func(http.Header, Out) payload
)

// serve builds an endpoint from its three steps.
func serve[In, Out any](a *API, status int, decode decoder[In], do verb[In, Out], encode encoder[Out]) endpoint {
	return serveForms(a, status, decode, do, encode, nil)
}

// publicPatterns are the routes that a publishable key may use: they show the same to
// everyone (decision D107).
var publicPatterns = []string{"GET /v1/hotspots/nearby", "GET /v1/hotspots/{id}", "GET /v1/coverage", tilePattern}

var (
	errPublishable = &beacon.Error{Kind: beacon.Forbidden, Message: "a publishable key may only find and read hotspots and coverage"}
	errElsewhere   = &beacon.Error{Kind: beacon.Forbidden, Message: "this key is restricted to other origins or addresses"}
)

// checkPlace refuses a restricted key that is used elsewhere than it may be. That counts
// like a wrong key: a thief must not use up the limit of the key.
func (a *API) checkPlace(w http.ResponseWriter, r *http.Request, p beacon.Principal, now time.Time) error {
	if p.Restrictions == nil {
		return nil
	}
	if p.Restrictions.Admits(strings.Join(r.Header["Origin"], ","), httpserver.Client(r)) { // no range contains the zero Addr
		return nil
	}
	if err := a.limits.spendFailure(w.Header(), r, now); err != nil {
		return err
	}
	return errElsewhere
}
