package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// The list of a binary, which a test's own is not, names just what Go says is
// in it and what the console's lock file says is in that, and has what the schema
// of CycloneDX 1.6 requires.
func TestVersion_SBOM(t *testing.T) {
	t.Parallel()
	binary := os.Getenv(harness.BinaryVariable)
	if binary == "" {
		binary = filepath.Join(t.TempDir(), "beacon")
		if err := harness.Build(binary); err != nil {
			t.Fatal(err)
		}
	}
	text, err := exec.Command(binary, "version", "--sbom").Output()
	if err != nil {
		t.Fatal(err)
	}
	again, err := exec.Command(binary, "version", "--sbom").Output()
	if err != nil || string(again) != string(text) {
		t.Errorf("the same binary tells something else the second time, or %v", err)
	}
	purl := regexp.MustCompile(`^pkg:(golang|npm)/[A-Za-z0-9%._/~-]+@[A-Za-z0-9%.-]+$`)
	var b bom
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&b); err != nil {
		t.Fatal(err)
	}
	if b.Format != "CycloneDX" || b.SpecVersion != "1.6" || b.Version != 1 || b.Metadata.Component.Name != "github.com/beacon-wifi/beacon" ||
		b.Metadata.Component.Type != "application" || !purl.MatchString(b.Metadata.Component.PURL) {
		t.Errorf("the list is of %+v", b.Metadata)
	}
	refs := map[string]bool{b.Metadata.Component.Ref: true}
	named := map[string]string{}
	for _, c := range b.Components {
		if c.Type != "library" || c.Name == "" || c.Version == "" || !purl.MatchString(c.PURL) || refs[c.Ref] {
			t.Errorf("a part without a name, a version or an address of its own: %+v", c)
		}
		refs[c.Ref] = true
		named[c.Name] = c.Version
		if strings.HasPrefix(c.PURL, "pkg:npm/") && len(c.Licences) != 1 {
			t.Errorf("%s has the licences %v", c.Name, c.Licences)
		}
		if strings.HasPrefix(c.PURL, "pkg:golang/") && c.Name != "std" && len(c.Properties) != 1 {
			t.Errorf("%s has no sum", c.Name)
		}
	}
	if len(b.Dependencies) != 1 || len(b.Dependencies[0].DependsOn) != len(b.Components) || b.Dependencies[0].Ref != b.Metadata.Component.Ref {
		t.Error("the binary does not depend on all parts")
	}
	want := modulesIn(t, binary)
	maps.Copy(want, lockedPackages(t, named))
	want["std"] = named["std"]
	if !maps.Equal(named, want) {
		t.Errorf("the list names %v; want %v", slices.Sorted(maps.Keys(named)), slices.Sorted(maps.Keys(want)))
	}
}

// modulesIn asks Go what a binary is made of.
func modulesIn(t *testing.T, binary string) map[string]string {
	t.Helper()
	out, err := exec.Command("go", "version", "-m", binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) >= 3 && words[0] == "dep" {
			modules[words[1]] = words[2]
		}
	}
	if len(modules) < 10 {
		t.Fatalf("go version -m names %d modules", len(modules))
	}
	return modules
}

// lockedPackages is what npm installs for the pages, as far as it is listed, and
// what they ask for directly in any case.
func lockedPackages(t *testing.T, listed map[string]string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../console/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct {
			Version      string
			Dependencies map[string]string
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		t.Fatal(err)
	}
	packages := map[string]string{}
	for path, p := range lock.Packages {
		name := strings.TrimPrefix(path, "node_modules/")
		_, direct := lock.Packages[""].Dependencies[name]
		if _, isListed := listed[name]; isListed || direct {
			packages[name] = p.Version
		}
	}
	if len(packages) < 5 {
		t.Fatalf("the lock file names %d packages", len(packages))
	}
	return packages
}
