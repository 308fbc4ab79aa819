package sqlgrammar_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/store/postgres"
)

// looksLikeSQL begins like a statement.
var looksLikeSQL = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|SHOW|SET|WITH|BEGIN|LOCK)\s`)

// statements are those of the migrations, and every string expression in the sources of
// the store that looks like SQL, but for what is asked of PostgreSQL alone.
func statements(t *testing.T) []string {
	t.Helper()
	all, err := postgres.Schema()
	if err != nil {
		t.Fatal(err)
	}
	own := strings.Join(postgres.Diagnostics(), "\n")
	for _, folder := range []string{"../../internal/store", "../../internal/store/postgres"} {
		for _, text := range newSource(t, folder).texts() {
			if looksLikeSQL.MatchString(text) && !strings.Contains(own, text) {
				all = append(all, text)
			}
		}
	}
	if len(all) < atLeast {
		t.Fatalf("found %d statements; want at least %d", len(all), atLeast)
	}
	return all
}

// source is the Go files of a folder, but for tests.
type source struct {
	files  []*ast.File
	values map[string]ast.Expr // of constants and variables of the package
}

func newSource(t *testing.T, folder string) *source {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %d files, %v", folder, len(names), err)
	}
	s := &source{values: map[string]ast.Expr{}}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.files = append(s.files, file)
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, ok := node.(*ast.ValueSpec); ok && len(spec.Names) == len(spec.Values) {
				for i, name := range spec.Names {
					s.values[name.Name] = spec.Values[i]
				}
			}
			return true
		})
	}
	return s
}

// texts are the string expressions, each as long as it can be.
func (s *source) texts() (all []string) {
	for _, file := range s.files {
		ast.Inspect(file, func(node ast.Node) bool {
			expr, ok := node.(ast.Expr)
			if !ok {
				return true
			}
			if text, ok := s.text(expr, 0); ok {
				all = append(all, text)
				return false
			}
			return true
		})
	}
	return all
}

// text evaluates an expression. What is computed, such as a list of columns, is a name in
// its place. A list of placeholders has two.
func (s *source) text(expr ast.Expr, depth int) (string, bool) {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(expr.Value)
		return strings.ReplaceAll(text, "(…)", "($1, $2)"), err == nil && expr.Kind == token.STRING
	case *ast.BinaryExpr:
		left, isText := s.text(expr.X, depth)
		right, alsoText := s.text(expr.Y, depth)
		if !isText && !alsoText || expr.Op != token.ADD {
			return "", false
		}
		if !isText {
			left = "computed"
		}
		if !alsoText {
			right = "computed"
		}
		return left + right, true
	case *ast.Ident:
		if value, ok := s.values[expr.Name]; ok && depth < 9 {
			return s.text(value, depth+1)
		}
	}
	return "", false
}
