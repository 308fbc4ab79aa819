package httpserver

import (
	"bytes"
	"strconv"
)

// framing follows the requests on a connection that net/http serves, byte by
// byte, and finds one whose body could end in two places: with both a
// Transfer-Encoding and a Content-Length, or with a Transfer-Encoding in a
// version that knows none. A proxy in front of us may have read it the other way,
// and taken what we would take for the next request for a part of this one's
// body, or back: that is how requests of strangers are smuggled through. net/http
// believes the Transfer-Encoding, and takes the other out before a handler could
// see it.
//
// Beside that it refuses a Content-Length that is none, and judges nothing else. Where
// it cannot follow, net/http refuses the request, or is not given another: after a
// body in chunks, [Front] closes.
type framing struct {
	part   part
	word   []byte // of the line at hand: its end, its name, or its value
	left   int64  // of the body
	old    bool   // of a version before 1.1, or none
	coded  bool   // has a Transfer-Encoding
	sized  bool   // has a Content-Length
	sizing bool   // this line is one
}

// part is where in a request a byte stands.
type part int

const (
	between part = iota
	inRequestLine
	atLine
	inFieldName
	inValue
	inBody
	lost
)

const maxWord = 32 // more than any word that is looked at

// pass looks at the next bytes, and tells how many of them may go on. It is false
// when the one after those must not.
func (f *framing) pass(data []byte) (n int, ok bool) {
	for n < len(data) {
		switch f.part {
		case lost:
			return len(data), true
		case inBody:
			skipped := min(f.left, int64(len(data)-n))
			f.left -= skipped
			n += int(skipped)
			if f.left == 0 {
				f.part = between
			}
		default:
			if !f.step(data[n]) {
				return n, false
			}
			n++
		}
	}
	return n, true
}

// step takes a byte of a head.
func (f *framing) step(c byte) bool {
	switch f.part {
	case between:
		if c != '\r' && c != '\n' { // old clients send some after a body
			*f = framing{part: inRequestLine, word: append(f.word[:0], c)}
		}
	case inRequestLine:
		if c == '\n' {
			f.old = !bytes.HasSuffix(bytes.TrimSuffix(f.word, []byte("\r")), []byte("HTTP/1.1"))
			f.part = atLine
		} else {
			f.add(c)
		}
	case atLine:
		return f.beginLine(c)
	case inFieldName:
		switch c {
		case ':':
			return f.endName()
		case '\n': // net/http will refuse it
			f.part = lost
		default:
			f.add(c)
		}
	case inValue:
		switch {
		case c == '\n':
			f.part = atLine
		case f.sizing:
			f.addDigit(c)
		}
	}
	return true
}

// add keeps a byte, and of many the last ones.
func (f *framing) add(c byte) {
	if len(f.word) == maxWord {
		f.word = append(f.word[:0], f.word[1:]...)
	}
	f.word = append(f.word, c)
}

// addDigit keeps a byte of a length, and of blanks in a row one: there may be any
// number of them.
func (f *framing) addDigit(c byte) {
	if isBlank(c) {
		if c = ' '; bytes.HasSuffix(f.word, []byte{c}) {
			return
		}
	}
	f.add(c)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// beginLine takes the first byte of a line, which tells whether the one before has
// ended, or goes on.
func (f *framing) beginLine(c byte) bool {
	switch {
	case c == '\r':
		return true
	case isBlank(c):
		f.part = inValue
		if f.sizing {
			f.addDigit(c)
		}
		return true
	case !f.endValue():
		return false
	case c == '\n':
		f.endHead()
		return true
	default:
		f.word = append(f.word[:0], c)
		f.part = inFieldName
		return true
	}
}

func (f *framing) endName() bool {
	f.sizing = bytes.EqualFold(f.word, []byte("Content-Length"))
	f.sized = f.sized || f.sizing
	f.coded = f.coded || bytes.EqualFold(f.word, []byte("Transfer-Encoding"))
	f.word, f.part = f.word[:0], inValue
	return !f.coded || !f.sized && !f.old
}

// endValue reads a length. Of one that it cannot read, it must not be left to others
// what follows.
func (f *framing) endValue() bool {
	if !f.sizing {
		return true
	}
	f.sizing = false
	length, err := strconv.ParseUint(string(bytes.Trim(f.word, " ")), 10, 63)
	f.left = int64(length)
	return err == nil
}

func (f *framing) endHead() {
	switch {
	case f.coded:
		f.part = lost
	case f.left > 0:
		f.part = inBody
	default:
		f.part = between
	}
}

// unreadable is put in the place of what must not go on. It is not the rest of
// any request, so that net/http answers 400, after those before it, and closes.
var unreadable = []byte("\x00\r\n\r\n")
