package fastpath

import (
	"bytes"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
)

// A plain request is one that the fast path serves itself. Nearly all clients send such
// requests, in a spelling that has only one interpretation:
//
//   - GET without a body, or POST with one Content-Length, of HTTP/1.1;
//   - a target that is a path without escapes, with an optional non-empty query;
//   - header lines of a name, a colon and a non-empty value in printable ASCII without
//     trailing spaces, each line ending in CR LF, no name twice;
//   - exactly one Host of letters, digits and "-_.:[]";
//   - nothing that changes how a connection or a body is read: see specialFields;
//   - at most maxPlain bytes, including the body, and maxFields lines.
//
// Everything else is left to net/http, valid or not. FuzzPlain checks that both read a
// plain request in the same way.
const (
	maxPlain  = 4 << 10
	maxFields = 24
)

// verdict is the result of parsing the first bytes of a request.
type verdict int

const (
	foreign    verdict = iota // not plain
	unfinished                // plain so far
	plain
)

// plainRequest is a parsed plain request. Its parts are positions in the input, which is
// not copied before the request is known to be plain.
type plainRequest struct {
	method       string
	target, path place
	fields       [maxFields]plainField
	count        int
	host         place
	length       int // of the body; -1 without a Content-Length
	head         int // length of the head in bytes
}

type place struct{ from, to int }

type plainField struct {
	name  string
	value place
}

// size returns the length of the whole request in bytes.
func (p *plainRequest) size() int { return p.head + max(p.length, 0) }

// parse parses what has been read from a connection, each time from its start: nearly all
// requests come in one piece.
func (p *plainRequest) parse(data []byte) verdict {
	p.count, p.length, p.host = 0, -1, place{}
	from := 0
	for {
		n := bytes.IndexByte(data[from:], '\n')
		if n < 0 {
			return p.wait(data)
		}
		end := from + n - 1
		if end < from || data[end] != '\r' {
			return foreign
		}
		switch {
		case from == 0:
			if !p.readRequestLine(data[:end]) {
				return foreign
			}
		case end == from:
			p.head = end + len("\r\n")
			return p.readBody(data)
		case !p.readField(data, from, end):
			return foreign
		}
		from = end + len("\r\n")
	}
}

// wait returns the verdict on an incomplete head.
func (p *plainRequest) wait(data []byte) verdict {
	const get, post = "GET /", "POST /"
	begun := string(data[:min(len(data), len(post))])
	if len(data) >= maxPlain || !strings.HasPrefix(begun, get) && !strings.HasPrefix(get, begun) && !strings.HasPrefix(post, begun) {
		return foreign
	}
	return unfinished
}

func (p *plainRequest) readBody(data []byte) verdict {
	isPost := p.method == http.MethodPost
	switch {
	case p.host.to == 0, isPost != (p.length >= 0), p.size() > maxPlain:
		return foreign
	case len(data) < p.size():
		return unfinished
	default:
		return plain
	}
}

func (p *plainRequest) readRequestLine(line []byte) bool {
	const version = " HTTP/1.1"
	switch {
	case bytes.HasPrefix(line, []byte("GET /")):
		p.method = http.MethodGet
	case bytes.HasPrefix(line, []byte("POST /")):
		p.method = http.MethodPost
	default:
		return false
	}
	if !bytes.HasSuffix(line, []byte(version)) {
		return false
	}
	p.target = place{len(p.method) + 1, len(line) - len(version)}
	p.path = p.target
	for i := p.target.from; i < p.target.to; i++ {
		switch c := line[i]; {
		case p.path.to < p.target.to: // in the query
			if !is(c, inQuery) {
				return false
			}
		case c == '?' && i+1 < p.target.to:
			p.path.to = i
		case !is(c, inPath):
			return false
		}
	}
	// Two leading slashes would name another host.
	return p.path.to-p.path.from < 2 || line[p.path.from+1] != '/'
}

// specialFields change how a connection or a body is read, or do not reach handlers
// unchanged.
var specialFields = map[string]bool{
	"Expect": true, "Http2-Settings": true, "Keep-Alive": true, "Pragma": true, "Proxy-Connection": true, "Te": true, "Trailer": true,
	"Transfer-Encoding": true, "Upgrade": true,
}

func (p *plainRequest) readField(data []byte, from, end int) bool {
	colon := from
	for is(data[colon], inName) { // ends at the line's CR at the latest
		colon++
	}
	value := place{colon + 1, end}
	if colon == from || data[colon] != ':' {
		return false
	}
	for value.from < end && data[value.from] == ' ' {
		value.from++
	}
	if value.from == end || data[end-1] == ' ' {
		return false
	}
	for _, c := range data[value.from:end] {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return p.takeField(fieldName(data[from:colon]), value, data)
}

func (p *plainRequest) takeField(name string, value place, data []byte) bool {
	if p.count == maxFields || specialFields[name] {
		return false
	}
	for i := range p.count {
		if p.fields[i].name == name {
			return false
		}
	}
	p.fields[p.count] = plainField{name, value}
	p.count++
	switch text := data[value.from:value.to]; name {
	case "Host":
		p.host = value
		return all(text, inHost)
	case "Connection":
		return bytes.EqualFold(text, []byte("keep-alive"))
	case "Content-Length":
		length, err := strconv.ParseUint(string(text), 10, 16)
		p.length = int(length)
		return err == nil && len(text) <= len("9999") // more digits do not fit into the buffer, or begin with zeros
	default:
		return true
	}
}

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
