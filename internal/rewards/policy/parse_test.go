package policy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

func TestDefault(t *testing.T) {
	const want = "policy,1,1970-01-01,1000000,0,250000,500000,20000,1000000"
	if got := policy.Devices()[0].Line(); got != want {
		t.Errorf("policy 1 is %s; want %s (decision N18)", got, want)
	}
}

// two is a file of two policies, which the tests below change.
const two = `{"policies": [
	{"version": 1, "effective_from": "1970-01-01", "availability": "1", "utilization_per_gb": "0.02", "utilization_cap": "1",
	 "performance": {"standard": "0", "enhanced": "0.25", "premium": "0.5"}},
	{"version": 2, "effective_from": "2026-10-16", "availability": "1000", "utilization_per_gb": "100", "utilization_cap": "1000",
	 "performance": {"standard": "0.000001", "enhanced": "10", "premium": "10.000000"}}
]}
`

func TestParse(t *testing.T) {
	b, err := policy.Parse([]byte(two))
	if err != nil {
		t.Fatal(err)
	}
	if len(b) != 2 || b[0].Line() != policy.Devices()[0].Line() {
		t.Errorf("got %v", b)
	}
	const want = "policy,2,2026-10-16,1000000000,1,10000000,10000000,100000000,1000000000"
	if got := b[1].Line(); got != want {
		t.Errorf("policy 2 is %s; want %s", got, want)
	}
}

func TestParse_Refuses(t *testing.T) {
	for _, test := range []struct{ old, changed, want string }{
		{`"version": 2`, `"version": 3`, "policy 2: version: must be 2"},
		{`"version": 2`, `"version": "2"`, "policy 2: version: must be a whole number"},
		{`"version": 2`, `"version": 2.0`, "policy 2: version: must be a whole number"},
		{`"version": 2, `, ``, "policy 2: version: must be a whole number"},
		{`"version": 2`, `"version": null`, "policy 2: version: must be a whole number"},
		{`"version": 2`, `"version": 4294967298`, "policy 2: version: must be a whole number"},
		{`"version": 2`, `"version": 2, "version": 2`, `"version" appears twice`},
		{`"version": 2`, `"version": 2, "Version": 2`, "policy 2: Version: is not a field"},
		{`"1970-01-01"`, `"1970-01-02"`, "policy 1: effective_from: must be 1970-01-01"},
		{`2026-10-16`, `1970-01-01`, "policy 2: effective_from: must be after 1970-01-01"},
		{`2026-10-16`, `2026-02-30`, "policy 2: effective_from: must be a day such as"},
		{`"availability": "1000"`, `"availability": "1000.000001"`, "policy 2: availability: must be a text"},
		{`"availability": "1000"`, `"availability": "-1"`, "from 0 to 1000"},
		{`"availability": "1000"`, `"availability": 1000`, "policy 2: availability: must be a text"},
		{`"availability": "1000"`, `"availability": "1e3"`, "policy 2: availability: must be a text"},
		{`"availability": "1000"`, `"availability": "1.0000001"`, "six digits"},
		{`"utilization_per_gb": "100"`, `"utilization_per_gb": "100.000001"`, "policy 2: utilization_per_gb: must be a text"},
		{`"utilization_cap": "1000"`, `"utilization_cap": "1001"`, "policy 2: utilization_cap: must be a text"},
		{`"premium": "10.000000"`, `"premium": "10.000001"`, "policy 2: performance.premium: must be a text"},
		{`"premium": "10.000000"`, `"premium": "9"`, "policy 2: performance.premium: must not be less than 10"},
		{`"standard": "0.000001"`, `"standard": "11"`, "policy 2: performance.standard: must be a text"},
		{`"enhanced": "0.25"`, `"enhanced": "0.250", "gold": "9"`, "policy 1: performance.gold: is not a field"},
		{`{"standard": "0", "enhanced": "0.25", "premium": "0.5"}`, `["0"]`, "policy 1: performance: must be an object"},
		{`{"policies"`, `{"policies": [], "policies"`, `"policies" appears twice`},
		{`{"policies"`, `{"note": "", "policies"`, "note: is not a field"},
		{`{"policies"`, `{"rules"`, "policies: must be an array"},
		{"]}\n", "]} {}", "there is text after"},
		{"]}\n", "]", "is incomplete"},
		{"]}\n", "]]", "not valid JSON at byte"},
		{`"0.02"`, `[[[[[[]]]]]]`, "policy 1: utilization_per_gb: must be a text"},
	} {
		text := strings.Replace(two, test.old, test.changed, 1)
		if text == two {
			t.Fatalf("%s is not in the file", test.old)
		}
		if b, err := policy.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s for %s: got %v, %v; want %s", test.changed, test.old, b, err, test.want)
		}
	}
	for _, text := range []string{
		"", " ", "null", "[]", "{}", `{"policies":[]}`, `{"policies":[null]}`, `{"policies":{}}`, strings.Repeat("[", 1_000_000),
	} {
		if b, err := policy.Parse([]byte(text)); err == nil {
			t.Errorf("Parse(%.40s) = %v; want an error", text, b)
		}
	}
}

