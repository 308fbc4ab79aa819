package access

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// A key reads "bcn_<id>_<secret><checksum>" (decision N23). All its parts have
// a fixed length, and "bcn_" keeps it apart from the preview's keys.
const (
	prefix         = "bcn_"
	secretLength   = 30 // of 62 characters each: 178 random bits
	checksumLength = 6  // of 62 characters each: room for 32 bits
	idEnd          = len(prefix) + id.Length
	secretEnd      = idEnd + len("_") + secretLength
	keyLength      = secretEnd + checksumLength
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Mint makes a key for what k says of user, name, scopes and expiry, and the
// text to hand to its holder. The text is nowhere else: k holds only a hash,
// and SHA-256 is enough for a secret that nobody can guess.
func Mint(now time.Time, k beacon.Key) (minted beacon.Key, plain string) {
	public := id.New("", now)
	k.ID = beacon.KeyID(beacon.KeyPrefix + public)
	plain, k.SecretHash = mint(public)
	k.CreatedAt = now
	return k, plain
}

// mint draws a secret for a public id.
func mint(public string) (plain string, hash [sha256.Size]byte) {
	secret := randomText(secretLength)
	body := prefix + public + "_" + secret
	sum := checksum(body)
	return body + string(sum[:]), sha256.Sum256([]byte(secret))
}

// Presented is a key as someone sent it: of the right form, and not yet known
// to be anyone's.
type Presented struct {
	public string // the id without its prefix
	secret string
}

// Parse checks the form of a key and its checksum, so that a typo or garbage
// costs no lookup. Its work has a bound: the length is tested first.
func Parse(plain string) (Presented, bool) {
	p, ok := Split(plain)
	return p, ok && p.wellFormed()
}

// Split takes a key apart if its checksum is right. It leaves out what is sure
// to hold for a key whose id and hash are known.
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
	for i := range len(p.secret) {
		if !isBase62(p.secret[i]) {
			return false
		}
	}
	return id.Valid("", p.public)
}

// ID is the public name of the key.
func (p Presented) ID() beacon.KeyID { return beacon.KeyID(beacon.KeyPrefix + p.public) }

// Hotspot is whose device the key would be a key of.
func (p Presented) Hotspot() beacon.HotspotID {
	return beacon.HotspotID(beacon.HotspotPrefix + p.public)
}

// IsOf reports whether it would be a key of that hotspot's device. It is
// Hotspot without the memory for another text.
func (p Presented) IsOf(h beacon.HotspotID) bool {
	return len(h) == len(beacon.HotspotPrefix)+id.Length && string(h[len(beacon.HotspotPrefix):]) == p.public
}

// Hash is what a stored key is compared with.
func (p Presented) Hash() [sha256.Size]byte {
	var secret [secretLength]byte
	copy(secret[:], p.secret)
	return sha256.Sum256(secret[:])
}

// buffers lend checksum its bytes: crc32 wants a slice that it may keep, which
// would cost every request an allocation, and more time than the sum itself.
var buffers = sync.Pool{New: func() any { return new([secretEnd]byte) }}

// checksum spells the CRC-32 of a key's other parts.
func checksum(body string) (text [checksumLength]byte) {
	buffer := buffers.Get().(*[secretEnd]byte)
	sum := crc32.ChecksumIEEE(buffer[:copy(buffer[:], body)])
	clear(buffer[:]) // no secret stays behind
	buffers.Put(buffer)
	for i := range text {
		text[checksumLength-1-i] = base62[sum%62]
		sum /= 62
	}
	return text
}

// randomText draws characters that are all equally likely: bytes from which
// some would come up more often than others are thrown away.
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

func isBase62(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
