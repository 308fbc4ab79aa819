package passkey

import (
	"encoding/json"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// ceremony is what a state is for. One of another ceremony is refused.
type ceremony string

const (
	adding    ceremony = "add"
	signingIn ceremony = "sign-in"
	again     ceremony = "again"
)

// kept is the state of a ceremony, as it is stored.
type kept struct {
	For     ceremony             `json:"for"`
	Until   time.Time            `json:"until"`
	Session webauthn.SessionData `json:"session"`
}

// begun returns the texts of a ceremony that was started.
func (p *Passkeys) begun(forBrowser any, what ceremony, session *webauthn.SessionData) (options, state []byte, err error) {
	if options, err = json.Marshal(forBrowser); err != nil {
		return nil, nil, beacon.Unexpected(err)
	}
	if state, err = json.Marshal(kept{what, p.now().Add(StateLasts), *session}); err != nil {
		return nil, nil, beacon.Unexpected(err)
	}
	return options, state, nil
}

// session returns what the library keeps of a ceremony, if there is still time for it and
// the response is not too long.
func (p *Passkeys) session(what ceremony, state, response []byte) (webauthn.SessionData, error) {
	var k kept
	switch err := json.Unmarshal(state, &k); {
	case p.unusable != nil:
		return k.Session, p.unusable
	case err != nil || k.For != what || !p.now().Before(k.Until):
		return k.Session, refuse(beacon.Unauthorized, "this took too long, or was begun in another window; start again", err)
	case len(response) > MaxResponse:
		return k.Session, refuse(beacon.TooLarge, "the response of the device is too long; use another device", nil)
	}
	return k.Session, nil
}

// assertion parses what a passkey signed, and checks what has a sentence of its own.
func (p *Passkeys) assertion(response []byte) (*protocol.ParsedCredentialAssertionData, error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return nil, errResponse(beacon.Unauthorized, err)
	}
	return parsed, p.before(beacon.Unauthorized, &parsed.Response.CollectedClientData, parsed.Response.AuthenticatorData.Flags)
}

// before refuses what the library would refuse too, where people can do something about it.
func (p *Passkeys) before(kind beacon.Kind, client *protocol.CollectedClientData, flags protocol.AuthenticatorFlags) error {
	if !protocol.IsOriginInHaystack(client.Origin, []string{p.origin}) {
		return refuse(kind, "passkeys of this network work at "+p.origin+" only; open that address, and try again", nil)
	}
	if !flags.HasUserVerified() {
		return refuse(kind, "the device did not check who uses it; set up its PIN, fingerprint or face, and try again", nil)
	}
	return nil
}

// user is a person as the library asks for one.
type user struct {
	Person
	credentials []Credential
}

func (u user) WebAuthnID() []byte          { return []byte(u.ID) }
func (u user) WebAuthnName() string        { return u.Name }
func (u user) WebAuthnDisplayName() string { return u.Name }

func (u user) WebAuthnCredentials() []webauthn.Credential {
	list := make([]webauthn.Credential, 0, len(u.credentials))
	for _, c := range u.credentials {
		list = append(list, c.forLibrary())
	}
	return list
}

func descriptors(list []Credential) []protocol.CredentialDescriptor {
	return webauthn.Credentials(user{credentials: list}.WebAuthnCredentials()).CredentialDescriptors()
}

var errNoPlace = refuse(beacon.Conflict, "browsers accept passkeys only at a name with https, such as https://wifi.example.org (--public-url), and at localhost; sign in with a link or a key here", nil)

func refuse(kind beacon.Kind, message string, cause error) *beacon.Error {
	return &beacon.Error{Kind: kind, Message: message, Err: cause}
}

func errCopied() error {
	return refuse(beacon.Unauthorized, "there may be a copy of this passkey, so it is no longer accepted; sign in another way, remove it and add a new one", ErrCopied)
}

func errUnknown(cause error) error {
	return refuse(beacon.Unauthorized, "this passkey is not known here; remove it from your device, and use another one or another way to sign in", cause)
}

// errResponse is returned for whatever else is wrong with a response. The cause is for logs:
// the library's texts have neither names nor what a browser sent.
func errResponse(kind beacon.Kind, cause error) error {
	return refuse(kind, "the response of the device is not valid; start again, or use another way to sign in", cause)
}
