// Package visitor stands for what people bring to a server when they sign in: a device that
// makes passkeys, and a provider of OpenID Connect at which they have an account. Neither
// shares code with the server. That it finds out devices and providers that lie is tested in
// packages people/passkey and people/oidc.
package visitor

import (
	"encoding/json"
	"testing"

	"github.com/descope/virtualwebauthn"
)

// Phone is a device that makes passkeys, with a browser.
type Phone struct {
	Page          virtualwebauthn.RelyingParty
	Authenticator virtualwebauthn.Authenticator
	Key           virtualwebauthn.Credential
}

// NewPhone returns a device for the pages of an origin, with a key whose coordinates have no
// leading zeros: the authenticator would leave them out, against the standard, one time in 128.
func NewPhone(host, origin string) *Phone {
	d := &Phone{Page: virtualwebauthn.RelyingParty{ID: host, Name: "Wi-Fi", Origin: origin}, Authenticator: virtualwebauthn.NewAuthenticator()}
	for {
		if d.Key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2); len(d.Key.Key.AttestationData()) == 77 {
			d.Key.Counter = 1
			return d
		}
	}
}

// Make returns the form that adds a passkey, for a ceremony with a token and options.
func (d *Phone) Make(t testing.TB, token string, options []byte) string {
	t.Helper()
	o, err := virtualwebauthn.ParseAttestationOptions(string(options))
	if err != nil {
		t.Fatal(err)
	}
	d.Authenticator.Options.UserHandle = []byte(o.UserID)
	return form(t, token, virtualwebauthn.CreateAttestationResponse(d.Page, d.Authenticator, d.Key, *o))
}

// Sign returns the form that finishes another ceremony.
func (d *Phone) Sign(t testing.TB, token string, options []byte) string {
	t.Helper()
	o, err := virtualwebauthn.ParseAssertionOptions(string(options))
	if err != nil {
		t.Fatal(err)
	}
	d.Key.Counter++
	return form(t, token, virtualwebauthn.CreateAssertionResponse(d.Page, d.Authenticator, d.Key, *o))
}

func form(t testing.TB, token, response string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"ceremony": token, "response": json.RawMessage(response)})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
