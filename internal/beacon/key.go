package beacon

import (
	"crypto/sha256"
	"time"
)

// Key is an API key as stored in the database. The secret itself is shown once and
// never stored (decision N23).
type Key struct {
	ID         KeyID
	User       UserID
	Name       string
	Scopes     []Scope
	SecretHash [sha256.Size]byte
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	RevokedAt  time.Time // zero: not revoked
	LastUsedAt time.Time // zero: never used; kept to the minute
}

// InForce reports whether the key is valid at now. From the very moment of its expiry
// it is not.
func (k Key) InForce(now time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt))
}
