// Package oidc lets one issuer of OpenID Connect say who someone is. It knows neither a
// database nor HTTP routes: its caller keeps the state of each sign-in for the browser that
// began it, and removes it when it is used. Its invariant: the one who is returned was signed by
// the issuer, for this client, in answer to a request made here. A person is the issuer's
// subject; mail addresses are not read, since an issuer can give one to somebody else.
package oidc

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	openid "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const (
	// StateLasts is how long someone has to sign in at the issuer.
	StateLasts = 10 * time.Minute
	// FreshFor is how long ago someone may have signed in at the issuer, where it must be
	// certain that it is still the same person.
	FreshFor = 5 * time.Minute
)

// Config is what the issuer was told of this server, and what it says of people.
type Config struct {
	Issuer       string // its address, exactly as it writes it
	ClientID     string
	ClientSecret string // empty for a client without one
	RedirectURL  string // where browsers come back to
	Scopes       []string
	NameClaim    string // "name" if empty
	GroupsClaim  string // empty: groups are not read
	Now          func() time.Time
}

// Issuer is the one issuer. All methods may be called at the same time.
type Issuer struct {
	config Config
	client *http.Client
	known  atomic.Pointer[provider]
	turn   singleflight.Group // one discovery at a time
}

// Identity is who signed in.
type Identity struct {
	Issuer  string
	Subject string // who it is there, for ever
	Name    string // may be empty
	Groups  []string
}

// New returns an issuer. It is asked for nothing yet, so that a server starts while it is
// down.
func New(c Config) (*Issuer, error) {
	if err := checkAddress("issuer", c.Issuer); err != nil {
		return nil, err
	}
	if err := checkAddress("redirect URL", c.RedirectURL); err != nil {
		return nil, err
	}
	if c.ClientID == "" {
		return nil, errors.New("the client id is missing: register this server at the issuer, with the redirect URL " + c.RedirectURL)
	}
	if c.NameClaim == "" {
		c.NameClaim = "name"
	}
	c.Scopes = slices.Concat([]string{openid.ScopeOpenID, openid.ScopeProfile}, c.Scopes)
	slices.Sort(c.Scopes)
	c.Scopes = slices.Compact(c.Scopes)
	return &Issuer{config: c, client: newClient()}, nil
}

// kept is the state of a sign-in, as it is stored.
type kept struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Fresh    bool      `json:"fresh,omitempty"`
	Until    time.Time `json:"until"`
}

// Begin returns where to send a browser, and the state of its sign-in. The state is secret:
// the caller keeps it where only requests of this browser find it, and uses it once. If fresh,
// people sign in again who are signed in at the issuer.
func (i *Issuer) Begin(ctx context.Context, fresh bool) (address string, state []byte, err error) {
	p, err := i.provider(ctx)
	if err != nil {
		return "", nil, err
	}
	// Each is 32 random bytes.
	k := kept{oauth2.GenerateVerifier(), oauth2.GenerateVerifier(), oauth2.GenerateVerifier(), fresh, i.config.Now().Add(StateLasts)}
	options := []oauth2.AuthCodeOption{openid.Nonce(k.Nonce), oauth2.S256ChallengeOption(k.Verifier)}
	if fresh {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", fmt.Sprint(int(FreshFor.Seconds()))))
	}
	if state, err = json.Marshal(k); err != nil {
		return "", nil, beacon.Unexpected(err)
	}
	return p.oauth.AuthCodeURL(k.State, options...), state, nil
}

