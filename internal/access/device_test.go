package access_test

import (
	"crypto/sha256"
	"regexp"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

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
