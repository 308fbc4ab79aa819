package client

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Amount is a number of credits, in millionths: exact, unlike a float64.
type Amount int64

const (
	digits = 6
	credit = 1_000_000
)

// String formats the amount in credits, as the server does: "1.25", "0".
func (a Amount) String() string {
	sign, v := "", uint64(a)
	if a < 0 {
		sign, v = "-", -v
	}
	text := fmt.Sprintf("%s%d.%0*d", sign, v/credit, digits, v%credit)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// MarshalJSON encodes the amount in credits.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalJSON decodes an amount in credits, exactly.
func (a *Amount) UnmarshalJSON(text []byte) error {
	whole, part, _ := strings.Cut(string(text), ".")
	if len(part) > digits {
		return fmt.Errorf("%s is not an amount: it has more than %d decimals", text, digits)
	}
	v, err := strconv.ParseInt(whole+part+strings.Repeat("0", digits-len(part)), 10, 64)
	if err != nil || v == math.MinInt64 {
		return fmt.Errorf("%s is not an amount", text)
	}
	*a = Amount(v)
	return nil
}
