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

// notResponses are types with JSON names that are in no response: records of the database,
// and the files of an export.
var notResponses = map[string]bool{
	"keptResponse": true, "keptRegistration": true, "exportedUser": true, "exportedHotspot": true, "exportedChange": true, "visit": true,
	"auditRecord": true, // what --json prints, with the node
}

// The shapes of the API's JSON are declared once, in package client: the edge, the commands
// and simulated devices encode its types.
func TestShapes_AreTheClients(t *testing.T) {
	for _, dir := range []string{"internal/api", "internal/simulate", "cmd"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok && notResponses[spec.Name.Name] {
					return false
				}
				if field, ok := n.(*ast.Field); ok && field.Tag != nil && strings.Contains(field.Tag.Value, "json:") {
					t.Errorf("%s: the JSON name %s belongs into package client", path, field.Tag.Value)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
