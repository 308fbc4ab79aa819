package architecture_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(f \*testing\.F\)`)

// Every fuzz target has a corpus that is kept, beside the seeds in its code: what
// fuzzing found worth keeping, so that "go test" tries it each time. A corpus
// whose target is gone is kept for nobody.
func TestFuzz_EachTargetHasACorpus(t *testing.T) {
	targets, corpora := map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		folder, name := filepath.Split(path)
		switch {
		case entry.IsDir() && (name == "node_modules" || name == ".git"):
			return fs.SkipDir
		case strings.HasSuffix(folder, "testdata/fuzz/") && entry.IsDir():
			inputs, err := os.ReadDir(path)
			corpora[filepath.Join(folder, "../..", name)] = len(inputs) > 0
			return err
		case strings.HasSuffix(name, "_test.go"):
			source, err := os.ReadFile(path)
			for _, found := range fuzzTarget.FindAllSubmatch(source, -1) {
				targets[filepath.Join(folder, string(found[1]))] = true
			}
			return err
		}
		return nil
	})
	if err != nil || len(targets) < 30 {
		t.Fatalf("only %d fuzz targets were found: %v", len(targets), err)
	}
	for _, target := range slices.Sorted(maps.Keys(targets)) {
		if !corpora[target] {
			t.Errorf("%s has no corpus: fuzz it, and keep what is worth it in testdata/fuzz", target)
		}
	}
	for _, corpus := range slices.Sorted(maps.Keys(corpora)) {
		if !targets[corpus] {
			t.Errorf("the corpus of %s has no target", corpus)
		}
	}
}
