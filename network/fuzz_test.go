package network_test

import (
	"errors"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/beacon-wifi/beacon/beacon"
	"github.com/beacon-wifi/beacon/network"
)

// Whatever a body holds, reading it ends in a value or in a fault of the
// client's, with each field named once.
func FuzzReadBodies(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"a":{"b":[1,{"c":null}]}}`, registration(1), readingRoom, `{"scopes":["admin",1,null,{}],"expires_at":"2027-01-01T00:00:00Z"}`,
		`{"name":1e999,"location":{"lat":-0,"lng":1E+2},"device":[{}]}`, `{"settings":{"operating_hours":{"weekly":[1,{"days":[[]]}],"exceptions":{}}}}`,
		`{"":{"":{"":{}}},"0":[0],"a.b":1,"a[0]":1}`, "{\"\\u0000\":\"\\ud83d\\ude00\"}", `{"a":1,"a":2}`, strings.Repeat(`{"a":`, 20), "{\"\xff\":1}",
		`{"settings":{"operating_hours":{"timezone":"UTC","weekly":[],"exceptions":[{"date":"2026-12-25","closed":false,"open":7}]}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for i, err := range network.ReadBodies(body) {
			if err == nil {
				continue
			}
			e, ok := errors.AsType[*beacon.Error](err)
			if !ok || e.Message == "" || !slices.Contains([]beacon.Kind{beacon.InvalidRequest, beacon.MissingParameter, beacon.TooLarge}, e.Kind) {
				t.Fatalf("reader %d: %q gives %#v", i, body, err)
			}
			seen := map[string]bool{}
			for _, field := range e.Fields {
				if seen[field.Field] || field.Message == "" || !utf8.ValidString(field.Field) {
					t.Errorf("reader %d: %q names %q twice, without a message or badly: %v", i, body, field.Field, e.Fields)
				}
				seen[field.Field] = true
			}
		}
	})
}

// isDecimal is the grammar of numbers once more, by another road than the code's.
func isDecimal(text string) bool {
	digits := func() (n int) {
		for ; text != "" && text[0] >= '0' && text[0] <= '9'; n++ {
			text = text[1:]
		}
		return n
	}
	if text != "" && (text[0] == '+' || text[0] == '-') {
		text = text[1:]
	}
	n := digits()
	if strings.HasPrefix(text, ".") {
		text = text[1:]
		n += digits()
	}
	if n == 0 {
		return false
	}
	if text != "" && (text[0] == 'e' || text[0] == 'E') {
		text = text[1:]
		if text != "" && (text[0] == '+' || text[0] == '-') {
			text = text[1:]
		}
		if digits() == 0 {
			return false
		}
	}
	return text == ""
}

// A number in a query is a decimal one within its bounds, or a fault.
func FuzzParseNumber(f *testing.F) {
	for _, seed := range []string{
		"0", "-0", "90", "90.0000001", "-90", "1e400", "-1e-400", "NaN", "Inf", "0x10", "1_0", " 40", "４０", ".5", "5.", ".", "+1", "1e", "", "4.07e1", "00090", "9e1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const least, most = -90, 90
		got, faults := network.ParseNumber(text, least, most)
		if exponent := strings.IndexAny(text, "eE"); exponent >= 0 && len(text)-exponent > 5 {
			return // big.Float would take for ever
		}
		exact, _, err := big.ParseFloat(text, 10, 2000, big.ToNearestEven)
		want := 0.
		valid := isDecimal(text) && err == nil
		if valid {
			want, _ = exact.Float64()
			valid = want >= least && want <= most
		}
		if valid != (len(faults) == 0) || valid && got != want || len(faults) > 1 {
			t.Errorf("%q gives %v, %v; want %v, valid: %t", text, got, faults, want, valid)
		}
	})
}

// Only our own tags name a version, each one version.
func FuzzVersions(f *testing.F) {
	for _, seed := range []string{`"v1"`, `"v01"`, `W/"v1"`, `"v-1"`, `*`, `"v1","v2"`, ``, `,`, `"v9223372036854775808"`, `"v+1"`, ` "v7" `, `"a*"`, `"v1" *`} {
		f.Add(seed)
	}
	ours := regexp.MustCompile(`^"v(0|-?[1-9][0-9]*)"$`)
	f.Fuzz(func(t *testing.T, line string) {
		got := network.Versions(line)
		var want []int64
		for _, tag := range strings.Split(line, ",") {
			tag = strings.TrimSpace(tag)
			if tag == "*" {
				want = nil
				break
			}
			version := int64(-1)
			if m := ours.FindStringSubmatch(tag); m != nil {
				if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
					version = n
				}
			}
			want = append(want, version)
		}
		if !slices.Equal(got, want) {
			t.Errorf("If-Match: %q gives %v; want %v", line, got, want)
		}
		for _, version := range got {
			if again := network.Versions(network.TagOf(version)); len(again) != 1 || again[0] != version {
				t.Errorf("version %d reads back as %v", version, again)
			}
		}
	})
}
