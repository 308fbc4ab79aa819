package passkey

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Credential is a passkey of a person, as it is stored: the public half.
type Credential struct {
	ID             []byte    `json:"id"`     // chosen by the device
	Person         string    `json:"person"` // whose it is
	Name           string    `json:"name"`   // by which its owner knows it, as the caller sets it
	Created        time.Time `json:"created"`
	Used           time.Time `json:"used"`
	Count          uint32    `json:"count"`           // how often it signed, or 0 if its device does not count
	BackupEligible bool      `json:"backup_eligible"` // it may be copied to other devices of its owner
	BackedUp       bool      `json:"backed_up"`       // it has been
	Transports     []string  `json:"transports,omitempty"`
	Model          []byte    `json:"model,omitempty"` // of the device or password manager, if it says so (AAGUID)
	Key            []byte    `json:"key"`             // public, in COSE
}

// stored is the stored form of a credential. Fields are added, never renamed.
type stored struct {
	Version int `json:"v"`
	Credential
}

const version = 1

// Encode returns the text of a credential to be stored. It has no secret.
func (c Credential) Encode() ([]byte, error) {
	return json.Marshal(stored{version, c})
}

// Decode returns a stored credential. The error is beacon.ErrDamaged if it is not what was
// stored; other credentials of the person are still good.
func Decode(text []byte) (Credential, error) {
	var s stored
	if err := json.Unmarshal(text, &s); err != nil {
		return Credential{}, fmt.Errorf("a passkey: %w: %w", beacon.ErrDamaged, err)
	}
	if s.Version > version {
		return Credential{}, fmt.Errorf("a passkey was stored by a newer version of this program (%d)", s.Version)
	}
	if s.Version < 1 || len(s.ID) == 0 || s.Person == "" {
		return Credential{}, fmt.Errorf("a passkey: %w", beacon.ErrDamaged)
	}
	if _, err := webauthncose.ParsePublicKey(s.Key); err != nil {
		return Credential{}, fmt.Errorf("the public key of a passkey: %w: %w", beacon.ErrDamaged, err)
	}
	return s.Credential, nil
}

// transports are the ways to reach a device that the standard has. Browsers are told them
// again, so nothing else is kept.
var transports = []protocol.AuthenticatorTransport{protocol.USB, protocol.NFC, protocol.BLE, protocol.SmartCard, protocol.Hybrid, protocol.Internal}

func fromLibrary(made *webauthn.Credential) Credential {
	c := Credential{
		ID:             made.ID,
		Count:          made.Authenticator.SignCount,
		BackupEligible: made.Flags.BackupEligible,
		BackedUp:       made.Flags.BackupState,
		Model:          made.Authenticator.AAGUID,
		Key:            made.PublicKey,
	}
	for _, known := range transports {
		if slices.Contains(made.Transport, known) {
			c.Transports = append(c.Transports, string(known))
		}
	}
	return c
}

func (c Credential) forLibrary() webauthn.Credential {
	of := webauthn.Credential{
		ID:            c.ID,
		PublicKey:     c.Key,
		Flags:         webauthn.CredentialFlags{UserPresent: true, UserVerified: true, BackupEligible: c.BackupEligible, BackupState: c.BackedUp},
		Authenticator: webauthn.Authenticator{AAGUID: c.Model, SignCount: c.Count},
	}
	for _, t := range c.Transports {
		of.Transport = append(of.Transport, protocol.AuthenticatorTransport(t))
	}
	return of
}

// Merge returns a stored passkey after a use that was checked against it, or against an
// earlier state of it: another use may have been stored since. The higher count stays, in
// whatever order two uses arrive. The error's cause is ErrCopied if both have the same.
func (c Credential) Merge(used Credential) (Credential, error) {
	if c.Count != 0 && c.Count == used.Count { // what is not higher was refused before
		return Credential{}, errCopied()
	}
	c.BackupEligible = c.BackupEligible || used.BackupEligible
	if used.Count == 0 || used.Count > c.Count {
		c.BackedUp = used.BackedUp
	}
	c.Count = max(c.Count, used.Count)
	if used.Used.After(c.Used) {
		c.Used = used.Used
	}
	return c, nil
}
