package architecture_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each number of a decision that code or documentation names is in DECISIONS.md once: as an
// entry, or in the table of those that moved.
func TestDecisions_ThatAreNamedExist(t *testing.T) {
	text, err := os.ReadFile("DECISIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	entry, moved := regexp.MustCompile(`^- \*\*([PNXCD]\d+)\*\* `), regexp.MustCompile(`^\| (D\d+(?:, D\d+)*) `)
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		var numbers []string
		if m := entry.FindStringSubmatch(line); m != nil {
			numbers = m[1:]
		} else if m := moved.FindStringSubmatch(line); m != nil {
			numbers = strings.Split(m[1], ", ")
		}
		for _, number := range numbers {
			if known[number] {
				t.Errorf("DECISIONS.md has %s twice", number)
			}
			known[number] = true
		}
	}
	if len(known) < 200 {
		t.Fatalf("DECISIONS.md has %d decisions: its form has changed", len(known))
	}
	if most := 50_000; len(text) > most {
		t.Errorf("DECISIONS.md has %d bytes; at most %d: how it behaves belongs into the OpenAPI documents and docs, why it is built so into package comments", len(text), most)
	}

	named := regexp.MustCompile(`\b[PNXCD]\d+\b`)
	others := []string{"P256"} // a curve
	err = filepath.WalkDir(".", func(path string, file fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if file.IsDir() {
			if path != "." && strings.HasPrefix(file.Name(), ".") || slices.Contains([]string{"node_modules", "dist", "testdata"}, file.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".md", ".sql", ".ts", ".yaml"}, filepath.Ext(path)) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, number := range named.FindAllString(string(text), -1) {
			if !known[number] && !slices.Contains(others, number) {
				t.Errorf("%s names %s, which is not in DECISIONS.md", path, number)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
