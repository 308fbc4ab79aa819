package httpserver

import (
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
)

// fill builds the request that net/http would have built. Its strings are copies: to keep
// one keeps the target or all values in memory, but it never changes.
func (p *plainRequest) fill(r *http.Request, u *url.URL, header http.Header, values *[maxFields]string, data []byte) {
	target := string(data[p.target.from:p.target.to])
	path, query, _ := strings.Cut(target, "?")
	*u = url.URL{Path: path, RawQuery: query}
	text := string(data[p.target.to:p.head])
	for i := range p.count {
		f := &p.fields[i]
		values[i] = text[f.value.from-p.target.to : f.value.to-p.target.to]
		if f.value == p.host {
			r.Host = values[i] // not in the header
			continue
		}
		header[f.name] = values[i : i+1 : i+1]
	}
	r.Method, r.URL, r.RequestURI = p.method, u, target
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	r.Header = header
	r.ContentLength = int64(max(p.length, 0))
}

// fieldName returns the canonical spelling of a name. The usual names are in a table.
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

// Classes of characters: where each may occur.
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
