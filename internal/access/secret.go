package access

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"strings"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// A key reads "bcn_<id>_<secret><checksum>" (decision N23). All parts have a fixed
// length, and "bcn_" distinguishes it from the preview's keys.
const (
	prefix         = "bcn_"
	secretLength   = 30 // of 62 characters each: 178 random bits
	checksumLength = 6  // of 62 characters each: room for 32 bits
	idEnd          = len(prefix) + id.Length
	secretEnd      = idEnd + len("_") + secretLength
	keyLength      = secretEnd + checksumLength
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Mint makes a key with the user, name, scopes and expiry of k, and the text for its
// holder. The text is not stored: the key has only a hash, and SHA-256 is enough for
// a secret that nobody can guess.
func Mint(now time.Time, k beacon.Key) (minted beacon.Key, plain string) {
	public := id.New("", now)
	k.ID = beacon.KeyID(beacon.KeyPrefix + public)
	plain, k.SecretHash = mint(public)
	k.CreatedAt = now
	return k, plain
}

// mint makes a random secret for a public id.
func mint(public string) (plain string, hash [sha256.Size]byte) {
	secret := randomText(secretLength)
	body := prefix + public + "_" + secret
	sum := checksum(body)
	return body + string(sum[:]), sha256.Sum256([]byte(secret))
}

// Presented is a key as a client sent it: of the right form, and not yet verified.
type Presented struct {
	public string // the id without its prefix
	secret string
}

// Parse checks the form of a key and its checksum, so that a typo or garbage costs no
// lookup. Its work is bounded: it checks the length first.
func Parse(plain string) (Presented, bool) {
	p, ok := Split(plain)
	return p, ok && p.wellFormed()
}

// Split splits a key if its checksum is right. It omits the checks that are sure to
// hold for a key whose id and hash are known.
func Split(plain string) (Presented, bool) {
	if len(plain) != keyLength || plain[:len(prefix)] != prefix || plain[idEnd] != '_' {
		return Presented{}, false
	}
	if sum := checksum(plain[:secretEnd]); string(sum[:]) != plain[secretEnd:] {
		return Presented{}, false
	}
	return Presented{public: plain[len(prefix):idEnd], secret: plain[idEnd+1 : secretEnd]}, true
}

// wellFormed reports whether all characters are of the right alphabets.
func (p Presented) wellFormed() bool {
	return strings.Trim(p.secret, base62) == "" && id.Valid("", p.public)
}

// Hotspot returns the hotspot to whose device the key would belong.
func (p Presented) Hotspot() beacon.HotspotID {
	return beacon.HotspotID(beacon.HotspotPrefix + p.public)
}

// IsOf reports whether the key would belong to that hotspot's device. Unlike Hotspot,
// it does not allocate.
func (p Presented) IsOf(h beacon.HotspotID) bool {
	return len(h) == len(beacon.HotspotPrefix)+id.Length && string(h[len(beacon.HotspotPrefix):]) == p.public
}

// Hash returns the hash to compare with a stored key's.
func (p Presented) Hash() [sha256.Size]byte {
	var secret [secretLength]byte
	copy(secret[:], p.secret)
	return sha256.Sum256(secret[:])
}

// buffers holds buffers for checksum: the argument of crc32 escapes, which would cost
// every request an allocation, and more time than the sum itself.
var buffers = sync.Pool{New: func() any { return new([secretEnd]byte) }}

// checksum returns the CRC-32 of a key's other parts, in base 62.
func checksum(body string) (text [checksumLength]byte) {
	buffer := buffers.Get().(*[secretEnd]byte)
	sum := crc32.ChecksumIEEE(buffer[:copy(buffer[:], body)])
	clear(buffer[:]) // leave no secret behind
	buffers.Put(buffer)
	for i := range text {
		text[checksumLength-1-i] = base62[sum%62]
		sum /= 62
	}
	return text
}

// randomText returns random characters, all equally likely: it discards bytes that
// would make some characters more likely than others.
func randomText(length int) string {
	const fair = 256 - 256%len(base62)
	text := make([]byte, 0, length)
	for len(text) < length {
		var random [64]byte
		rand.Read(random[:]) // never fails: see crypto/rand
		for _, b := range random {
			if int(b) < fair && len(text) < length {
				text = append(text, base62[int(b)%len(base62)])
			}
		}
	}
	return string(text)
}

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

// MintOfferCode makes a code with which a hotspot can be taken over, as people read it, and the
// hash that is stored.
func MintOfferCode() (plain string, hash [sha256.Size]byte) {
	var random [beacon.OfferCodeLength]byte
	rand.Read(random[:]) // never fails: see crypto/rand
	plain = beacon.SpellOfferCode(random)
	return plain, HashOfferCode(plain)
}

// HashOfferCode returns the hash of an offer's code in any spelling; zero if it is none.
func HashOfferCode(text string) (hash [sha256.Size]byte) {
	if canonical, ok := beacon.CanonicalOfferCode(text); ok {
		hash = sha256.Sum256([]byte(canonical))
	}
	return hash
}

// HashLinkCode returns the hash of a code in any spelling, and whether it is valid.
func HashLinkCode(text string) (hash [sha256.Size]byte, ok bool) {
	canonical, ok := beacon.CanonicalLinkCode(text)
	return sha256.Sum256([]byte(canonical)), ok
}
