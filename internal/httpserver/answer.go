package httpserver

import (
	"bufio"
	"net"
	"net/http"
	"strconv"
	"time"
)

// answer writes what a handler answers to a plain request, byte for byte as
// net/http would, and where possible with one system call. It can do what
// handlers here do: answers of known and unknown length, Flush and
// SetWriteDeadline by way of http.ResponseController. It knows no trailers, no
// 1xx answers, no Hijack.
type answer struct {
	client *client
	header http.Header
	keys   []string // room to sort the names of the header in

	status   int // 0 until the handler gave one
	typed    bool
	encoded  bool
	dated    bool
	length   int64 // that the header promises; -1 for none
	unsure   bool  // the header promises one that makes no sense
	written  int64
	finished bool // the handler returned
	begun    bool // the head is complete
	chunked  bool
	closing  bool // the connection ends with this answer

	out   []byte        // what is ready to be sent
	parts [2][]byte     // room to send that and a piece in
	both  net.Buffers   // parts, or what is left of them
	small *bufio.Writer // gathers the first bytes of a body of unknown length
	err   error         // why the client cannot be reached
}

const (
	sniffed  = 2 << 10 // of a body, before its length is given up on; as in net/http
	together = 4 << 10 // what is less is copied together to be sent
)

// reset makes room for the next answer.
func (a *answer) reset() {
	clear(a.header)
	clear(a.keys)
	*a = answer{client: a.client, header: a.header, keys: a.keys[:0], out: a.out[:0], small: a.small, length: -1}
	if a.small != nil {
		a.small.Reset(pieces{a})
	}
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) bodyAllowed() bool {
	return a.status != http.StatusNoContent && a.status != http.StatusNotModified
}

// Write takes a part of the body. As long as it is not clear how long the body
// is, its beginning is kept: when that turns out to be all, its length is told,
// and otherwise it goes out in chunks.
func (a *answer) Write(p []byte) (int, error) {
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

// pieces is where small writes to.
type pieces struct{ a *answer }

func (p pieces) Write(b []byte) (int, error) { return p.a.piece(b) }

// piece sends a part of the body, or keeps it to be sent with what follows.
func (a *answer) piece(p []byte) (int, error) {
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

// breakOff sends what there is of an answer that nobody will finish.
func (a *answer) breakOff() {
	if a.begun {
		a.send(nil)
	}
}

// send writes what is ready and one more part to the connection.
func (a *answer) send(p []byte) {
	if a.err == nil && len(p) > 0 {
		a.parts = [2][]byte{a.out, p}
		a.both = a.parts[:]
		_, a.err = a.both.WriteTo(a.client.Conn)
		a.parts = [2][]byte{} // p is the handler's
	} else if a.err == nil && len(a.out) > 0 {
		_, a.err = a.client.Conn.Write(a.out)
	}
	if a.err != nil {
		a.client.cancel() // nobody will read on
	}
	a.out = a.out[:0]
}

// FlushError sends what there is.
func (a *answer) FlushError() error {
	a.settle()
	a.send(nil)
	return a.err
}

// settle makes everything ready to be sent that came so far.
func (a *answer) settle() {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if a.small != nil {
		_ = a.small.Flush() // err has it
	}
	if !a.begun {
		a.begin(nil)
	}
}

// SetWriteDeadline replaces the usual limit for this answer.
func (a *answer) SetWriteDeadline(t time.Time) error { return a.client.limitWrites(t) }

// finish ends the answer, and reports whether another may follow it.
func (a *answer) finish() (reusable bool) {
	a.finished = true
	a.settle()
	if a.chunked {
		a.out = append(a.out, "0\r\n\r\n"...)
	}
	a.send(nil)
	short := a.length >= 0 && a.bodyAllowed() && a.length != a.written
	return a.err == nil && !a.closing && !short
}
