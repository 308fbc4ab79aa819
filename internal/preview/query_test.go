package preview

import (
	"math"
	"math/big"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// Where the standard library reads a query without complaint, both agree.
func FuzzParseQuery(f *testing.F) {
	for _, seed := range []string{
		"", "limit=5&offset=7", "limit=5&limit=6", "network=WiFi+6", "network=WiFi%206", "search=%zz", "search=%", "a;b",
		"&&&", "limit", "=", "search=%00", "li%6dit=1", "search=%E2%98%83&risk=low", "limit=&limit=2", "search=a=b", "%=%",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := parseQuery(raw)
		values, err := url.ParseQuery(raw)
		if err != nil {
			return // a % or ; that the standard library refuses: only no panic is asked
		}
		for name, field := range map[string]string{
			"limit": got.limit, "offset": got.offset, "risk": got.risk, "network": got.network, "search": got.search,
		} {
			want := ""
			for _, value := range values[name] {
				if value != "" {
					want = value
					break
				}
			}
			if field != want {
				t.Errorf("%q: %s is %q; want %q", raw, name, field, want)
			}
		}
	})
}

// The oracle has numbers of any size.
func FuzzWholeNumber(f *testing.F) {
	for _, seed := range []string{
		"", "0", "-0", "+7", "-7", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1e3", "0x1", " 1",
		"99999999999999999999999999", "1_000", "--1", "+-1", "922337203685477580x", "00000000000000000000001",
	} {
		f.Add(seed)
	}
	decimal := regexp.MustCompile(`^[+-]?[0-9]+$`)
	f.Fuzz(func(t *testing.T, text string) {
		const fallback = -424242
		want := int64(fallback)
		if decimal.MatchString(text) {
			exact, _ := new(big.Int).SetString(strings.TrimPrefix(text, "+"), 10)
			switch {
			case exact.IsInt64() && exact.Int64() != math.MinInt64:
				want = exact.Int64()
			case exact.Sign() < 0:
				want = -math.MaxInt64
			default:
				want = math.MaxInt64
			}
		}
		if got := wholeNumber(text, fallback); got != want {
			t.Errorf("%q is %d; want %d", text, got, want)
		}
	})
}

func FuzzKeyShape(f *testing.F) {
	for _, seed := range []string{"svc_test_abcdef", "svc_live_ABC123", "svc_test_abcde", "svc_test_abcdef\n", "xsvc_test_abcdef"} {
		f.Add(seed)
	}
	shape, err := newKeyShape("svc")
	if err != nil {
		f.Fatal(err)
	}
	documented := regexp.MustCompile(`\Asvc_(test|live)_[a-zA-Z0-9]{6,}\z`)
	f.Fuzz(func(t *testing.T, key string) {
		if got, want := shape.matches(key), documented.MatchString(key); got != want {
			t.Errorf("%q: %v; want %v", key, got, want)
		}
	})
}

func TestKeyPrefix(t *testing.T) {
	shape, err := newKeyShape("acme")
	if err != nil || !shape.matches("acme_live_abcdef") || shape.matches("svc_live_abcdef") {
		t.Errorf("the prefix acme gives %+v, %v", shape, err)
	}
	for _, bad := range []string{"", "a b", "svc_", "é"} {
		if _, err := newKeyShape(bad); err == nil {
			t.Errorf("the prefix %q is accepted", bad)
		}
	}
}

func TestGrade(t *testing.T) {
	for _, tc := range []struct {
		active, nodes int
		want          string
	}{
		{100, 100, "operational"}, {95, 100, "operational"}, {94, 100, "degraded"}, {50, 100, "degraded"}, {49, 100, "outage"}, {0, 6, "outage"},
	} {
		if got := grade(tc.active, tc.nodes); got != tc.want {
			t.Errorf("%d of %d: %s; want %s", tc.active, tc.nodes, got, tc.want)
		}
	}
}
