package architecture_test

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// turns are the functions that do I/O while they hold a mutex. Each is a turn more than a
// lock: it is taken first, with nothing else held, so that one caller at a time does a step.
var turns = map[string]string{
	"internal/replica CatchUp":    "one step at a time",
	"internal/replica Step":       "one step at a time",
	"internal/events Step":        "one step at a time",
	"internal/access CreateFirst": "a token is used once",
}

// No function holds a lock while it waits for something that can be cancelled: I/O, or the
// code of others. ARCHITECTURE.md has the order of locks.
func TestNoInputOrOutputUnderALock(t *testing.T) {
	used := map[string]bool{}
	eachProductFile(t, func(folder string, set *token.FileSet, file *ast.File) {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			locked := token.NoPos
			for _, s := range f.Body.List {
				if d, ok := s.(*ast.DeferStmt); ok && isUnlock(d.Call) && locked == token.NoPos {
					locked = d.Pos()
				}
			}
			if locked == token.NoPos {
				continue
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || call.Pos() < locked || !passesContext(call) {
					return true
				}
				name := folder + " " + f.Name.Name
				used[name] = true
				if turns[name] == "" {
					t.Errorf("%s: %s passes a context on while it holds a lock; release it first", set.Position(call.Pos()), f.Name.Name)
				}
				return true
			})
		}
	})
	for name := range turns {
		if !used[name] {
			t.Errorf("%s holds no lock over I/O any more: remove it from the list", name)
		}
	}
}

func isUnlock(call *ast.CallExpr) bool {
	of, ok := call.Fun.(*ast.SelectorExpr)
	return ok && strings.HasSuffix(of.Sel.Name, "Unlock")
}

func passesContext(call *ast.CallExpr) bool {
	if of, ok := call.Fun.(*ast.SelectorExpr); ok {
		if from, ok := of.X.(*ast.Ident); ok && from.Name == "context" || of.Sel.Name == "WithContext" {
			return false // it only makes one
		}
	}
	for _, a := range call.Args {
		if name, ok := a.(*ast.Ident); ok && name.Name == "ctx" {
			return true
		}
	}
	return false
}
