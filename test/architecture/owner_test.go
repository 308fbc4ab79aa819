package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Only package fleet names the live state of heartbeats. Another package that held a
// Live could read another hotspot's state after the Live is reused, and one that held
// the Table could take its lock in another order.
func TestLiveStateHasOneOwner(t *testing.T) {
	owned := map[string]bool{"Table": true, "Live": true, "NewTable": true}
	seen := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasPrefix(path, "internal/heartbeat/"):
			return nil
		}
		parsed := token.NewFileSet()
		file, err := parser.ParseFile(parsed, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name := ""
		for _, spec := range file.Imports {
			if imported, _ := strconv.Unquote(spec.Path.Value); imported == module+"internal/heartbeat" {
				if name = "heartbeat"; spec.Name != nil {
					name = spec.Name.Name
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selected, ok := n.(*ast.SelectorExpr)
			if !ok || !owned[selected.Sel.Name] {
				return true
			}
			if of, ok := selected.X.(*ast.Ident); !ok || name == "" || of.Name != name {
				return true
			}
			seen++
			if filepath.Dir(path) != "internal/fleet" {
				t.Errorf("%s names heartbeat.%s; ask package fleet instead", parsed.Position(n.Pos()), selected.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil || seen == 0 {
		t.Fatalf("nobody names them, not even fleet: %v", err)
	}
}
