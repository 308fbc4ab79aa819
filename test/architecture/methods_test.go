package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// How much a reader has to know of one type, and of what a package asks of others.
const (
	maxMethods = 60
	maxAsked   = 12
)

// No type has more methods than a reader can hold, and no package asks for more of another
// than it can say in a few lines. The client is one type on purpose: what programs call.
func TestMethodsAreFew(t *testing.T) {
	methods, interfaces := map[string]int{}, map[string]*ast.InterfaceType{}
	for _, path := range productFiles(t) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					methods[filepath.Dir(path)+"."+receiver(n)]++
				}
			case *ast.TypeSpec:
				if i, ok := n.Type.(*ast.InterfaceType); ok {
					interfaces[file.Name.Name+"."+n.Name.Name] = i
				}
			}
			return true
		})
	}
	if len(methods) < 100 || len(interfaces) < 20 {
		t.Fatalf("found %d types with methods and %d interfaces", len(methods), len(interfaces))
	}
	for name, n := range methods {
		if n > maxMethods && name != "client.Client" {
			t.Errorf("%s has %d methods; a type has at most %d", name, n, maxMethods)
		}
	}
	for name := range interfaces {
		if n := len(asked(interfaces, name)); n > maxAsked {
			t.Errorf("%s has %d methods; an interface has at most %d", name, n, maxAsked)
		}
	}
}

// receiver returns the name of the type that a method belongs to.
func receiver(f *ast.FuncDecl) string {
	of := f.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		default:
			return t.(*ast.Ident).Name
		}
	}
}

// asked returns the names of an interface's methods, including those of the interfaces of
// this project that it embeds.
func asked(all map[string]*ast.InterfaceType, name string) map[string]bool {
	found := map[string]bool{}
	if all[name] == nil {
		return found
	}
	for _, field := range all[name].Methods.List {
		for _, method := range field.Names {
			found[method.Name] = true
		}
		switch embedded := field.Type.(type) {
		case *ast.Ident:
			pkg, _, _ := strings.Cut(name, ".")
			maps.Copy(found, asked(all, pkg+"."+embedded.Name))
		case *ast.SelectorExpr:
			maps.Copy(found, asked(all, embedded.X.(*ast.Ident).Name+"."+embedded.Sel.Name))
		}
	}
	return found
}

// productFiles returns the Go files that are part of the product.
func productFiles(t *testing.T) (files []string) {
	t.Helper()
	for _, root := range []string{"internal", "client", "cmd", "console"} {
		err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(filepath.Dir(path), "test") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}
