package directory

// signature records which sequences of three bytes occur in some texts. It may report
// one that does not occur, but never misses one that does. The names of a block have
// some thousands of them, so about one bit in five is set, and a word that is absent
// is hardly ever reported as present.
type signature [256]uint64

const gram = 3

// add records all sequences of a text.
func (s *signature) add(text string) {
	for i := range len(text) - gram + 1 {
		word, bit := place(text[i : i+gram])
		s[word] |= bit
	}
}

// mayHave reports whether the texts may contain text. It cannot tell for one of less
// than three bytes, and returns true.
func (s *signature) mayHave(text string) bool {
	for i := range len(text) - gram + 1 {
		if word, bit := place(text[i : i+gram]); s[word]&bit == 0 {
			return false
		}
	}
	return true
}

// place maps three bytes to a bit of a signature (Fibonacci hashing).
func place(three string) (word uint32, bit uint64) {
	const golden, bits = 2_654_435_769, 14 // of the 256 words
	hash := (uint32(three[0])<<16 | uint32(three[1])<<8 | uint32(three[2])) * golden >> (32 - bits)
	return hash / 64, 1 << (hash % 64)
}
