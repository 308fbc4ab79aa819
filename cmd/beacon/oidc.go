package main

import (
	"net/url"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/people/doors"
	"github.com/beacon-wifi/beacon/internal/people/oidc"
)

// oidcFlags are the network's provider of OpenID Connect.
type oidcFlags struct {
	OIDCIssuer           string   `name:"oidc-issuer" placeholder:"URL" help:"The provider of OpenID Connect by which people sign in, exactly as it writes its address. Register this server there with the redirect URL that beacon doctor prints. Default: none."`
	OIDCName             string   `name:"oidc-name" placeholder:"TEXT" help:"What people know the provider by. Default: the host of its address."`
	OIDCClientID         string   `name:"oidc-client-id" placeholder:"ID" help:"The name of this server there."`
	OIDCClientSecretFile string   `name:"oidc-client-secret-file" placeholder:"FILE" help:"A file with its secret there. Default: it has none."`
	OIDCNameClaim        string   `name:"oidc-name-claim" default:"name" placeholder:"CLAIM" help:"The claim with the name of a person. Default ${default}."`
	OIDCGroupsClaim      string   `name:"oidc-groups-claim" default:"groups" placeholder:"CLAIM" help:"The claim with the groups of a person, for --oidc-roles. Default ${default}."`
	OIDCRoles            []string `name:"oidc-roles" placeholder:"GROUP=POST" help:"Posts that members of a group have, such as staff=verifier: admin, verifier, treasurer or auditor. Each sign-in gives and takes the posts that stand here; who has the others was given them here. Default: none."`
}

// oidcPage is where the provider sends browsers back to.
const oidcPage = "/oidc"

// provider returns the provider for a server at an address, or nil.
func (c oidcFlags) provider(public string, now func() time.Time) (*doors.Provider, error) {
	if c.OIDCIssuer == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	secret, err := secret("oidc-client-secret", "", c.OIDCClientSecretFile)
	if err != nil {
		return nil, err
	}
	posts, err := doors.ParsePosts(c.OIDCRoles)
	if err != nil {
		return nil, usageError("--oidc-roles " + err.Error())
	}
	config := oidc.Config{
		Issuer: c.OIDCIssuer, ClientID: c.OIDCClientID, ClientSecret: secret, RedirectURL: public + oidcPage, NameClaim: c.OIDCNameClaim, Now: now,
	}
	if len(posts) > 0 {
		config.GroupsClaim = c.OIDCGroupsClaim
	}
	issuer, err := oidc.New(config)
	if err != nil {
		return nil, usageError("--oidc-issuer: " + err.Error() + "; see --public-url and --oidc-client-id")
	}
	name := c.OIDCName
	if u, err := url.Parse(c.OIDCIssuer); err == nil && name == "" {
		name = strings.TrimPrefix(u.Host, "www.")
	}
	return &doors.Provider{Issuer: issuer, Name: name, Posts: posts}, nil
}
