// Package coding compresses responses: it reads Accept-Encoding (RFC 9110 §12.5.3), and
// encodes bodies with zstd or gzip. It does not decide which responses may be compressed:
// one that contains a secret must not be (the BREACH attack), and only the caller knows.
// The encoders are those of klauspost/compress. Its handler, gzhttp, is not used: it would
// compress for each request what is compressed here once.
// Its one invariant: two representations of a body never have the same strong entity tag.
package coding

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// Coding is a content coding. The zero value leaves a body as it is.
type Coding uint8

// The codings, in ascending order of preference.
const (
	Identity Coding = iota
	Gzip
	Zstd
	count
)

// MinSize is the size from which a body is compressed when it is sent. Below it, a
// response is one or two packets either way.
const MinSize = 2 << 10

var names = [count]string{"identity", "gzip", "zstd"}

// String returns the name of the coding.
func (c Coding) String() string { return names[c] }

// headers are the values of Content-Encoding. Responses share them and only read them.
var headers = [count][]string{nil, {"gzip"}, {"zstd"}}

// Header returns the value of Content-Encoding; nil for Identity.
func (c Coding) Header() []string { return headers[c] }

// TagOf returns the entity tag of a plain body, the same on every server.
func TagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// Tag returns the entity tag of a body in this coding, given the tag of the plain body.
func (c Coding) Tag(plain string) string {
	if c == Identity {
		return plain
	}
	return strings.TrimSuffix(plain, `"`) + "-" + names[c] + `"`
}

// ForSize returns the coding for a body of a given size: that which the client prefers,
// or none for a short body.
func ForSize(accepted []string, size int) Coding {
	if size < MinSize {
		return Identity
	}
	return Accepted(accepted)
}

// Accepted returns the coding that a client prefers, given its Accept-Encoding headers:
// the highest weight wins, then zstd, then gzip. Identity needs no mention and comes last
// unless it has a weight of its own. A client that accepts nothing gets Identity too: a
// readable response is better than none.
func Accepted(lines []string) Coding {
	if len(lines) == 0 {
		return Identity
	}
	weights := weigh(lines)
	best := Identity
	for c := Gzip; c < count; c++ {
		if weights[c] > 0 && weights[c] >= weights[best] {
			best = c
		}
	}
	return best
}

// unnamed is the weight of a coding that the client did not name.
const unnamed = -1

// weigh returns the weight of each coding.
func weigh(lines []string) (weights [count]float64) {
	others := float64(unnamed) // the weight of "*"
	for c := range weights {
		weights[c] = unnamed
	}
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			name, parameters, _ := strings.Cut(item, ";")
			weight, ok := readWeight(parameters)
			if !ok {
				continue // ignore what cannot be read
			}
			switch name = strings.TrimSpace(name); {
			case name == "*":
				others = weight
			case strings.EqualFold(name, "gzip"), strings.EqualFold(name, "x-gzip"):
				weights[Gzip] = weight
			case strings.EqualFold(name, "zstd"):
				weights[Zstd] = weight
			case strings.EqualFold(name, "identity"):
				weights[Identity] = weight
			}
		}
	}
	if weights[Gzip] == unnamed {
		weights[Gzip] = others // a client that accepts anything knows gzip, but perhaps not zstd
	}
	return weights
}

// readWeight reads the parameter q, which is from 0 to 1 with at most three decimals, and
// 1 if absent.
func readWeight(parameters string) (weight float64, ok bool) {
	parameters = strings.TrimSpace(parameters)
	if parameters == "" {
		return 1, true
	}
	name, text, _ := strings.Cut(parameters, "=")
	text = strings.TrimSpace(text)
	if !strings.EqualFold(strings.TrimSpace(name), "q") || len(text) > len("0.000") || strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	weight, err := strconv.ParseFloat(text, 64)
	return weight, err == nil && weight <= 1
}
