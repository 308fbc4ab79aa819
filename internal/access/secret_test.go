package access_test

import (
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

var shape = regexp.MustCompile(`^bcn_([0-7][0-9a-hjkmnp-tv-z]{25})_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$`)

// sum spells a CRC-32 by the standard library, which counts a..z before A..Z.
func sum(body string) string {
	text := fmt.Sprintf("%06s", big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))).Text(62))
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, text)
}

func TestMint(t *testing.T) {
	preview := regexp.MustCompile(`^svc_(test|live)_[a-zA-Z0-9]{6,}$`)
	wanted := beacon.Key{User: "usr_1", Name: "ci", Scopes: []beacon.Scope{beacon.Admin}, ExpiresAt: noon.Add(time.Hour)}
	seen := map[string]bool{}
	for range 200 {
		key, plain := access.Mint(noon, wanted)
		parts := shape.FindStringSubmatch(plain)
		if parts == nil || preview.MatchString(plain) {
			t.Fatalf("%q is no key of ours", plain)
		}
		if string(key.ID) != "key_"+parts[1] || !id.Valid("key_", string(key.ID)) {
			t.Errorf("%q has the id %s", plain, key.ID)
		}
		if key.SecretHash != sha256.Sum256([]byte(parts[2])) || parts[3] != sum(plain[:61]) {
			t.Errorf("%q: hash or checksum is wrong", plain)
		}
		if key.User != "usr_1" || key.Name != "ci" || len(key.Scopes) != 1 || !key.CreatedAt.Equal(noon) || !key.ExpiresAt.Equal(wanted.ExpiresAt) {
			t.Errorf("minted %+v; want what was asked for", key)
		}
		if seen[parts[2]] || seen[parts[1]] {
			t.Fatalf("%q came twice", plain)
		}
		seen[parts[1]], seen[parts[2]] = true, true
		if p, ok := access.Parse(plain); !ok || p.ID() != key.ID {
			t.Errorf("Parse(%q) = %v, %t", plain, p, ok)
		}
	}
}

// All 62 characters must come up about equally often in every place.
func TestMint_IsFair(t *testing.T) {
	counts := map[rune]int{}
	const keys = 8000
	for range keys {
		_, plain := access.Mint(noon, beacon.Key{})
		for _, r := range plain[31:61] {
			counts[r]++
		}
	}
	mean := keys * 30 / 62.0
	if len(counts) != 62 {
		t.Errorf("%d characters; want 62", len(counts))
	}
	for r, n := range counts {
		if float64(n) < mean*0.88 || float64(n) > mean*1.12 { // seven standard deviations
			t.Errorf("%c came %d times; want about %.0f", r, n, mean)
		}
	}
}

func TestParse_RefusesEveryTypo(t *testing.T) {
	_, plain := access.Mint(noon, beacon.Key{})
	for i := range len(plain) {
		for _, c := range []byte("0aZ_-\x00\xff ") {
			if typo := plain[:i] + string([]byte{c}) + plain[i+1:]; typo != plain {
				if _, ok := access.Parse(typo); ok {
					t.Errorf("Parse accepts %q for %q", typo, plain)
				}
			}
		}
		if i > 0 {
			if swapped := plain[:i-1] + plain[i:i+1] + plain[i-1:i] + plain[i+1:]; swapped != plain {
				if _, ok := access.Parse(swapped); ok {
					t.Errorf("Parse accepts %q for %q", swapped, plain)
				}
			}
		}
		if _, ok := access.Parse(plain[:i]); ok {
			t.Errorf("Parse accepts %q", plain[:i])
		}
	}
	for _, bad := range []string{"", plain + "0", " " + plain, plain + "\n", strings.Repeat("bcn_", 1<<16), "svc_test_abcdef", "Bearer " + plain} {
		if _, ok := access.Parse(bad); ok {
			t.Errorf("Parse accepts %.80q", bad)
		}
	}
}

