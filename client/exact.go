package client

import (
	"fmt"
	"strconv"
	"strings"
)

// Amount is a number of credits, in millionths: exact, unlike a float64.
type Amount int64

const amountDigits = 6

// String formats the amount in credits, as the server does: "1.25", "0".
func (a Amount) String() string {
	if a < 0 {
		return "-" + exact(-uint64(a), amountDigits)
	}
	return exact(uint64(a), amountDigits)
}

// MarshalJSON encodes the amount in credits.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalJSON decodes an amount in credits, exactly.
func (a *Amount) UnmarshalJSON(text []byte) error {
	positive, negative := strings.CutPrefix(string(text), "-")
	v, err := parseExact(positive, amountDigits, 63)
	if err != nil {
		return fmt.Errorf("%s is not an amount: %w", text, err)
	}
	if *a = Amount(v); negative {
		*a = -*a
	}
	return nil
}

// Gigabytes is a number of bytes, which is sent in units of 10^9 of them: exact, unlike a
// float64.
type Gigabytes uint64

const gigabyteDigits = 9

// String formats the number of gigabytes: "1.5".
func (g Gigabytes) String() string { return exact(uint64(g), gigabyteDigits) }

// MarshalJSON encodes the number of gigabytes.
func (g Gigabytes) MarshalJSON() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalJSON decodes a number of gigabytes, exactly.
func (g *Gigabytes) UnmarshalJSON(text []byte) error {
	v, err := parseExact(string(text), gigabyteDigits, 64)
	if err != nil {
		return fmt.Errorf("%s is not a number of gigabytes: %w", text, err)
	}
	*g = Gigabytes(v)
	return nil
}

// exact writes a number with some of its digits after the point, without trailing zeros.
func exact(v uint64, digits int) string {
	text := strconv.FormatUint(v, 10)
	if missing := digits + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	point := len(text) - digits
	part := strings.TrimRight(text[point:], "0")
	if part == "" {
		return text[:point]
	}
	return text[:point] + "." + part
}

// parseExact is the inverse of exact.
func parseExact(text string, digits, bits int) (uint64, error) {
	whole, part, _ := strings.Cut(text, ".")
	if len(part) > digits {
		return 0, fmt.Errorf("it has more than %d decimals", digits)
	}
	return strconv.ParseUint(whole+part+strings.Repeat("0", digits-len(part)), 10, bits)
}