// Finish returns who signed in, from the query with which the browser came back.
func (i *Issuer) Finish(ctx context.Context, state []byte, query url.Values) (Identity, error) {
	var k kept
	if err := json.Unmarshal(state, &k); err != nil || k.State == "" || !i.config.Now().Before(k.Until) {
		return Identity{}, refuse("this took too long, or was begun in another window; start again", err)
	}
	for _, name := range []string{"state", "iss", "error", "code"} {
		if values := query[name]; len(values) > 1 || len(values) == 1 && len(values[0]) > 4096 {
			return Identity{}, refuse(notValid, fmt.Errorf("the parameter %s is repeated, or too long", name))
		}
	}
	if !same(query.Get("state"), k.State) {
		return Identity{}, refuse("this sign-in was begun in another window; start again", nil)
	}
	p, err := i.provider(ctx)
	if err != nil {
		return Identity{}, err
	}
	// RFC 9207: another issuer may have made the browser bring its response here.
	if iss := query.Get("iss"); iss != i.config.Issuer && (query.Has("iss") || p.NamesItself) {
		return Identity{}, refuse(notValid, errors.New("the response is of another issuer"))
	}
	if code := query.Get("error"); code != "" {
		return Identity{}, refuse("the identity provider did not sign you in; try again, or sign in another way", fmt.Errorf("it said %.60q", code))
	}
	ctx = openid.ClientContext(ctx, i.client)
	tokens, err := p.oauth.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(k.Verifier))
	if err != nil {
		return Identity{}, errExchange(err)
	}
	claims, subject, err := i.verify(ctx, p, tokens, k)
	if err != nil {
		return Identity{}, err
	}
	if err := i.complete(ctx, p, tokens, subject, claims); err != nil {
		return Identity{}, err
	}
	groups, err := claims.groups(i.config.GroupsClaim)
	return Identity{i.config.Issuer, subject, claims.name(i.config.NameClaim), groups}, err
}

// verify returns what the ID token says, once everything about it is right.
func (i *Issuer) verify(ctx context.Context, p *provider, tokens *oauth2.Token, k kept) (claims, string, error) {
	raw, _ := tokens.Extra("id_token").(string)
	token, err := p.verifier.Verify(ctx, raw) // signature, issuer, audience, end
	if expired, ok := errors.AsType[*openid.TokenExpiredError](err); ok {
		return nil, "", refuse("the sign-in at the identity provider was over when it arrived; try again, and if that does not help, have the clocks of both servers compared", expired)
	}
	if err != nil {
		return nil, "", refuse("the response of the identity provider is not valid, or its keys cannot be fetched; try again, or sign in another way", brief(err))
	}
	all := claims{}
	if err := token.Claims(&all); err != nil {
		return nil, "", refuse(notValid, brief(err))
	}
	var party string // whom the token is for, if several may read it
	var at float64   // when its person signed in, in Unix seconds
	_, _ = all.read("azp", &party), all.read("auth_time", &at)
	switch {
	case !same(token.Nonce, k.Nonce):
		err = errors.New("the ID token has the nonce of another sign-in")
	case party != i.config.ClientID && (party != "" || len(token.Audience) > 1):
		err = errors.New("the ID token was issued to another client")
	case token.AccessTokenHash != "" && token.VerifyAccessToken(tokens.AccessToken) != nil:
		err = errors.New("the access token is not the one of the ID token")
	case token.Subject == "" || len(token.Subject) > 255:
		err = errors.New("the subject is empty, or longer than 255 bytes")
	case k.Fresh && i.config.Now().Sub(time.Unix(int64(at), 0)) > FreshFor:
		return nil, "", refuse("the identity provider did not ask you to sign in again; sign out there and try again, or use a passkey", nil)
	}
	if err != nil {
		return nil, "", refuse(notValid, err)
	}
	return all, token.Subject, nil
}

// complete adds claims that the issuer keeps for its other endpoint, as many do.
func (i *Issuer) complete(ctx context.Context, p *provider, tokens *oauth2.Token, subject string, have claims) error {
	_, named := have[i.config.NameClaim]
	_, grouped := have[i.config.GroupsClaim]
	if named && (grouped || i.config.GroupsClaim == "") || p.UserInfo == "" {
		return nil
	}
	info, err := p.openid.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return errAway(err)
	}
	more := claims{}
	if err := info.Claims(&more); err != nil || info.Subject != subject {
		return refuse(notValid, errors.New("the endpoint for user info spoke of somebody else"))
	}
	for name, value := range more {
		if _, signed := have[name]; !signed {
			have[name] = value
		}
	}
	return nil
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

const notValid = "the response of the identity provider is not valid; start again, or sign in another way"

func refuse(message string, cause error) error {
	return &beacon.Error{Kind: beacon.Unauthorized, Message: message, Err: cause}
}

// errExchange words why the issuer gave no token for a code.
func errExchange(err error) error {
	said, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || said.Response.StatusCode >= http.StatusInternalServerError {
		return errAway(err)
	}
	cause := fmt.Errorf("it said %.60q with status %d", said.ErrorCode, said.Response.StatusCode)
	if said.ErrorCode == "invalid_grant" {
		return refuse(notValid, cause)
	}
	return errSetting("does not accept this server; those who run the network compare client id, secret and redirect URL", cause)
}
