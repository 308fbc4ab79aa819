package accounts

import (
	"net/http"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// ShowKey shows a key without its secret.
func ShowKey(k beacon.Key) client.Key {
	return client.Key{ID: string(k.ID), KeyDetails: showDetails(k)}
}

func showDetails(k beacon.Key) client.KeyDetails {
	return client.KeyDetails{
		UserID: string(k.User), Name: k.Name, Scopes: edge.Texts(k.Scopes), CreatedAt: k.CreatedAt,
		ExpiresAt: edge.Maybe(k.ExpiresAt), LastUsedAt: edge.Maybe(k.LastUsedAt), RevokedAt: edge.Maybe(k.RevokedAt),
		Origins: k.Restrictions.Origins, Addresses: edge.Texts(k.Restrictions.Addresses), Publishable: k.Restrictions.Publishable,
		MaxEnrolments: k.Enrolment.Most, Enrolments: k.Enrolled, Hotspots: edge.Texts(k.Enrolment.Hotspots), MayRegister: k.Enrolment.Register,
	}
}

func (a *API) DecodeCreation(_ *http.Request, o *edge.Object) (access.Creation, error) {
	in := access.Creation{
		User:      o.Text("user_id"),
		Name:      o.Text("name"),
		Scopes:    o.Texts("scopes"),
		ExpiresAt: edge.ReadTime(o, "expires_at"),

		Origins: o.Texts("origins"), Addresses: o.Texts("addresses"), Publishable: o.Flag("publishable"),
		MaxEnrolments: o.Number("max_enrolments"), Hotspots: o.Texts("hotspots"), MayRegister: o.Flag("may_register"),
	}
	return in, o.Finish(func() error { return in.Validate(a.Now()) })
}

func DecodeListing(_ *http.Request, q *edge.Query) access.Listing {
	user, ok := q.Get("user_id")
	if ok && !id.Valid(beacon.UserPrefix, user) {
		q.Faults.Add("user_id", "must be a user id")
	}
	return access.Listing{User: beacon.UserID(user), Page: q.Page(edge.KeyList)}
}

// ShowCreated shows a new key with its secret.
func ShowCreated(made access.Created) client.CreatedKey {
	return client.CreatedKey{ID: string(made.Key.ID), Secret: made.Plain, KeyDetails: showDetails(made.Key)}
}

func encodeCreated(_ http.Header, made access.Created) edge.Payload {
	return edge.Payload{Data: ShowCreated(made)}
}

func encodeKey(_ http.Header, k beacon.Key) edge.Payload { return edge.Payload{Data: ShowKey(k)} }

func encodeKeys(_ http.Header, list beacon.Listed[beacon.Key]) edge.Payload {
	return edge.ShowPage(list, edge.KeyList, placeOfKey, ShowKey)
}

func placeOfKey(k beacon.Key) string { return k.Place().String() }
