package directory

// signature tells which three bytes stand in a row somewhere in some texts. It may
// say yes where they do not, never no where they do. Names of a block have some
// thousands of them, so one bit in five or so is set, and a word that is not
// there is hardly ever taken for one that is.
type signature [256]uint64

const gram = 3

// add notes all that is in a text.
func (s *signature) add(text string) {
	for i := range len(text) - gram + 1 {
		word, bit := place(text[i : i+gram])
		s[word] |= bit
	}
}

// mayHave reports whether a text may stand in the others. Of a shorter one than it
// has signs for, it does not know.
func (s *signature) mayHave(text string) bool {
	for i := range len(text) - gram + 1 {
		if word, bit := place(text[i : i+gram]); s[word]&bit == 0 {
			return false
		}
	}
	return true
}

// place spreads three bytes over the bits of a signature (Fibonacci hashing).
func place(three string) (word uint32, bit uint64) {
	const golden, bits = 2_654_435_769, 14 // of 256 words
	hash := (uint32(three[0])<<16 | uint32(three[1])<<8 | uint32(three[2])) * golden >> (32 - bits)
	return hash / 64, 1 << (hash % 64)
}
