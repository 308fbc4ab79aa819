package httpserver

import (
	"bytes"
	"strings"
)

// Two requests that net/http refuses with an error of its own, before any handler could
// write one, mean something here, so framing hands them over in other words: a % in a path
// that begins no escape is a character like any other, as in a query, and an expectation that
// nobody knows is ignored, as HTTP permits.

// amendable reports whether c begins what must be read to its end before it may pass.
func (f *framing) amendable(c byte) bool {
	switch f.part {
	case inRequestLine:
		return c == '%' && f.spaces == 1 && !f.query && !f.amended
	case inValue:
		return f.expecting
	default:
		return false
	}
}

// unfinished reports whether more bytes are needed to amend rest.
func (f *framing) unfinished(rest []byte) bool {
	if f.expecting {
		return len(rest) < MaxHeaderBytes && !bytes.ContainsRune(rest, '\n')
	}
	return len(rest) < 3 && len(bytes.Trim(rest[1:], hexDigits)) == 0
}

const hexDigits = "0123456789abcdefABCDEF"

// amend returns the bytes that pass instead of rest.
func (f *framing) amend(rest []byte) []byte {
	if !f.expecting {
		f.amended = true // the % itself; the next one is another
		if len(rest) >= 3 && len(bytes.Trim(rest[1:3], hexDigits)) == 0 {
			return rest
		}
		return append([]byte("%25"), rest[1:]...)
	}
	f.expecting = false
	value, after, _ := bytes.Cut(rest, []byte("\n"))
	for expected := range strings.SplitSeq(string(value), ",") {
		if strings.EqualFold(strings.TrimSpace(expected), "100-continue") {
			return rest
		}
	}
	return append([]byte("\r\n"), after...)
}
