package preview

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// query holds the raw parameters of a list request. A field is empty if the parameter is
// absent or empty, which means the same (decision P3).
type query struct {
	limit, offset, risk, network, search string
}

// parseQuery parses a raw query string. It never fails: this API has no 400 (decision
// P4). What cannot be decoded is kept as is, as browsers do, so that a broken filter
// matches nothing instead of everything (decision P10).
func parseQuery(raw string) query {
	var q query
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		name, value, _ := strings.Cut(pair, "=")
		if field := q.field(unescape(name)); field != nil && *field == "" {
			*field = unescape(value) // the first of a repeated parameter counts
		}
	}
	return q
}

func (q *query) field(name string) *string {
	switch name {
	case "limit":
		return &q.limit
	case "offset":
		return &q.offset
	case "risk":
		return &q.risk
	case "network":
		return &q.network
	case "search":
		return &q.search
	default:
		return nil // unknown parameters are ignored
	}
}

// unescape decodes %XX and +. A % that begins no valid escape is kept.
func unescape(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '+' {
			c = ' '
		} else if c == '%' && i+2 < len(s) {
			if code, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				c = byte(code)
				i += 2
			}
		}
		out = append(out, c)
	}
	return string(out)
}

// wholeNumber parses a signed decimal number of any size and saturates if it does not
// fit. It returns the fallback for any other text (decision P4).
func wholeNumber(text string, fallback int64) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	saturates := errors.Is(err, strconv.ErrRange) && strings.Trim(text[1:], "0123456789") == ""
	if err != nil && !saturates {
		return fallback
	}
	return max(n, -math.MaxInt64)
}
