package httpserver

import (
	"bytes"
	"strconv"
)

// framing follows the requests on a connection that net/http serves, byte by byte, and
// detects one whose body could end in two places: with both a Transfer-Encoding and a
// Content-Length, or with a Transfer-Encoding in a version that has none. A proxy in
// front of us may have read it the other way, and taken what is the next request to us
// for a part of the body, or the reverse: that is request smuggling. net/http follows
// the Transfer-Encoding and removes the other before a handler could see it.
//
// It also refuses an invalid Content-Length and a head of more than MaxHeaderBytes:
// net/http's own limit depends on what it has read ahead. It checks nothing else. Where it
// cannot follow, net/http refuses the request or does not get another: after a chunked
// body, [Handler] closes the connection.
type framing struct {
	part   part
	head   int    // bytes of the head so far
	spaces int    // in the request line
	word   []byte // the last bytes of the request line, or of a field's name, or of a length
	left   int64  // bytes of the body
	old    bool   // the version is before 1.1, or absent
	coded  bool   // has a Transfer-Encoding
	sized  bool   // has a Content-Length
	sizing bool   // the current line is a Content-Length
	hosted bool   // has a Host

	query     bool // the path has ended
	expecting bool // the value of an Expect comes next
	amended   bool // the next byte passes as it is: see amendable
}

// part is the position of a byte in a request.
type part int

const (
	between part = iota // before a request
	inRequestLine
	atLine // at the start of a line after the first
	inFieldName
	inValue
	inBody // of which left bytes follow
	lost   // not followed any more: see framing
)

const maxWord = 32 // longer than any word that is checked

// verdict says whether the next byte may pass.
type verdict int

const (
	passes verdict = iota
	ambiguous
	tooLong
	amends // see amendable
)

// pass inspects the next bytes and returns how many of them may pass, and if not all,
// why the byte after those must not.
func (f *framing) pass(data []byte) (n int, v verdict) {
	for n < len(data) {
		switch f.part {
		case lost:
			return len(data), passes
		case inBody:
			skipped := min(f.left, int64(len(data)-n))
			f.left -= skipped
			n += int(skipped)
			if f.left == 0 {
				f.part = between
			}
		default:
			c := data[n]
			if f.head >= MaxHeaderBytes && c != '\r' && c != '\n' {
				return n, tooLong
			}
			if f.amendable(c) {
				return n, amends
			}
			if f.head++; !f.step(c) {
				return n, ambiguous
			}
			n++
		}
	}
	return n, passes
}

// step processes one byte of a head. It returns false if the request is ambiguous.
func (f *framing) step(c byte) bool {
	switch f.part {
	case between:
		if c != '\r' && c != '\n' { // old clients send line breaks after a body
			*f = framing{part: inRequestLine, head: 1, word: append(f.word[:0], c)}
		} else {
			f.head = 0
		}
	case inRequestLine:
		if c == '\n' {
			f.old = !bytes.HasSuffix(bytes.TrimSuffix(f.word, []byte("\r")), []byte("HTTP/1.1"))
			f.part = atLine
		} else {
			f.add(c)
		}
		switch c {
		case ' ':
			f.spaces++
		case '?':
			f.query = true
		case '%':
			f.amended = false
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

// add appends a byte to the word, which keeps the last maxWord bytes.
func (f *framing) add(c byte) {
	if len(f.word) == maxWord {
		f.word = append(f.word[:0], f.word[1:]...)
	}
	f.word = append(f.word, c)
}

// addDigit appends a byte of a length. It keeps one of consecutive blanks, since there
// may be any number of them.
func (f *framing) addDigit(c byte) {
	if isBlank(c) {
		if c = ' '; bytes.HasSuffix(f.word, []byte{c}) {
			return
		}
	}
	f.add(c)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// beginLine processes the first byte of a line, which shows whether the previous line has
// ended or continues.
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
	f.expecting = bytes.EqualFold(f.word, []byte("Expect"))
	f.hosted = f.hosted || bytes.EqualFold(f.word, []byte("Host"))
	f.coded = f.coded || bytes.EqualFold(f.word, []byte("Transfer-Encoding"))
	f.word, f.part = f.word[:0], inValue
	return !f.coded || !f.sized && !f.old
}

// endValue parses a length. If it cannot, the request is refused: where the body ends
// must not be left to others.
func (f *framing) endValue() bool {
	if !f.sizing {
		return true
	}
	f.sizing = false
	length, err := strconv.ParseUint(string(bytes.Trim(f.word, " ")), 10, 63)
	f.left = int64(length)
	return err == nil
}

// endHead ends a head; the next request has one of its own.
func (f *framing) endHead() {
	f.head = 0
	switch {
	case f.coded:
		f.part = lost
	case f.left > 0:
		f.part = inBody
	default:
		f.part = between
	}
}

// unreadable replaces what must not pass. It does not continue any request, so net/http
// responds with 400, after the requests before it, and closes the connection.
var unreadable = []byte("\x00\r\n\r\n")

// ending ends a head that is too long, so that net/http can read it as a request and
// [Handler] can refuse it in the format of the interface that it was for.
func (f *framing) ending() (text []byte) {
	switch f.part {
	case inRequestLine:
		if n := bytes.LastIndexByte(f.word, '%'); n >= 0 && n > len(f.word)-3 { // cut off in an escape
			text = append(text, "00"[len(f.word)-1-n:]...)
		}
		if f.spaces == 0 {
			text = append(text, " /"...)
		}
		text = append(text, " HTTP/1.1\r\n"...)
	case inFieldName:
		text = append(text, "-:\r\n"...)
	case inValue:
		text = append(text, "\r\n"...)
	}
	if !f.hosted {
		text = append(text, "Host: x\r\n"...)
	}
	return append(text, "\r\n"...)
}
