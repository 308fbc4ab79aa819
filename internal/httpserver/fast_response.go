package httpserver

import (
	"bufio"
	"net"
	"net/http"
	"strconv"
	"time"
)

// fastResponse writes the response to a plain request, byte for byte as net/http would, and
// with one system call if possible. It supports what handlers here use: bodies of known
// and unknown length, Flush and SetWriteDeadline through http.ResponseController. It
// supports no trailers, no 1xx responses and no Hijack.
type fastResponse struct {
	client *fastConn
	header http.Header
	keys   []string // scratch space to sort the header names

	status   int // 0 until the handler sets one
	typed    bool
	encoded  bool
	dated    bool
	length   int64 // Content-Length; -1 for none
	unsure   bool  // Content-Length is invalid
	written  int64
	finished bool // the handler returned
	begun    bool // the head is complete
	chunked  bool
	closing  bool // the connection ends with this response

	out   []byte        // ready to be sent
	parts [2][]byte     // scratch space to send out and a piece
	both  net.Buffers   // the unsent rest of parts
	small *bufio.Writer // buffers the start of a body of unknown length
	err   error         // why the client cannot be reached
}

const (
	sniffed  = 2 << 10 // bytes buffered before the body is sent in chunks; as in net/http
	together = 4 << 10 // up to this size, pieces are copied together
)

// reset prepares for the next response.
func (a *fastResponse) reset() {
	clear(a.header)
	clear(a.keys)
	*a = fastResponse{client: a.client, header: a.header, keys: a.keys[:0], out: a.out[:0], small: a.small, length: -1}
	if a.small != nil {
		a.small.Reset(pieces{a})
	}
}

func (a *fastResponse) Header() http.Header { return a.header }

func (a *fastResponse) bodyAllowed() bool {
	return a.status != http.StatusNoContent && a.status != http.StatusNotModified
}

// Write adds a part of the body. While the length of the body is unknown, its start is
// buffered. If that turns out to be all, its length is sent; otherwise the body is sent
// in chunks.
func (a *fastResponse) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if !a.bodyAllowed() {
		return 0, http.ErrBodyNotAllowed
	}
	a.written += int64(len(p))
	if a.length >= 0 && a.written > a.length {
		return 0, http.ErrContentLength
	}
	if a.length >= 0 && a.typed {
		return a.piece(p)
	}
	if a.small == nil {
		a.small = bufio.NewWriterSize(pieces{a}, sniffed)
	}
	return a.small.Write(p)
}

// pieces is the writer that small flushes to.
type pieces struct{ a *fastResponse }

func (p pieces) Write(b []byte) (int, error) { return p.a.piece(b) }

// piece sends a part of the body, or buffers it to be sent with what follows.
func (a *fastResponse) piece(p []byte) (int, error) {
	if !a.begun {
		a.begin(p)
	}
	if a.chunked {
		a.out = append(strconv.AppendInt(a.out, int64(len(p)), 16), "\r\n"...)
	}
	if len(a.out)+len(p) <= together {
		a.out = append(a.out, p...)
	} else {
		a.send(p)
	}
	if a.chunked {
		a.out = append(a.out, "\r\n"...)
	}
	if a.err != nil {
		return 0, a.err
	}
	return len(p), nil
}

// breakOff sends what there is of a response that will not be finished.
func (a *fastResponse) breakOff() {
	if a.begun {
		a.send(nil)
	}
}

// send writes the buffered output and p to the connection.
func (a *fastResponse) send(p []byte) {
	if a.err == nil && len(p) > 0 {
		a.parts = [2][]byte{a.out, p}
		a.both = a.parts[:]
		_, a.err = a.both.WriteTo(a.client.Conn)
		a.parts = [2][]byte{} // p belongs to the handler
	} else if a.err == nil && len(a.out) > 0 {
		_, a.err = a.client.Conn.Write(a.out)
	}
	if a.err != nil {
		a.client.cancel() // the rest will not be read
	}
	a.out = a.out[:0]
}

// FlushError sends the buffered output.
func (a *fastResponse) FlushError() error {
	a.settle()
	a.send(nil)
	return a.err
}

// settle makes everything written so far ready to be sent.
func (a *fastResponse) settle() {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if a.small != nil {
		_ = a.small.Flush() // a.err holds the error
	}
	if !a.begun {
		a.begin(nil)
	}
}

// SetWriteDeadline replaces the usual deadline for this response.
func (a *fastResponse) SetWriteDeadline(t time.Time) error { return a.client.limitWrites(t) }

// finish ends the response and reports whether the connection can be reused.
func (a *fastResponse) finish() (reusable bool) {
	a.finished = true
	a.settle()
	if a.chunked {
		a.out = append(a.out, "0\r\n\r\n"...)
	}
	a.send(nil)
	short := a.length >= 0 && a.bodyAllowed() && a.length != a.written
	return a.err == nil && !a.closing && !short
}
