package edge

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/people"
)

// Endpoint serves a request whose key was verified. If it returns an error, it must
// have written nothing: fail writes the response.
type Endpoint func(w http.ResponseWriter, r *http.Request, p beacon.Principal) error

// patience is the deadline for the work on one request. A database that takes longer
// is as good as down.
const patience = 5 * time.Second

// Guard wraps an endpoint in the checks that all endpoints share, in the order of
// decision N3: 401, 429, 403.
func (e *Edge) Guard(rt Route) http.Handler {
	reads, public := strings.HasPrefix(rt.Pattern, http.MethodGet), slices.Contains(publicPatterns, rt.Pattern)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Cache-Control"] = NoStore
		if reads {
			w.Header()["Vary"] = e.VaryEncoding
			if accepted := r.Header["Accept-Encoding"]; len(accepted) > 0 {
				small := compressed(w, accepted)
				defer small.Finish()
				w = small
			}
		}
		now := time.Now() // of the machine: limits count real time
		p, err := e.Admit(w, r, now)
		switch {
		case err != nil:
		case !public && p.Publishable():
			err = errPublishable
		case rt.Pattern != EnrolPattern && p.Enrols():
			err = errEnrols
		}
		if err == nil {
			err = p.Refusal(rt.Needs)
		}
		if err == nil {
			err = rt.run(w, r, p.For(rt.Needs))
		}
		if err != nil {
			e.Fail(w, r, err)
		}
	})
}

var NoStore = []string{"no-store"}

var ErrDevice = &beacon.Error{Kind: beacon.Forbidden, Message: "a device key is only valid for the heartbeats of its own hotspot"}

// Admit accepts a request with a valid API key that is within its limit. The key of a
// device is valid too, but permits nothing here.
func (e *Edge) Admit(w http.ResponseWriter, r *http.Request, now time.Time) (beacon.Principal, error) {
	p, err := e.authenticate(w, r, now)
	if err == nil {
		return p, e.Limits.Spend(w.Header(), p, now)
	}
	if err == ErrDevice {
		key, _ := Bearer(r)
		presented, _ := access.Split(key)
		if limited := e.Limits.SpendDevice(w.Header(), presented.Hotspot(), now); limited != nil {
			return p, limited
		}
	}
	return p, err
}

// authenticate identifies the caller: the holder of an API key or of a session made from
// one, or the device of a hotspot. An address that floods wrong keys is refused before they
// are looked up (decision N21). Keys that are already cached are not affected.
func (e *Edge) authenticate(w http.ResponseWriter, r *http.Request, now time.Time) (p beacon.Principal, err error) {
	p, err = e.Verify(r, func() error {
		if e.device(r) != nil {
			return ErrDevice
		}
		return e.Limits.CheckFailures(w.Header(), r, now)
	})
	if errors.Is(err, ErrForeignPage) || errors.Is(err, errNoAccount) || errors.Is(err, people.ErrNotMember) {
		e.Limits.ShowFailures(w.Header(), r, now)
	}
	p.Request = httpserver.RequestID(w)
	if err == nil {
		err = e.checkPlace(w, r, p, now)
	}
	if err == nil || KindOf(err) != beacon.Unauthorized {
		return p, err
	}
	return beacon.Principal{}, e.Unauthorized(w, r, now)
}

// Verify returns the principal of a request. A session counts only without a key; it is that
// of a person, or made from a key. mayAsk is
// called before the database is asked for an unknown key; if it fails, verify does too.
func (e *Edge) Verify(r *http.Request, mayAsk func() error) (beacon.Principal, error) {
	if key, ok := Bearer(r); ok {
		return e.keys.VerifyIf(r.Context(), key, mayAsk)
	}
	session := sessionOf(r)
	switch {
	case session == "":
		return beacon.Principal{}, access.ErrUnauthorized
	case !e.fromSessionsPage(r):
		return beacon.Principal{}, ErrForeignPage
	}
	if people.IsSession(session) {
		return e.verifyPerson(r, session, mayAsk)
	}
	return e.keys.VerifySession(r.Context(), session, mayAsk)
}

// device returns the hotspot whose device has the key of a request, or nil.
func (e *Edge) device(r *http.Request) *fleet.Hotspot {
	key, _ := Bearer(r)
	presented, ok := access.Split(key)
	if !ok {
		return nil
	}
	if hotspot, ok := e.fleet.Find(presented.Hotspot()); ok && hotspot.Opens(presented.Hash()) {
		return hotspot
	}
	return nil
}

// Unauthorized counts a wrong key and returns the error for it.
func (e *Edge) Unauthorized(w http.ResponseWriter, r *http.Request, now time.Time) error {
	if err := e.Limits.SpendFailure(w.Header(), r, now); err != nil {
		return err
	}
	return access.ErrUnauthorized
}

const maxKeyBytes = 256

// Bearer reads the key from the only Authorization header. A key in the URL does not
// count: URLs end up in logs.
func Bearer(r *http.Request) (key string, ok bool) {
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
	encoder[Out any]  func(http.Header, Out) Payload
)

// Serve builds an endpoint from its three steps.
func Serve[In, Out any](e *Edge, status int, decode decoder[In], do verb[In, Out], encode encoder[Out]) Endpoint {
	return ServeForms(e, status, decode, do, encode, nil)
}

// publicPatterns are the routes that a publishable key may use: they show the same to
// everyone (decision D107).
var publicPatterns = []string{"GET /v1/hotspots/nearby", "GET /v1/hotspots/{id}", "GET /v1/coverage", TilePattern}

var (
	errPublishable = &beacon.Error{Kind: beacon.Forbidden, Message: "a publishable key may only find and read hotspots and coverage"}
	errEnrols      = &beacon.Error{Kind: beacon.Forbidden, Message: "an enrolment key may only enrol devices, with POST /v1/devices/enrol"}
	errElsewhere   = &beacon.Error{Kind: beacon.Forbidden, Message: "this key is restricted to other origins or addresses"}
)

// checkPlace refuses a restricted key that is used elsewhere than it may be. That counts
// like a wrong key: a thief must not use up the limit of the key.
func (e *Edge) checkPlace(w http.ResponseWriter, r *http.Request, p beacon.Principal, now time.Time) error {
	if p.Restrictions == nil {
		return nil
	}
	if p.Restrictions.Admits(strings.Join(r.Header["Origin"], ","), httpserver.Client(r)) { // no range contains the zero Addr
		return nil
	}
	if err := e.Limits.SpendFailure(w.Header(), r, now); err != nil {
		return err
	}
	return errElsewhere
}

// EnrolPattern is the only route for enrolment keys.
const EnrolPattern = "POST /v1/devices/enrol"

// TilePattern is as much as the mux can match; tileOf checks the last segment.
const TilePattern = "GET /v1/coverage/tiles/{z}/{x}/{tile}"
