package beacon_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

func TestAmount_String(t *testing.T) {
	for amount, want := range map[beacon.Amount]string{
		0: "0", 1: "0.000001", -1: "-0.000001", 10: "0.00001", 100_000: "0.1", 999_999: "0.999999", 1_000_000: "1",
		-1_500_000: "-1.5", 10_000_000: "10", 12_345_678: "12.345678", 20_000_001: "20.000001", 3_050_000: "3.05",
		math.MaxInt64: "9223372036854.775807", math.MinInt64: "-9223372036854.775808",
	} {
		if got := amount.String(); got != want {
			t.Errorf("%d millionths are %s; want %s", int64(amount), got, want)
		}
		if got := string(amount.Append([]byte("x"))); got != "x"+want {
			t.Errorf("appended to x: %s; want x%s", got, want)
		}
	}
}

// randomAmount has any number of digits.
func randomAmount(random *rand.Rand) beacon.Amount {
	n := beacon.Amount(random.Int64N(int64(math.Pow10(1 + random.IntN(18)))))
	if random.IntN(2) == 0 {
		return -n
	}
	return n
}

// What is written is the number that is meant, in its shortest form, and is read
// as the same.
func TestAmount_RoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(level.Seed(t), 1))
	for range 50_000 {
		amount := randomAmount(random)
		text := amount.String()
		value, ok := new(big.Rat).SetString(text)
		if !ok || value.Cmp(big.NewRat(int64(amount), 1_000_000)) != 0 {
			t.Fatalf("%d millionths are written as %s", int64(amount), text)
		}
		if strings.Contains(text, ".") && strings.HasSuffix(text, "0") || strings.HasSuffix(text, ".") {
			t.Fatalf("%s ends in nothing", text)
		}
		if read, err := beacon.ParseAmount(text); err != nil || read != amount {
			t.Fatalf("%s is read as %d, %v; want %d", text, int64(read), err, int64(amount))
		}
	}
}

func TestAmount_JSON(t *testing.T) {
	type answer struct{ A, B beacon.Amount }
	want := answer{-1_500_000, 999_999_999_999_999_999}
	text, err := json.Marshal(want)
	if err != nil || string(text) != `{"A":-1.5,"B":999999999999.999999}` {
		t.Fatalf("got %s, %v", text, err)
	}
	for _, text := range []string{string(text), `{"A":"-1.5","B":"999999999999.999999"}`, `{"A":-1.500000,"B":999999999999.999999}`} {
		var got answer
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is read as %v, %v; want %v", text, got, err, want)
		}
	}
	for _, value := range []string{`null`, `true`, `""`, `"x"`, `1e3`, `0.0000001`, `[]`, `{}`} {
		var got answer
		if err := json.Unmarshal(fmt.Appendf(nil, `{"A":%s}`, value), &got); err == nil {
			t.Errorf("%s is read as %v", value, got)
		}
	}
}

func TestParseAmount(t *testing.T) {
	for text, want := range map[string]beacon.Amount{
		"0": 0, "-0": 0, "1": 1e6, "0.5": 5e5, "0.50": 5e5, "0.000001": 1, "-2.000001": -2_000_001, "12.500000": 12_500_000,
		"999999999999.999999": 999_999_999_999_999_999,
	} {
		if got, err := beacon.ParseAmount(text); err != nil || got != want {
			t.Errorf("ParseAmount(%q) = %d, %v; want %d", text, int64(got), err, int64(want))
		}
	}
	for _, text := range []string{
		"", "-", ".", "-.", ".5", "1.", "+1", "--1", "1-", " 1", "1 ", "1,5", "1.2.3", "1e3", "1E3", "0x1", "1_0", "NaN", "Inf",
		"0.0000001", "1.-5", "1000000000000", "9999999999999999999999", "٣", "1.٣", "½", "\x00", "1\n", "null",
	} {
		if got, err := beacon.ParseAmount(text); err == nil {
			t.Errorf("ParseAmount(%q) = %d; want an error", text, int64(got))
		}
	}
}

func FuzzParseAmount(f *testing.F) {
	f.Add("12.5")
	f.Add("-0.000001")
	f.Fuzz(func(t *testing.T, text string) {
		amount, err := beacon.ParseAmount(text)
		if err != nil {
			return
		}
		value, ok := new(big.Rat).SetString(text)
		if !ok || value.Cmp(big.NewRat(int64(amount), 1_000_000)) != 0 {
			t.Errorf("%q is read as %d millionths", text, int64(amount))
		}
	})
}

func TestFacts_None(t *testing.T) {
	for _, none := range []beacon.Facts{{}, {Outside: 1440}, {Tier: beacon.Premium}} {
		if !none.None() {
			t.Errorf("%+v leaves a trace", none)
		}
	}
	for _, some := range []beacon.Facts{{Expected: 1}, {Closed: 1}, {Excused: 1}, {Bytes: 1}} {
		if some.None() {
			t.Errorf("%+v leaves no trace", some)
		}
	}
}

func TestEarned(t *testing.T) {
	a, b := beacon.Earned{Availability: 1, Performance: 20, Utilization: 300}, beacon.Earned{Availability: 4000, Performance: 50000, Utilization: 600000}
	if got := a.Plus(b); got != (beacon.Earned{Availability: 4001, Performance: 50020, Utilization: 600300}) || got.Total() != 654321 {
		t.Errorf("%v and %v are %v, %s in all", a, b, got, got.Total())
	}
}
