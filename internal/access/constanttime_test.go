package access_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Secrets are compared by crypto/subtle and by nothing else. To measure it would
// show nothing: a comparison of 32 bytes that stops early differs by nanoseconds,
// and everything around it by more.
func TestSecrets_AreComparedInConstantTime(t *testing.T) {
	secret := regexp.MustCompile(`(?i)hash|secret|keyprint`)
	compared := map[string]int{}
	for _, pattern := range []string{"*.go", "../fleet/*.go", "../registry/*.go", "../api/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			parsed, err := parser.ParseFile(set, file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BinaryExpr:
					if (n.Op == token.EQL || n.Op == token.NEQ) && secret.MatchString(named(n.X)) && secret.MatchString(named(n.Y)) {
						t.Errorf("%s compares secrets by %s", set.Position(n.Pos()), n.Op)
					}
				case *ast.SelectorExpr:
					if named(n) == "subtle.ConstantTimeCompare" {
						compared[filepath.Dir(file)]++
					}
				case *ast.CallExpr:
					if name := named(n.Fun); name == "bytes.Equal" || name == "slices.Equal" || name == "strings.EqualFold" {
						for _, arg := range n.Args {
							if secret.MatchString(named(arg)) {
								t.Errorf("%s compares secrets by %s", set.Position(n.Pos()), name)
							}
						}
					}
				}
				return true
			})
		}
	}
	if compared["."] != 2 || compared["../fleet"] != 1 {
		t.Errorf("crypto/subtle is asked in %v; want once for keys, once for invitations, and once for keys of devices", compared)
	}
}

// named spells the names in an expression.
func named(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return named(e.X) + "." + e.Sel.Name
	case *ast.SliceExpr:
		return named(e.X)
	case *ast.IndexExpr:
		return named(e.X)
	case *ast.CallExpr:
		return named(e.Fun)
	default:
		return ""
	}
}
