package architecture_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"testing"
)

// A word of the language has its one meaning: nothing is declared as any, len, new or real.
// Fields and methods do not hide it.
func TestNothingHidesWhatGoDeclares(t *testing.T) {
	seen := 0
	eachProductFile(t, func(_ string, set *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.StructType); ok {
				return len(s.Fields.List) == 0
			}
			name, ok := n.(*ast.Ident)
			if !ok || name.Obj == nil || name.Obj.Pos() != name.Pos() {
				return true
			}
			seen++
			if types.Universe.Lookup(name.Name) != nil {
				t.Errorf("%s: %s hides what Go declares", set.Position(name.Pos()), name.Name)
			}
			return true
		})
	})
	if seen == 0 {
		t.Error("no file declares anything")
	}
}
