package statement

import (
	"fmt"
	"io"
)

// Limits on everything in a statement that must be in memory at once.
const (
	maxWord     = 1 << 10  // bytes of a text or number
	maxSpaces   = 64 << 10 // bytes between two of them
	maxMeta     = 1000     // tokens of a server's metadata about its response
	maxHotspots = 1_000_000
)

// bounded reads JSON and stops at a token, or at space between tokens, that is longer
// than in any statement, because the decoder buffers that much.
type bounded struct {
	from io.Reader
	err  error

	inText, escaped bool
	word, spaces    int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.from.Read(p)
	for _, c := range p[:n] {
		b.see(c)
	}
	switch {
	case b.word > maxWord:
		b.err = fmt.Errorf("not a statement: it has a string or number of more than %d bytes", maxWord)
	case b.spaces > maxSpaces:
		b.err = fmt.Errorf("not a statement: it has more than %d bytes of white space", maxSpaces)
	case err != nil && err != io.EOF:
		b.err = fmt.Errorf("cannot read the statement: %w", err)
	default:
		return n, err
	}
	return 0, b.err
}

// see advances the state by one byte. A limit once exceeded stays exceeded.
func (b *bounded) see(c byte) {
	switch {
	case b.word > maxWord || b.spaces > maxSpaces:
	case b.inText:
		b.word++
		b.inText = c != '"' || b.escaped
		b.escaped = c == '\\' && !b.escaped
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		b.word = 0
		b.spaces++
	case c == '{' || c == '}' || c == '[' || c == ']' || c == ':' || c == ',':
		b.word, b.spaces = 0, 0
	default:
		b.spaces = 0
		b.word++
		b.inText = c == '"'
	}
}
