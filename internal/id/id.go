// Package id makes the identifiers of Beacon: a prefix that names the kind of thing,
// then 26 characters of Crockford base32 over a UUIDv7. A double click selects a
// whole id. The package knows nothing of the things it names.
//
// Its invariant: ids with the same prefix sort by the time they were made.
package id

import (
	"crypto/rand"
	"encoding/binary"
	"time"
)

// Length is the number of characters after the prefix.
const Length = 26

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// New returns a new, unguessable id such as "hs_01k…". The prefix includes its
// underscore. An id made a quarter of a microsecond later sorts later: the 12 bits
// after the millisecond are its fraction, as RFC 9562 suggests (6.2, method 3), and
// 62 random bits distinguish ids of the same instant.
func New(prefix string, now time.Time) string {
	var random [8]byte
	rand.Read(random[:]) // never fails: see crypto/rand
	fraction := uint64(now.Nanosecond()) % uint64(time.Millisecond) << 12 / uint64(time.Millisecond)
	return Format(prefix, now, fraction, binary.BigEndian.Uint64(random[:]))
}

// Format spells the UUIDv7 of a time, the low 12 bits of hi and the low 62 of lo.
func Format(prefix string, now time.Time, hi, lo uint64) string {
	const version, variant = 7 << 12, 2 << 62
	hi = uint64(now.UnixMilli())<<16 | version | hi&0xfff
	lo = variant | lo&(1<<62-1)

	var text [64]byte
	return string(spell(append(text[:0], prefix...), hi, lo))
}

// spell appends the 26 characters of the number hi:lo.
func spell(out []byte, hi, lo uint64) []byte {
	for shift := 125; shift >= 0; shift -= 5 {
		out = append(out, alphabet[fiveBits(hi, lo, shift)])
	}
	return out
}

// fiveBits returns five bits of the 128-bit number hi:lo, shift bits from its end.
// The first of the 26 groups has only three bits of the number.
func fiveBits(hi, lo uint64, shift int) uint64 {
	switch {
	case shift >= 64:
		return hi >> (shift - 64) & 31
	case shift > 59:
		return (hi<<(64-shift) | lo>>shift) & 31
	default:
		return lo >> shift & 31
	}
}

// Valid reports whether s is the prefix and 26 characters of the alphabet, the first
// of them at most '7': more would not fit into 128 bits.
func Valid(prefix, s string) bool {
	_, ok := Parse(prefix, s)
	return ok
}
