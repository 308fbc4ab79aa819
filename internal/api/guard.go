package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// endpoint answers a request whose key was verified. An error that it returns
// is answered by fail; nothing may be written then.
type endpoint func(w http.ResponseWriter, r *http.Request, p beacon.Principal) error

// patience bounds the work on one request; a database that does not answer by
// then is as good as away.
const patience = 5 * time.Second

// guard puts the checks that all endpoints share before one, in the order of
// decision N3: 401, 429, 403.
func (a *API) guard(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Cache-Control"] = noStore
		now := time.Now() // of the machine: limits count real time
		p, err := a.admit(w, r, now)
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

var errDevice = &beacon.Error{Kind: beacon.Forbidden, Message: "the key of a device opens the heartbeats of its own hotspot alone"}

// admit lets in whoever has an API key and does not use it too often. A device
// has a key too, which opens nothing here.
func (a *API) admit(w http.ResponseWriter, r *http.Request, now time.Time) (beacon.Principal, error) {
	p, device, err := a.authenticate(w, r, now)
	switch {
	case err != nil:
		return p, err
	case device == nil:
		return p, a.limits.spend(w.Header(), p.Key, now)
	}
	if err := a.limits.spendDevice(w.Header(), beacon.HotspotID(device.ID()), now); err != nil {
		return p, err
	}
	return p, errDevice
}

// authenticate finds out who is asking: the holder of an API key, or the device
// of a hotspot. A flood of wrong keys from one address is refused before any of
// them is looked up (decision N21); keys that are known already are none of
// them.
func (a *API) authenticate(w http.ResponseWriter, r *http.Request, now time.Time) (p beacon.Principal, device *fleet.Spot, err error) {
	if key, ok := bearer(r); ok {
		p, err = a.keys.VerifyIf(r.Context(), key, func() error {
			if device = a.deviceWith(key); device != nil {
				return errDevice
			}
			return a.limits.checkFailures(w.Header(), r, now)
		})
		if device != nil {
			return p, device, nil
		}
		p.Request = httpserver.RequestID(w)
		if err == nil || kindOf(err) != beacon.Unauthorized {
			return p, nil, err
		}
	}
	return beacon.Principal{}, nil, a.unauthorized(w, r, now)
}

// deviceWith gives the hotspot whose device has the key, or nil.
func (a *API) deviceWith(key string) *fleet.Spot {
	presented, ok := access.Split(key)
	if !ok {
		return nil
	}
	if spot, ok := a.fleet.Find(presented.Hotspot()); ok && spot.Opens(presented.Hash()) {
		return spot
	}
	return nil
}

// unauthorized counts a wrong key.
func (a *API) unauthorized(w http.ResponseWriter, r *http.Request, now time.Time) error {
	if err := a.limits.spendFailure(w.Header(), r, now); err != nil {
		return err
	}
	return access.ErrUnauthorized
}

const maxKeyBytes = 256

// bearer reads the one Authorization header. A key in the URL does not count:
// URLs end up in logs.
func bearer(r *http.Request) (key string, ok bool) {
	values := r.Header["Authorization"]
	if len(values) != 1 || len(values[0]) > maxKeyBytes {
		return "", false
	}
	scheme, key, ok := strings.Cut(values[0], " ")
	return strings.TrimLeft(key, " "), ok && strings.EqualFold(scheme, "Bearer")
}

// serve makes an endpoint of the three steps that nearly all consist of.
func serve[In, Out any](
	a *API, status int,
	decode func(http.ResponseWriter, *http.Request) (In, error),
	verb func(context.Context, beacon.Principal, In) (Out, error),
	encode func(http.Header, Out) payload,
) endpoint {
	return func(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
		in, err := decode(w, r)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		out, err := verb(ctx, p, in)
		if err != nil {
			return err
		}
		return a.write(w, status, encode(w.Header(), out))
	}
}
