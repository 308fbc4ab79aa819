package httpserver

import (
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
)

// fill makes the request that net/http would have made. Its strings are copies:
// what keeps one keeps the target, or all values, and never sees another request.
func (p *plainRequest) fill(r *http.Request, u *url.URL, header http.Header, values *[maxFields]string, data []byte) {
	target := string(data[p.target.from:p.target.to])
	path, query, _ := strings.Cut(target, "?")
	*u = url.URL{Path: path, RawQuery: query}
	text := string(data[p.target.to:p.head])
	for i := range p.count {
		f := &p.fields[i]
		values[i] = text[f.value.from-p.target.to : f.value.to-p.target.to]
		if f.value == p.host {
			r.Host = values[i] // and not in the header
			continue
		}
		header[f.name] = values[i : i+1 : i+1]
	}
	r.Method, r.URL, r.RequestURI = p.method, u, target
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	r.Header = header
	r.ContentLength = int64(max(p.length, 0))
}

// fieldName gives a name in the spelling that handlers look for. The usual ones
// are at hand.
func fieldName(spelled []byte) string {
	if name, ok := usualNames[string(spelled)]; ok {
		return name
	}
	return textproto.CanonicalMIMEHeaderKey(string(spelled))
}

var usualNames = func() map[string]string {
	names := map[string]string{}
	for _, name := range []string{
		"Accept", "Accept-Encoding", "Accept-Language", "Authorization", "Cache-Control", "Connection", "Content-Length",
		"Content-Type", "Cookie", "Forwarded", "Host", "Idempotency-Key", "If-None-Match", "Last-Event-Id", "Origin", "Referer",
		"Traceparent", "User-Agent", "Via", "X-Api-Key", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
		"X-Real-Ip", "X-Request-Id",
	} {
		names[name], names[strings.ToLower(name)] = name, name
	}
	return names
}()

// Where a character may stand.
const (
	inName = 1 << iota
	inPath
	inQuery
	inHost
)

var characters = func() (table [256]byte) {
	add := func(where byte, some string) {
		for _, c := range []byte(some) {
			table[c] |= where
		}
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	add(inName, letters+"!#$%&'*+-.^_`|~")
	add(inPath, letters+"-._~/")
	add(inQuery, letters+"-._~/%&=+,:;@!$'()*?")
	add(inHost, letters+"-_.:[]")
	return table
}()

func is(c byte, where byte) bool { return characters[c]&where != 0 }

func all(text []byte, where byte) bool {
	for _, c := range text {
		if !is(c, where) {
			return false
		}
	}
	return true
}
