package architecture_test

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// The store returns facts and conflicts. Who may do what is decided, and what people read
// is worded, in beacon and in the use cases.
func TestStoreHasNoWordsForPeople(t *testing.T) {
	decides := map[string]bool{"Message": true, "Word": true, "Forbidden": true, "Unauthorized": true, "InvalidRequest": true, "RateLimited": true}
	eachProductFile(t, func(folder string, _ *token.FileSet, file *ast.File) {
		if folder != "internal/beacon" {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool { // errors that have a message, and functions that make one
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, value := range n.Values {
					if hasMessage(value) {
						decides[n.Names[i].Name] = true
					}
				}
			case *ast.FuncDecl:
				if !ofDatabases[n.Name.Name] && hasMessage(n) {
					decides[n.Name.Name] = true
				}
			}
			return true
		})
	})
	seen := 0
	eachProductFile(t, func(folder string, set *token.FileSet, file *ast.File) {
		if folder != "internal/store" && !strings.HasPrefix(folder, "internal/store/") || folder == "internal/store/storetest" {
			return
		}
		seen++
		ast.Inspect(file, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok && decides[name.Name] {
				t.Errorf("%s: %s is for use cases", set.Position(n.Pos()), name.Name)
			}
			return true
		})
	})
	if seen == 0 {
		t.Error("the store is not there")
	}
}

// ofDatabases are functions that word what any database may do to any request; and Err, the
// name of many methods, which beacon has for the faults of a form.
var ofDatabases = map[string]bool{"Unavailable": true, "Uncertain": true, "Unexpected": true, "Err": true}

// hasMessage reports whether a part of the source makes an error with a message.
func hasMessage(part ast.Node) (has bool) {
	ast.Inspect(part, func(n ast.Node) bool {
		made, ok := n.(*ast.CompositeLit)
		if !ok || !isNamed(made.Type, "Error") {
			return true
		}
		for _, e := range made.Elts {
			member, ok := e.(*ast.KeyValueExpr)
			has = has || ok && isNamed(member.Key, "Message")
		}
		return true
	})
	return has
}

func isNamed(n ast.Expr, name string) bool {
	id, ok := n.(*ast.Ident)
	return ok && id.Name == name
}
