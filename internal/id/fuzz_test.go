package id_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/id"
)

// An id is read when it is valid, as the number that big integers make of it, and
// is then written as it was.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"hs_01kb3gzk00e9x8q6s5t4v3w2y1", "hs_00000000000000000000000000", "hs_7zzzzzzzzzzzzzzzzzzzzzzzzz", "hs_80000000000000000000000000", "hs_01KB3GZK00E9X8Q6S5T4V3W2Y1",
		"hs_01kb3gzk00e9x8q6s5t4v3w2yi", "hs_01kb3gzk00e9x8q6s5t4v3w2y", "usr_01kb3gzk00e9x8q6s5t4v3w2y1", "hs_", "",
	} {
		f.Add(seed)
	}
	const digits = "0123456789abcdefghjkmnpqrstvwxyz" // Crockford's
	f.Fuzz(func(t *testing.T, text string) {
		raw, ok := id.Parse("hs_", text)
		rest, valid := strings.CutPrefix(text, "hs_")
		number := new(big.Int)
		for i := range len(rest) {
			digit := strings.IndexByte(digits, rest[i])
			valid = valid && digit >= 0
			number.Add(number.Lsh(number, 5), big.NewInt(int64(digit)))
		}
		valid = valid && len(rest) == 26 && number.BitLen() <= 128
		if ok != valid || id.Valid("hs_", text) != valid {
			t.Fatalf("%q is read: %t, valid: %t; want %t", text, ok, id.Valid("hs_", text), valid)
		}
		if ok && (raw.Format("hs_") != text || new(big.Int).SetBytes(raw[:]).Cmp(number) != 0) {
			t.Errorf("%q is read as %x and written as %q", text, raw, raw.Format("hs_"))
		}
	})
}
