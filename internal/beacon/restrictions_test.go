package beacon_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func TestParseOrigins(t *testing.T) {
	got, err := beacon.ParseOrigins([]string{"https://b.example", " HTTPS://A.Example:443 ", "http://a.example:80", "http://localhost:5173", "https://b.example", "capacitor://localhost", "http://[::1]:80"})
	want := []string{"capacitor://localhost", "http://[::1]", "http://a.example", "http://localhost:5173", "https://a.example", "https://b.example"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("ParseOrigins = %q, %v; want %q", got, err, want)
	}
	for _, bad := range []string{
		"", "null", "*", "app.example.org", "https://", "https:///", "https://a.example/", "https://a.example/path", "https://a.example?q", "https://a.example?",
		"https://a.example#f", "https://user@a.example", "https://*.example.org", "//a.example", "https://a b.example", "https://a.example,https://b.example",
		"https://ä.example", "https://a.example\r\nX: y", "https://" + strings.Repeat("a", 255), "https://a%2f.example",
	} {
		if got, err := beacon.ParseOrigins([]string{bad}); err == nil {
			t.Errorf("%q is accepted as %q", bad, got)
		}
	}
	if _, err := beacon.ParseOrigins(slices.Repeat([]string{"https://a.example"}, beacon.MaxRestrictions+1)); err == nil {
		t.Error("any number of origins is accepted")
	}
}

func restrictions(t *testing.T, origins, addresses []string) *beacon.Restrictions {
	t.Helper()
	var r beacon.Restrictions
	var err error
	if r.Origins, err = beacon.ParseOrigins(origins); err != nil {
		t.Fatal(err)
	}
	if r.Addresses, err = beacon.ParseAddresses(addresses); err != nil {
		t.Fatal(err)
	}
	return &r
}

func TestRestrictions_Admits(t *testing.T) {
	const a, b = "https://a.example", "https://b.example"
	for _, tc := range []struct {
		r            *beacon.Restrictions
		origin, addr string
		want         bool
	}{
		{restrictions(t, nil, nil), "", "192.0.2.1", true},
		{restrictions(t, nil, nil), a, "192.0.2.1", true},
		{restrictions(t, []string{a}, nil), a, "192.0.2.1", true},
		{restrictions(t, []string{a}, nil), b, "192.0.2.1", false},
		{restrictions(t, []string{a}, nil), "", "192.0.2.1", false},
		{restrictions(t, []string{a}, nil), "HTTPS://A.EXAMPLE", "192.0.2.1", false}, // browsers send lower case
		{restrictions(t, []string{a}, nil), a + "," + a, "192.0.2.1", false},
		{restrictions(t, nil, []string{"192.0.2.0/24"}), "", "192.0.2.1", true},
		{restrictions(t, nil, []string{"192.0.2.0/24"}), "", "::ffff:192.0.2.1", true},
		{restrictions(t, nil, []string{"192.0.2.0/24"}), "", "192.0.3.1", false},
		{restrictions(t, nil, []string{"0.0.0.0/0"}), "", "2001:db8::1", false},
		{restrictions(t, nil, []string{"192.0.2.7", "2001:db8::/32"}), "", "2001:db8::1", true},
		{restrictions(t, nil, []string{"fe80::/10"}), "", "fe80::1%eth0", true},
		{restrictions(t, []string{a}, []string{"192.0.2.7"}), a, "192.0.2.8", false},
		{restrictions(t, []string{a}, []string{"192.0.2.7"}), b, "192.0.2.7", false},
		{restrictions(t, []string{a}, []string{"192.0.2.7"}), a, "192.0.2.7", true},
	} {
		if got := tc.r.Admits(tc.origin, netip.MustParseAddr(tc.addr)); got != tc.want {
			t.Errorf("%q admits %q from %s: %t; want %t", tc.r, tc.origin, tc.addr, got, tc.want)
		}
	}
	if restrictions(t, nil, []string{"0.0.0.0/0", "::/0"}).Admits("", netip.Addr{}) {
		t.Error("an unknown address is in a range")
	}
}

func TestRestrictions_Within(t *testing.T) {
	const a, b = "https://a.example", "https://b.example"
	none := restrictions(t, nil, nil)
	for _, tc := range []struct {
		inner, outer *beacon.Restrictions
		want         bool
	}{
		{none, none, true},
		{restrictions(t, []string{a}, []string{"10.0.0.0/8"}), none, true},
		{none, restrictions(t, []string{a}, nil), false},
		{none, restrictions(t, nil, []string{"10.0.0.0/8"}), false},
		{none, &beacon.Restrictions{Publishable: true}, false},
		{restrictions(t, []string{a}, nil), restrictions(t, []string{a, b}, nil), true},
		{restrictions(t, []string{a, b}, nil), restrictions(t, []string{a}, nil), false},
		{restrictions(t, nil, []string{"10.1.0.0/16", "10.2.3.4"}), restrictions(t, nil, []string{"10.0.0.0/8"}), true},
		{restrictions(t, nil, []string{"10.0.0.0/7"}), restrictions(t, nil, []string{"10.0.0.0/8"}), false},
		{restrictions(t, nil, []string{"10.0.0.1", "11.0.0.1"}), restrictions(t, nil, []string{"10.0.0.0/8"}), false},
	} {
		if got := tc.inner.Within(tc.outer); got != tc.want {
			t.Errorf("%q within %q: %t; want %t", tc.inner, tc.outer, got, tc.want)
		}
	}
}

func TestRestrictions_Text(t *testing.T) {
	r := restrictions(t, []string{"https://a.example", "http://b.example:8080"}, []string{"10.0.0.0/8", "2001:db8::1"})
	r.Publishable = true
	const want = "publishable origin=http://b.example:8080 origin=https://a.example address=10.0.0.0/8 address=2001:db8::1/128"
	if got := r.String(); got != want {
		t.Errorf("String() = %q; want %q", got, want)
	}
	if again, err := beacon.ParseRestrictions(want); err != nil || again.String() != want {
		t.Errorf("ParseRestrictions = %q, %v", again.String(), err)
	}
	for _, bad := range []string{"published", "address=x", "origins=https://a.example", "Publishable"} {
		if _, err := beacon.ParseRestrictions(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
