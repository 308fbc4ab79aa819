// Package people serves people: their own details and doors, members of accounts, invitations,
// staff's list of people; and, to the console alone, the doors by which people sign in.
package people

import (
	"net/http"
	"strings"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/people"
	"github.com/beacon-wifi/beacon/internal/people/doors"
)

// Config is what New needs besides the use cases.
type Config struct {
	LinkBase string                 // what links begin with; empty: where a request says that the server is
	Identity func() beacon.Identity // of the network; may be nil

	Doors *doors.Doors // by which people sign in with passkeys
}

// API serves these endpoints.
type API struct {
	*edge.Edge
	people *people.People
	doors  *doors.Doors
	cfg    Config
}

// New returns the API of people.
func New(e *edge.Edge, pp *people.People, cfg Config) *API { return &API{e, pp, cfg.Doors, cfg} }

// Routes lists the endpoints. openapi.yaml describes each.
func (a *API) Routes() []edge.Route {
	pp := a.people
	return []edge.Route{
		edge.On("GET /v1/people/me", beacon.Read, edge.Serve(a.Edge, 200, edge.DecodeNothing, pp.Me, encodeMe)),
		edge.On("PATCH /v1/people/me", beacon.Read, edge.Serve(a.Edge, 200, edge.FromBody(decodePatch), pp.ChangeMe, encodeMe)),
		edge.On("GET /v1/people/me/sessions", beacon.Read, a.sessions),
		edge.On("DELETE /v1/people/me/sessions", beacon.Read, edge.Serve(a.Edge, 204, noSession, pp.EndSession, edge.EncodeNothing)),
		edge.On("DELETE /v1/people/me/sessions/{id}", beacon.Read, edge.Serve(a.Edge, 204, oneSession, pp.EndSession, edge.EncodeNothing)),
		edge.On("GET /v1/people/me/passkeys", beacon.Read, edge.Serve(a.Edge, 200, edge.DecodeNothing, a.doors.Mine, encodePasskeys)),
		edge.On("DELETE /v1/people/me/passkeys/{id}", beacon.Read, edge.Serve(a.Edge, 204, edge.PathID, pp.DropPasskey, edge.EncodeNothing)),
		edge.On("POST /v1/people/me/codes", beacon.Read, edge.ServeOnce(a.Edge, 200, edge.DecodeNothing, pp.NewCodes, encodeCodes, edge.ByUser)),
		edge.On("POST /v1/people/me/codes/confirmation", beacon.Read, edge.Serve(a.Edge, 204, edge.FromBody(decodeCode), pp.ConfirmCodes, edge.EncodeNothing)),

		edge.On("PATCH /v1/users/{id}", beacon.ManageMembers, edge.Serve(a.Edge, 200, edge.FromBody(decodeNaming), pp.NameAccount, a.encodeMembers)),
		edge.On("GET /v1/users/{id}/members", beacon.ReadMembers, edge.Serve(a.Edge, 200, edge.PathID, pp.Members, a.encodeMembers)),
		edge.On("PATCH /v1/users/{id}/members/{person}", beacon.ManageMembers, edge.Serve(a.Edge, 200, edge.FromBody(decodeMember), pp.ChangeMember, a.encodeMembers)),
		edge.On("DELETE /v1/users/{id}/members/{person}", beacon.ReadMembers, edge.Serve(a.Edge, 204, memberOf, pp.RemoveMember, edge.EncodeNothing)),
		edge.On("POST /v1/users/{id}/members/{person}/link", beacon.ManageMembers, a.once(func(r *http.Request) edge.Endpoint {
			return edge.ServeOnce(a.Edge, 200, memberOf, pp.MakeLink, a.encodeLink(r), edge.ByUser)
		})),
		edge.On("GET /v1/users/{id}/invitations", beacon.ManageMembers, edge.Serve(a.Edge, 200, edge.PathID, pp.Invitations, encodeInvitations)),
		edge.On("POST /v1/users/{id}/invitations", beacon.ManageMembers, a.once(func(r *http.Request) edge.Endpoint {
			return edge.ServeOnce(a.Edge, 200, edge.FromBody(decodeInvitation), pp.Invite, a.encodeInvited(r), edge.ByUser)
		})),
		edge.On("DELETE /v1/users/{id}/invitations/{invitation}", beacon.ManageMembers, edge.Serve(a.Edge, 204, revocation, pp.RevokeInvitation, edge.EncodeNothing)),

		edge.On("GET /v1/people", beacon.ManagePeople, edge.Serve(a.Edge, 200, edge.FromList(decodeQuery), pp.List, encodePeople)),
		edge.On("GET /v1/people/{id}", beacon.ManagePeople, edge.Serve(a.Edge, 200, edge.PathID, pp.Get, encodeMe)),
		edge.On("PATCH /v1/people/{id}", beacon.ManagePeople, edge.Serve(a.Edge, 200, edge.FromBody(decodeDecision), pp.Decide, encodeMe)),
		edge.On("DELETE /v1/people/{id}", beacon.ManagePeople, edge.Serve(a.Edge, 204, edge.PathID, pp.Erase, edge.EncodeNothing)),
		edge.On("POST /v1/people/{id}/link", beacon.ManagePeople, a.once(func(r *http.Request) edge.Endpoint {
			return edge.ServeOnce(a.Edge, 200, anyone, pp.MakeLink, a.encodeLink(r), edge.ByUser)
		})),
		edge.On("GET /v1/invitations", beacon.ManagePeople, edge.Serve(a.Edge, 200, ofNetwork, pp.Invitations, encodeInvitations)),
		edge.On("POST /v1/invitations", beacon.ManagePeople, a.once(func(r *http.Request) edge.Endpoint {
			return edge.ServeOnce(a.Edge, 200, edge.FromBody(decodeStaffInvitation), pp.Invite, a.encodeInvited(r), edge.ByUser)
		})),
		edge.On("DELETE /v1/invitations/{invitation}", beacon.ManagePeople, edge.Serve(a.Edge, 204, revocation, pp.RevokeInvitation, edge.EncodeNothing)),
	}
}

// once serves a request with an endpoint that knows it: links begin with where it was sent.
func (a *API) once(endpoint func(*http.Request) edge.Endpoint) edge.Endpoint {
	return func(w http.ResponseWriter, r *http.Request, p beacon.Principal) error { return endpoint(r)(w, r, p) }
}

// link returns the address of a page of the console with a token. It is in the fragment, which
// browsers do not send.
func (a *API) link(r *http.Request, page, token string) string {
	base := a.cfg.LinkBase
	if base == "" {
		base = "http://" + r.Host
		if origin := r.Header.Get("Origin"); a.FromOwnPage(r) && origin != "" {
			base = origin
		}
	}
	return strings.TrimSuffix(base, "/") + "/#/" + page + "/" + token
}
