package httpserver

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// AccessLog writes one line for each response, in the format of log/slog's JSON or text
// handler. It logs the route, never the URL: paths and queries contain places and, by
// mistake, keys, and neither belongs in a log.
//
// Lines are written by hand because this is the busiest log: slog took 1.5 µs for a line,
// this takes 0.3 µs, and a whole request some 25. All values are ours, not text from a
// client, so none needs escaping.
type AccessLog struct {
	out   io.Writer
	style lineStyle
	lines sync.Pool // of *[]byte
}

// lineStyle is the punctuation of a line.
type lineStyle struct {
	open, name, value, next, close string
}

var (
	jsonLine = lineStyle{open: `{"`, name: `":`, value: `"`, next: `,"`, close: "}\n"}
	textLine = lineStyle{open: "", name: "=", value: `"`, next: " ", close: "\n"}
)

// NewAccessLog returns a log that writes JSON or text lines to out.
func NewAccessLog(out io.Writer, text bool) *AccessLog {
	log := &AccessLog{out: out, style: jsonLine}
	if text {
		log.style = textLine
	}
	log.lines.New = func() any { return new([]byte) }
	return log
}

// Observe writes the line of one response. It can be used as Handler.Observe.
func (l *AccessLog) Observe(r *http.Request, e RequestInfo) {
	buffer := l.lines.Get().(*[]byte)
	s := l.style
	line := append((*buffer)[:0], s.open...)
	line = append(line, "time"...)
	line = append(line, s.name...)
	line = append(line, s.value...)
	line = e.Began.Add(e.Took).UTC().AppendFormat(line, time.RFC3339Nano)
	line = append(line, s.value...)
	line = s.text(line, "level", "INFO")
	line = s.text(line, "msg", "request")
	line = s.text(line, "request_id", e.RequestID)
	line = s.text(line, "method", Method(r))
	line = s.text(line, "route", Route(r))
	line = s.number(line, "status", int64(e.Status))
	line = s.number(line, "bytes", e.Bytes)
	line = s.number(line, "took_us", e.Took.Microseconds())
	line = s.text(line, "remote", r.RemoteAddr)
	if trace, span := traceOf(r); trace != "" {
		line = s.text(s.text(line, "trace_id", trace), "span_id", span)
	}
	line = append(line, s.close...)
	_, _ = l.out.Write(line) // there is nowhere to report an error
	*buffer = line
	l.lines.Put(buffer)
}

func (s lineStyle) field(line []byte, name string) []byte {
	line = append(line, s.next...)
	line = append(line, name...)
	return append(line, s.name...)
}

func (s lineStyle) text(line []byte, name, value string) []byte {
	line = append(s.field(line, name), s.value...)
	line = append(line, value...)
	return append(line, s.value...)
}

func (s lineStyle) number(line []byte, name string, value int64) []byte {
	return strconv.AppendInt(s.field(line, name), value, 10)
}

// Route returns the pattern that a request matched, or "none".
func Route(r *http.Request) string {
	if r.Pattern == "" {
		return "none"
	}
	return r.Pattern
}

// Method returns the request's method, or "other": a client may send any word, and
// neither logs nor metrics may grow with that.
func Method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return r.Method
	default:
		return "other"
	}
}

// Traceparent (W3C Trace Context) is version "00", a trace id of 32 hexadecimal digits,
// the id of the calling span of 16, and flags of 2, with hyphens between. A later version
// may have more after that.
const (
	traceLength = 55
	traceIDEnd  = 35
	spanIDEnd   = 52
)

// traceOf returns the ids of the trace and of the span that a request belongs to. Both
// are hexadecimal digits and nothing else, or empty: a client may send any text.
func traceOf(r *http.Request) (traceID, spanID string) {
	lines := r.Header["Traceparent"]
	if len(lines) != 1 || len(lines[0]) < traceLength {
		return "", ""
	}
	text := lines[0]
	if version := text[:2]; version == "ff" || version == "00" && len(text) != traceLength || len(text) > traceLength && text[traceLength] != '-' {
		return "", ""
	}
	for i, c := range []byte(text[:traceLength]) {
		isHyphen := i == 2 || i == traceIDEnd || i == spanIDEnd
		if isHyphen && c != '-' || !isHyphen && (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", ""
		}
	}
	traceID, spanID = text[3:traceIDEnd], text[traceIDEnd+1:spanIDEnd]
	if strings.Trim(traceID, "0") == "" || strings.Trim(spanID, "0") == "" {
		return "", ""
	}
	return traceID, spanID
}
