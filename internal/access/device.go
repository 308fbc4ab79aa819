package access

import (
	"crypto/rand"
	"crypto/sha256"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// MintDevice makes the key of a hotspot's device (decision X2), and the hash that is
// stored. It has the form of every key, with the hotspot's id in place of its own, so
// a device's key needs no row in a database.
func MintDevice(hotspot beacon.HotspotID) (plain string, hash [sha256.Size]byte) {
	return mint(string(hotspot[len(beacon.HotspotPrefix):]))
}

// MintLinkCode makes a code for linking a device, as people read it, and the hash
// that is stored. It has 40 random bits: few, because it is typed by hand, and enough
// for a quarter of an hour with few tries.
func MintLinkCode() (plain string, hash [sha256.Size]byte) {
	var random [beacon.LinkCodeLength]byte
	rand.Read(random[:]) // never fails: see crypto/rand
	canonical := beacon.SpellLinkCode(random)
	return canonical[:beacon.LinkCodeLength/2] + "-" + canonical[beacon.LinkCodeLength/2:], sha256.Sum256([]byte(canonical))
}

// HashLinkCode returns the hash of a code in any spelling, and whether it is valid.
func HashLinkCode(text string) (hash [sha256.Size]byte, ok bool) {
	canonical, ok := beacon.CanonicalLinkCode(text)
	return sha256.Sum256([]byte(canonical)), ok
}
