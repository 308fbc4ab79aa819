package httpserver

import (
	"net/http"
	"strings"
)

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