// A policy with a radius pays places.
func TestParse_Places(t *testing.T) {
	const places = `"premium": "10.000000"}, "radius_m": 50, "unproven_share": "0.5"}`
	file := strings.Replace(two, `"premium": "10.000000"}}`, places, 1)
	b, err := policy.Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	const want = "policy,2,2026-10-16,1000000000,1,10000000,10000000,100000000,1000000000,50,500000"
	if got := b[1].Line(); got != want || !b[1].PaysPlaces() || b[0].PaysPlaces() {
		t.Errorf("policy 2 is %s; want %s", got, want)
	}
	for _, test := range []struct{ old, changed, want string }{
		{`"radius_m": 50, `, ``, "policy 2: unproven_share: is not a field"},
		{`, "unproven_share": "0.5"`, ``, "policy 2: unproven_share: must be a text"},
		{`50`, `9`, "policy 2: radius_m: must be from 10 to 75"},
		{`50`, `76`, "policy 2: radius_m: must be from 10 to 75"},
		{`50`, `"50"`, "policy 2: radius_m: must be a whole number"},
		{`"0.5"}`, `"1.000001"}`, "policy 2: unproven_share: must be a text"},
		{`"0.5"}`, `"0"}`, "policy 2: unproven_share: must not be 0"},
	} {
		text := strings.Replace(file, places, strings.Replace(places, test.old, test.changed, 1), 1)
		if b, err := policy.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s for %s: got %v, %v; want %s", test.changed, test.old, b, err, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(two))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := policy.Parse(data)
		if err != nil {
			return
		}
		if !json.Valid(data) || len(b) == 0 || b[0].From != 0 {
			t.Errorf("accepted %q: %v", data, b)
		}
	})
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policies.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(two)
	if b, err := policy.Load(path); err != nil || len(b) != 2 {
		t.Errorf("Load = %v, %v", b, err)
	}
	for text, want := range map[string]string{"{": "is incomplete", two + strings.Repeat(" ", 1<<20): "larger than"} {
		write(text)
		if b, err := policy.Load(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("Load of %.20q = %v, %v; want %s, and the path", text, b, err, want)
		}
	}
	if _, err := policy.Load(path + ".absent"); err == nil {
		t.Error("a file that is not there was read")
	}
}

func TestBook(t *testing.T) {
	b, err := policy.Parse([]byte(two))
	if err != nil {
		t.Fatal(err)
	}
	for day, want := range map[string]int{
		"1970-01-01": 1, "2026-10-15": 1, "2026-10-16": 2, "2026-10-17": 2, "9999-12-31": 2,
	} {
		d, err := beacon.ParseDay(day)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.On(d).Version; got != want {
			t.Errorf("On(%s) is policy %d; want %d", day, got, want)
		}
	}
	if b.On(-1).Version != 1 {
		t.Error("a day before 1970 has no policy")
	}
	for month, want := range map[string]string{"2026-09": "1", "2026-10": "12", "2026-11": "2"} {
		m, err := beacon.ParseMonth(month)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range b.In(m) {
			got += string(rune('0' + p.Version))
		}
		if got != want {
			t.Errorf("In(%s) are policies %s; want %s", month, got, want)
		}
	}
	for version, exists := range map[int]bool{-1: false, 0: false, 1: true, 2: true, 3: false} {
		if p := b.Version(version); (p != nil) != exists || exists && p.Version != version {
			t.Errorf("Version(%d) = %v", version, p)
		}
	}
}
