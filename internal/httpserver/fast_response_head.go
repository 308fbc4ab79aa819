package httpserver

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// WriteHeader encodes the header immediately: later changes have no effect.
func (a *fastResponse) WriteHeader(status int) {
	if a.status != 0 || status < 200 {
		return
	}
	a.status = status
	a.out = append(a.out, "HTTP/1.1 "...)
	a.out = strconv.AppendInt(a.out, int64(status), 10)
	a.out = append(a.out, ' ')
	if text := http.StatusText(status); text != "" {
		a.out = append(a.out, text...)
	} else {
		a.out = strconv.AppendInt(append(a.out, "status code "...), int64(status), 10)
	}
	a.out = append(a.out, "\r\n"...)
	for name := range a.header {
		a.keys = append(a.keys, name)
	}
	slices.Sort(a.keys)
	for _, name := range a.keys {
		if values := a.header[name]; a.takes(name, values) {
			a.out = appendField(a.out, name, values)
		}
	}
}

// takes inspects a field that the handler set, and reports whether it is sent.
func (a *fastResponse) takes(name string, values []string) bool {
	first := ""
	if len(values) > 0 {
		first = values[0]
	}
	switch name {
	case "Content-Length":
		n, err := strconv.ParseInt(first, 10, 64)
		if err != nil || n < 0 {
			a.unsure = true
			return false
		}
		a.length = n
		return a.bodyAllowed()
	case "Content-Type":
		a.typed = true
		return a.status != http.StatusNotModified
	case "Content-Encoding":
		a.encoded = first != ""
	case "Date":
		a.dated = true
	case "Connection":
		a.closing = first == "close"
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
func (a *fastResponse) begin(p []byte) {
	a.begun = true
	if !a.dated {
		a.out = append(append(append(a.out, "Date: "...), a.client.lane.date()...), "\r\n"...)
	}
	if a.length < 0 && a.bodyAllowed() {
		if a.finished && !a.unsure {
			a.length = int64(len(p))
			a.out = strconv.AppendInt(append(a.out, "Content-Length: "...), a.length, 10)
			a.out = append(a.out, "\r\n"...)
		} else {
			a.chunked = true
		}
	}
	if !a.typed && !a.encoded && len(p) > 0 {
		a.out = append(append(append(a.out, "Content-Type: "...), http.DetectContentType(p)...), "\r\n"...)
	}
	if !a.closing && a.client.lane.stopping.Load() {
		a.closing = true
		a.out = append(a.out, "Connection: close\r\n"...)
	}
	if a.chunked {
		a.out = append(a.out, "Transfer-Encoding: chunked\r\n"...)
	}
	a.out = append(a.out, "\r\n"...)
}
