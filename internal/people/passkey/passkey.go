// Package passkey adds passkeys and checks what they sign, after the WebAuthn standard. It
// knows neither a database nor HTTP: its caller keeps the state of each ceremony, removes it
// in the transaction in which it is used, and stores the credentials. Its invariant: whatever
// is returned was signed for this site, in answer to a challenge made here, by a device that
// checked who uses it.
package passkey

import (
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const (
	// StateLasts is how long someone has for a ceremony.
	StateLasts = 5 * time.Minute
	// MaxResponse is the size of the largest response of a browser that is read. They have
	// some 2 KB.
	MaxResponse = 64 << 10
)

// ErrCopied is the cause of an error if the counter of a passkey went back: there may be a
// copy of it, and its owner should be told.
var ErrCopied = errors.New("the counter of the passkey went back")

// Config is where passkeys belong.
type Config struct {
	PublicURL string // where browsers reach the server
	Now       func() time.Time
}

// Passkeys are the ceremonies of one site. All methods may be called at the same time.
type Passkeys struct {
	site     *webauthn.WebAuthn
	origin   string
	unusable error
	now      func() time.Time
}

// New returns the ceremonies of a site. If browsers refuse passkeys at its address, Usable
// and all ceremonies return an error that says so.
func New(c Config) *Passkeys {
	p := &Passkeys{now: c.Now}
	host, origin, ok := place(c.PublicURL)
	if !ok {
		p.unusable = errNoPlace
		return p
	}
	limit := webauthn.TimeoutConfig{Timeout: StateLasts, TimeoutUVD: StateLasts}
	site, err := webauthn.New(&webauthn.Config{
		RPID:      host,
		RPOrigins: []string{origin},
		Timeouts:  webauthn.TimeoutsConfig{Login: limit, Registration: limit},
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey:        protocol.ResidentKeyRequirementRequired,
			RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification:   protocol.VerificationRequired,
		},
		// Who made a device decides nothing here, and people would be asked about it.
		AttestationPreference: protocol.PreferNoAttestation,
		// Password managers send results of extensions that nobody asked for. They are not read.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		p.unusable = refuse(beacon.Conflict, errNoPlace.Message, err)
		return p
	}
	p.site, p.origin = site, origin
	return p
}

// Usable returns nil, or a sentence that says where passkeys would work and what to do here.
func (p *Passkeys) Usable() error { return p.unusable }

// place returns the name and the origin that passkeys are bound to. Browsers have them at
// names with https, and on this machine.
func place(public string) (host, origin string, ok bool) {
	u, err := url.Parse(public)
	if err != nil {
		return "", "", false
	}
	host = strings.ToLower(u.Hostname())
	local := host == "localhost" || strings.HasSuffix(host, ".localhost")
	if host == "" || net.ParseIP(host) != nil || u.Scheme != "https" && (u.Scheme != "http" || !local) {
		return "", "", false
	}
	return host, u.Scheme + "://" + strings.ToLower(u.Host), true
}

// Person is who has a passkey. Devices keep both, and show the name.
type Person struct {
	ID   string
	Name string
}

// Begin starts adding a passkey. The options are for navigator.credentials.create, with
// network as the name of the site; a device that has one of the existing passkeys refuses.
// The state is the caller's to keep, where no browser can change it, and to use once.
func (p *Passkeys) Begin(who Person, network string, existing []Credential) (options, state []byte, err error) {
	if p.unusable != nil {
		return nil, nil, p.unusable
	}
	creation, session, err := p.site.BeginRegistration(user{who, existing},
		webauthn.WithRegistrationRelyingPartyName(network), webauthn.WithExclusions(descriptors(existing)))
	if err != nil {
		return nil, nil, beacon.Unexpected(err)
	}
	return p.begun(creation, adding, session)
}

// Finish returns the passkey that was added. It has no name yet. Its ID is new to the
// caller's database, or the caller refuses it.
func (p *Passkeys) Finish(who Person, state, response []byte) (Credential, error) {
	session, err := p.session(adding, state, response)
	if err != nil {
		return Credential{}, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return Credential{}, errResponse(beacon.InvalidRequest, err)
	}
	flags := parsed.Response.AttestationObject.AuthData.Flags
	if err := p.before(beacon.InvalidRequest, &parsed.Response.CollectedClientData, flags); err != nil {
		return Credential{}, err
	}
	made, err := p.site.CreateCredential(user{Person: who}, session, parsed)
	if err != nil {
		return Credential{}, errResponse(beacon.InvalidRequest, err)
	}
	c := fromLibrary(made)
	c.Person = who.ID
	c.Created = p.now().UTC()
	c.Used = c.Created
	return c, nil
}

// BeginSignIn starts signing in anyone who has a passkey of this site. The options are for
// navigator.credentials.get.
func (p *Passkeys) BeginSignIn() (options, state []byte, err error) {
	if p.unusable != nil {
		return nil, nil, p.unusable
	}
	assertion, session, err := p.site.BeginDiscoverableLogin()
	if err != nil {
		return nil, nil, beacon.Unexpected(err)
	}
	return p.begun(assertion, signingIn, session)
}

// FinishSignIn returns the passkey that was used, to be stored in place of the one that find
// returned; its Person has signed in. find returns the stored passkey with an ID, or an error
// of kind NotFound; its other errors are returned as they are.
func (p *Passkeys) FinishSignIn(state, response []byte, find func(id []byte) (Credential, error)) (Credential, error) {
	return p.finish(signingIn, "", state, response, find)
}

// BeginAgain starts asking someone who has signed in for a passkey of theirs, before
// something that a browser left alone must not do.
func (p *Passkeys) BeginAgain(who Person, existing []Credential) (options, state []byte, err error) {
	if p.unusable != nil {
		return nil, nil, p.unusable
	}
	if len(existing) == 0 {
		return nil, nil, refuse(beacon.Conflict, "you have no passkey; add one, or sign in again another way", nil)
	}
	assertion, session, err := p.site.BeginLogin(user{who, existing})
	if err != nil {
		return nil, nil, beacon.Unexpected(err)
	}
	session.AllowedCredentialIDs = nil // finish looks up whose a passkey is, as it is then
	return p.begun(assertion, again, session)
}

// FinishAgain is FinishSignIn for a passkey of that person alone.
func (p *Passkeys) FinishAgain(who Person, state, response []byte, find func(id []byte) (Credential, error)) (Credential, error) {
	return p.finish(again, who.ID, state, response, find)
}

// finish checks what a passkey signed.
func (p *Passkeys) finish(what ceremony, who string, state, response []byte, find func(id []byte) (Credential, error)) (Credential, error) {
	session, err := p.session(what, state, response)
	if err != nil {
		return Credential{}, err
	}
	parsed, err := p.assertion(response)
	if err != nil {
		return Credential{}, err
	}
	c, err := find(parsed.RawID)
	switch {
	case beacon.KindOf(err) == beacon.NotFound, err == nil && what == again && c.Person != who:
		return Credential{}, errUnknown(err)
	case err != nil:
		return Credential{}, err
	}
	data := parsed.Response.AuthenticatorData
	// A passkey that begins to be backed up was made before its device could, or before its
	// keeper said so. The library refuses that, which locks people out; the flag is part of
	// what is signed. The way back stays refused, so this happens once.
	c.BackupEligible = c.BackupEligible || data.Flags.HasBackupEligible()
	if err := p.verify(what, c, session, parsed); err != nil {
		return Credential{}, errResponse(beacon.Unauthorized, err)
	}
	// Many devices do not count, and one that is moved may stop: 0 says nothing.
	if c.Count != 0 && data.Counter != 0 && data.Counter <= c.Count {
		return Credential{}, errCopied()
	}
	c.Count = data.Counter
	c.BackedUp = data.Flags.HasBackupState()
	c.Used = p.now().UTC()
	return c, nil
}

// verify lets the library check a signature, and that it is the person's.
func (p *Passkeys) verify(what ceremony, c Credential, session webauthn.SessionData, parsed *protocol.ParsedCredentialAssertionData) error {
	owner := user{Person{ID: c.Person}, []Credential{c}}
	if what == again {
		_, err := p.site.ValidateLogin(owner, session, parsed)
		return err
	}
	_, err := p.site.ValidateDiscoverableLogin(func(_, _ []byte) (webauthn.User, error) { return owner, nil }, session, parsed)
	return err
}
