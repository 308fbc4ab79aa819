package visitor

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
)

// Issuer is a provider of OpenID Connect that signs in whom a test wants, for a client called
// beacon.
type Issuer struct {
	*httptest.Server
	now time.Time
	key *ecdsa.PrivateKey

	mu     sync.Mutex
	nonces map[string]string         // by code
	claims map[string]map[string]any // by code
}

// NewIssuer starts a provider whose clock stands still.
func NewIssuer(t testing.TB, now time.Time) *Issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{now: now, key: key, nonces: map[string]string{}, claims: map[string]map[string]any{}}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	return i
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// ServeHTTP is what browsers and the server ask.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	var said any
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		said = map[string]any{
			"issuer": i.URL, "authorization_endpoint": i.URL + "/auth", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"ES256"},
		}
	case "/keys":
		point, _ := i.key.PublicKey.Bytes()
		said = map[string]any{"keys": []any{map[string]any{"kty": "EC", "crv": "P-256", "alg": "ES256", "kid": "a", "x": encoded(point[1:33]), "y": encoded(point[33:])}}}
	case "/token":
		said = map[string]any{"access_token": "opaque", "token_type": "Bearer", "id_token": i.token(r.PostFormValue("code"))}
	default:
		http.NotFound(w, r)
		return
	}
	_ = json.NewEncoder(w).Encode(said)
}

func (i *Issuer) token(code string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	claims := map[string]any{
		"iss": i.URL, "aud": "beacon", "nonce": i.nonces[code], "iat": i.now.Unix(), "exp": i.now.Add(30 * 24 * time.Hour).Unix(), "auth_time": i.now.Unix(),
	}
	maps.Copy(claims, i.claims[code])
	body, _ := json.Marshal(claims)
	text := encoded([]byte(`{"alg":"ES256","kid":"a","typ":"JWT"}`)) + "." + encoded(body)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, i.key, sum[:])
	if err != nil {
		return ""
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return text + "." + encoded(signature)
}

// Visit signs someone in who was sent to an address of the provider, and returns the query with
// which they go back.
func (i *Issuer) Visit(t testing.TB, address string, claims map[string]any) (query string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || u.Query().Get("redirect_uri") == "" {
		t.Fatalf("sent to %s: %v", address, err)
	}
	code := rand.Text()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.nonces[code], i.claims[code] = u.Query().Get("nonce"), claims
	return url.Values{"code": {code}, "state": {u.Query().Get("state")}}.Encode()
}
