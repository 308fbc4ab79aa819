package access

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Verify is VerifyIf where every key may be looked up.
func (k *Keys) Verify(ctx context.Context, plain string) (beacon.Principal, error) {
	return k.VerifyIf(ctx, plain, func() error { return nil })
}

// Sizes tells how much is in memory.
func (k *Keys) Sizes() (known, unknown, unsaved int) {
	k.cache.mu.RLock()
	defer k.cache.mu.RUnlock()
	return len(k.cache.known), len(k.cache.unknown), len(k.cache.unsaved)
}

// The bounds of what is kept in memory.
const (
	MaxKnown   = maxKnown
	MaxUnknown = maxUnknown
)

// Fresh tells how many keys are known to have been created and were not looked up.
func (k *Keys) Fresh() int {
	k.cache.mu.RLock()
	defer k.cache.mu.RUnlock()
	return len(k.cache.fresh)
}

// ID returns the public id of the key.
func (p Presented) ID() beacon.KeyID { return beacon.KeyID(beacon.KeyPrefix + p.public) }
