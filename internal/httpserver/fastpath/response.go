package fastpath

import (
	"bufio"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// responseWriter writes the response to a plain request, byte for byte as net/http would, and
// with one system call if possible. It supports what handlers here use: bodies of known
// and unknown length, Flush and SetWriteDeadline through http.ResponseController. It
// supports no trailers, no 1xx responses and no Hijack.
type responseWriter struct {
	conn   *conn
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
func (w *responseWriter) reset() {
	clear(w.header)
	clear(w.keys)
	*w = responseWriter{conn: w.conn, header: w.header, keys: w.keys[:0], out: w.out[:0], small: w.small, length: -1}
	if w.small != nil {
		w.small.Reset(pieces{w})
	}
}

func (w *responseWriter) Header() http.Header { return w.header }

// SendsWhole marks a writer that sends a header and a body of known length with one
// system call if it can. net/http's takes two.
func (w *responseWriter) SendsWhole() {}

// EndWithInput makes the request's context end when the client closes its sending side,
// not only when the connection breaks.
func (w *responseWriter) EndWithInput() { w.conn.state.Or(uint64(withInput)) }

func (w *responseWriter) bodyAllowed() bool {
	return w.status != http.StatusNoContent && w.status != http.StatusNotModified
}

// Write adds a part of the body. While the length of the body is unknown, its start is
// buffered. If that turns out to be all, its length is sent; otherwise the body is sent
// in chunks.
func (w *responseWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if !w.bodyAllowed() {
		return 0, http.ErrBodyNotAllowed
	}
	w.written += int64(len(p))
	if w.length >= 0 && w.written > w.length {
		return 0, http.ErrContentLength
	}
	if w.length >= 0 && w.typed {
		return w.piece(p)
	}
	if w.small == nil {
		w.small = bufio.NewWriterSize(pieces{w}, sniffed)
	}
	return w.small.Write(p)
}

// pieces is the writer that small flushes to.
type pieces struct{ w *responseWriter }

func (p pieces) Write(b []byte) (int, error) { return p.w.piece(b) }

// piece sends a part of the body, or buffers it to be sent with what follows.
func (w *responseWriter) piece(p []byte) (int, error) {
	if !w.begun {
		w.begin(p)
	}
	if w.chunked {
		w.out = append(strconv.AppendInt(w.out, int64(len(p)), 16), "\r\n"...)
	}
	if len(w.out)+len(p) <= together {
		w.out = append(w.out, p...)
	} else {
		w.send(p)
	}
	if w.chunked {
		w.out = append(w.out, "\r\n"...)
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// breakOff sends what there is of a response that will not be finished.
func (w *responseWriter) breakOff() {
	if w.begun {
		w.send(nil)
	}
}

// send writes the buffered output and p to the connection.
func (w *responseWriter) send(p []byte) {
	if w.err == nil && len(p) > 0 {
		w.parts = [2][]byte{w.out, p}
		w.both = w.parts[:]
		_, w.err = w.both.WriteTo(w.conn.Conn)
		w.parts = [2][]byte{} // p belongs to the handler
	} else if w.err == nil && len(w.out) > 0 {
		_, w.err = w.conn.Write(w.out)
	}
	if w.err != nil {
		w.conn.cancel() // the rest will not be read
	}
	w.out = w.out[:0]
}

// FlushError sends the buffered output.
func (w *responseWriter) FlushError() error {
	w.prepare()
	w.send(nil)
	return w.err
}

// prepare makes everything written so far ready to be sent.
func (w *responseWriter) prepare() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.small != nil {
		_ = w.small.Flush() // w.err holds the error
	}
	if !w.begun {
		w.begin(nil)
	}
}

// SetWriteDeadline replaces the usual deadline for this response.
func (w *responseWriter) SetWriteDeadline(t time.Time) error { return w.conn.limitWrites(t) }

// finish ends the response and reports whether the connection can be reused.
func (w *responseWriter) finish() (reusable bool) {
	w.finished = true
	w.prepare()
	if w.chunked {
		w.out = append(w.out, "0\r\n\r\n"...)
	}
	w.send(nil)
	short := w.length >= 0 && w.bodyAllowed() && w.length != w.written
	return w.err == nil && !w.closing && !short
}

// WriteHeader encodes the header immediately: later changes have no effect.
func (w *responseWriter) WriteHeader(status int) {
	if w.status != 0 || status < 200 {
		return
	}
	w.status = status
	w.out = append(w.out, "HTTP/1.1 "...)
	w.out = strconv.AppendInt(w.out, int64(status), 10)
	w.out = append(w.out, ' ')
	if text := http.StatusText(status); text != "" {
		w.out = append(w.out, text...)
	} else {
		w.out = strconv.AppendInt(append(w.out, "status code "...), int64(status), 10)
	}
	w.out = append(w.out, "\r\n"...)
	for name := range w.header {
		w.keys = append(w.keys, name)
	}
	slices.Sort(w.keys)
	for _, name := range w.keys {
		if values := w.header[name]; w.takes(name, values) {
			w.out = appendField(w.out, name, values)
		}
	}
}

// takes inspects a field that the handler set, and reports whether it is sent.
func (w *responseWriter) takes(name string, values []string) bool {
	first := ""
	if len(values) > 0 {
		first = values[0]
	}
	switch name {
	case "Content-Length":
		n, err := strconv.ParseInt(first, 10, 64)
		if err != nil || n < 0 {
			w.unsure = true
			return false
		}
		w.length = n
		return w.bodyAllowed()
	case "Content-Type":
		w.typed = true
		return w.status != http.StatusNotModified
	case "Content-Encoding":
		w.encoded = first != ""
	case "Date":
		w.dated = true
	case "Connection":
		w.closing = first == "close"
	case "Transfer-Encoding":
		return false
	}
	return all([]byte(name), inName) && name != ""
}

// appendField writes the lines of a field. No value can break out of its line.
func appendField(out []byte, name string, values []string) []byte {
	for _, value := range values {
		if strings.ContainsAny(value, "\r\n") {
			value = strings.NewReplacer("\r", " ", "\n", " ").Replace(value)
		}
		out = append(out, name...)
		out = append(out, ": "...)
		out = append(out, strings.Trim(value, " \t")...)
		out = append(out, "\r\n"...)
	}
	return out
}

// begin completes the head, now that the first part of the body is known.
func (w *responseWriter) begin(p []byte) {
	w.begun = true
	if !w.dated {
		w.out = append(append(append(w.out, "Date: "...), w.conn.ln.date()...), "\r\n"...)
	}
	if w.length < 0 && w.bodyAllowed() {
		if w.finished && !w.unsure {
			w.length = int64(len(p))
			w.out = strconv.AppendInt(append(w.out, "Content-Length: "...), w.length, 10)
			w.out = append(w.out, "\r\n"...)
		} else {
			w.chunked = true
		}
	}
	if !w.typed && !w.encoded && len(p) > 0 {
		w.out = append(append(append(w.out, "Content-Type: "...), http.DetectContentType(p)...), "\r\n"...)
	}
	if !w.closing && w.conn.ln.stopping.Load() {
		w.closing = true
		w.out = append(w.out, "Connection: close\r\n"...)
	}
	if w.chunked {
		w.out = append(w.out, "Transfer-Encoding: chunked\r\n"...)
	}
	w.out = append(w.out, "\r\n"...)
}
