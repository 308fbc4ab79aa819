package id

import (
	"encoding/binary"
	"strings"
	"time"
)

// Raw is the 128-bit number that an id spells, without its prefix.
type Raw [16]byte

// Parse reads an id that Format or New wrote. It returns false if the id is not
// Valid.
func Parse(prefix, s string) (Raw, bool) {
	text, ok := strings.CutPrefix(s, prefix)
	if !ok || len(text) != Length || text[0] > '7' {
		return Raw{}, false
	}
	var hi, lo uint64
	for i := range Length {
		digit := digits[text[i]]
		if digit == 0 {
			return Raw{}, false
		}
		hi = hi<<5 | lo>>59
		lo = lo<<5 | uint64(digit-1)
	}
	var r Raw
	binary.BigEndian.PutUint64(r[:8], hi)
	binary.BigEndian.PutUint64(r[8:], lo)
	return r, true
}

// Time returns when the id was made, to the millisecond.
func (r Raw) Time() time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(r[:8]) >> 16)).UTC()
}

// Format returns the id with its prefix.
func (r Raw) Format(prefix string) string {
	var text [64]byte
	return string(r.Append(text[:0], prefix))
}

// Append appends the id, with its prefix, to out.
func (r Raw) Append(out []byte, prefix string) []byte {
	return spell(append(out, prefix...), binary.BigEndian.Uint64(r[:8]), binary.BigEndian.Uint64(r[8:]))
}

// digits has, for each character of the alphabet, its position from 1.
var digits = func() (table [256]uint8) {
	for i := range len(alphabet) {
		table[alphabet[i]] = uint8(i + 1)
	}
	return table
}()
