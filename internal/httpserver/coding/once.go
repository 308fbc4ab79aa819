package coding

import (
	"net/http"
	"strconv"
	"sync"
)

// Once is a body that never changes. It is compressed once in each coding, on first use.
type Once struct {
	variants [count]func() Variant
}

// Variant is a body in one coding.
type Variant struct {
	Coding Coding
	Body   []byte
	Tag    []string // of HTTP headers, as is Length
	Length []string
}

// NewOnce returns a body, which must not change afterwards.
func NewOnce(body []byte) *Once {
	tag := TagOf(body)
	plain := newVariant(Identity, body, tag)
	o := &Once{variants: [count]func() Variant{Identity: func() Variant { return plain }}}
	for c := Gzip; c < count; c++ {
		o.variants[c] = sync.OnceValue(func() Variant {
			if small := c.best(body); len(small) < len(body) {
				return newVariant(c, small, tag)
			}
			return plain
		})
	}
	return o
}

func newVariant(c Coding, body []byte, tag string) Variant {
	return Variant{c, body, []string{c.Tag(tag)}, []string{strconv.Itoa(len(body))}}
}

// For returns the variant for a client that sends these Accept-Encoding headers.
func (o *Once) For(accepted []string) Variant { return o.variants[Accepted(accepted)]() }

// SetHeader sets the headers that describe the variant. Do not call it for a response
// without a body.
func (v Variant) SetHeader(h http.Header) {
	if v.Coding != Identity {
		h["Content-Encoding"] = v.Coding.Header()
	}
	h["Content-Length"] = v.Length
}