// A right checksum does not make up for a wrong form.
func TestParse_RefusesOddForms(t *testing.T) {
	const public, secret = "01k0000000000000000000000a", "0123456789abcdefghijABCDEFGHIJ"
	for body, want := range map[string]bool{
		"bcn_" + public + "_" + secret:                                true,
		"bcn_" + public + "-" + secret:                                false,
		"bcm_" + public + "_" + secret:                                false,
		"bcn_8" + public[1:] + "_" + secret:                           false, // more than 128 bits
		"bcn_" + strings.Replace(public, "a", "u", 1) + "_" + secret:  false, // not in the alphabet of ids
		"bcn_" + public + "_" + strings.Replace(secret, "a", "_", 1):  false,
		"bcn_" + public + "_" + strings.Replace(secret, "ab", "é", 1): false,
	} {
		if _, ok := access.Parse(body + sum(body)); ok != want {
			t.Errorf("Parse(%q): %t; want %t", body+sum(body), ok, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	_, plain := access.Mint(noon, beacon.Key{})
	body := "bcn_01k0000000000000000000000a_0123456789abcdefghijABCDEFGHIJ"
	for _, seed := range []string{plain, body + sum(body), body, "", "svc_test_abcdef", strings.Repeat("_", 67)} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, seal bool) {
		if seal { // or the fuzzer would never guess a checksum
			text = text[:min(len(text), 61)]
			text += sum(text)
		}
		parts := shape.FindStringSubmatch(text)
		want := parts != nil && parts[3] == sum(text[:61])
		got, ok := access.Parse(text)
		if ok != want || ok && string(got.ID()) != "key_"+parts[1] {
			t.Errorf("Parse(%q) = %v, %t; want %t", text, got, ok, want)
		}
	})
}

func TestMintDevice(t *testing.T) {
	hotspot := beacon.HotspotID(id.New(beacon.HotspotPrefix, noon))
	other := beacon.HotspotID(id.New(beacon.HotspotPrefix, noon))
	seen := map[string]bool{}
	for range 100 {
		plain, hash := access.MintDevice(hotspot)
		parts := shape.FindStringSubmatch(plain)
		if parts == nil || "hs_"+parts[1] != string(hotspot) || parts[3] != sum(plain[:61]) || hash != sha256.Sum256([]byte(parts[2])) {
			t.Fatalf("%q is no key of %s", plain, hotspot)
		}
		p, ok := access.Parse(plain)
		if !ok || p.Hotspot() != hotspot || p.Hash() != hash || !p.IsOf(hotspot) || p.IsOf(other) {
			t.Errorf("Parse(%q) = %v, %t", plain, p, ok)
		}
		for _, odd := range []beacon.HotspotID{"", "hs_", hotspot[3:], hotspot[:28], hotspot + "0"} {
			if p.IsOf(odd) {
				t.Errorf("%q is taken for a key of %q", plain, odd)
			}
		}
		seen[plain] = true
	}
	if len(seen) != 100 {
		t.Errorf("%d different keys of 100", len(seen))
	}
}

// A key of a device is no API key, even where ids are alike.
func TestVerify_DeviceKey(t *testing.T) {
	w := newWorld()
	k, _ := w.add(t, beacon.Key{})
	plain, _ := access.MintDevice(beacon.HotspotID("hs_" + strings.TrimPrefix(string(k.ID), "key_")))
	if p, err := w.Verify(t.Context(), plain); err == nil {
		t.Errorf("the key of a device opens as %+v", p)
	}
}

func TestMintLinkCode(t *testing.T) {
	form := regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$`)
	seen := map[string]bool{}
	for range 1000 {
		plain, hash := access.MintLinkCode()
		if !form.MatchString(plain) {
			t.Fatalf("%q is no link code", plain)
		}
		for _, typed := range []string{plain, strings.ToLower(plain), strings.ReplaceAll(plain, "-", ""), strings.ReplaceAll(plain, "0", "O"), strings.ReplaceAll(plain, "1", "l")} {
			if got, ok := access.HashLinkCode(typed); !ok || got != hash {
				t.Errorf("%q, typed as %q, is not known again", plain, typed)
			}
		}
		seen[plain] = true
	}
	if len(seen) != 1000 {
		t.Errorf("%d different codes of 1000", len(seen))
	}
	if _, ok := access.HashLinkCode("K7QX-29M"); ok {
		t.Error("half a code is taken for one")
	}
}
