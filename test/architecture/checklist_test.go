package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// shownBy is how docs/security.md names tests: a file, and functions in it.
	shownBy = regexp.MustCompile("`([a-z0-9_/]*_test\\.go)`: ((?:(?:Test|Fuzz)\\w+(?:, )?)+)")
	// shownByScript is a test that is written as a script.
	shownByScript = regexp.MustCompile("`([a-z0-9_/]+/testdata/script/\\w+\\.txt|scripts/\\w+)`")
)

// Every line of the checklist names tests that exist, or says why there is none.
func TestSecurityChecklist(t *testing.T) {
	page, err := os.ReadFile("docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	lines, named := 0, 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| What |") {
			continue
		}
		lines++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 3 {
			t.Errorf("a line has %d cells; want 3: %.100s", len(cells), line)
			continue
		}
		found := shownBy.FindAllStringSubmatch(cells[2], -1)
		for _, tests := range found {
			wantTests(t, tests[1], strings.Split(strings.TrimSuffix(tests[2], ", "), ", "))
			named++
		}
		scripts := shownByScript.FindAllStringSubmatch(cells[2], -1)
		for _, script := range scripts {
			if _, err := os.Stat(script[1]); err != nil {
				t.Errorf("a script that is named is not there: %v", err)
			}
		}
		if len(found)+len(scripts) == 0 && !(strings.Contains(cells[1], "Reason: ") && strings.Contains(cells[2], "Reason alone.")) {
			t.Errorf("neither a test nor a reason: %.100s", line)
		}
		rest := shownByScript.ReplaceAllString(shownBy.ReplaceAllString(cells[2], ""), "")
		if strings.Contains(rest, "Test") || strings.Contains(rest, "`") {
			t.Errorf("a test is named in a form that is not checked: %s", cells[2])
		}
	}
	if lines < 70 || named < 120 {
		t.Errorf("found %d lines with %d names of tests; there were at least 70 with 120", lines, named)
	}
}

// inBinary are the packages of ours that the binary may be made of.
func inBinary() map[string]bool {
	found := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if !found[name] {
			found[name] = true
			for _, imported := range allowed[name] {
				visit(imported)
			}
		}
	}
	visit("cmd/beacon")
	return found
}

// What the binary is made of is few enough to be known: each is someone who could
// be deceived.
func TestModules_AreFew(t *testing.T) {
	const most = 16 // decision D300
	direct, ours := map[string]bool{}, inBinary()
	for name, modules := range foreign {
		for _, module := range modules {
			if ours[name] {
				direct[module] = true
			}
		}
	}
	if len(direct) < 5 || len(direct) > most {
		t.Errorf("the binary is made of %d modules of others directly; want at most %d: %v", len(direct), most, direct)
	}
}

// wantTests looks for test functions in a file.
func wantTests(t *testing.T, file string, names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Errorf("a file of tests that is named cannot be read: %v", err)
		return
	}
	for _, name := range names {
		if !slices.ContainsFunc(parsed.Decls, func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return ok && f.Recv == nil && f.Name.Name == name
		}) {
			t.Errorf("%s has no %s", file, name)
		}
	}
}
