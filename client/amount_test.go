package client_test

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/beacon-wifi/beacon/client"
)

// An amount is the number that its text is, to the last digit, and back.
func TestAmount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := client.Amount(rapid.Int64Range(math.MinInt64+1, math.MaxInt64).Draw(t, "amount"))
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		exact, ok := new(big.Rat).SetString(string(text))
		if !ok || exact.Cmp(big.NewRat(int64(a), 1_000_000)) != 0 {
			t.Fatalf("%d millionths are %s", int64(a), text)
		}
		var back client.Amount
		if err := json.Unmarshal(text, &back); err != nil || back != a {
			t.Fatalf("%s is read as %d, %v; want %d", text, back, err, a)
		}
	})
	for text, want := range map[string]client.Amount{"0": 0, "1": 1_000_000, "0.000001": 1, "1.250000": 1_250_000, "-0.5": -500_000, "12.03": 12_030_000} {
		var a client.Amount
		if err := json.Unmarshal([]byte(text), &a); err != nil || a != want {
			t.Errorf("%s is read as %d, %v; want %d", text, a, err, want)
		}
	}
	for _, text := range []string{`0.0000001`, `1e3`, `"1"`, `9223372036854.775808`, `99999999999999999999`, `true`} {
		var a client.Amount
		if err := json.Unmarshal([]byte(text), &a); err == nil {
			t.Errorf("%s is read as %v", text, a)
		}
	}
}
