package beacon_test

import (
	"net"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func TestParseMAC(t *testing.T) {
	const canonical = "aa:0b:cc:dd:ee:ff"
	for _, text := range []string{
		canonical, "AA:0B:CC:DD:EE:FF", "aA:0b:Cc:dD:Ee:fF", "AA-0B-CC-DD-EE-FF", "aa.0b.cc.dd.ee.ff",
		"aa0b.ccdd.eeff", "AA0BCCDDEEFF", "aa0bccddeeff",
	} {
		mac, err := beacon.ParseMAC(text)
		if err != nil || string(mac) != text {
			t.Errorf("ParseMAC(%q) = %q, %v; want it as it was written", text, mac, err)
		}
		if got := mac.Canonical(); got != canonical {
			t.Errorf("%q is %q; want %q", text, got, canonical)
		}
	}
}

func TestParseMAC_Refuses(t *testing.T) {
	for _, text := range []string{
		"", "aa", "aa:0b:cc:dd:ee", "aa:0b:cc:dd:ee:ff:00", "aa:0b:cc:dd:ee:ff:00:11", "aa0bccddeeff0011",
		"aa:0b-cc:dd:ee:ff", "aa:0b:cc:dd:ee-ff", "aa0b.ccdd-eeff", "aa0b:ccdd:eeff", "aa0b-ccdd-eeff",
		"aa 0b cc dd ee ff", "aa:0b:cc:dd:ee:fg", " aa:0b:cc:dd:ee:ff", "aa:0b:cc:dd:ee:ff\n", "a:b:c:d:e:f",
		"aa:0b:cc:dd:ee:f", "0xaa0bccddee", "aa:0b:cc:dd:ee::f", "aaa:b:cc:dd:ee:ff", "aa0b.ccdd.eef.", "............",
		"00:00:00:00:00:00", "0000.0000.0000", "ff:ff:ff:ff:ff:ff", "FFFFFFFFFFFF",
		"01:00:5e:00:00:01", "33-33-00-00-00-01", "ab:00:00:00:00:00", "aa:0b:cc:dd:ee:\uff11",
	} {
		if mac, err := beacon.ParseMAC(text); err == nil {
			t.Errorf("ParseMAC(%q) = %q; want an error", text, mac)
		}
	}
	for _, text := range []beacon.MAC{"", "nonsense", "aa:0b-cc:dd:ee:ff", "aa0b-ccdd-eeff"} {
		if got := text.Canonical(); got != "" {
			t.Errorf("%q, which is no address, is %q; want nothing", text, got)
		}
	}
}

// The standard library knows every form but octets with dots between them.
func FuzzParseMAC(f *testing.F) {
	for _, seed := range []string{
		"aa:0b:cc:dd:ee:ff", "AA-0B-CC-DD-EE-FF", "aa0b.ccdd.eeff", "aa.0b.cc.dd.ee.ff", "aa0bccddeeff",
		"00:00:00:00:00:00", "01:00:00:00:00:00", "02:00:5e:10:00:00:00:01", "aa:0b-cc:dd:ee:ff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		known := text
		if len(text) == 17 && !strings.ContainsAny(text, ":-") {
			known = strings.ReplaceAll(text, ".", ":")
		}
		if len(text) == 12 { // not every version of the library knows bare digits
			known = strings.Join([]string{text[:4], text[4:8], text[8:]}, ".")
		}
		oracle, err := net.ParseMAC(known)
		valid := err == nil && len(oracle) == 6 && oracle[0]&1 == 0 && oracle.String() != "00:00:00:00:00:00"

		mac, err := beacon.ParseMAC(text)
		if (err == nil) != valid {
			t.Fatalf("ParseMAC(%q): %v; net says %q", text, err, oracle)
		}
		if valid && mac.Canonical() != oracle.String() {
			t.Errorf("%q is %q; net says %q", text, mac.Canonical(), oracle)
		}
	})
}
