package policy_test

import (
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

func TestParseLine(t *testing.T) {
	p := policy.Policy{Version: 12, From: 20_000, Availability: 1, Performance: [3]beacon.Amount{2, 3, 4}, PerGB: 5, Cap: 6}
	for _, want := range append(policy.Default(), p) {
		if got, err := policy.ParseLine(want.Line()); err != nil || got != want {
			t.Errorf("ParseLine(%q) = %+v, %v", want.Line(), got, err)
		}
	}
	line := p.Line()
	for i := range strings.Count(line, ",") {
		words := strings.Split(line, ",")
		words[i] = "x"
		if got, err := policy.ParseLine(strings.Join(words, ",")); err == nil {
			t.Errorf("%q is read as %+v", words, got)
		}
	}
	for _, text := range []string{"", "policy", line + ",7", strings.Replace(line, ",1,", ",01,", 1), " " + line} {
		if got, err := policy.ParseLine(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}
