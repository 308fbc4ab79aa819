package access

import (
	"crypto/rand"
	"crypto/sha256"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// MintDevice makes the key of a hotspot's device (decision X2), and the hash by
// which it is known. It has the form of every key, with the id of the hotspot
// in place of one of its own: a device is known by its hotspot, and its key
// needs no row in a database.
func MintDevice(hotspot beacon.HotspotID) (plain string, hash [sha256.Size]byte) {
	return mint(string(hotspot[len(beacon.HotspotPrefix):]))
}

// MintLinkCode makes a code with which a device may be linked, as people read
// it, and the hash by which it is known. It has 40 random bits: few, since it
// is typed by hand, and enough for a quarter of an hour with few tries.
func MintLinkCode() (plain string, hash [sha256.Size]byte) {
	var random [beacon.LinkCodeLength]byte
	rand.Read(random[:]) // never fails: see crypto/rand
	canonical := beacon.SpellLinkCode(random)
	return canonical[:beacon.LinkCodeLength/2] + "-" + canonical[beacon.LinkCodeLength/2:], sha256.Sum256([]byte(canonical))
}

// HashLinkCode gives the hash of a code however it is written, if it can be one.
func HashLinkCode(text string) (hash [sha256.Size]byte, ok bool) {
	canonical, ok := beacon.CanonicalLinkCode(text)
	return sha256.Sum256([]byte(canonical)), ok
}
