package beacon

import (
	"errors"
	"strconv"
	"strings"
)

// Amount is money, in millionths of a credit. It is added and compared as an integer:
// no amount is ever a float (decision N17).
type Amount int64

// Credit is the unit in which amounts are shown.
const Credit Amount = 1_000_000

// amountDigits is how many digits a credit has after the point.
const amountDigits = 6

// Append appends the amount in credits: every digit, and no trailing zeros.
func (a Amount) Append(out []byte) []byte {
	rest := uint64(a)
	if a < 0 {
		out, rest = append(out, '-'), -rest
	}
	out = strconv.AppendUint(out, rest/uint64(Credit), 10)
	rest %= uint64(Credit)
	if rest > 0 {
		out = append(out, '.')
	}
	for unit := uint64(Credit / 10); rest > 0; unit /= 10 {
		out = append(out, '0'+byte(rest/unit))
		rest %= unit
	}
	return out
}

// String returns the amount as Append writes it.
func (a Amount) String() string { return string(a.Append(nil)) }

// MarshalJSON writes the amount as a number.
func (a Amount) MarshalJSON() ([]byte, error) { return a.Append(nil), nil }

var errAmount = errors.New("must be an amount such as 12.5, with at most six digits after the point")

// UnmarshalJSON reads a number, or a string that holds one. It never makes a float of
// it.
func (a *Amount) UnmarshalJSON(text []byte) (err error) {
	*a, err = ParseAmount(strings.Trim(string(text), `"`))
	return err
}

// ParseAmount reads an amount of less than a million million credits, exactly.
func ParseAmount(text string) (Amount, error) {
	whole, negative := strings.CutPrefix(text, "-")
	whole, part, point := strings.Cut(whole, ".")
	if whole == "" || len(whole) > 12 || point && part == "" || len(part) > amountDigits {
		return 0, errAmount
	}
	var n Amount
	for _, digit := range whole + part + strings.Repeat("0", amountDigits-len(part)) {
		if digit < '0' || digit > '9' {
			return 0, errAmount
		}
		n = n*10 + Amount(digit-'0')
	}
	if negative {
		n = -n
	}
	return n, nil
}

// RewardUnit is the unit of amounts (decision N17).
const RewardUnit = "credit"
