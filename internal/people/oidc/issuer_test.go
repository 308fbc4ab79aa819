package oidc_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/people/oidc"
)

var noon = time.Date(2026, 7, 3, 12, 0, 0, 0, time.UTC)

// liar is an issuer that lies as a test wants it to. What honest ones do is tested with one
// that others wrote, in provider_test.go.
type liar struct {
	*httptest.Server
	t        *testing.T
	now      time.Time
	key      *ecdsa.PrivateKey
	kid      string
	document map[string]any  // what the issuer says of itself
	claims   map[string]any  // what differs in its next ID token
	userinfo map[string]any  // what its endpoint for user info says
	tokens   []*http.Request // requests for tokens, with their forms read
	nonce    string

	mu    sync.Mutex
	paths map[string]http.HandlerFunc // what is served instead
}

func newLiar(t *testing.T) *liar {
	t.Helper()
	l := &liar{t: t, now: noon, claims: map[string]any{}, paths: map[string]http.HandlerFunc{}}
	l.rotate("first")
	l.Server = httptest.NewServer(l)
	t.Cleanup(l.Close)
	l.document = map[string]any{
		"issuer": l.URL, "authorization_endpoint": l.URL + "/auth", "token_endpoint": l.URL + "/token", "jwks_uri": l.URL + "/keys",
		"id_token_signing_alg_values_supported": []string{"ES256"},
	}
	return l
}

// serve lets something else be served at a path, or what was there before.
func (l *liar) serve(path string, what http.HandlerFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paths[path] = what
}

func (l *liar) rotate(kid string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		l.t.Fatal(err)
	}
	l.key, l.kid = key, kid
}

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	serve := l.paths[r.URL.Path]
	l.mu.Unlock()
	if serve != nil {
		serve(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		l.write(w, l.document)
	case "/keys":
		l.write(w, map[string]any{"keys": []any{l.published(l.key)}})
	case "/token":
		if err := r.ParseForm(); err != nil {
			l.t.Error(err)
		}
		l.tokens = append(l.tokens, r)
		l.write(w, map[string]any{"access_token": "opaque", "token_type": "Bearer", "id_token": l.idToken()})
	case "/userinfo":
		if r.Header.Get("Authorization") != "Bearer opaque" {
			l.t.Errorf("user info was asked for with %q", r.Header.Get("Authorization"))
		}
		l.write(w, l.userinfo)
	default:
		http.NotFound(w, r)
	}
}

// published returns a key as the issuer publishes it.
func (l *liar) published(key *ecdsa.PrivateKey) map[string]any {
	point, err := key.PublicKey.Bytes()
	if err != nil {
		l.t.Error(err)
	}
	return map[string]any{"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": l.kid, "x": encode(point[1:33]), "y": encode(point[33:])}
}

func (l *liar) write(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		l.t.Error(err)
	}
}

// idToken signs what is true, but for what the test changes.
func (l *liar) idToken() string {
	claims := map[string]any{
		"iss": l.URL, "sub": "248289761001", "aud": "beacon", "nonce": l.nonce, "iat": l.now.Unix(), "exp": l.now.Add(5 * time.Minute).Unix(),
		"name": "Ada Lovelace", "email": "ada@example.org", "email_verified": true,
	}
	maps.Copy(claims, l.claims)
	head, err1 := json.Marshal(map[string]string{"alg": "ES256", "kid": l.kid, "typ": "JWT"})
	body, err2 := json.Marshal(claims)
	text := encode(head) + "." + encode(body)
	sum := sha256.Sum256([]byte(text))
	r, v, err3 := ecdsa.Sign(rand.Reader, l.key, sum[:])
	if err1 != nil || err2 != nil || err3 != nil {
		l.t.Error(err1, err2, err3)
		return ""
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	v.FillBytes(signature[32:])
	return text + "." + encode(signature)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (l *liar) config() oidc.Config {
	return oidc.Config{
		Issuer: l.URL, ClientID: "beacon", ClientSecret: "s3cret/+", RedirectURL: "https://wifi.example.org/sign-in/back",
		Now: func() time.Time { return l.now },
	}
}

// begin begins a sign-in, and returns what the browser would come back with.
func (l *liar) begin(i *oidc.Issuer, fresh bool) (state []byte, query url.Values) {
	l.t.Helper()
	address, state, err := i.Begin(l.t.Context(), fresh)
	if err != nil {
		l.t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		l.t.Fatal(err)
	}
	l.nonce = u.Query().Get("nonce")
	return state, url.Values{"state": {u.Query().Get("state")}, "code": {"c0de"}}
}

// signIn signs in.
func (l *liar) signIn(i *oidc.Issuer) (oidc.Identity, error) {
	l.t.Helper()
	state, query := l.begin(i, false)
	return i.Finish(l.t.Context(), state, query)
}

func (l *liar) issuer(change func(*oidc.Config)) *oidc.Issuer {
	l.t.Helper()
	c := l.config()
	if change != nil {
		change(&c)
	}
	i, err := oidc.New(c)
	if err != nil {
		l.t.Fatal(err)
	}
	return i
}
