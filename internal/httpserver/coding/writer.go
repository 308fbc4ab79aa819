package coding

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// ResponseWriter compresses responses whose body is written at once: those with a
// Content-Length of at least MinSize, a type that shrinks, and the status 200. It passes
// on all others as they are, among them streams and those with an entity tag, whose
// handlers know better. Call Finish when the handler has returned.
type ResponseWriter struct {
	http.ResponseWriter
	Coding Coding // what the client prefers

	held bool // WriteHeader is put off until the body comes
}

// WriteHeader sends the header, unless the body must be seen first.
func (w *ResponseWriter) WriteHeader(status int) {
	if status == http.StatusOK && w.applies() {
		w.held = true
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *ResponseWriter) applies() bool {
	h := w.Header()
	length, kind := h["Content-Length"], h["Content-Type"]
	if w.Coding == Identity || len(length) != 1 || len(kind) != 1 || h["Content-Encoding"] != nil || h["Etag"] != nil {
		return false
	}
	size, err := strconv.Atoi(length[0])
	return err == nil && size >= MinSize && shrinks(kind[0])
}

// shrinks reports whether a content type is one of texts.
func shrinks(kind string) bool {
	kind, _, _ = strings.Cut(kind, ";")
	switch kind {
	case "application/json", "application/geo+json", "text/csv":
		return true
	}
	return false
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer is the largest buffer that is kept for another response.
const maxBuffer = 1 << 20

// Write sends the body.
func (w *ResponseWriter) Write(body []byte) (int, error) {
	h := w.Header()
	if !w.held || h["Content-Length"][0] != strconv.Itoa(len(body)) {
		w.Finish()
		return w.ResponseWriter.Write(body)
	}
	buffer := buffers.Get().(*[]byte)
	*buffer = w.Coding.Append((*buffer)[:0], body)
	h["Content-Encoding"] = w.Coding.Header()
	h["Content-Length"] = []string{strconv.Itoa(len(*buffer))}
	w.Finish()
	n, err := w.ResponseWriter.Write(*buffer)
	if n == len(*buffer) {
		n = len(body)
	}
	if cap(*buffer) <= maxBuffer {
		buffers.Put(buffer)
	}
	return min(n, len(body)), err
}

// Finish sends a header that was put off.
func (w *ResponseWriter) Finish() {
	if w.held {
		w.held = false
		w.ResponseWriter.WriteHeader(http.StatusOK)
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (w *ResponseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
