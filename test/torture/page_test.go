//go:build linux

package torture_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

var (
	namedTest   = regexp.MustCompile("`(Test\\w+)`")
	writtenTest = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T`)
	faultRow    = regexp.MustCompile(`(?m)^\| F(\d+) \|.*\| ([^|]*) \|$`)
	invariant   = regexp.MustCompile(`(?m)^\| I(\d+) \|`)
)

const faults, invariants = 26, 14

// docs/reliability.md names tests that there are, and each fault and invariant
// once. When every fault has a test, no test of a fault may be missing.
func TestPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(harness.Root(), "docs", "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	written := writtenTests(t)
	named := map[string]bool{}
	for _, m := range namedTest.FindAllStringSubmatch(string(page), -1) {
		named[m[1]] = true
		if !written[m[1]] {
			t.Errorf("the page names %s, and there is no such test", m[1])
		}
	}
	rows := faultRow.FindAllStringSubmatch(string(page), -1)
	if len(rows) != faults || len(invariant.FindAllString(string(page), -1)) != invariants || len(named) < 30 {
		t.Errorf("the page has %d faults, %d invariants, %d tests", len(rows), len(invariant.FindAllString(string(page), -1)), len(named))
	}
	for _, row := range rows {
		if row[2] == "—" {
			return // some are still to come
		}
	}
	for test := range written {
		if faultName.MatchString(test) && !named[test] {
			t.Errorf("the page does not name %s", test)
		}
	}
}

// writtenTests are all tests of the project.
func writtenTests(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := filepath.WalkDir(harness.Root(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range writtenTest.FindAllStringSubmatch(string(text), -1) {
			all[m[1]] = true
		}
		return err
	})
	if err != nil || len(all) < 100 {
		t.Fatalf("%d tests, %v", len(all), err)
	}
	return all
}
