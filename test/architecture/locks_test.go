package architecture_test

import (
	"go/ast"
	"go/token"
	"path"
	"testing"
)

// underLock are the functions that do I/O, or run code that they were handed, while they
// hold a mutex, with the reason. A turn is taken first, with nothing else held, so that one
// caller at a time does a step. ARCHITECTURE.md names the turns.
var underLock = map[string]string{
	"internal/replica CatchUp":      "a turn: one step at a time",
	"internal/replica Step":         "a turn: one step at a time",
	"internal/events Step":          "a turn: one step at a time",
	"internal/store/sqlite confirm": "a turn: the identity of a file",
	"internal/identity card":        "a turn: one picture of the network is drawn at a time",
	"internal/openfeeds get":        "a turn: one picture of a hotspot is drawn at a time",
	"internal/openfeeds renew":      "a turn: one request makes an edition",
	"internal/store asCaller":       "a turn: the caller's edit of one operation, which ends before the caller leaves",
	"internal/fleet with":           "code of fleet itself, which calls nobody else",
	"internal/fleet lookUp":         "code of fleet itself, which calls nobody else",
	"internal/lease finish":         "code of lease itself, which calls nobody else",
}

// No function holds a lock while it waits for something that can be cancelled, reads or
// writes files and connections, draws, or uses a function that it was handed, as a parameter
// or in a field. What it calls is not followed. ARCHITECTURE.md has the order of locks.
func TestNoInputOrOutputUnderALock(t *testing.T) {
	fields := functionFields(t)
	used, regions := map[string]bool{}, 0
	eachProductFile(t, func(folder string, set *token.FileSet, file *ast.File) {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || folder == "internal/store/storetest" {
				continue
			}
			handed := functionsHandedTo(f)
			eachLocked(f.Body, func(locked []ast.Stmt) {
				regions++
				assigned := map[ast.Node]bool{}
				for _, s := range locked {
					ast.Inspect(s, func(n ast.Node) bool {
						switch n := n.(type) {
						case *ast.GoStmt:
							return false // it runs later
						case *ast.AssignStmt:
							for _, to := range n.Lhs {
								assigned[to] = true
							}
						}
						what := ""
						call, ok := n.(*ast.CallExpr)
						switch {
						case fields.has(folder, n) && !assigned[n]:
							what = "uses a function that it was handed"
						case !ok:
							return true
						case passesContext(call):
							what = "passes a context on"
						case callsOne(call, handed):
							what = "runs code that it was handed"
						case doesIO(call):
							what = "does I/O"
						case draws(call):
							what = "draws a picture"
						default:
							return true
						}
						name := folder + " " + f.Name.Name
						used[name] = true
						if underLock[name] == "" {
							t.Errorf("%s: %s %s while it holds a lock; release it first", set.Position(n.Pos()), f.Name.Name, what)
						}
						return true
					})
				}
			})
		}
	})
	for name := range underLock {
		if !used[name] {
			t.Errorf("%s does nothing of the kind under a lock any more: remove it from the list", name)
		}
	}
	if regions < 100 {
		t.Errorf("%d places hold a lock; there were more", regions)
	}
}

// eachLocked calls fn with the statements that run while a lock is held: those behind a
// Lock, up to the Unlock of the same block, or all if that is deferred; and those behind a
// deferred Unlock whose Lock is elsewhere.
func eachLocked(body ast.Node, fn func([]ast.Stmt)) {
	ast.Inspect(body, func(n ast.Node) bool {
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		case *ast.CommClause:
			list = n.Body
		}
		locked := map[string]bool{}
		for i, s := range list {
			if d, ok := s.(*ast.DeferStmt); ok {
				if lock := mutexOf(&ast.ExprStmt{X: d.Call}, "Unlock", "RUnlock"); lock != "" && !locked[lock] {
					fn(list[i+1:])
				}
			}
			lock := mutexOf(s, "Lock", "RLock")
			if lock == "" {
				continue
			}
			locked[lock] = true
			end := i + 1
			for end < len(list) && mutexOf(list[end], "Unlock", "RUnlock") != lock {
				end++
			}
			fn(list[i+1 : end])
		}
		return true
	})
}

// mutexOf returns which mutex a statement locks or unlocks, by one of some methods.
func mutexOf(s ast.Stmt, methods ...string) string {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return ""
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok {
		return ""
	}
	of, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) > 0 || of.Sel.Name != methods[0] && of.Sel.Name != methods[1] {
		return ""
	}
	return written(of.X)
}

// written returns a chain of names as it is written.
func written(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return written(e.X) + "." + e.Sel.Name
	case *ast.UnaryExpr:
		return written(e.X)
	case *ast.IndexExpr:
		return written(e.X) + "[]"
	}
	return "?"
}

// functionsHandedTo returns the names of a function's parameters that are functions.
func functionsHandedTo(f *ast.FuncDecl) map[string]bool {
	handed := map[string]bool{}
	for _, p := range f.Type.Params.List {
		if _, is := p.Type.(*ast.FuncType); is {
			for _, name := range p.Names {
				handed[name.Name] = true
			}
		}
	}
	return handed
}

func callsOne(call *ast.CallExpr, handed map[string]bool) bool {
	name, ok := call.Fun.(*ast.Ident)
	return ok && handed[name.Name]
}

// fieldsOf are the names of fields, by folder.
type fieldsOf map[string]map[string]bool

// functionFields returns the fields of structs that hold functions. One without parameters
// that returns a time is a clock, which may be read under a lock.
func functionFields(t *testing.T) fieldsOf {
	named := map[string]bool{"context.CancelFunc": true, "context.CancelCauseFunc": true}
	eachProductFile(t, func(folder string, _ *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && isFunction(spec.Type) {
				named[folder+"."+spec.Name.Name], named[path.Base(folder)+"."+spec.Name.Name] = true, true
			}
			return true
		})
	})
	fields := fieldsOf{}
	eachProductFile(t, func(folder string, _ *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			of, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range of.Fields.List {
				if isFunction(field.Type) || named[written(field.Type)] || named[folder+"."+written(field.Type)] {
					for _, name := range field.Names {
						if fields[folder] == nil {
							fields[folder] = map[string]bool{}
						}
						fields[folder][name.Name] = true
					}
				}
			}
			return true
		})
	})
	return fields
}

func isFunction(e ast.Expr) bool {
	of, ok := e.(*ast.FuncType)
	return ok && (of.Results == nil || of.Params.NumFields() > 0 || !tellsTime(of.Results))
}

// has reports whether something names such a field of a struct of its own package.
func (f fieldsOf) has(folder string, n ast.Node) bool {
	of, ok := n.(*ast.SelectorExpr)
	return ok && f[folder][of.Sel.Name]
}

// draws reports whether a call draws a PNG, which takes some 50 ms.
func draws(call *ast.CallExpr) bool {
	name := written(call.Fun)
	return name == "Draw" || name == "identity.Draw" || name == "png.Encode"
}

// doesIO reports whether a call is of a package that reads and writes files or connections,
// or closes something.
func doesIO(call *ast.CallExpr) bool {
	of, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if of.Sel.Name == "Close" && len(call.Args) == 0 {
		return true
	}
	from, ok := of.X.(*ast.Ident)
	return ok && (from.Name == "os" || from.Name == "net" || from.Name == "io" || from.Name == "sql" || from.Name == "http") && ast.IsExported(of.Sel.Name)
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
