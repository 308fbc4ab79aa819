package api

import (
	"context"
	"net/http"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

type quota struct {
	UserID     beacon.UserID `json:"user_id"`
	Hotspots   int           `json:"hotspots"`
	Keys       int           `json:"keys"`
	Streams    int           `json:"streams"`
	Statements int           `json:"statements"`
}

type quotaChange struct {
	user  beacon.UserID
	quota beacon.Quota
}

func decodeQuota(r *http.Request, o *object) (quotaChange, error) {
	in := quotaChange{user: beacon.UserID(r.PathValue("id"))}
	form := beacon.QuotaForm{
		Hotspots: o.number("hotspots"), Keys: o.number("keys"), Streams: o.number("streams"), Statements: o.number("statements"),
	}
	err := o.conclude(func() (err error) { in.quota, err = form.Validate(); return err })
	return in, err
}

var (
	errNotYourQuota = &beacon.Error{Kind: beacon.Forbidden, Message: "this key can read the quota of its own user only"}
	errNoUser       = &beacon.Error{Kind: beacon.NotFound, Message: "no such user"}
)

// readQuota returns what a user may have.
func (a *API) readQuota(ctx context.Context, p beacon.Principal, user beacon.UserID) (quota, error) {
	if user == beacon.Me {
		user = p.User
	}
	switch {
	case !p.MayActFor(user):
		return quota{}, errNotYourQuota
	case !id.Valid(beacon.UserPrefix, string(user)):
		return quota{}, errNoUser
	}
	q, err := a.store.Quota(ctx, user)
	return quota{user, q.Hotspots, q.Keys, q.Streams, q.Statements}, err
}

// setQuota sets what a user may have.
func (a *API) setQuota(ctx context.Context, p beacon.Principal, in quotaChange) (quota, error) {
	if in.user == beacon.Me {
		in.user = p.User
	}
	if !id.Valid(beacon.UserPrefix, string(in.user)) {
		return quota{}, errNoUser
	}
	q := in.quota
	return quota{in.user, q.Hotspots, q.Keys, q.Streams, q.Statements}, a.store.SetQuota(ctx, in.user, q, p.Actor(), a.now())
}

// quotaOf returns what a user may have at once of something that memory counts. While
// the database is away, it is what everyone may have.
func (a *API) quotaOf(r *http.Request, user beacon.UserID) beacon.Quota {
	ctx, cancel := context.WithTimeout(r.Context(), quotaPatience)
	defer cancel()
	if q, err := a.store.Quota(ctx, user); err == nil {
		return q
	}
	return beacon.DefaultQuota()
}

var quotaPatience = 500 * time.Millisecond // tests have more

type erasureOf struct {
	UserID   beacon.UserID        `json:"user_id"`
	Status   beacon.ErasureStatus `json:"status"`
	AskedAt  *stamp               `json:"asked_at"`
	DueAt    *stamp               `json:"due_at"`
	ErasedAt *stamp               `json:"erased_at"`
}

func encodeErasure(_ http.Header, e beacon.Erasure) payload {
	return payload{Data: erasureOf{e.User, e.Status(), maybe(e.Asked), maybe(e.Due), maybe(e.Erased)}}
}
