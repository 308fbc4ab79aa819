package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	openid "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const (
	requestLasts = 10 * time.Second
	maxBody      = 1 << 20   // of what the issuer sends
	knownFor     = time.Hour // what it says of itself
)

// provider is what the issuer says of itself.
type provider struct {
	openid   *openid.Provider
	verifier *openid.IDTokenVerifier
	oauth    oauth2.Config
	until    time.Time
	document
}

type document struct {
	Auth        string   `json:"authorization_endpoint"`
	Token       string   `json:"token_endpoint"`
	Keys        string   `json:"jwks_uri"`
	UserInfo    string   `json:"userinfo_endpoint"`
	Methods     []string `json:"token_endpoint_auth_methods_supported"`
	NamesItself bool     `json:"authorization_response_iss_parameter_supported"`
}

// provider returns what the issuer says of itself, and asks it at most once at a time. A
// failure is not kept: the next one asks again.
func (i *Issuer) provider(ctx context.Context) (*provider, error) {
	if p := i.known.Load(); p != nil && i.config.Now().Before(p.until) {
		return p, nil
	}
	asked := i.turn.DoChan("", func() (any, error) { return i.discover(context.WithoutCancel(ctx)) })
	select {
	case <-ctx.Done():
		return nil, errAway(ctx.Err())
	case result := <-asked:
		p, _ := result.Val.(*provider)
		return p, result.Err
	}
}

func (i *Issuer) discover(ctx context.Context) (*provider, error) {
	found, err := openid.NewProvider(openid.ClientContext(ctx, i.client), i.config.Issuer)
	if other, ok := errors.AsType[*openid.IssuerMismatchError](err); ok {
		return nil, errSetting("calls itself by another address; those who run the network set the issuer to exactly that", other)
	}
	if err != nil {
		return nil, errAway(err)
	}
	p := &provider{openid: found, until: i.config.Now().Add(knownFor)}
	if err := found.Claims(&p.document); err != nil {
		return nil, errAway(err)
	}
	for _, address := range []string{p.Auth, p.Token, p.Keys} {
		err = errors.Join(err, checkAddress("endpoint", address))
	}
	if p.UserInfo != "" {
		err = errors.Join(err, checkAddress("endpoint", p.UserInfo))
	}
	if err != nil {
		return nil, errSetting("has endpoints that must not be used", brief(err))
	}
	p.verifier = found.Verifier(&openid.Config{ClientID: i.config.ClientID, Now: i.config.Now})
	p.oauth = oauth2.Config{
		ClientID: i.config.ClientID, ClientSecret: i.config.ClientSecret, RedirectURL: i.config.RedirectURL, Scopes: i.config.Scopes,
		Endpoint: found.Endpoint(),
	}
	// The library would find out by trying, with a code that can be used once.
	p.oauth.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	if i.config.ClientSecret == "" || slices.Contains(p.Methods, "client_secret_post") && !slices.Contains(p.Methods, "client_secret_basic") {
		p.oauth.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	i.known.Store(p)
	return p, nil
}

// Check asks the issuer for what it says of itself and for its keys.
func (i *Issuer) Check(ctx context.Context) error {
	p, err := i.discover(ctx)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.Keys, nil)
	if err != nil {
		return errAway(err)
	}
	response, err := i.client.Do(request)
	if err != nil {
		return errAway(err)
	}
	defer response.Body.Close()
	var set struct{ Keys []json.RawMessage }
	if err := json.NewDecoder(response.Body).Decode(&set); err != nil || response.StatusCode != http.StatusOK || len(set.Keys) == 0 {
		return errAway(errors.Join(fmt.Errorf("%s has no keys: %s", p.Keys, response.Status), err))
	}
	return nil
}

// newClient returns a client that waits and reads only so long. A redirect must stay where
// it is, and must not carry a code or the client's secret.
func newClient() *http.Client {
	return &http.Client{
		Timeout: requestLasts,
		Transport: bounded{&http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: requestLasts,
			IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
		}},
		CheckRedirect: func(to *http.Request, from []*http.Request) error {
			first := from[0]
			if len(from) > 3 || first.Method != http.MethodGet || to.URL.Scheme != first.URL.Scheme || to.URL.Host != first.URL.Host {
				return errors.New("it redirects elsewhere")
			}
			return nil
		},
	}
}

type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(request)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxBody)
	}
	return response, err
}

// checkAddress refuses what others could read or answer: all but https, except on this machine.
func checkAddress(what, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Fragment != "" || u.Hostname() == "" {
		return fmt.Errorf("the %s must look like https://id.example.org, without a user", what)
	}
	host := u.Hostname()
	local := host == "localhost" || net.ParseIP(host).IsLoopback()
	if u.Scheme != "https" && (u.Scheme != "http" || !local) {
		return fmt.Errorf("the %s %.200s must begin with https://", what, text)
	}
	return nil
}

// claims is what a token says of someone.
type claims map[string]json.RawMessage

// read reports whether a claim is there and has the type of what it is read into.
func (c claims) read(claim string, into any) bool { return json.Unmarshal(c[claim], into) == nil }

// name returns a name in one line, or nothing.
func (c claims) name(claim string) string {
	var text string
	if !c.read(claim, &text) {
		return ""
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if runes := []rune(text); len(runes) > 100 {
		text = string(runes[:100])
	}
	return text
}

// groups returns a list of texts, or one text as a list. It is nil if the claim is absent.
func (c claims) groups(claim string) ([]string, error) {
	if _, sent := c[claim]; claim == "" || !sent {
		return nil, nil
	}
	var list []string
	var one string
	switch {
	case c.read(claim, &list):
	case c.read(claim, &one):
		list = []string{one}
	default:
		return nil, errSetting("sends groups in a form that is not read", fmt.Errorf("the claim %s is neither a list of texts nor a text", claim))
	}
	if list == nil {
		list = []string{}
	}
	return list, nil
}

// errAway is returned while the issuer does not do what it should.
func errAway(cause error) error {
	return &beacon.Error{
		Kind: beacon.Overloaded, RetryAfter: 10 * time.Second, Err: brief(cause),
		Message: "the identity provider cannot be reached right now; sign in another way, or try again in a minute",
	}
}

// errSetting is returned for what only those who run the network can mend.
func errSetting(what string, cause error) error {
	return &beacon.Error{Kind: beacon.Conflict, Message: "the identity provider " + what + "; until then, sign in another way", Err: cause}
}

// brief returns an error of the library, which may have all of a response in it.
func brief(err error) error {
	if text := err.Error(); len(text) > 300 {
		return errors.New(strings.ToValidUTF8(text[:300], "") + "…")
	}
	return err
}
