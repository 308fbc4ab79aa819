package people

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

const secretBytes = 32

// newToken returns a secret that nobody can guess, and the hash that is stored.
func newToken() (token string, hash [sha256.Size]byte) {
	var random [secretBytes]byte
	rand.Read(random[:]) // never fails: see crypto/rand
	token = base64.RawURLEncoding.EncodeToString(random[:])
	return token, sha256.Sum256([]byte(token))
}

// maxToken bounds the work for a token from outside.
const maxToken = 100

func hashToken(token string) ([sha256.Size]byte, bool) {
	return sha256.Sum256([]byte(token)), token != "" && len(token) <= maxToken
}

// A recovery code has 80 random bits: 16 characters of Crockford's base32, in groups of four.
const (
	codeLength   = 16
	codeGroup    = 4
	codeAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // a byte is as often each of them
	codesAtOnce  = 10
)

// newCode makes a recovery code as people read it, and the hash that is stored.
func newCode() (code string, hash [sha256.Size]byte) {
	var random [codeLength]byte
	rand.Read(random[:]) // never fails: see crypto/rand
	var text, shown strings.Builder
	for i, b := range random {
		if i > 0 && i%codeGroup == 0 {
			shown.WriteByte('-')
		}
		c := codeAlphabet[int(b)%len(codeAlphabet)]
		text.WriteByte(c)
		shown.WriteByte(c)
	}
	return shown.String(), sha256.Sum256([]byte(text.String()))
}

// hashCode returns the hash of a code as someone may have typed it: in either case, with or
// without hyphens and spaces, O for 0, I or L for 1.
func hashCode(typed string) (hash [sha256.Size]byte, ok bool) {
	if len(typed) > maxToken {
		return hash, false
	}
	text := strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(typed))
	return sha256.Sum256([]byte(text)), len(text) == codeLength && strings.Trim(text, codeAlphabet) == ""
}

// The text of a session is "bcp_", the public part of its id, "_" and its secret.
const (
	sessionPrefix = "bcp_"
	sessionIDEnd  = len(sessionPrefix) + id.Length
)

// sessionLength is the length of every text of a session.
var sessionLength = sessionIDEnd + len("_") + base64.RawURLEncoding.EncodedLen(secretBytes)

// IsSession reports whether a text claims to be the session of a person.
func IsSession(text string) bool { return strings.HasPrefix(text, sessionPrefix) }

// newSession makes a session, and the text for its browser.
func newSession(now time.Time, person beacon.PersonID, door beacon.Door, device string) (s beacon.Session, text string) {
	public := id.New("", now)
	secret, hash := newToken()
	return beacon.Session{
		ID: beacon.SessionID(beacon.SessionPrefix + public), Person: person, SecretHash: hash, Device: device, Door: door,
		CreatedAt: now, LastUsedAt: now, ExpiresAt: now.Add(SessionLasts), FreshUntil: now.Add(beacon.FreshFor),
	}, sessionPrefix + public + "_" + secret
}

// parseSession checks the form of a session's text. Its work is bounded.
func parseSession(text string) (session beacon.SessionID, hash [sha256.Size]byte, ok bool) {
	if len(text) != sessionLength || !IsSession(text) || text[sessionIDEnd] != '_' || !id.Valid("", text[len(sessionPrefix):sessionIDEnd]) {
		return "", hash, false
	}
	return beacon.SessionID(beacon.SessionPrefix + text[len(sessionPrefix):sessionIDEnd]), sha256.Sum256([]byte(text[sessionIDEnd+1:])), true
}
