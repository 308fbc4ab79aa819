package accounts

import (
	"context"
	"net/http"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

type quotaChange struct {
	user  beacon.UserID
	quota beacon.Quota
}

func decodeQuota(r *http.Request, o *edge.Object) (quotaChange, error) {
	in := quotaChange{user: beacon.UserID(r.PathValue("id"))}
	form := beacon.QuotaForm{
		Hotspots: o.Number("hotspots"), Keys: o.Number("keys"), Streams: o.Number("streams"), Statements: o.Number("statements"),
	}
	err := o.Conclude(func() (err error) { in.quota, err = form.Validate(); return err })
	return in, err
}

var errNotYourQuota = &beacon.Error{Kind: beacon.Forbidden, Message: "this key can read the quota of its own user only"}

// readQuota returns what a user may have.
func (a *API) readQuota(ctx context.Context, p beacon.Principal, user beacon.UserID) (client.Quota, error) {
	if user == beacon.Me {
		user = p.User
	}
	switch {
	case !p.MayActFor(user):
		return client.Quota{}, errNotYourQuota
	case !id.Valid(beacon.UserPrefix, string(user)):
		return client.Quota{}, edge.ErrNoUser
	}
	q, err := a.store.Quota(ctx, user)
	return showQuota(user, q), err
}

// setQuota sets what a user may have.
func (a *API) setQuota(ctx context.Context, p beacon.Principal, in quotaChange) (client.Quota, error) {
	if in.user == beacon.Me {
		in.user = p.User
	}
	if !id.Valid(beacon.UserPrefix, string(in.user)) {
		return client.Quota{}, edge.ErrNoUser
	}
	return showQuota(in.user, in.quota), a.store.SetQuota(ctx, in.user, in.quota, p.Actor(), a.Now())
}

func showQuota(user beacon.UserID, q beacon.Quota) client.Quota {
	return client.Quota{UserID: string(user), Hotspots: q.Hotspots, Keys: q.Keys, Streams: q.Streams, Statements: q.Statements}
}

func encodeErasure(_ http.Header, e beacon.Erasure) edge.Payload {
	return edge.Payload{Data: client.Erasure{
		UserID: string(e.User), Status: client.ErasureStatus(e.Status()), AskedAt: edge.Maybe(e.Asked), DueAt: edge.Maybe(e.Due), ErasedAt: edge.Maybe(e.Erased),
	}}
}
