package httpserver

import (
	"bytes"
	"net/http"
	"strings"
)

// A plain request is one that the lane serves itself. It is what nearly all
// clients send, in the one spelling that nobody can read in two ways:
//
//   - GET without a body, or POST with one Content-Length, of HTTP/1.1;
//   - a target that is a path without escapes, and maybe a query that is not empty;
//   - header lines of a name, a colon and a value in printable ASCII that is not
//     empty and has no blank at its end, each line ending in CR LF, no name twice;
//   - exactly one Host of letters, digits and "-_.:[]";
//   - nothing that changes how a connection or a body is read: see specialFields;
//   - not more than maxPlain bytes, body included, and maxFields lines.
//
// Whatever else comes is left to net/http, right or wrong. That a plain request
// is the same for both is what FuzzPlain checks.
const (
	maxPlain  = 4 << 10
	maxFields = 24
)

// verdict is what a look at the first bytes of a connection says.
type verdict int

const (
	foreign    verdict = iota // something that is not plain
	unfinished                // plain as far as it goes
	plain
)

// plainRequest is a plain request, taken apart. Its parts are places in the
// bytes that it was read from, which are not copied before it is plain.
type plainRequest struct {
	method       string
	target, path place
	fields       [maxFields]plainField
	count        int
	host         place
	length       int // of the body; -1 where there is no Content-Length
	head         int // how many bytes the head has
}

type place struct{ from, to int }

type plainField struct {
	name  string
	value place
}

// size is how many bytes the whole request has.
func (p *plainRequest) size() int { return p.head + max(p.length, 0) }

// parse looks at what came on a connection.
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

// wait decides on a head that is not there as a whole.
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
	// Two slashes at the beginning would name a host elsewhere.
	return p.path.to-p.path.from < 2 || line[p.path.from+1] != '/'
}

// specialFields change how a connection or a body is read, or are not handed to
// handlers as they come.
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
		return p.readLength(text)
	default:
		return true
	}
}

// readLength reads digits, and not so many that they could overflow.
func (p *plainRequest) readLength(text []byte) bool {
	if len(text) > len("9999") {
		return false
	}
	p.length = 0
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
		p.length = p.length*10 + int(c-'0')
	}
	return true
}
