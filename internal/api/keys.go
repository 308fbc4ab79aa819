package api

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

type key struct {
	ID         beacon.KeyID   `json:"id"`
	Key        string         `json:"key,omitempty"` // only in the response to its creation
	UserID     beacon.UserID  `json:"user_id"`
	Name       string         `json:"name"`
	Scopes     []beacon.Scope `json:"scopes"`
	CreatedAt  stamp          `json:"created_at"`
	ExpiresAt  *stamp         `json:"expires_at"`
	LastUsedAt *stamp         `json:"last_used_at"`
	RevokedAt  *stamp         `json:"revoked_at"`

	Origins     []string       `json:"origins"`
	Addresses   []netip.Prefix `json:"addresses"`
	Publishable bool           `json:"publishable"`
}

func showKey(k beacon.Key) key {
	return key{
		ID: k.ID, UserID: k.User, Name: k.Name, Scopes: append([]beacon.Scope{}, k.Scopes...), CreatedAt: stamp(k.CreatedAt),
		ExpiresAt: maybe(k.ExpiresAt), LastUsedAt: maybe(k.LastUsedAt), RevokedAt: maybe(k.RevokedAt),
		Origins: append([]string{}, k.Restrictions.Origins...), Addresses: append([]netip.Prefix{}, k.Restrictions.Addresses...),
		Publishable: k.Restrictions.Publishable,
	}
}

func (a *API) decodeCreation(_ *http.Request, o *object) (access.Creation, error) {
	in := access.Creation{
		User:      o.text("user_id"),
		Name:      o.text("name"),
		Scopes:    o.texts("scopes"),
		ExpiresAt: readTime(o, "expires_at"),

		Origins: o.texts("origins"), Addresses: o.texts("addresses"), Publishable: o.flag("publishable"),
	}
	return in, o.settle(func() error { return in.Validate(a.now()) })
}

// maxYear is the last year that RFC 3339 can express. A time in another zone may be past
// it in UTC.
const maxYear = 9999

// readTime reads an RFC 3339 time.
func readTime(o *object, name string) beacon.Opt[time.Time] {
	text := o.text(name)
	out := beacon.Opt[time.Time]{Set: text.Set, Null: text.Null}
	if text.Set && !text.Null {
		t, err := time.Parse(time.RFC3339, text.V)
		if err != nil || t.UTC().Year() > maxYear {
			o.faults.Add(o.path+name, "must be a time such as 2027-01-31T12:00:00Z")
		}
		out.V = t
	}
	return out
}

func decodeListing(_ *http.Request, q *query) access.Listing {
	user, ok := q.get("user_id")
	if ok && !id.Valid(beacon.UserPrefix, user) {
		q.faults.Add("user_id", "must be a user id")
	}
	return access.Listing{User: beacon.UserID(user), Page: q.page(keyList)}
}

func encodeCreated(_ http.Header, made access.Created) payload {
	shown := showKey(made.Key)
	shown.Key = made.Plain
	return payload{Data: shown}
}

func idOfKey(made access.Created) string { return string(made.Key.ID) }

func encodeKey(_ http.Header, k beacon.Key) payload { return payload{Data: showKey(k)} }

func encodeKeys(_ http.Header, list beacon.Listed[beacon.Key]) payload {
	return showPage(list, keyList, placeOfKey, showKey)
}

func placeOfKey(k beacon.Key) string { return k.Place().String() }
