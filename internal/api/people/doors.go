package people

import (
	"context"
	"net/http"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/people/doors"
)

// begins serves the beginning of what is finished later. Each is kept until then, so an
// address begins some a minute, and so does a person who is signed in: visitors of the same
// address do not keep them from it.
func (a *API) begins(do edge.Endpoint) http.HandlerFunc {
	return a.open(func(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
		if err := a.Limits.SpendDoor(w.Header(), r, p.Person, time.Now()); err != nil {
			return err
		}
		return do(w, r, p)
	})
}

func encodeCeremony(_ http.Header, c doors.Ceremony) edge.Payload {
	return edge.Payload{Data: client.Ceremony{Ceremony: c.Token, Options: c.Options}}
}

// readResponse reads what finishes a ceremony.
func readResponse(r *http.Request, o *edge.Object, f *beacon.Faults) doors.Response {
	in := doors.Response{Device: deviceOf(r)}
	in.Token, _ = beacon.Required(o.Text("ceremony"), "ceremony", f)
	in.Response, _ = beacon.Required(o.JSON("response"), "response", f)
	return in
}

func decodeResponse(r *http.Request, o *edge.Object) (doors.Response, error) {
	var f beacon.Faults
	in := readResponse(r, o, &f)
	return in, o.Conclude(f.Err)
}

func decodeNewPasskey(r *http.Request, o *edge.Object) (doors.Response, error) {
	var f beacon.Faults
	in := readResponse(r, o, &f)
	in.Name, _ = beacon.Optional(o.Text("name"), "name", &f)
	return in, o.Conclude(f.Err)
}

// proof is by what someone shows who they are once more: a passkey, or a recovery code.
type proof struct {
	code     string
	response doors.Response
}

func decodeFresh(r *http.Request, o *edge.Object) (in proof, err error) {
	var f beacon.Faults
	code := o.Text("code")
	if in.code, _ = beacon.Optional(code, "code", &f); !code.Set {
		in.response = readResponse(r, o, &f)
	}
	return in, o.Conclude(f.Err)
}

func (a *API) freshen(ctx context.Context, p beacon.Principal, in proof) (time.Time, error) {
	if in.response.Token == "" {
		return a.people.Freshen(ctx, p, in.code)
	}
	return a.doors.Freshen(ctx, p, in.response)
}

func encodeFresh(_ http.Header, until time.Time) edge.Payload {
	return edge.Payload{Data: client.Freshness{FreshUntil: until}}
}
