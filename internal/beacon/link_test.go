package beacon_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func TestSpellLinkCode(t *testing.T) {
	seen := map[byte]bool{}
	for b := range 256 {
		code := beacon.SpellLinkCode([beacon.LinkCodeLength]byte{byte(b), 1, 2, 3, 4, 5, 6, 7})
		if canonical, ok := beacon.CanonicalLinkCode(code); !ok || canonical != code || code[1:] != "1234567" {
			t.Errorf("%d: %q reads back as %q, %t", b, code, canonical, ok)
		}
		seen[code[0]] = true
	}
	if len(seen) != 32 {
		t.Errorf("%d characters; want 32, each as likely as the others", len(seen))
	}
}

func TestCanonicalLinkCode(t *testing.T) {
	for text, want := range map[string]string{
		"K7QX-29MD": "K7QX29MD", "k7qx29md": "K7QX29MD", " k7 qx--29-MD ": "K7QX29MD", "OoIiLl-01": "00111101", "ZZZZZZZZ": "ZZZZZZZZ",
		"": "", "K7QX-29M": "", "K7QX-29MDD": "", "K7QX_29MD": "", "U7QX-29MD": "", "K7QX-29Mé": "", "K7QX\u201029MD": "", "K7QX-29M\x00": "",
		"K7QX-29MD" + strings.Repeat("-", 24): "", strings.Repeat("-", 1<<20): "",
	} {
		if got, ok := beacon.CanonicalLinkCode(text); ok != (want != "") || ok && got != want {
			t.Errorf("%.40q is %q, %t; want %q", text, got, ok, want)
		}
	}
}

func FuzzCanonicalLinkCode(f *testing.F) {
	for _, seed := range []string{"K7QX-29MD", "o0iIlL11", "- - ", "K7QX29MDK7QX", "\xff\xff\xff\xff\xff\xff\xff\xff"} {
		f.Add(seed)
	}
	shape := regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{8}$`)
	swap := strings.NewReplacer("-", "", " ", "", "o", "0", "O", "0", "i", "1", "I", "1", "l", "1", "L", "1")
	f.Fuzz(func(t *testing.T, text string) {
		want := swap.Replace(text)
		valid := regexp.MustCompile(`^[0-9A-Za-z]{8}$`).MatchString(want) && len(text) <= 32
		want = strings.ToUpper(want)
		valid = valid && shape.MatchString(want)
		if got, ok := beacon.CanonicalLinkCode(text); ok != valid || ok && got != want {
			t.Errorf("%q is %q, %t; want %q, %t", text, got, ok, want, valid)
		}
	})
}

// What a device wrote is right or wrong as a whole: only what is absent or null
// is told by name.
func TestLinkForm(t *testing.T) {
	for _, test := range []struct {
		form   beacon.LinkForm
		fields []string
	}{
		{beacon.LinkForm{Code: some(""), MAC: some("nonsense")}, nil},
		{beacon.LinkForm{}, []string{"code", "mac_address"}},
		{beacon.LinkForm{Code: some("K7QX-29MD")}, []string{"mac_address"}},
		{beacon.LinkForm{Code: beacon.Null[string](), MAC: some("")}, []string{"code"}},
	} {
		if err := test.form.Validate(); !slices.Equal(faultyFields(t, err), test.fields) {
			t.Errorf("%+v: %v; want faults of %v", test.form, err, test.fields)
		}
	}
}
