package access

import (
	"context"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// SessionLasts is how long a session is valid, if its key is.
const SessionLasts = 30 * 24 * time.Hour

// session is what a browser keeps in place of a key (decision D171): the key's secret,
// sealed with what the database stores of it. So it cannot be made from the database
// alone, and the key cannot be read from it. Servers keep nothing: it ends with its key,
// or when it expires.
type session struct {
	public string // id of the key, without its prefix
	until  string // Unix time in seconds
	sealed []byte // the secret of the key
}

const (
	sessionPrefix   = "bcs"
	maxSessionBytes = 256
)

// NewSession makes the text of a session from a key that was verified.
func (k *Keys) NewSession(plain string) (text string, until time.Time, err error) {
	presented, ok := Parse(plain)
	if !ok {
		return "", until, ErrUnauthorized
	}
	until = k.now().Add(SessionLasts)
	s := session{public: presented.public, until: strconv.FormatInt(until.Unix(), 10)}
	hash := presented.Hash()
	if s.sealed, err = Seal(string(hash[:]), s.context(), []byte(presented.secret)); err != nil {
		return "", until, err
	}
	return strings.Join([]string{sessionPrefix, s.public, s.until, base64.RawURLEncoding.EncodeToString(s.sealed)}, "."), until, nil
}

// VerifySession returns the principal of the key that a session was made from. Like
// VerifyIf, it asks mayAsk before it looks up a key that is not cached.
func (k *Keys) VerifySession(ctx context.Context, text string, mayAsk func() error) (beacon.Principal, error) {
	s, ok := parseSession(text)
	if !ok || s.expired(k.now()) {
		return beacon.Principal{}, ErrUnauthorized
	}
	return k.verify(ctx, claim{Presented: Presented{public: s.public}, sealed: s}, mayAsk)
}

// parseSession checks the form of a session. Its work is bounded.
func parseSession(text string) (*session, bool) {
	if len(text) > maxSessionBytes {
		return nil, false
	}
	parts := strings.Split(text, ".")
	if len(parts) != 4 || parts[0] != sessionPrefix {
		return nil, false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(parts[3])
	return &session{public: parts[1], until: parts[2], sealed: sealed}, err == nil
}

func (s *session) expired(now time.Time) bool {
	until, err := strconv.ParseInt(s.until, 10, 64)
	return err != nil || now.Unix() >= until
}

// opens reports whether the session was made with the secret of a key, and has its
// original end.
func (s *session) opens(e *entry) bool {
	secret, err := Unseal(string(e.key.SecretHash[:]), s.context(), s.sealed)
	return err == nil && len(secret) == secretLength && e.matches(Presented{secret: string(secret)}.Hash())
}

// context is what a session is for. It binds the parts that can be read.
func (s *session) context() string { return "session " + s.public + " " + s.until }
