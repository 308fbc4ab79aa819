package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// eachProductFile calls fn with each Go file of the product.
func eachProductFile(t *testing.T, fn func(folder string, set *token.FileSet, file *ast.File)) {
	t.Helper()
	for _, root := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err == nil {
				fn(filepath.Dir(path), set, file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Package clock owns time. Others are handed a clock.Clock, or a plain function Now; no
// one asks its caller for more than that, and nobody else reads or writes the marks of
// clocks. Simulated devices are other programs, with clocks of their own.
func TestTimeHasOneOwner(t *testing.T) {
	marks := map[string]bool{"ClockState": true, "MarkClock": true, "ForgetClocks": true, "ForgetSpans": true}
	seen := 0
	eachProductFile(t, func(folder string, set *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if !marks[n.Sel.Name] || strings.HasPrefix(folder, "internal/store") {
					return true
				}
				if seen++; folder != "internal/clock" {
					t.Errorf("%s: %s is for package clock; ask a clock.Clock", set.Position(n.Pos()), n.Sel.Name)
				}
			case *ast.Field:
				of, ok := n.Type.(*ast.FuncType)
				if !ok || folder == "internal/simulate" || of.Results == nil || of.Params.NumFields() > 0 || !tellsTime(of.Results) {
					return true
				}
				if seen++; of.Results.NumFields() > 1 || !isNow(n.Names) {
					t.Errorf("%s: a function that tells the time, other than now: take a *clock.Clock", set.Position(n.Pos()))
				}
			}
			return true
		})
	})
	if seen < 10 {
		t.Errorf("only %d places have to do with time: does this test still see them?", seen)
	}
}

func tellsTime(results *ast.FieldList) bool {
	for _, r := range results.List {
		if of, ok := r.Type.(*ast.SelectorExpr); ok && of.Sel.Name == "Time" {
			return true
		}
	}
	return false
}

// isNow reports whether a field or parameter is named as a clock that is only read; a result
// has no name. The machine's clock is that of the owner.
func isNow(names []*ast.Ident) bool {
	return len(names) == 0 || len(names) == 1 && (strings.EqualFold(names[0].Name, "now") || names[0].Name == "Machine")
}

// The parts of a node are made in an order in which none needs one that is made later: a
// function that node.New makes up would look for it when it is called.
func TestNoPartNeedsALaterOne(t *testing.T) {
	found := false
	eachProductFile(t, func(folder string, set *token.FileSet, file *ast.File) {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || folder != "internal/node" || f.Name.Name != "New" {
				continue
			}
			found = true
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if literal, ok := n.(*ast.FuncLit); ok {
					t.Errorf("%s: New makes a function; hand over the part itself", set.Position(literal.Pos()))
				}
				return true
			})
		}
	})
	if !found {
		t.Error("there is no node.New")
	}
}
