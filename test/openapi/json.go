package openapi

import (
	"os"
	"testing"

	"github.com/oasdiff/yaml"
)

// CheckJSON fails the test when the file at path is not the document, written
// as YAML, in JSON; with update it rewrites the file first.
func CheckJSON(t testing.TB, document []byte, path string, update bool) {
	t.Helper()
	want, err := yaml.YAMLToJSON(document)
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is not the YAML document: run make generate", path)
	}
}
