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
		ast.Inspect(file, func(n ast.Node) bool { // errors that have a message
			of, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, value := range of.Values {
				ast.Inspect(value, func(n ast.Node) bool {
					if member, ok := n.(*ast.KeyValueExpr); ok && isNamed(member.Key, "Message") {
						decides[of.Names[i].Name] = true
					}
					return true
				})
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

func isNamed(n ast.Expr, name string) bool {
	id, ok := n.(*ast.Ident)
	return ok && id.Name == name
}
