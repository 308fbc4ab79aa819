package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// The scopes of a key.
const (
	ScopeHotspotsWrite  = "hotspots:write"
	ScopeHotspotsVerify = "hotspots:verify"
	ScopeRewardsRead    = "rewards:read"
	ScopeCheckInsWrite  = "checkins:write"
	ScopeDevicesEnrol   = "devices:enrol"
	ScopeKeysManage     = "keys:manage"
	ScopeAdmin          = "admin"
)

// Key is an API key, without its secret.
type Key struct {
	ID string `json:"id"`
	KeyDetails
}

// KeyDetails are whose key it is, and what it permits.
type KeyDetails struct {
	UserID     string     `json:"user_id"`
	Name       string     `json:"name"`
	Scopes     []string   `json:"scopes"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  *time.Time `json:"expires_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`

	Origins     []string `json:"origins"`     // the only web pages that may use it; empty: not restricted
	Addresses   []string `json:"addresses"`   // the only addresses it may be used from; empty: any
	Publishable bool     `json:"publishable"` // it may be shown to everyone

	// Of a key with the scope devices:enrol.
	MaxEnrolments int      `json:"max_enrolments"` // how many devices it may link; 0: it is another key
	Enrolments    int      `json:"enrolments"`     // how many it has linked
	Hotspots      []string `json:"hotspots"`       // the only ones that may get a device; empty: all of the user
	MayRegister   bool     `json:"may_register"`   // an unknown MAC address registers a hotspot
}

// KeyCreation asks for a key.
type KeyCreation struct {
	UserID    string     `json:"user_id,omitempty"` // the owner; empty: the caller; "new": a new user
	Name      string     `json:"name,omitempty"`
	Scopes    []string   `json:"scopes"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`

	Origins     []string `json:"origins,omitempty"`    // such as https://app.example.org
	Addresses   []string `json:"addresses,omitempty"`  // such as 10.0.0.0/8
	Publishable bool     `json:"publishable,omitzero"` // only reads what is public; without scopes

	// With the scope devices:enrol, which must be the only one, and with ExpiresAt.
	MaxEnrolments int      `json:"max_enrolments,omitzero"` // how many devices it may link: 1 to 100,000
	Hotspots      []string `json:"hotspots,omitempty"`      // the only ones that may get a device, at most 1,000; empty: all
	MayRegister   bool     `json:"may_register,omitzero"`   // an unknown MAC address registers a hotspot
}

// CreatedKey is a new key, with its secret.
type CreatedKey struct {
	ID     string `json:"id"`
	Secret string `json:"key"` // what to send; never shown again
	KeyDetails
}

// CreateKey creates a key. It needs the scope keys:manage.
func (c *Client) CreateKey(ctx context.Context, in KeyCreation) (CreatedKey, error) {
	if in.Scopes == nil {
		in.Scopes = []string{}
	}
	return call[CreatedKey](ctx, c, post(path("keys"), in).once(""))
}

// KeysPage returns a page of keys, newest first: those of a user. If user is empty,
// it returns those of the caller's own user, or everyone's with the scope admin. It
// needs the scope keys:manage.
func (c *Client) KeysPage(ctx context.Context, user string, p PageQuery) (Page[Key], error) {
	return page[Key](ctx, c, path("keys"), given("user_id", user), p)
}

// Keys returns all keys that KeysPage returns, page by page.
func (c *Client) Keys(ctx context.Context, user string) iter.Seq2[Key, error] {
	return pages(func(p PageQuery) (Page[Key], error) { return c.KeysPage(ctx, user, p) })
}

// RevokeKey revokes a key. It needs the scope keys:manage.
func (c *Client) RevokeKey(ctx context.Context, id string) error {
	return c.silent(ctx, request{method: http.MethodDelete, path: path("keys", id)})
}

// OwnKey returns the key in use, with its name and scopes.
func (c *Client) OwnKey(ctx context.Context) (Key, error) {
	return call[Key](ctx, c, get(path("keys", "self"), nil))
}
